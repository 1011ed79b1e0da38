// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Tests specific to LLxprt Code: events around every model response, tool selection, copied settings, folder trust.

use anyhow::{Context as _, Result};
use fs_err as fs;
use serde_json::{Value, json};
use tenterhook_e2e::scenarios::{guarded, hooked, printing, shell};
use tenterhook_e2e::{Client, World, clients};
use tenterhook_model_server::{ConversationScript, ModelTurn, ScriptedCall};

const CONTEXT: &str = "The harbour master is called Odalys.";
const OLD: &str = ".llxprt/settings.json";
const NEW: &str = ".config/llxprt-code/settings.json";

fn llxprt() -> Result<&'static Client> {
    clients::find("llxprt")
}

/// Recorded events: the client's name, Tenterhook's kind, the verdict.
fn events(world: &World) -> Result<Vec<[String; 3]>> {
    let text = |leaf: &Value, key: &str| leaf[key].as_str().unwrap_or_default().to_owned();
    let ledger = world.ledger()?;
    Ok(ledger.iter().map(|leaf| ["native_event", "event", "verdict"].map(|key| text(leaf, key))).collect())
}

// seed: 002-092
#[test]
fn a_prompt_and_the_end_of_a_turn_are_there_once_in_a_turn_with_tools() -> Result<()> {
    let output = json!({"decision": "block", "reason": "not yet"});
    let once =
        format!("cat >/dev/null\nmkdir \"$HOME/asked\" 2>/dev/null || exit 0\ncat <<'END'\n{output}\nEND");
    let world = hooked(llxprt()?, "stop", &once)?;
    let _daemon = world.serve()?;
    let script = ConversationScript::new()
        .turn(shell(llxprt()?, "touch first.txt"))
        .turn(shell(llxprt()?, "touch second.txt"));
    let session = llxprt()?.run(&world, "please go on", script)?;
    let events = events(&world)?;
    let count = |native: &str, kind: &str| {
        events.iter().filter(|event| event[0] == native && event[1] == kind).count()
    };
    assert_eq!((count("BeforeAgent", "prompt"), count("BeforeAgent", "other")), (1, 2), "{events:#?}");
    // The denied end starts another turn. The client fires neither event for that turn.
    assert_eq!((count("AfterAgent", "stop"), count("AfterAgent", "other")), (1, 2), "{events:#?}");
    assert_eq!(count("SessionEnd", "session-end"), 1, "{events:#?}");
    for name in ["first.txt", "second.txt"] {
        assert!(world.project().join(name).exists(), "{session:#?}");
    }
    assert!(!session.model_read("Tool call interrupted or cancelled"), "{session:#?}");
    assert!(session.model_read("not yet"), "{session:#?}");
    Ok(())
}

#[test]
fn what_a_hook_adds_to_a_prompt_is_added_once() -> Result<()> {
    let output =
        json!({"hookSpecificOutput": {"hookEventName": "UserPromptSubmit", "additionalContext": CONTEXT}});
    let world = hooked(llxprt()?, "prompt", &printing(&output))?;
    let _daemon = world.serve()?;
    let script =
        ConversationScript::new().turn(shell(llxprt()?, "touch a.txt")).turn(shell(llxprt()?, "touch b.txt"));
    let session = llxprt()?.run(&world, "please go on", script)?;
    assert_eq!(session.agent_requests.len(), 3, "{session:#?}");
    for request in &session.agent_requests {
        assert_eq!(request.to_string().matches(CONTEXT).count(), 1, "{request:#}");
    }
    Ok(())
}

#[test]
fn a_denied_tool_selection_offers_no_tools() -> Result<()> {
    let output = json!({"decision": "block", "reason": "no tools now"});
    let world = hooked(llxprt()?, "tool-selection", &printing(&output))?;
    let _daemon = world.serve()?;
    let script = ConversationScript::new().turn(shell(llxprt()?, "touch ran.txt"));
    let session = llxprt()?.run(&world, "please go on", script)?;
    // A request without tools is not part of the agent's loop.
    assert_eq!(session.agent_requests.len(), 0, "{session:#?}");
    assert!(!world.project().join("ran.txt").exists(), "{session:#?}");
    Ok(())
}

#[test]
fn a_tool_of_an_mcp_server_is_judged_under_its_alias() -> Result<()> {
    let world = guarded(llxprt()?)?;
    world.write_policy(&json!({"version": 1, "rules": [{
        "id": "records-stay",
        "description": "Records are kept",
        "match": {"mcp": {"server": "records", "tool": "erase"}},
        "verdict": "deny",
        "reason": "Records are not erased.",
    }]}))?;
    let _daemon = world.serve()?;
    let call = |tool: &str| {
        ModelTurn::from(ScriptedCall::new(format!("records__{tool}"), json!({"record": "seven"})))
    };
    let session = llxprt()?.run(
        &world,
        "please go on",
        ConversationScript::new().turn(call("erase")).turn(call("note")),
    )?;
    assert_eq!(world.records()?, ["records note seven"], "{session:#?}");
    Ok(())
}

#[test]
fn settings_of_the_old_place_are_guarded_before_and_after_the_client_copies_them() -> Result<()> {
    let world = World::new()?;
    (llxprt()?.prepare)(&world)?;
    let home = world.home();
    let original = fs::read(home.join(NEW))?;
    fs::create_dir_all(home.join(".llxprt"))?;
    fs::rename(home.join(NEW), home.join(OLD))?;
    world.install(llxprt()?)?;
    assert!(!home.join(NEW).exists());

    let precious = world.precious()?;
    let _daemon = world.serve()?;
    let delete =
        || ConversationScript::new().turn(shell(llxprt().unwrap(), &format!("rm -r {}", precious.display())));
    for run in ["first", "second"] {
        let session = llxprt()?.run(&world, "please go on", delete())?;
        assert!(precious.exists(), "{run}: {session:#?}");
    }
    assert!(home.join(NEW).exists(), "the client copies it");
    let code = world.code()?;
    world.tenterhook(&["uninstall", "llxprt", "--yes", "--code", &code])?;
    assert_eq!(fs::read(home.join(OLD))?, original);
    assert_eq!(fs::read(home.join(NEW))?, original);
    Ok(())
}

#[test]
fn a_project_that_is_not_trusted_is_reported() -> Result<()> {
    let world = guarded(llxprt()?)?;
    let settings = fs::read_to_string(world.home().join(NEW))?;
    world.write(NEW, &settings.replacen('{', "{\"folderTrust\": true,", 1))?;
    let trusted = ".config/llxprt-code/trustedFolders.json";
    world.write_json(trusted, &json!({ world.project().display().to_string(): "DO_NOT_TRUST" }))?;
    // In a project that is not trusted, the client runs no hook, so nothing is recorded.
    let script = ConversationScript::new().turn(shell(llxprt()?, "touch ran.txt"));
    llxprt()?.run_with(&world, "please go on", script, &["--allowed-tools", "run_shell_command"])?;
    assert_eq!(world.ledger()?, Vec::<Value>::new());
    let complaint = world.tenterhook(&["doctor"]).err().context("doctor finds nothing")?;
    assert!(format!("{complaint:#}").contains("is not trusted"), "{complaint:#}");

    world.write_json(trusted, &json!({ world.project().display().to_string(): "TRUST_FOLDER" }))?;
    let script = ConversationScript::new().turn(shell(llxprt()?, "touch trusted.txt"));
    llxprt()?.run(&world, "please go on", script)?;
    assert!(!world.ledger()?.is_empty());
    Ok(())
}
