// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Lines in which the daemon does not answer. OpenAgentLock's hook then lets every call pass. Tenterhook's
//! hook does so only if Tenterhook was never installed. With an installation, the rules apply without a
//! daemon, and a call that passes gets the same reply as from OpenAgentLock, without text for the model.

use std::io::Write;
use std::os::unix::net::UnixListener;
use std::path::Path;

use serde_json::json;

use super::{DAEMON_DOWN_CASES, OpenAgentLockCase, cases, deny_message, installed_home};
use crate::context::{CommandOutput, TestContext};

fn daemon_down_cases() -> Vec<OpenAgentLockCase> {
    cases().into_iter().filter(|case| DAEMON_DOWN_CASES.contains(&case.id.as_str())).collect()
}

fn hook(test: &TestContext, program: &Path, case: &OpenAgentLockCase, stdin: &str) -> CommandOutput {
    test.run_command(test.command(program, &[&case.harness, &case.event]), stdin.as_bytes())
}

/// The hook's output for a line if the call proceeds.
fn expected_silence(case: &OpenAgentLockCase) -> &'static str {
    if case.harness == "cursor" { "{\"permission\":\"allow\"}\n" } else { "" }
}

/// A server that answers in another protocol.
fn start_foreign_server(test: &TestContext) -> std::thread::JoinHandle<()> {
    std::fs::create_dir_all(test.home().join("run")).unwrap();
    let listener = UnixListener::bind(test.home().join("run/tenterhook.sock")).unwrap();
    std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        stream.write_all(b"HTTP/1.1 401 Unauthorized\r\nContent-Length: 0\r\n\r\n").unwrap();
    })
}

// seed: 001-016
#[test]
fn without_an_installation_every_call_passes_silently_as_in_the_original() {
    let test = installed_home();
    // The hook program alone, in a directory without an installation.
    let program = test.path("elsewhere/tenterhook-hook");
    std::fs::create_dir_all(program.parent().unwrap()).unwrap();
    std::fs::copy(test.home().join("bin/tenterhook-hook"), &program).unwrap();
    std::fs::remove_file(test.home().join("home.json")).unwrap();
    for case in daemon_down_cases() {
        let ran = hook(&test, &program, &case, &case.stdin);
        assert_eq!((ran.exit, &*ran.stdout, &*ran.stderr), (0, expected_silence(&case), ""), "{}", case.id);
    }
}

// seed: 001-007, 001-008, 001-009, 001-015, 001-017, 001-018
#[test]
fn with_an_installation_the_rules_apply_and_allowed_calls_pass_silently() {
    let test = installed_home();
    for (number, case) in daemon_down_cases().into_iter().enumerate() {
        let stranger = (case.id == "cc-daemon-http401").then(|| start_foreign_server(&test));
        let program = || test.home().join("bin/tenterhook-hook");
        let ran = hook(&test, &program(), &case, &case.stdin);
        if let Some(stranger) = stranger {
            stranger.join().unwrap();
            std::fs::remove_file(test.home().join("run/tenterhook.sock")).unwrap();
        }
        assert_eq!((ran.exit, &*ran.stderr), (0, ""), "{}", case.id);
        let dangerous = case.stdin.contains("rm -rf /");
        let said = if ran.stdout.is_empty() { json!({}) } else { ran.json() };
        assert_eq!(deny_message(&case.harness, &said).is_some(), dangerous, "{}: {}", case.id, ran.stdout);
        if !dangerous {
            assert_eq!(ran.stdout, expected_silence(&case), "{}", case.id);
        }
        let harmless = hook(&test, &program(), &case, &case.stdin.replace("rm -rf /", "ls"));
        assert_eq!(
            (harmless.exit, &*harmless.stdout, &*harmless.stderr),
            (0, expected_silence(&case), ""),
            "{}",
            case.id
        );
        assert_eq!(test.decisions().len(), number * 2 + 2, "{}: both are recorded later", case.id);
    }
}
