// SPDX-License-Identifier: Apache-2.0 OR MIT

//! A command is evaluated in the working directory that the tool's arguments name.

use serde_json::{Value, json};

use super::native_payloads::{HARNESSES, home_with_project, payload, project, send, shell_tool, verdict};

/// The arguments of a harness's shell tool.
fn shell_args(harness: &str, command: &str, more: &[(&str, Value)]) -> Value {
    let mut args = match harness {
        "cline" => json!({"commands": [command]}),
        _ => json!({"command": command, "description": "d"}),
    };
    for (key, value) in more {
        args[*key] = value.clone();
    }
    args
}

/// The arguments in which a client accepts, or may accept, a working directory.
fn directory_keys(harness: &str) -> &'static [&'static str] {
    match harness {
        "opencode" | "codex" => &["workdir"],
        "gemini" => &["dir_path"],
        "qwen" => &["directory"],
        "llxprt" => &["dir_path", "directory"],
        "cursor" => &["working_directory"],
        _ => &["cwd", "workingDirectory"],
    }
}

#[test]
fn a_directory_beside_a_command_does_not_hide_what_it_deletes() {
    let test = home_with_project();
    let home = test.path("person");
    for harness in HARNESSES {
        let tool = shell_tool(harness);
        for key in directory_keys(harness) {
            for place in [json!(home), json!(".."), json!("~"), json!("$HOME")] {
                let args = shell_args(harness, "rm -rf precious", &[(key, place.clone())]);
                assert_eq!(verdict(&test, harness, tool, &args), "deny", "{harness} {key} {place}");
            }
            let args = shell_args(harness, "rm -rf precious", &[(key, json!("$NOWHERE"))]);
            let unknown = verdict(&test, harness, tool, &args);
            assert!(["ask", "deny"].contains(&unknown.as_str()), "{harness} {key}: {unknown}");
            let args = shell_args(harness, "rm -rf build", &[(key, json!("web"))]);
            assert_eq!(verdict(&test, harness, tool, &args), "none", "{harness} {key}");
        }
    }
}

#[test]
fn with_two_directories_the_stricter_verdict_counts() {
    let test = home_with_project();
    let (inside, home) = (json!(project(&test)), json!(test.path("person")));
    for (one, other) in [(&inside, &home), (&home, &inside)] {
        let more = [("dir_path", one.clone()), ("directory", other.clone())];
        let args = shell_args("llxprt", "rm -rf precious", &more);
        assert_eq!(verdict(&test, "llxprt", "run_shell_command", &args), "deny");
    }
    // Claude Code ignores the argument, so `..` is the project's parent directory.
    let args = shell_args("claude-code", "rm -rf ../precious", &[("cwd", json!("/tmp/a/b"))]);
    assert_eq!(verdict(&test, "claude-code", "Bash", &args), "deny");
}

#[test]
fn an_mcp_tool_that_runs_commands_has_a_working_directory_too() {
    let test = home_with_project();
    let home = test.path("person");
    for args in [
        json!({"command": "rm -rf precious", "workingDirectory": home}),
        json!({"command": "rm", "args": ["-rf", "precious"], "cwd": home}),
        json!({"arguments": {"command": "rm -rf precious", "directory": home}}),
        json!({"commands": [{"command": "rm -rf precious", "cwd": home}]}),
    ] {
        assert_eq!(verdict(&test, "claude-code", "mcp__term__run", &args), "deny", "{args}");
    }
}

#[test]
fn the_directory_is_on_record_and_explained() {
    let test = home_with_project();
    let args = shell_args("opencode", "rm -rf precious", &[("workdir", json!(".."))]);
    let (event, sent) = payload(&test, "opencode", "bash", &args);
    send(&test, "opencode", event, &sent);
    let leaf = test.decisions().pop().unwrap();
    assert_eq!(leaf["tool"]["args"]["workdir"], "..");
    let file = test.write("payload.json", &sent.to_string());
    let file = file.to_str().unwrap();
    let explained = test.run(&["explain", "--json", "--harness", "opencode", "--file", file]).json();
    let directories = &explained["facts"]["directories"];
    assert_eq!(directories, &json!([{"text": "..", "resolved": "[DIR]/person"}]));
    let said = test.run(&["explain", "--harness", "opencode", "--file", file]).stdout;
    assert!(said.contains("rm -rf precious (in ..)"), "{said}");
    let said = test.run(&["explain", "--all", "--harness", "opencode", "--file", file]).stdout;
    assert!(said.contains("Runs in\n  .. → [DIR]/person\n"), "{said}");
}
