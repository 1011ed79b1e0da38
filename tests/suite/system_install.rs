// SPDX-License-Identifier: Apache-2.0 OR MIT

//! `install --system`: harnesses of every account are wired by settings that none of them can write. Needs root, to be
//! another account; without it the tests say so and leave.

use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::context::Ran;
use crate::system::{STRANGER, System, as_stranger, is_root};

fn installed() -> System {
    let system = System::new();
    let ran = system.test.run(&["--system", "install", "claude-code", "--yes"]);
    assert_eq!(ran.exit, 0, "{}{}", ran.stdout, ran.stderr);
    system
}

fn managed(system: &System) -> PathBuf {
    system.test.path("system/etc/claude-code/managed-settings.json")
}

/// What the settings say is run at an event.
fn wired(system: &System, event: &str) -> String {
    let settings: Value = serde_json::from_str(&std::fs::read_to_string(managed(system)).unwrap()).unwrap();
    settings["hooks"][event][0]["hooks"][0]["command"].as_str().unwrap().to_owned()
}

/// Runs what is wired as another account, which also has a say about the environment.
fn hook(system: &System, event: &str, payload: &str) -> Ran {
    let line = wired(system, event);
    let mut command = system.test.command(Path::new("/bin/sh"), &["-c", &line]);
    command.env("TENTERHOOK_HOME", "/tmp").env("TENTERHOOK_DAEMON_URL", "unix:/nowhere");
    command.uid(STRANGER).gid(STRANGER);
    system.test.finish(command, payload.as_bytes())
}

fn decision(ran: &Ran) -> Value {
    if ran.stdout.is_empty() {
        Value::Null
    } else {
        ran.json()["hookSpecificOutput"]["permissionDecision"].clone()
    }
}

#[test]
fn system_what_is_installed_can_be_read_and_not_written_by_others() {
    if !is_root() {
        return;
    }
    let system = installed();
    let lib = system.test.path("system/lib");
    let public = [
        managed(&system),
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
    assert!(wired(&system, "PreToolUse").contains(&ours), "{}", wired(&system, "PreToolUse"));
}

#[test]
fn system_another_account_is_judged_and_on_record_under_its_name() {
    if !is_root() {
        return;
    }
    let system = installed();
    let guard = system.serve();
    assert_eq!(decision(&hook(&system, "PreToolUse", &system.test.bash("make all"))), "deny");
    let passed = hook(&system, "PreToolUse", &system.test.bash("ls"));
    assert_eq!((passed.exit, &*passed.stdout, &*passed.stderr), (0, "", ""));
    guard.signal();
    let decisions: Vec<_> = system.leaves().into_iter().filter(|leaf| leaf["kind"] == "decision").collect();
    let account = tenterhook_home::env::account_name(STRANGER);
    let said: Vec<_> = decisions.iter().map(|leaf| (&leaf["agent"]["user"], &leaf["verdict"])).collect();
    assert_eq!(said, [(&json!(account), &json!("deny")), (&json!(account), &json!("none"))]);
}

#[test]
fn system_llxprt_is_wired_by_settings_that_outrank_those_of_projects() {
    if !is_root() {
        return;
    }
    let system = System::new();
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
    let ran = system.test.finish(command, payload.to_string().as_bytes());
    assert_eq!(ran.json()["decision"], "deny", "{}", ran.stderr);
}

#[test]
fn system_without_a_daemon_nothing_passes_that_could_be_prevented() {
    if !is_root() {
        return;
    }
    let system = installed();
    for command in ["make all", "ls"] {
        let ran = hook(&system, "PreToolUse", &system.test.bash(command));
        assert!(decision(&ran) == "deny" || ran.exit == 2, "{command}: {}{}", ran.stdout, ran.stderr);
    }
    let before = system.test.path("system/state/spool");
    assert!(!before.exists(), "another account leaves nothing there");
}

#[test]
fn system_only_root_wires_the_machine_and_only_a_person_takes_it_out() {
    if !is_root() {
        return;
    }
    let system = installed();
    let before = std::fs::read(managed(&system)).unwrap();
    let program = system.test.path("system/lib/bin/tenterhook");
    for words in [
        &["--system", "install", "claude-code", "--yes"][..],
        &["--system", "uninstall", "claude-code", "--yes"],
    ] {
        let mut command = system.test.command(&program, words);
        command.uid(STRANGER).gid(STRANGER);
        let ran = system.test.finish(command, b"");
        assert_ne!(ran.exit, 0, "{words:?}: {}{}", ran.stdout, ran.stderr);
    }
    assert_eq!(std::fs::read(managed(&system)).unwrap(), before);
    let ran = system.test.run(&["--system", "uninstall", "claude-code", "--yes"]);
    assert_eq!((ran.exit, managed(&system).exists()), (0, false), "{}{}", ran.stdout, ran.stderr);
}
