// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Install and uninstall, as a user runs them.

use std::os::unix::fs::PermissionsExt;

use serde_json::{Value, json};

use crate::context::TestContext;
use crate::terminal_user::code;

const FOREIGN: &str = "{\n    \"model\" : \"opus\",\n\n    \"hooks\": { \"Stop\": [ {\"hooks\":[]} ] } }";

fn install(test: &TestContext) -> Value {
    let ran = test.run(&["install", "claude-code", "--yes", "--json"]);
    assert_eq!(ran.exit, 0, "{}", ran.stderr);
    ran.json()
}

// seed: 001-059, 001-060, 001-062
#[test]
fn uninstall_brings_back_the_bytes_and_the_mode() {
    let test = TestContext::new();
    let settings = test.write("person/.claude/settings.json", FOREIGN);
    std::fs::set_permissions(&settings, std::fs::Permissions::from_mode(0o640)).unwrap();
    assert_eq!(install(&test)["changed"], true);
    let installed: Value = serde_json::from_str(&std::fs::read_to_string(&settings).unwrap()).unwrap();
    assert_eq!(installed["model"], "opus");
    assert_eq!(installed["hooks"]["Stop"].as_array().unwrap().len(), 2, "the other hook is still there");
    assert_eq!(install(&test)["changed"], false, "installing twice changes nothing");

    let ran = test.run_on_terminal(&["uninstall", "claude-code", "--yes"]);
    assert_eq!(ran.exit, 0, "{}", ran.stderr);
    assert_eq!(std::fs::read_to_string(&settings).unwrap(), FOREIGN);
    assert_eq!(std::fs::metadata(&settings).unwrap().permissions().mode() & 0o777, 0o640);
}

// seed: 001-001, 001-003, 001-004, 001-019
#[test]
fn every_event_except_those_left_out_is_wired_and_the_gates_fail_closed() {
    let test = TestContext::new();
    install(&test);
    let text = std::fs::read_to_string(test.path("person/.claude/settings.json")).unwrap();
    let settings: Value = serde_json::from_str(&text).unwrap();
    let hooks = settings["hooks"].as_object().unwrap();
    let group = &hooks["PreToolUse"][0];
    let program = test.home().join("bin/tenterhook-hook");
    assert_eq!(
        *group,
        json!({"_tenterhook": true, "matcher": "*", "hooks": [{
            "type": "command",
            "command": format!("'{}' claude-code pre-tool-use", program.display()),
            "timeout": 60,
            "onFailure": "block",
        }]})
    );
    assert!(hooks["Stop"][0]["hooks"][0]["onFailure"].is_null());
    let left: Vec<_> = ["WorktreeCreate", "WorktreeRemove", "MessageDisplay", "FileChanged"]
        .into_iter()
        .filter(|event| hooks.contains_key(*event))
        .collect();
    assert!(left.is_empty(), "{left:?}");
    assert_eq!(hooks.len(), 29);
}

// seed: 001-002
#[test]
fn the_installed_program_finds_its_home_in_any_environment() {
    let test = TestContext::new();
    install(&test);
    let program = test.home().join("bin/tenterhook-hook");
    let mut command = test.command(&program, &["claude-code", "pre-tool-use"]);
    command.env("TENTERHOOK_HOME", test.path("elsewhere"));
    let ran = test.run_command(command, test.bash("rm -rf /").as_bytes());
    assert_eq!(ran.json()["hookSpecificOutput"]["permissionDecision"], "deny");
    assert_eq!(test.decisions().len(), 1, "recorded at home");
    assert!(!test.path("elsewhere").exists());

    let mut command = test.command(&program, &["claude-code", "stop"]);
    command.env_clear();
    let stop = json!({"hook_event_name": "Stop", "session_id": "s"}).to_string();
    assert_eq!(test.run_command(command, stop.as_bytes()).exit, 0, "with an empty environment");
    assert_eq!(test.decisions().len(), 2);
}

// seed: 001-020
#[test]
fn the_installed_program_outlives_the_package_it_came_from() {
    let test = TestContext::new();
    let package = test.path("package");
    std::fs::create_dir(&package).unwrap();
    std::fs::copy(env!("CARGO_BIN_EXE_tenterhook"), package.join("tenterhook")).unwrap();
    let command = test.command(&package.join("tenterhook"), &["install", "claude-code", "--yes"]);
    let ran = test.run_command(command, b"");
    assert_eq!(ran.exit, 0, "{}", ran.stderr);
    std::fs::remove_dir_all(&package).unwrap();
    let command = test.command(&test.home().join("bin/tenterhook-hook"), &["claude-code", "pre-tool-use"]);
    let ran = test.run_command(command, test.bash("rm -rf /").as_bytes());
    assert_eq!(ran.json()["hookSpecificOutput"]["permissionDecision"], "deny", "{}", ran.stderr);
}

// seed: 001-022
#[test]
fn homes_with_spaces_and_quotes_work() {
    let test = TestContext::new();
    let home = test.path("Application Support/it's $HOME \"here\"");
    let ran = test.run(&["--home", home.to_str().unwrap(), "install", "claude-code", "--yes"]);
    assert_eq!(ran.exit, 0, "{}", ran.stderr);
    let text = std::fs::read_to_string(test.path("person/.claude/settings.json")).unwrap();
    let settings: Value = serde_json::from_str(&text).unwrap();
    let wired = settings["hooks"]["PreToolUse"][0]["hooks"][0]["command"].as_str().unwrap();
    // The client runs the command through a shell, so the test does too.
    let command = test.command(std::path::Path::new("/bin/sh"), &["-c", wired]);
    let ran = test.run_command(command, test.bash("rm -rf /").as_bytes());
    assert_eq!(ran.json()["hookSpecificOutput"]["permissionDecision"], "deny", "{}", ran.stderr);
    assert!(home.join("ledger/ledger.db").exists());
}

// seed: 001-061
#[test]
fn a_dry_run_shows_the_change_and_makes_none() {
    let test = TestContext::new();
    let settings = test.write("person/.claude/settings.json", FOREIGN);
    let ran = test.run(&["install", "claude", "--dry-run"]);
    assert_eq!(ran.exit, 0);
    assert_eq!(test.run(&["install", "claude-code", "--dry-run", "--diff"]).exit, 0);
    assert_eq!(std::fs::read_to_string(&settings).unwrap(), FOREIGN);
    assert!(std::fs::read_dir(test.home()).unwrap().next().is_none());
}

#[test]
fn without_a_terminal_and_without_yes_nothing_is_changed() {
    let test = TestContext::new();
    let settings = test.write("person/.claude/settings.json", FOREIGN);
    assert_eq!(test.run(&["install", "claude-code"]).exit, 2);
    assert_eq!(std::fs::read_to_string(&settings).unwrap(), FOREIGN);
}

#[test]
fn the_client_s_own_directory_is_respected_and_removed_again_if_it_was_not_there() {
    let test = TestContext::new();
    let dir = test.path("claude dir");
    let program = std::path::Path::new(env!("CARGO_BIN_EXE_tenterhook"));
    let secret = test.enroll();
    let run = |verb: &str, more: &[&str]| {
        let mut command = test.command(program, &[verb, "claude-code", "--yes"]);
        command.args(more).env("CLAUDE_CONFIG_DIR", &dir);
        let ran = test.run_command(command, b"");
        assert_eq!(ran.exit, 0, "{}", ran.stderr);
    };
    run("install", &[]);
    assert!(dir.join("settings.json").exists());
    assert!(!test.path("person/.claude").exists());
    run("uninstall", &["--code", &code(&secret, 0)]);
    assert!(!dir.exists(), "the original state");
}
