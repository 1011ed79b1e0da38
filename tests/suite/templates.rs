// SPDX-License-Identifier: Apache-2.0 OR MIT

//! `new`: every template becomes a working hook or rule.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::process::Command;

use serde_json::{Value, json};

use crate::context::{CommandOutput, TestContext};

fn said(ran: &CommandOutput, exit: i32, part: &str) {
    assert_eq!(ran.exit, exit, "{}{}", ran.stdout, ran.stderr);
    let all = format!("{}{}", ran.stdout, ran.stderr);
    assert!(all.contains(part), "`{part}` is not in\n{all}");
}

fn templates(test: &TestContext, kind: &str) -> Vec<Value> {
    test.run(&["new", kind, "--list", "--json"]).json()["templates"].as_array().unwrap().clone()
}

// seed: 003-098
#[test]
fn every_hook_decides_as_its_samples_state() {
    let test = TestContext::new();
    let all = templates(&test, "hook");
    assert!(all.len() >= 12);
    for template in all {
        let name = template["name"].as_str().unwrap();
        let here = |program: &Value| {
            let found =
                Command::new("sh").args(["-c", "command -v \"$0\"", program.as_str().unwrap()]).output();
            found.unwrap().status.success()
        };
        said(&test.run(&["new", "hook", "--from", name]), 0, &format!("tenterhook hooks trust {name}"));
        // This template sends a request to a server, so a separate test with a server covers it.
        if name == "external-logging" {
            continue;
        }
        if !template["needs"].as_array().unwrap().iter().all(here) {
            tenterhook_test_support::skip_test(&format!("template {name} needs {}", template["needs"]));
            continue;
        }
        let mut command = test.command(std::path::Path::new(env!("CARGO_BIN_EXE_tenterhook")), &[]);
        command.args(["hooks", "test", name, "--json"]).env("PATH", std::env::var_os("PATH").unwrap());
        let ran = test.run_command(command, b"");
        assert_eq!(ran.exit, 0, "{name}: {}{}", ran.stdout, ran.stderr);
        assert!(!ran.json()["samples"].as_array().unwrap().is_empty());
    }
}

#[test]
fn every_rule_can_be_added_to_a_user_policy() {
    let test = TestContext::new();
    let mine = "version: 1\nrules:\n  - {id: mine, match: {tool: shell}, verdict: ask}\n";
    test.write("home/policy.yaml", mine);
    for template in templates(&test, "rule") {
        let name = template["name"].as_str().unwrap();
        let args = ["new", "rule", "--from", name, "--json"];
        match name {
            "host-list" => said(&test.run(&args), 2, "defines lists"),
            // An exception, and a rule that changes calls.
            "exception" | "command-timeout" => {
                said(&test.run(&args), 1, "`policy change` needs confirmation");
                let id = if name == "exception" { "our-build-cache" } else { name };
                said(&test.run_on_terminal(&args), 0, id);
            }
            _ => said(&test.run(&args), 0, name),
        }
    }
    said(&test.run(&["new", "rule", "--from", "env-files"]), 2, "already");
    let text = std::fs::read_to_string(test.home().join("policy.yaml")).unwrap();
    assert!(text.starts_with(mine) && text.contains("- id: our-build-cache"), "{text}");
    said(&test.run(&["policy", "check"]), 0, "");
}

#[test]
fn a_rule_of_a_template_judges() {
    let test = TestContext::new();
    test.run(&["new", "rule", "--from", "ask-before-deploy"]);
    let judged = test.run(&["policy", "explain", "--json", "--shell", "make deploy"]).json();
    assert_eq!((&judged["verdict"], &judged["rule"]), (&json!("ask"), &json!("ask-before-deploy")));
}

#[test]
fn nothing_is_overwritten_without_confirmation() {
    let test = TestContext::new();
    for (args, file) in [
        (["new", "rule", "--from", "env-files", "--output", "r.yaml"], "work/r.yaml"),
        (["new", "hook", "--from", "env-guard", "--output", "kit"], "work/kit/guard.py"),
    ] {
        said(&test.run(&args), 0, "wrote [DIR]/work/");
        test.write(file, "mine");
        said(&test.run(&args), 2, "already exists");
        assert_eq!(std::fs::read_to_string(test.path(file)).unwrap(), "mine");
        let mut forced = args.to_vec();
        forced.push("--force");
        said(&test.run(&forced), 0, "wrote");
        assert_ne!(std::fs::read_to_string(test.path(file)).unwrap(), "mine");
    }
    said(&test.run(&["new", "hook", "--from", "nothing"]), 2, "there is no template `nothing`");
    said(&test.run(&["new", "hook", "--from", "env-guard", "--name", "../x"]), 2, "invalid name");
}

#[test]
fn a_hook_of_a_template_denies_once_it_is_trusted() {
    let test = TestContext::new();
    let write = json!({
        "session_id": "s", "cwd": test.path("work"), "hook_event_name": "PreToolUse", "tool_name": "Write",
        "tool_input": {"file_path": test.path("work/.env"), "content": "API_KEY=0123456789abcdef"},
        "tool_use_id": "t",
    });
    let fire =
        || test.run_with(&["hook", "claude-code", "pre-tool-use"], write.to_string().as_bytes()).stdout;
    said(&test.run(&["new", "hook", "--from", "env-guard"]), 0, "guard.py");
    assert_eq!(fire(), "", "the package is not trusted yet");
    said(&test.run(&["hooks", "trust", "env-guard"]), 1, "requested by a guarded agent");
    said(&test.run_on_terminal(&["hooks", "trust", "env-guard"]), 0, "its hooks run from now on");
    assert!(fire().contains("would contain a key or a password"), "{}", fire());
    assert_eq!(test.last_change()["what"], "hooks trust");
    // A hook that was changed is no longer trusted.
    test.write("home/hooks/env-guard/guard.py", "pass\n");
    assert_eq!(fire(), "");
    said(&test.run(&["check"]), 1, "`guard.py` was changed");
    said(&test.run_on_terminal(&["hooks", "trust", "env-guard"]), 0, "its hooks run");
    said(&test.run(&["hooks", "list"]), 0, "trusted");
}

#[test]
fn the_logging_hook_posts_what_happened() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let test = TestContext::new();
    test.run(&["new", "hook", "--from", "external-logging"]);
    let path = test.home().join("hooks/external-logging/hook.yaml");
    let text = std::fs::read_to_string(&path).unwrap().replace("127.0.0.1:9009", &address);
    // A synchronous hook waits for its request, so that the program does not end before the request is sent.
    std::fs::write(&path, text.replace("async: true", "async: false")).unwrap();
    said(&test.run_on_terminal(&["hooks", "trust", "external-logging"]), 0, "run");
    let served = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut request = vec![0; 64 * 1024];
        let length = stream.read(&mut request).unwrap();
        stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\nconnection: close\r\n\r\n").unwrap();
        String::from_utf8_lossy(&request[..length]).into_owned()
    });
    said(&test.run(&["hooks", "test", "external-logging"]), 0, "a finished tool call");
    let request = served.join().unwrap();
    assert!(request.starts_with("POST /events HTTP/1.1"), "{request}");
}
