// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Each client writes a transcript of an unguarded session, and `tenterhook audit` reads it. Nothing is
//! installed.

use anyhow::{Context as _, Result};
use serde_json::{Value, json};
use tenterhook_e2e::{World, clients};
use tenterhook_model_server::{ConversationScript, ModelTurn};

/// Prompt of the subagent, by which the model recognises it.
const ERRAND: &str = "run the errand of the subagent";

fn is_read_whole(id: &str) -> Result<()> {
    let client = clients::find(id)?;
    let world = World::new()?;
    (client.prepare)(&world)?;
    let precious = world.precious()?;
    let shell = |command: &str| ModelTurn::from((client.shell)(command));
    // A subagent may run in parallel with the main agent, so the main agent has to wait for it.
    let wait = "timeout 15 sh -c 'until test -e errand.txt; do sleep 0.1; done'; sleep 0.5";
    let script = ConversationScript::new()
        .turn(shell("echo hello > greeting.txt"))
        .turn(shell("cat nowhere.txt"))
        .turn(shell(&format!("rm -rf {}", precious.display())))
        .turn(ModelTurn::from((client.mcp)("records", "note", json!({"record": "seven"}))));
    let script = match client.subagent {
        Some(start) => {
            script.turn(start(ERRAND).into()).turn(shell(wait)).subagent(ERRAND, [shell("touch errand.txt")])
        }
        None => script,
    };
    let (subagents, calls) = if client.subagent.is_some() { (1, 7) } else { (0, 4) };
    let session = client.run(&world, "please go on as you think best", script)?;

    let audit = world.tenterhook(&["audit", "--json", "--import"])?;
    let audit: Value = serde_json::from_str(&audit.stdout)?;
    let story = format!("{audit:#}\n{session:#?}");
    let at = |place: &str| audit.pointer(place).cloned().unwrap_or_default();
    assert_eq!(at(&format!("/harnesses/{id}/calls")), calls, "{story}");
    assert_eq!(at("/interruptions/sessions"), 1, "{story}");
    assert_eq!(at("/rules/recursive-delete/denied"), 1, "{story}");
    assert_eq!(at("/projects/0/project"), json!(world.project()), "{story}");
    assert_eq!(at("/unread"), json!([]), "a kind of line that this version does not know\n{story}");
    assert_eq!(at("/left_out"), json!([]), "{story}");

    let leaves = world.tenterhook(&["ledger", "query", "--kind", "seen", "--limit", "1000", "--json"])?;
    let leaves: Value = serde_json::from_str(&leaves.stdout)?;
    let leaves = leaves.get("leaves").and_then(Value::as_array).context("no leaves")?;
    let of = |kind: &str| {
        let said = |leaf: &&Value| {
            let at = |key: &str| leaf.get("leaf").and_then(|leaf| leaf.get(key)).and_then(Value::as_str);
            (at("event"), at("origin")) == (Some(kind), Some("transcript"))
        };
        leaves.iter().filter(said).count()
    };
    let seen = ["session-start", "prompt", "pre-tool", "post-tool", "tool-error", "subagent-start"].map(of);
    // Codex refuses the deletion itself. In other clients, only the second command fails.
    let failed = if id == "codex" { 2 } else { 1 };
    assert_eq!(seen, [1, 1, calls, calls - failed, failed, subagents], "{story}");
    world.tenterhook(&["ledger", "verify"])?;
    Ok(())
}

#[test]
fn claude_code() -> Result<()> {
    is_read_whole("claude-code")
}

#[test]
fn codex() -> Result<()> {
    is_read_whole("codex")
}

#[test]
fn gemini() -> Result<()> {
    is_read_whole("gemini")
}

#[test]
fn opencode() -> Result<()> {
    is_read_whole("opencode")
}

#[test]
fn copilot() -> Result<()> {
    is_read_whole("copilot")
}

#[test]
fn pi() -> Result<()> {
    is_read_whole("pi")
}
