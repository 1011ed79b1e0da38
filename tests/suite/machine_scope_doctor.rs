// SPDX-License-Identifier: Apache-2.0 OR MIT

//! What switches off hooks of the machine, as measured on the clients, is reported by `doctor`. Needs root for
//! `install --system`; without it the tests say so and leave.

use std::path::PathBuf;

use crate::context::TestContext;
use crate::machine_scope::{complaints, install, path};
use crate::system::{System, is_root};

/// An account of the machine with a home of its own.
fn account(test: &TestContext) -> PathBuf {
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
    let system = System::new();
    let home = account(&system.test);
    install(&system, "claude-code");
    let copy = home.join(".claude/remote-settings.json");
    let write = |text: &str| {
        std::fs::create_dir_all(copy.parent().unwrap()).unwrap();
        std::fs::write(&copy, text).unwrap();
    };
    // What the client writes for an organisation without such settings.
    write("{}");
    assert_eq!(complaints(&system, "Claude Code").1, "");
    write("{\n  \"cleanupPeriodDays\": 30\n}");
    let (exit, broken) = complaints(&system, "Claude Code");
    assert!(exit == 1 && broken.contains("ignores every file of managed settings"), "{broken}");
    assert!(broken.contains("ada/.claude/remote-settings.json"), "{broken}");
    // With these hooks in the server-managed settings the account is guarded.
    write(&std::fs::read_to_string(path(&system, "etc/claude-code/managed-settings.json")).unwrap());
    assert_eq!(complaints(&system, "Claude Code").1, "");
    // Whatever an account sets in its own files, hooks of managed settings run.
    std::fs::write(home.join(".claude/settings.json"), "{\"disableAllHooks\": true}").unwrap();
    assert_eq!(complaints(&system, "Claude Code").1, "");
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
        assert!(said.contains(expected) && said.contains("does not heed it"), "{said}");
    }
    assert!(!said(r#"{"cleanupPeriodDays": 30}"#).contains("does not heed it"));
}

#[test]
fn what_switches_the_machine_s_hooks_off_for_an_account_or_a_project_is_broken() {
    if !is_root() {
        return;
    }
    for (id, title, file, text, expected) in [
        (
            "gemini",
            "Gemini CLI",
            "ada/.gemini/settings.json",
            r#"{"hooksConfig": {"disabled": ["tenterhook"]}}"#,
            "names our hooks",
        ),
        (
            "gemini",
            "Gemini CLI",
            "work/.gemini/settings.json",
            r#"{"hooksConfig": {"disabled": ["tenterhook"]}}"#,
            "names our hooks",
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
        let system = System::new();
        account(&system.test);
        install(&system, id);
        assert_eq!(complaints(&system, title).1, "", "{id}");
        system.test.write(file, text);
        let (exit, broken) = complaints(&system, title);
        assert!(exit == 1 && broken.contains(expected), "{file}: {broken}");
    }
    // Set in the settings of the machine, these do not count.
    let system = System::new();
    account(&system.test);
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
        assert_eq!(complaints(&system, title).1, "", "{id}");
    }
}
