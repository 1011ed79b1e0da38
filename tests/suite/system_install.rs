// SPDX-License-Identifier: Apache-2.0 OR MIT

//! `install --system`: settings that only root can write install hooks in the harnesses of every account. The tests need
//! root to act as another account; without root they print a note and return.

use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::context::CommandOutput;
use crate::system::{STRANGER, SystemHome, as_stranger, is_root};

fn installed_machine() -> SystemHome {
    let system = SystemHome::new();
    let ran = system.test.run(&["--system", "install", "claude-code", "--yes"]);
    assert_eq!(ran.exit, 0, "{}{}", ran.stdout, ran.stderr);
    system
}

fn managed_settings(system: &SystemHome) -> PathBuf {
    system.test.path("system/etc/claude-code/managed-settings.json")
}

/// The command that the settings run at an event.
fn wired_command(system: &SystemHome, event: &str) -> String {
    let settings: Value =
        serde_json::from_str(&std::fs::read_to_string(managed_settings(system)).unwrap()).unwrap();
    settings["hooks"][event][0]["hooks"][0]["command"].as_str().unwrap().to_owned()
}

/// Runs the wired command as another account, which also controls the environment.
fn hook(system: &SystemHome, event: &str, payload: &str) -> CommandOutput {
    let line = wired_command(system, event);
    let mut command = system.test.command(Path::new("/bin/sh"), &["-c", &line]);
    command.env("TENTERHOOK_HOME", "/tmp").env("TENTERHOOK_DAEMON_URL", "unix:/nowhere");
    command.uid(STRANGER).gid(STRANGER);
    system.test.run_command(command, payload.as_bytes())
}

fn decision(ran: &CommandOutput) -> Value {
    if ran.stdout.is_empty() {
        Value::Null
    } else {
        ran.json()["hookSpecificOutput"]["permissionDecision"].clone()
    }
}

#[test]
fn system_installed_files_can_be_read_and_not_written_by_others() {
    if !is_root() {
        return;
    }
    let system = installed_machine();
    let lib = system.test.path("system/lib");
    let public = [
        managed_settings(&system),
        lib.join("home.json"),
        lib.join("bin/tenterhook"),
        lib.join("bin/tenterhook-hook"),
        lib.join("bin/tenterhook-status"),
    ];
    for path in &public {
        let found = std::fs::metadata(path).unwrap();
        assert_eq!((found.uid(), found.mode() & 0o022), (0, 0), "{}", path.display());
        let (read, written, gone) = as_stranger(|| {
            let written = std::fs::OpenOptions::new().append(true).open(path).is_ok();
            (std::fs::File::open(path).is_ok(), written, std::fs::remove_file(path).is_ok())
        });
        assert!(read && !written && !gone, "{}", path.display());
    }
    let state = system.test.path("system/state");
    assert_eq!(std::fs::metadata(&state).unwrap().permissions().mode() & 0o777, 0o700);
    assert!(as_stranger(|| std::fs::read_dir(&state).is_err()));
    let ours = format!("{}/bin/tenterhook-hook", lib.display());
    assert!(wired_command(&system, "PreToolUse").contains(&ours), "{}", wired_command(&system, "PreToolUse"));
}

#[test]
fn system_another_account_is_judged_and_recorded_under_its_name() {
    if !is_root() {
        return;
    }
    let system = installed_machine();
    let guard = system.serve();
    assert_eq!(decision(&hook(&system, "PreToolUse", &system.test.bash("make all"))), "deny");
    let passed = hook(&system, "PreToolUse", &system.test.bash("ls"));
    assert_eq!((passed.exit, &*passed.stdout, &*passed.stderr), (0, "", ""));
    guard.terminate();
    let decisions: Vec<_> = system.records().into_iter().filter(|leaf| leaf["kind"] == "decision").collect();
    let account = tenterhook_home::env::account_name(STRANGER);
    let said: Vec<_> = decisions.iter().map(|leaf| (&leaf["agent"]["user"], &leaf["verdict"])).collect();
    assert_eq!(said, [(&json!(account), &json!("deny")), (&json!(account), &json!("none"))]);
}

#[test]
fn system_llxprt_is_wired_by_settings_that_outrank_those_of_projects() {
    if !is_root() {
        return;
    }
    let system = SystemHome::new();
    let ran = system.test.run(&["--system", "install", "llxprt", "--yes"]);
    assert_eq!(ran.exit, 0, "{}{}", ran.stdout, ran.stderr);
    let path = system.test.path("system/etc/llxprt-code/settings.json");
    assert_eq!(std::fs::metadata(&path).unwrap().mode() & 0o777, 0o644);
    assert!(as_stranger(|| std::fs::read(&path).is_ok() && std::fs::remove_file(&path).is_err()));
    let settings: Value = serde_json::from_str(&std::fs::read_to_string(&path).unwrap()).unwrap();
    assert_eq!(settings["hooksConfig"], json!({"enabled": true, "disabled": []}));
    let line = settings["hooks"]["BeforeTool"][0]["hooks"][0]["command"].as_str().unwrap();
    let _guard = system.serve();
    let mut command = system.test.command(Path::new("/bin/sh"), &["-c", line]);
    command.uid(STRANGER).gid(STRANGER);
    let payload = json!({"session_id": "s", "cwd": "/", "hook_event_name": "BeforeTool",
        "tool_name": "run_shell_command", "tool_input": {"command": "make all"}});
    let ran = system.test.run_command(command, payload.to_string().as_bytes());
    assert_eq!(ran.json()["decision"], "deny", "{}", ran.stderr);
}

#[test]
fn system_without_a_daemon_every_preventable_call_is_denied() {
    if !is_root() {
        return;
    }
    let system = installed_machine();
    for command in ["make all", "ls"] {
        let ran = hook(&system, "PreToolUse", &system.test.bash(command));
        assert!(decision(&ran) == "deny" || ran.exit == 2, "{command}: {}{}", ran.stdout, ran.stderr);
    }
    let before = system.test.path("system/state/spool");
    assert!(!before.exists(), "another account writes nothing there");
}

#[test]
fn system_only_root_wires_the_machine_and_only_a_user_unwires_it() {
    if !is_root() {
        return;
    }
    let system = installed_machine();
    let before = std::fs::read(managed_settings(&system)).unwrap();
    let program = system.test.path("system/lib/bin/tenterhook");
    for words in [
        &["--system", "install", "claude-code", "--yes"][..],
        &["--system", "uninstall", "claude-code", "--yes"],
    ] {
        let mut command = system.test.command(&program, words);
        command.uid(STRANGER).gid(STRANGER);
        let ran = system.test.run_command(command, b"");
        assert_ne!(ran.exit, 0, "{words:?}: {}{}", ran.stdout, ran.stderr);
    }
    assert_eq!(std::fs::read(managed_settings(&system)).unwrap(), before);
    let ran = system.test.run(&["--system", "uninstall", "claude-code", "--yes"]);
    assert_eq!((ran.exit, managed_settings(&system).exists()), (0, false), "{}{}", ran.stdout, ran.stderr);
}
