// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Claude Code under Tenterhook: what it did, and what its model was told.

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use anyhow::Result;
use fs_err as fs;
use serde_json::{Value, json};
use tenterhook_e2e::claude_code::NAME;
use tenterhook_e2e::{Hook, World};
use tenterhook_model_server::{Script, Turn};

/// What separates the reason of a denial from the way out of it.
const SUGGESTED: &str = "\n\n→ Suggested: ";

fn install(world: &World) -> Result<()> {
    world.tenterhook(&["install", NAME, "--yes"]).map(drop)
}

fn bash(command: impl AsRef<str>) -> Turn {
    Turn::tool("Bash", json!({"command": command.as_ref(), "description": "as scripted"}))
}

fn delete(directory: &Path) -> String {
    format!("rm -rf {}", directory.display())
}

/// A hook that replaces the tool's command with `command`.
fn rewriting_to(command: &str) -> String {
    let output = json!({"hookSpecificOutput": {
        "hookEventName": "PreToolUse",
        "updatedInput": {"command": command, "description": "as rewritten"},
    }});
    format!("cat >/dev/null\ncat <<'END'\n{output}\nEND")
}

fn denials(ledger: &[Value]) -> Vec<&Value> {
    ledger.iter().filter(|leaf| leaf["verdict"] == "deny").collect()
}

#[test]
fn an_allowed_command_runs() -> Result<()> {
    let world = World::new()?;
    install(&world)?;

    let session = world.claude("go", Script::new().turn(bash("touch ran.txt")))?;

    assert!(world.project().join("ran.txt").exists(), "{session:#?}");
    assert!(!session.tool_results[0].is_error, "{session:#?}");
    Ok(())
}

#[test]
fn a_denied_command_does_not_run_and_the_agent_goes_on() -> Result<()> {
    let world = World::new()?;
    let precious = world.precious()?;
    install(&world)?;

    let script = Script::new().turn(bash(delete(&precious))).turn(bash("touch went-on.txt"));
    let session = world.claude("go", script)?;

    assert!(precious.join("thesis.txt").exists(), "{session:#?}");
    assert!(world.project().join("went-on.txt").exists(), "{session:#?}");

    let ledger = world.ledger()?;
    let denials = denials(&ledger);
    assert_eq!(denials.len(), 1, "{ledger:#?}");
    assert_eq!(denials[0]["event"], "pre-tool");
    assert_eq!(denials[0]["policy_rule_id"], "recursive-delete");

    // The model learns why and what else to do; it does not learn how we are called.
    let reason = denials[0]["reason"].as_str().unwrap();
    let told = &session.tool_results[0];
    assert!(!reason.is_empty());
    assert!(told.is_error, "{told:#?}");
    assert!(told.text.contains(reason), "{told:#?} does not say {reason}");
    assert!(told.text.contains(SUGGESTED), "{told:#?}");
    assert!(!told.text.contains("tenterhook-hook"), "{told:#?}");
    Ok(())
}

#[test]
fn a_blocked_prompt_never_reaches_the_model() -> Result<()> {
    let world = World::new()?;
    let script = "cat >/dev/null\necho 'not this one' >&2\nexit 2";
    world.write_hook(Hook { on: "prompt", tool: None, script })?;
    install(&world)?;

    let session = world.claude("go", Script::new().turn(bash("touch ran.txt")))?;

    assert!(session.agent_requests.is_empty(), "{session:#?}");
    assert!(!world.project().join("ran.txt").exists(), "{session:#?}");
    let result = session.stream.last().unwrap();
    assert!(result["result"].as_str().unwrap_or_default().contains("not this one"), "{result:#?}");
    Ok(())
}

#[test]
fn a_rewritten_command_is_the_one_that_runs() -> Result<()> {
    let world = World::new()?;
    let script = &rewriting_to("echo two > out.txt");
    world.write_hook(Hook { on: "pre-tool", tool: Some("Bash"), script })?;
    install(&world)?;

    let session = world.claude("go", Script::new().turn(bash("echo one > out.txt")))?;

    let out = world.project().join("out.txt");
    assert!(out.exists(), "{session:#?}");
    assert_eq!(fs::read_to_string(out)?, "two\n");
    Ok(())
}

