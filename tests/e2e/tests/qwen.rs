// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Tests specific to Qwen Code: effects of replies that look like Claude Code's.

use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};
use serde_json::{Value, json};
use tenterhook_e2e::scenarios::{guarded, hooked, printing, shell};
use tenterhook_e2e::{Client, Session, World, clients};
use tenterhook_model_server::ConversationScript;

const CONTEXT: &str = "The harbour master is called Odalys.";

fn qwen() -> Result<&'static Client> {
    clients::find("qwen")
}

#[test]
fn what_a_hook_says_at_the_start_reaches_the_model() -> Result<()> {
    let output =
        json!({"hookSpecificOutput": {"hookEventName": "SessionStart", "additionalContext": CONTEXT}});
    let world = hooked(qwen()?, "session-start", &printing(&output))?;
    let _daemon = world.serve()?;
    let session = qwen()?.run(&world, "go", ConversationScript::new())?;
    assert!(session.model_read(CONTEXT), "{session:#?}");
    Ok(())
}

#[test]
fn a_hook_that_ends_the_turn_before_a_tool_keeps_the_tool_from_running() -> Result<()> {
    let output = json!({"continue": false, "stopReason": CONTEXT});
    let world = hooked(qwen()?, "pre-tool", &printing(&output))?;
    let _daemon = world.serve()?;
    let session =
        qwen()?.run(&world, "go", ConversationScript::new().turn(shell(qwen()?, "touch ran.txt")))?;
    assert!(!world.project().join("ran.txt").exists(), "{session:#?}");
    Ok(())
}

/// A session with one command, for which Qwen Code asks for permission. Standard input is closed, so Qwen Code's own
/// prompt is not answered.
fn run_asking(world: &World, command: &str) -> Result<Session> {
    let script = ConversationScript::new().turn(shell(qwen()?, command));
    qwen()?.run_as(clients::qwen::start_embedded, world, "please go on", script)
}

/// Recorded tool events with their verdicts.
fn tool_events(world: &World) -> Result<Vec<(String, String)>> {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let ledger = world.ledger()?;
    let tools = ledger.iter().filter(|leaf| !leaf["tool"].is_null());
    Ok(tools.map(|leaf| (text(&leaf["native_event"]), text(&leaf["verdict"]))).collect())
}

fn rows(rows: &[(&str, &str)]) -> Vec<(String, String)> {
    rows.iter().map(|(event, verdict)| ((*event).to_owned(), (*verdict).to_owned())).collect()
}

/// Settings of the user with a hook that grants every permission.
fn write_granting_hook(world: &World) -> Result<()> {
    let grant = json!({"hookSpecificOutput": {"hookEventName": "PermissionRequest", "decision": {"behavior": "allow"}}});
    let hook = json!({"type": "command", "command": format!("cat >/dev/null; echo '{grant}'")});
    let settings = json!({
        "security": {"auth": {"selectedType": "openai"}},
        "privacy": {"usageStatisticsEnabled": false},
        "general": {"disableAutoUpdate": true},
        "hooks": {"PermissionRequest": [{"hooks": [hook]}]},
    });
    world.write_json(".qwen/settings.json", &settings)
}

#[test]
fn a_permission_that_a_rule_denies_is_denied_also_beside_a_hook_that_grants_it() -> Result<()> {
    for is_granted_elsewhere in [false, true] {
        let world = World::new()?;
        (qwen()?.prepare)(&world)?;
        if is_granted_elsewhere {
            write_granting_hook(&world)?;
        }
        world.install(qwen()?)?;
        let precious = world.precious()?;
        let _daemon = world.serve()?;
        let session = run_asking(&world, &format!("rm -r {}", precious.display()))?;
        assert!(precious.join("thesis.txt").exists(), "{session:#?}");
        assert!(session.tool_results[0].contains("\n\n→ Suggested: "), "{session:#?}");
        assert_eq!(tool_events(&world)?, rows(&[("PermissionRequest", "deny")]), "{session:#?}");
    }

    // Control: that hook grants the permission.
    let world = World::new()?;
    write_granting_hook(&world)?;
    world.install(qwen()?)?;
    let _daemon = world.serve()?;
    let session = run_asking(&world, "touch ran.txt")?;
    assert!(world.project().join("ran.txt").exists(), "{session:#?}");
    Ok(())
}

