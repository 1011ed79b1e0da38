// SPDX-License-Identifier: Apache-2.0 OR MIT

//! `doctor` reports settings that switch off machine-wide hooks, as measured with the real clients. The tests need root for
//! `install --system`; without root they print a note and return.

use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::context::{CommandOutput, TestContext};
use crate::daemon::{RunningDaemon, until};
use crate::machine_scope::{bad_findings, install, path};
use crate::system::{STRANGER, SystemHome, is_root};

/// Adds an account with its own home directory to the machine.
fn create_account(test: &TestContext) -> PathBuf {
    let home = test.path("ada");
    std::fs::create_dir_all(&home).unwrap();
    test.write("system/etc/passwd", &format!("ada:x:1000:1000::{}:/bin/sh\n", home.display()));
    home
}

#[test]
fn server_managed_settings_that_drop_claude_code_s_managed_files_are_broken() {
    if !is_root() {
        return;
    }
    let system = SystemHome::new();
    let home = create_account(&system.test);
    install(&system, "claude-code");
    let copy = home.join(".claude/remote-settings.json");
    let write = |text: &str| {
        std::fs::create_dir_all(copy.parent().unwrap()).unwrap();
        std::fs::write(&copy, text).unwrap();
    };
    // The client writes this content if the organisation has no server-managed settings.
    write("{}");
    assert_eq!(bad_findings(&system, "Claude Code").1, "");
    write("{\n  \"cleanupPeriodDays\": 30\n}");
    let (exit, broken) = bad_findings(&system, "Claude Code");
    assert!(exit == 1 && broken.contains("ignores every file of managed settings"), "{broken}");
    assert!(broken.contains("ada/.claude/remote-settings.json"), "{broken}");
    // The server-managed settings contain the same hooks, so the account is guarded.
    write(&std::fs::read_to_string(path(&system, "etc/claude-code/managed-settings.json")).unwrap());
    assert_eq!(bad_findings(&system, "Claude Code").1, "");
    // Hooks in managed settings run even if an account's own settings disable hooks.
    std::fs::write(home.join(".claude/settings.json"), "{\"disableAllHooks\": true}").unwrap();
    assert_eq!(bad_findings(&system, "Claude Code").1, "");
}

