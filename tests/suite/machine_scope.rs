// SPDX-License-Identifier: Apache-2.0 OR MIT

//! `install --system` for every harness whose machine-wide settings take precedence over those of accounts. The tests check
//! the files that are written, that the hooks deny calls of another account, and that `uninstall` removes the files.
//! They need root to act as another account; without root they print a note and return.

use std::os::unix::fs::MetadataExt;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use tenterhook_test_support::wait_until;

use serde_json::{Value, json};

use crate::context::CommandOutput;
use crate::system::{STRANGER, SystemHome, as_stranger, is_root};

/// A harness, its machine-wide settings files, and the event and payload that it sends before a tool call.
struct MachineHarness {
    id: &'static str,
    title: &'static str,
    files: &'static [&'static str],
    event: &'static str,
    payload: fn(&str) -> Value,
}

const MACHINE_HARNESSES: &[MachineHarness] = &[
    MachineHarness {
        id: "codex",
        title: "Codex CLI",
        files: &["etc/codex/requirements.toml"],
        event: "pre-tool-use",
        payload: |command| claude_like("Bash", command),
    },
    MachineHarness {
        id: "gemini",
        title: "Gemini CLI",
        files: &["etc/gemini-cli/settings.json"],
        event: "before-tool",
        payload: |command| gemini_like("BeforeTool", command),
    },
    MachineHarness {
        id: "qwen",
        title: "Qwen Code",
        files: &["etc/qwen-code/settings.json"],
        event: "pre-tool-use",
        payload: |command| gemini_like("PreToolUse", command),
    },
    MachineHarness {
        id: "llxprt",
        title: "LLxprt Code",
        files: &["etc/llxprt-code/settings.json"],
        event: "before-tool",
        payload: |command| gemini_like("BeforeTool", command),
    },
    MachineHarness {
        id: "opencode",
        title: "OpenCode",
        files: &["etc/opencode/opencode.json", "etc/opencode/tenterhook.js"],
        event: "tool-execute-before",
        payload: |command| {
            json!({"hook": "tool.execute.before", "input": {"tool": "bash", "sessionID": "s", "callID": "c"},
                "output": {"args": {"command": command}}, "directory": "/"})
        },
    },
    MachineHarness {
        id: "copilot",
        title: "GitHub Copilot CLI",
        files: &["etc/github-copilot/policy.d/tenterhook.json"],
        event: "pre-tool-use",
        payload: |command| json!({"sessionId": "s", "timestamp": 1, "cwd": "/", "toolName": "bash", "toolArgs": {"command": command}}),
    },
];

fn claude_like(tool: &str, command: &str) -> Value {
    json!({"session_id": "s", "cwd": "/", "hook_event_name": "PreToolUse", "tool_name": tool,
        "tool_input": {"command": command}})
}

fn gemini_like(event: &str, command: &str) -> Value {
    json!({"session_id": "s", "cwd": "/", "hook_event_name": event, "tool_name": "run_shell_command",
        "tool_input": {"command": command}})
}

pub(crate) fn path(system: &SystemHome, below: &str) -> PathBuf {
    system.test.path("system").join(below)
}

pub(crate) fn run(system: &SystemHome, words: &[&str]) -> CommandOutput {
    system.test.run(&[&["--system"], words].concat())
}

pub(crate) fn install(system: &SystemHome, id: &str) -> CommandOutput {
    let ran = run(system, &["install", id, "--yes"]);
    assert_eq!(ran.exit, 0, "{id}: {}{}", ran.stdout, ran.stderr);
    ran
}

/// The exit code of `doctor`, and its findings about a harness that report a problem.
pub(crate) fn bad_findings(system: &SystemHome, title: &str) -> (i32, String) {
    let ran = run(system, &["doctor", "--json"]);
    let answer = ran.json();
    let findings = answer["findings"].as_array().unwrap().iter();
    let about = findings.filter(|finding| finding["about"] == title && finding["standing"] == "broken");
    (ran.exit, about.map(|finding| finding["says"].as_str().unwrap()).collect())
}

/// A machine whose machine-wide settings guard every client that supports them.
fn machine_with_every_client() -> SystemHome {
    let system = SystemHome::new();
    for row in MACHINE_HARNESSES {
        install(&system, row.id);
    }
    system
}

#[test]
fn every_harness_is_wired_by_files_that_accounts_can_read_and_not_write() {
    if !is_root() {
        return;
    }
    let system = SystemHome::new();
    for row in MACHINE_HARNESSES {
        install(&system, row.id);
        for file in row.files.iter().map(|file| path(&system, file)) {
            let found = std::fs::metadata(&file).unwrap();
            assert_eq!((found.uid(), found.mode() & 0o777), (0, 0o644), "{}", file.display());
            let (read, written, gone) = as_stranger(|| {
                let written = std::fs::OpenOptions::new().append(true).open(&file).is_ok();
                (std::fs::File::open(&file).is_ok(), written, std::fs::remove_file(&file).is_ok())
            });
            assert!(read && !written && !gone, "{}", file.display());
        }
        let (_, broken) = bad_findings(&system, row.title);
        assert_eq!(broken, "", "{}", row.id);
    }
}