#[test]
fn a_permission_that_a_hook_grants_is_granted_and_the_tool_is_still_judged() -> Result<()> {
    let decision = json!({"behavior": "allow"});
    let output = json!({"hookSpecificOutput": {"hookEventName": "PermissionRequest", "decision": decision}});
    let world = hooked(qwen()?, "permission-request", &printing(&output))?;
    let _daemon = world.serve()?;
    let session = run_asking(&world, "touch ran.txt")?;
    assert!(world.project().join("ran.txt").exists(), "{session:#?}");
    let expected = rows(&[("PermissionRequest", "allow"), ("PreToolUse", "none"), ("PostToolUse", "none")]);
    assert_eq!(tool_events(&world)?, expected, "{session:#?}");
    Ok(())
}

#[test]
fn without_a_decision_qwen_asks_and_nothing_runs_when_nobody_answers() -> Result<()> {
    let world = guarded(qwen()?)?;
    let _daemon = world.serve()?;
    let session = run_asking(&world, "touch ran.txt")?;
    assert!(!world.project().join("ran.txt").exists(), "{session:#?}");
    assert!(session.stdout.contains("can_use_tool"), "{session:#?}");
    assert_eq!(tool_events(&world)?, rows(&[("PermissionRequest", "none")]), "{session:#?}");
    Ok(())
}

#[test]
fn a_permission_that_a_rule_asks_about_waits_for_an_approval() -> Result<()> {
    for is_approved in [true, false] {
        let world = guarded(qwen()?)?;
        world.write_policy(&json!({"version": 1, "rules": [{
            "id": "ask-first",
            "description": "Asks about the vault",
            "match": {"effect": {"does": ["delete"], "path": ["**/vault{,/**}"]}},
            "verdict": "ask",
            "reason": "The vault is emptied.",
        }]}))?;
        let vault = world.project().join("vault");
        std::fs::create_dir(&vault)?;
        let code = world.code()?;
        let _daemon = world.serve()?;
        let session = std::thread::scope(|scope| {
            let session = scope.spawn(|| run_asking(&world, "rm -r vault"));
            let id = pending_approval(&world)?;
            if is_approved {
                world.tenterhook_beside(&["approvals", "approve", &id, "--code", &code])?;
            } else {
                world.tenterhook_beside(&["approvals", "deny", &id])?;
            }
            session.join().map_err(|_| anyhow::anyhow!("the client's thread panicked"))?
        })?;
        assert_eq!(vault.exists(), !is_approved, "{session:#?}");
        // One approval is enough: it covers `PreToolUse` of the same call.
        let mut expected = rows(&[("PermissionRequest", "ask")]);
        if is_approved {
            expected.extend(rows(&[("PreToolUse", "ask"), ("PostToolUse", "none")]));
        }
        assert_eq!(tool_events(&world)?, expected, "{session:#?}");
    }
    Ok(())
}

/// Id of the only call that waits for an approval.
fn pending_approval(world: &World) -> Result<String> {
    let deadline = Instant::now() + Duration::from_secs(40);
    while Instant::now() < deadline {
        let listed = world.tenterhook_beside(&["approvals", "list", "--json"])?;
        let listed: Value = serde_json::from_str(&listed)?;
        if let Some(first) = listed.pointer("/pending/0") {
            return first.get("id").and_then(Value::as_str).map(ToOwned::to_owned).context("no id");
        }
        std::thread::sleep(Duration::from_millis(100));
    }
    bail!("no call waits for an approval")
}
