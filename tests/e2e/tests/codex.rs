// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Tests specific to Codex: approvals and compaction, which only some of its sessions have.

use anyhow::Result;
use serde_json::json;
use tenterhook_e2e::scenarios::{guarded, hooked, printing, shell};
use tenterhook_e2e::{Client, World, clients};
use tenterhook_model_server::{ConversationScript, ModelTurn};

const REASON: &str = "The harbour master says no.";

/// With these arguments, Codex asks for permission. Without a terminal, a model decides about the permission.
const ASKING: &[&str] = &["--approve-for-me", "-c", "sandbox_mode=\"workspace-write\""];

/// With these arguments, every answer of the model makes the history too long, so that it is compacted.
const COMPACTING: &[&str] = &["-c", "model_auto_compact_token_limit=1"];

fn codex() -> Result<&'static Client> {
    clients::find("codex")
}

/// A command that needs more than the sandbox allows.
fn escalated(command: &str) -> ModelTurn {
    let input =
        json!({"cmd": command, "sandbox_permissions": "require_escalated", "justification": "need it"});
    ModelTurn::tool("exec_command", input)
}

fn events(world: &World) -> Result<Vec<(String, String)>> {
    let text = |value: &serde_json::Value| value.as_str().unwrap_or_default().to_owned();
    let ledger = world.ledger()?;
    Ok(ledger.iter().map(|leaf| (text(&leaf["native_event"]), text(&leaf["verdict"]))).collect())
}

// seed: 001-027
#[test]
fn a_permission_that_a_hook_refuses_is_refused_and_the_model_reads_why() -> Result<()> {
    let decision = json!({"behavior": "deny", "message": REASON});
    let output = json!({"hookSpecificOutput": {"hookEventName": "PermissionRequest", "decision": decision}});
    let world = hooked(codex()?, "permission-request", &printing(&output))?;
    let _daemon = world.serve()?;
    let script = ConversationScript::new().turn(escalated("touch ran.txt"));
    let session = codex()?.run_with(&world, "go", script, ASKING)?;
    let events = events(&world)?;
    assert!(!world.project().join("ran.txt").exists(), "{session:#?}\n{events:#?}");
    assert!(events.contains(&("PermissionRequest".into(), "deny".into())), "{events:#?}");
    assert!(session.tool_results[0].contains(REASON), "{session:#?}");
    Ok(())
}

#[test]
fn a_permission_that_a_hook_grants_is_granted() -> Result<()> {
    let decision = json!({"behavior": "allow"});
    let output = json!({"hookSpecificOutput": {"hookEventName": "PermissionRequest", "decision": decision}});
    let world = hooked(codex()?, "permission-request", &printing(&output))?;
    let _daemon = world.serve()?;
    let script = ConversationScript::new().turn(escalated("touch ran.txt"));
    let session = codex()?.run_with(&world, "go", script, ASKING)?;
    let events = events(&world)?;
    assert!(world.project().join("ran.txt").exists(), "{session:#?}\n{events:#?}");
    assert!(events.contains(&("PermissionRequest".into(), "allow".into())), "{events:#?}");
    Ok(())
}

// seed: 001-027
#[test]
fn a_call_that_is_asked_about_twice_is_denied_once() -> Result<()> {
    let world = guarded(codex()?)?;
    let precious = world.precious()?;
    let _daemon = world.serve()?;
    let script = ConversationScript::new().turn(escalated(&format!("rm -r {}", precious.display())));
    let session = codex()?.run_with(&world, "go", script, ASKING)?;
    assert!(precious.join("thesis.txt").exists(), "{session:#?}");
    let denials = events(&world)?.into_iter().filter(|(_, verdict)| verdict == "deny").count();
    assert_eq!(denials, 1, "{:#?}", events(&world)?);
    Ok(())
}

/// The guide lists typed input as not covered, so the judge asks about programs that read commands from a
/// terminal.
// seed: 001-029
#[test]
fn write_stdin_fires_no_hook() -> Result<()> {
    let world = guarded(codex()?)?;
    let _daemon = world.serve()?;
    let start = json!({"cmd": "head -n 1 >typed.txt", "tty": true, "yield_time_ms": 1000});
    // Session numbers are random, so this session is not found. A hook would fire before the lookup.
    let typed = json!({"session_id": 1, "chars": "hello\n", "yield_time_ms": 1000});
    let script = ConversationScript::new()
        .turn(ModelTurn::tool("exec_command", start))
        .turn(ModelTurn::tool("write_stdin", typed));
    let session = codex()?.run(&world, "go", script.turn(shell(codex()?, "touch went-on.txt")))?;
    let results = &session.tool_results;
    assert!(results[0].contains("Process running with session ID"), "{session:#?}");
    assert!(
        results[1].contains("write_stdin failed") || results[1].contains("Unknown process"),
        "{session:#?}"
    );
    assert!(world.project().join("went-on.txt").exists(), "{session:#?}");
    let before_tools = events(&world)?.into_iter().filter(|(event, _)| event == "PreToolUse").count();
    assert_eq!(before_tools, 2, "three calls, two of which start a program: {:#?}", events(&world)?);
    Ok(())
}

// seed: 001-032
#[test]
fn hooks_that_nobody_trusts_do_not_fire_and_trusted_ones_do() -> Result<()> {
    let world = World::new()?;
    (codex()?.prepare)(&world)?;
    world.tenterhook(&["install", "codex-desktop", "--yes"])?;
    let _daemon = world.serve()?;
    let session =
        codex()?.run(&world, "go", ConversationScript::new().turn(shell(codex()?, "touch a.txt")))?;
    assert!(world.project().join("a.txt").exists(), "{session:#?}");
    assert!(world.ledger()?.is_empty(), "{:#?}", events(&world)?);

    world.tenterhook(&["install", "codex", "--yes", "--trust"])?;
    let session =
        codex()?.run(&world, "go", ConversationScript::new().turn(shell(codex()?, "touch b.txt")))?;
    assert!(world.project().join("b.txt").exists(), "{session:#?}");
    assert!(events(&world)?.contains(&("PreToolUse".into(), "none".into())), "{:#?}", events(&world)?);
    Ok(())
}

#[test]
fn a_compaction_that_a_hook_refuses_does_not_happen() -> Result<()> {
    let script = || ConversationScript::new().turn(shell(codex().unwrap(), "touch a.txt"));
    let output = json!({"decision": "block", "reason": REASON});
    let world = hooked(codex()?, "pre-compact", &printing(&output))?;
    let _daemon = world.serve()?;
    let session = codex()?.run_with(&world, "go", script(), COMPACTING)?;
    let refused = events(&world)?;
    assert!(refused.contains(&("PreCompact".into(), "deny".into())), "{session:#?}\n{refused:#?}");
    assert!(!refused.iter().any(|(event, _)| event == "PostCompact"), "{session:#?}\n{refused:#?}");

    // Control: no hook blocks the compaction, and it happens.
    let world = guarded(codex()?)?;
    let _daemon = world.serve()?;
    let session = codex()?.run_with(&world, "go", script(), COMPACTING)?;
    let let_go = events(&world)?;
    assert!(let_go.iter().any(|(event, _)| event == "PostCompact"), "{session:#?}\n{let_go:#?}");
    Ok(())
}