#[test]
fn wired_hooks_deny_for_another_account() {
    if !is_root() {
        return;
    }
    let system = machine_with_every_client();
    let _guard = system.serve();
    let shim = path(&system, "lib/bin/tenterhook-hook");
    for row in MACHINE_HARNESSES {
        let named: String =
            row.files.iter().map(|file| std::fs::read_to_string(path(&system, file)).unwrap()).collect();
        assert!(named.contains(shim.to_str().unwrap()), "{}: {named}", row.id);
        for (tried, denied) in [("make all", true), ("ls", false)] {
            let mut command = system.test.command(&shim, &[row.id, row.event]);
            command.env("TENTERHOOK_HOME", "/tmp").uid(STRANGER).gid(STRANGER);
            let ran = system.test.run_command(command, (row.payload)(tried).to_string().as_bytes());
            let said = format!("{}{}", ran.stdout, ran.stderr);
            assert_eq!(said.contains("no-make"), denied, "{} {tried}: {said}", row.id);
        }
    }
}

#[test]
fn uninstall_restores_the_organisation_s_files_byte_for_byte() {
    if !is_root() {
        return;
    }
    let system = SystemHome::new();
    let originals = [
        (
            "codex",
            "# ours\nallowed_sandbox_modes = [\"read-only\"]\n\n[[hooks.PreToolUse]]\nmatcher = \"Bash\"\nhooks = []\n",
        ),
        ("gemini", "{\n  // ours\n  \"hooksConfig\": {\"enabled\": false},\n}\n"),
        ("qwen", "{\"disableAllHooks\": true, \"env\": {\"A\": \"1\"}}"),
        ("opencode", "{\n  \"plugin\": [\"file:///opt/other.js\"]\n}\n"),
        ("copilot", "{\"version\": 1, \"hooks\": {\"sessionStart\": []}}"),
    ];
    for (id, original) in originals {
        let row = MACHINE_HARNESSES.iter().find(|row| row.id == id).unwrap();
        let file = path(&system, row.files[0]);
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(&file, original).unwrap();
        install(&system, id);
        assert_ne!(std::fs::read_to_string(&file).unwrap(), original, "{id}");
        assert!(
            run(&system, &["install", id, "--yes", "--json"]).json()["changed"] == false,
            "{id}: installing twice changes nothing"
        );
        let ran = run(&system, &["uninstall", id, "--yes"]);
        assert_eq!(ran.exit, 0, "{id}: {}{}", ran.stdout, ran.stderr);
        assert_eq!(std::fs::read_to_string(&file).unwrap(), original, "{id}");
    }
    assert!(!path(&system, "etc/opencode/tenterhook.js").exists());
}

#[test]
fn hooks_of_the_organisation_stay_in_codex_requirements() {
    if !is_root() {
        return;
    }
    let system = SystemHome::new();
    let file = system.test.write("system/etc/codex/requirements.toml", "[[hooks.PreToolUse]]\nhooks = []\n");
    install(&system, "codex");
    let text = std::fs::read_to_string(&file).unwrap();
    assert_eq!(text.matches("[[hooks.PreToolUse]]").count(), 2, "{text}");
    assert!(text.contains("[features]\nhooks = true\n"), "{text}");
    // TOML tables cannot be added to an inline array, so nothing is written.
    run(&system, &["uninstall", "codex", "--yes"]);
    std::fs::write(&file, "[hooks]\nPreToolUse = []\n").unwrap();
    let ran = run(&system, &["install", "codex", "--yes"]);
    assert!(ran.exit == 1 && ran.stderr.contains("[[hooks.<Event>]]"), "{}", ran.stderr);
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "[hooks]\nPreToolUse = []\n");
}

#[test]
fn install_names_what_can_still_bypass_the_hooks_and_refuses_what_cannot_hold() {
    if !is_root() {
        return;
    }
    let system = SystemHome::new();
    let said = install(&system, "qwen").stdout;
    assert!(
        said.contains("can still run it without these hooks") && said.contains("QWEN_CODE_SAFE_MODE"),
        "{said}"
    );
    let said = install(&system, "codex").stdout;
    assert!(!said.contains("without these hooks"), "{said}");
    for id in ["cline", "cursor", "vscode"] {
        let ran = run(&system, &["install", id, "--yes"]);
        assert_eq!(ran.exit, 2, "{}", ran.stderr);
        assert!(ran.stderr.contains("for the whole machine: "), "{}", ran.stderr);
        assert!(ran.stderr.contains("omit `--system`"), "{}", ran.stderr);
    }
}

#[test]
fn doctor_and_status_notice_that_files_of_the_machine_lost_our_hooks() {
    if !is_root() {
        return;
    }
    let system = machine_with_every_client();
    let _guard = system.serve();
    for row in MACHINE_HARNESSES {
        let empty = if row.id == "codex" { "" } else { "{}" };
        std::fs::write(path(&system, row.files[0]), empty).unwrap();
    }
    for title in MACHINE_HARNESSES.iter().map(|row| row.title) {
        let (exit, broken) = bad_findings(&system, title);
        assert!(exit == 1 && broken.contains("hooks were changed or removed"), "{title}: {broken}");
    }
    wait_until("status names every client", || {
        let said = run(&system, &["status"]).stdout;
        MACHINE_HARNESSES
            .iter()
            .all(|row| said.contains(&format!("`tenterhook install {} --system`", row.id)))
            .then_some(())
    });
}