#[test]
fn server_managed_settings_that_switch_a_user_s_hooks_off_are_broken() {
    let test = TestContext::new();
    assert_eq!(test.run(&["install", "claude-code", "--yes"]).exit, 0);
    let said = |settings: &str| {
        test.write("person/.claude/remote-settings.json", settings);
        test.run(&["doctor"]).stdout
    };
    for (settings, expected) in [
        (r#"{"allowManagedHooksOnly": true}"#, "`allowManagedHooksOnly` is true"),
        (r#"{"disableAllHooks": true}"#, "`disableAllHooks` is true"),
    ] {
        let said = said(settings);
        assert!(said.contains(expected) && said.contains("does not run them"), "{said}");
    }
    assert!(!said(r#"{"cleanupPeriodDays": 30}"#).contains("does not run them"));
}

#[test]
fn switching_the_machine_s_hooks_off_for_an_account_or_a_project_is_broken() {
    if !is_root() {
        return;
    }
    for (id, title, file, text, expected) in [
        (
            "gemini",
            "Gemini CLI",
            "ada/.gemini/settings.json",
            r#"{"hooksConfig": {"disabled": ["tenterhook"]}}"#,
            "lists Tenterhook's hooks",
        ),
        (
            "gemini",
            "Gemini CLI",
            "work/.gemini/settings.json",
            r#"{"hooksConfig": {"disabled": ["tenterhook"]}}"#,
            "lists Tenterhook's hooks",
        ),
        ("qwen", "Qwen Code", "work/.env", "QWEN_CODE_SAFE_MODE=1\n", "`QWEN_CODE_SAFE_MODE` is set"),
        (
            "qwen",
            "Qwen Code",
            "ada/.qwen/.env",
            "export QWEN_CODE_SAFE_MODE='true'\n",
            "`QWEN_CODE_SAFE_MODE` is set",
        ),
        (
            "llxprt",
            "LLxprt Code",
            "work/.env",
            "LLXPRT_SYSTEM_SETTINGS_PATH=/nowhere\n",
            "does not read the machine's settings",
        ),
    ] {
        let system = SystemHome::new();
        create_account(&system.test);
        install(&system, id);
        assert_eq!(bad_findings(&system, title).1, "", "{id}");
        system.test.write(file, text);
        let (exit, broken) = bad_findings(&system, title);
        assert!(exit == 1 && broken.contains(expected), "{file}: {broken}");
    }
    // In machine-wide settings these keys have no effect.
    let system = SystemHome::new();
    create_account(&system.test);
    for (id, title, file, text) in [
        ("gemini", "Gemini CLI", "ada/.gemini/settings.json", r#"{"hooksConfig": {"enabled": false}}"#),
        (
            "qwen",
            "Qwen Code",
            "ada/.qwen/settings.json",
            r#"{"disableAllHooks": true, "env": {"QWEN_CODE_SAFE_MODE": "1"}}"#,
        ),
    ] {
        install(&system, id);
        system.test.write(file, text);
        assert_eq!(bad_findings(&system, title).1, "", "{id}");
    }
}

/// Every harness that machine-wide settings can guard: id, title and program.
const GUARDABLE: &[(&str, &str, &str)] = &[
    ("claude-code", "Claude Code", "claude"),
    ("codex", "Codex CLI", "codex"),
    ("gemini", "Gemini CLI", "gemini"),
    ("qwen", "Qwen Code", "qwen"),
    ("llxprt", "LLxprt Code", "llxprt"),
    ("opencode", "OpenCode", "opencode"),
    ("copilot", "GitHub Copilot CLI", "copilot"),
];

/// Puts the programs of all harnesses on the PATH of an account that has installed nothing itself.
fn install_programs(test: &TestContext) {
    for (_, _, program) in GUARDABLE {
        let program = test.write(&format!("bin/{program}"), "#!/bin/sh\n");
        std::fs::set_permissions(program, std::fs::Permissions::from_mode(0o755)).unwrap();
    }
    for own in ["person", "home"] {
        std::os::unix::fs::chown(test.path(own), Some(STRANGER), Some(STRANGER)).unwrap();
    }
}

/// Runs the program as an account that is not root and has a separate home directory.
fn run_as_account(test: &TestContext, words: &[&str]) -> CommandOutput {
    let mut command = test.command(Path::new(env!("CARGO_BIN_EXE_tenterhook")), words);
    command.env("PATH", format!("{}:/usr/bin:/bin", test.path("bin").display()));
    command.uid(STRANGER).gid(STRANGER);
    test.run_command(command, b"")
}

/// Status and message of `doctor` about a harness for the account, without notes.
fn account_finding(doctor: &Value, title: &str) -> (String, String) {
    let mut findings = doctor["findings"].as_array().unwrap().iter();
    let about = findings.rfind(|finding| finding["about"] == title);
    let about = about.unwrap_or_else(|| panic!("{title}: {doctor:#}"));
    let text = |key: &str| about[key].as_str().unwrap().to_owned();
    (text("standing"), text("says"))
}

fn account_doctor(test: &TestContext) -> Value {
    run_as_account(test, &["doctor", "--json"]).json()
}

#[test]
fn an_account_s_own_doctor_knows_the_hooks_of_the_machine() {
    if !is_root() {
        return;
    }
    let system = SystemHome::new();
    install_programs(&system.test);
    let doctor = account_doctor(&system.test);
    for (id, title, _) in GUARDABLE {
        let (standing, says) = account_finding(&doctor, title);
        assert!(standing == "warning" && says.contains("is installed, but not guarded"), "{id}: {says}");
        install(&system, id);
    }
    let doctor = account_doctor(&system.test);
    for (id, title, _) in GUARDABLE {
        let (standing, says) = account_finding(&doctor, title);
        assert!(standing == "good" && says.contains("guarded by machine-wide settings"), "{id}: {says}");
    }
    let detected = run_as_account(&system.test, &["detect", "--json"]).json();
    // Codex Desktop reads the settings of Codex CLI.
    for one in
        detected["harnesses"].as_array().unwrap().iter().filter(|one| one["harness"] != "codex-desktop")
    {
        let is_guarded = GUARDABLE.iter().any(|(id, ..)| one["harness"] == *id);
        assert_eq!(
            (one["wired"] == "yes", one["scopes"] == serde_json::json!(["machine"])),
            (is_guarded, is_guarded),
            "{one:#}"
        );
    }
    let said = run_as_account(&system.test, &["detect"]).stdout;
    assert!(said.contains("is guarded (machine)") && !said.contains("no event yet"), "{said}");
    let proof = run_as_account(&system.test, &["doctor", "--prove", "codex", "--json"]).json();
    let reason = proof["harnesses"][0]["reason"].as_str().unwrap();
    assert!(reason.contains("in machine-wide settings"), "{proof:#}");
}

#[test]
fn an_account_s_own_doctor_explains_why_the_machine_s_hooks_do_not_run_for_it() {
    if !is_root() {
        return;
    }
    let system = SystemHome::new();
    install_programs(&system.test);
    install(&system, "claude-code");
    let copy = system.test.write("person/.claude/remote-settings.json", "{\"cleanupPeriodDays\": 30}");
    let (standing, says) = account_finding(&account_doctor(&system.test), "Claude Code");
    assert!(standing == "broken" && says.contains("ignores every file of managed settings"), "{says}");
    std::fs::remove_file(copy).unwrap();
    // The file was written by another version, or changed by the administrator.
    let file = path(&system, "etc/claude-code/managed-settings.json");
    let mut settings: Value = serde_json::from_slice(&std::fs::read(&file).unwrap()).unwrap();
    settings["hooks"].as_object_mut().unwrap().remove("Stop").unwrap();
    std::fs::write(&file, settings.to_string()).unwrap();
    let (standing, says) = account_finding(&account_doctor(&system.test), "Claude Code");
    assert!(standing == "warning" && says.contains("machine-wide hooks of another version"), "{says}");
}

#[test]
fn an_account_s_daemon_counts_harnesses_that_the_machine_guards() {
    if !is_root() {
        return;
    }
    let system = SystemHome::new();
    install(&system, "claude-code");
    let SystemHome { test } = system;
    for directory in [".claude", ".gemini"] {
        std::fs::create_dir(test.path("person").join(directory)).unwrap();
    }
    let served = RunningDaemon::in_home(test, &[]);
    let health = until("agents are detected", || {
        Some(served.json("/v1/health")).filter(|health| health.get("guarded").is_some())
    });
    assert_eq!(health["guarded"], serde_json::json!(["claude-code"]), "{health}");
    let unguarded = health["unguarded"].as_array().unwrap();
    assert!(
        unguarded.iter().any(|id| id == "gemini") && !unguarded.iter().any(|id| id == "claude-code"),
        "{health}"
    );
}