#[test]
fn a_command_rewritten_into_a_forbidden_one_is_denied() -> Result<()> {
    let world = World::new()?;
    let precious = world.precious()?;
    let script = &rewriting_to(&delete(&precious));
    world.write_hook(Hook { on: "pre-tool", tool: Some("Bash"), script })?;
    install(&world)?;

    let session = world.claude("go", Script::new().turn(bash("touch harmless.txt")))?;

    assert!(precious.join("thesis.txt").exists(), "{session:#?}");
    // Nor does what was asked first: the hook has said that it must not.
    assert!(!world.project().join("harmless.txt").exists(), "{session:#?}");
    assert!(session.tool_results[0].text.contains(SUGGESTED), "{session:#?}");
    let ledger = world.ledger()?;
    let rules: Vec<_> = denials(&ledger).iter().map(|leaf| &leaf["policy_rule_id"]).collect();
    assert_eq!(rules, ["recursive-delete"], "{ledger:#?}");
    Ok(())
}

#[test]
fn uninstalling_leaves_no_trace() -> Result<()> {
    let world = World::new()?;
    let precious = world.precious()?;
    let own_hook_ran = world.home().join("own-hook-ran");
    // Oddly spaced, with line ends of two kinds and none at the end, and a hook of the user's own.
    // No comments: the client rejects a settings file that has any.
    let before = format!(
        "{{\r\n\t\"permissions\" :   {{ \"allow\": [ ]   }},\n\n\n  \"hooks\":{{\"PreToolUse\" : [ \
         {{\"matcher\":\"Bash\", \"hooks\":[{{\"type\":\"command\",\"command\":\"echo x >> '{}'\"}}]}}]}} }}",
        own_hook_ran.display()
    );
    let settings = world.claude_settings();
    fs::create_dir_all(settings.parent().unwrap())?;
    fs::write(&settings, &before)?;
    fs::set_permissions(&settings, std::fs::Permissions::from_mode(0o600))?;

    install(&world)?;
    let session = world.claude("go", Script::new().turn(bash(delete(&precious))))?;
    assert!(precious.exists(), "{session:#?}");
    assert_eq!(session.settings_complaints(), [""; 0]);
    assert_eq!(fs::read_to_string(&own_hook_ran)?, "x\n");
    let recorded = world.ledger()?;
    assert!(!recorded.is_empty());

    let code = world.code()?;
    world.tenterhook(&["uninstall", NAME, "--yes", "--code", &code])?;
    assert_eq!(fs::read_to_string(&settings)?, before);
    assert_eq!(fs::metadata(&settings)?.permissions().mode() & 0o7777, 0o600);

    let session = world.claude("go", Script::new().turn(bash(delete(&precious))))?;
    assert!(!precious.exists(), "{session:#?}");
    assert_eq!(fs::read_to_string(&own_hook_ran)?, "x\nx\n");
    assert_eq!(world.ledger()?, recorded);
    Ok(())
}

#[test]
fn the_client_accepts_the_settings_and_reports_its_whole_life() -> Result<()> {
    let world = World::new()?;
    install(&world)?;

    let session = world.claude("go", Script::new().turn(bash("touch ran.txt")))?;

    assert_eq!(session.settings_complaints(), [""; 0]);
    let ledger = world.ledger()?;
    let events: Vec<_> = ledger.iter().filter_map(|leaf| leaf["native_event"].as_str()).collect();
    for event in ["SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "Stop", "SessionEnd"] {
        assert!(events.contains(&event), "no {event} among {events:?}");
    }
    Ok(())
}

/// The control of every test that finds no complaints: the client still words them as we expect.
#[test]
fn the_client_complains_about_settings_it_refuses() -> Result<()> {
    let world = World::new()?;
    let settings = world.claude_settings();
    fs::create_dir_all(settings.parent().unwrap())?;
    for refused in [
        "{ // a comment\n}",
        r#"{"hooks": {"PreToolUse": [{"hooks": [{"type": "command", "command": "x", "timeout": "soon"}]}]}}"#,
    ] {
        fs::write(&settings, refused)?;
        let session = world.claude("go", Script::new())?;
        assert!(!session.settings_complaints().is_empty(), "{refused} was accepted");
    }
    Ok(())
}
