// SPDX-License-Identifier: Apache-2.0 OR MIT

//! In some harnesses, no hook sees text that is typed into a running program. There, the user is asked about
//! programs that read commands from a terminal.

use serde_json::{Value, json};

use crate::context::{CommandOutput, TestContext};

/// Runs the hook with a captured Codex payload, in which the command is replaced.
fn run_codex_hook(test: &TestContext, command: &str) -> CommandOutput {
    let text = include_str!("../../fixtures/codex/PreToolUse.Bash.json");
    let mut payload: Value = serde_json::from_str(text).unwrap();
    payload["tool_input"] = json!({ "command": command });
    payload["cwd"] = json!(test.path("work"));
    test.run_with(&["hook", "codex", "PreToolUse"], payload.to_string().as_bytes())
}

/// Runs the hook with a captured Copilot payload, in which the tool and its arguments are replaced.
fn run_copilot_hook(test: &TestContext, tool: &str, args: Value) -> CommandOutput {
    let text = include_str!("../../fixtures/copilot/preToolUse.bash.json");
    let mut payload: Value = serde_json::from_str::<Value>(text).unwrap()["stdin"].take();
    payload["toolName"] = json!(tool);
    payload["toolArgs"] = args;
    payload["cwd"] = json!(test.path("work"));
    test.run_with(&["hook", "copilot", "preToolUse"], payload.to_string().as_bytes())
}

#[test]
fn codex_may_not_start_programs_that_it_could_type_into() {
    let test = TestContext::new();
    for command in
        ["python3 -q", "cat > script.sh; sh script.sh", "psql app", "ssh host", "read x; eval \"$x\""]
    {
        let ran = run_codex_hook(&test, command);
        // No user can approve, so the call is denied; the reason names an alternative.
        assert!(ran.stdout.contains("\"deny\""), "{command}: {} {}", ran.stdout, ran.stderr);
        assert!(ran.stdout.contains("fires no hook"), "{command}: {}", ran.stdout);
    }
}

#[test]
fn codex_runs_parsed_commands_without_approval() {
    let test = TestContext::new();
    for command in [
        "python3 - <<'EOF'\nprint(1)\nEOF",
        "python3 script.py",
        "echo ls | sh",
        "psql -c 'select 1'",
        "ruby -v",
        "python3 -h",
    ] {
        let ran = run_codex_hook(&test, command);
        assert_eq!((ran.stdout.as_str(), ran.exit), ("", 0), "{command}: {}", ran.stderr);
    }
}

#[test]
fn other_harnesses_are_not_asked_more_often() {
    let test = TestContext::new();
    for command in ["python3 -q", "psql app", "vim notes.md", "cat > script.sh; sh script.sh", "ssh host"] {
        let ran = test.run(&["judge", "--json", "--shell", command]);
        assert_eq!(ran.json()["verdict"], "none", "{command}");
        let ran = test.run(&["judge", "--json", "--harness", "codex", "--shell", command]);
        assert_eq!(ran.json()["verdict"], "ask", "{command}");
        assert_eq!(ran.json()["rule"], "typed-program", "{command}");
    }
    let ran = test.run(&["explain", "--json", "--harness", "codex", "--command", "python3 -q"]);
    let typed = ran.json()["rules"]
        .as_array()
        .unwrap()
        .iter()
        .any(|note| note["rule"] == "typed-program" && note["matched"] == true);
    assert!(typed, "{}", ran.stdout);
}

#[test]
fn text_that_copilot_types_into_a_shell_is_judged_as_shell_text() {
    let test = TestContext::new();
    let denied = run_copilot_hook(
        &test,
        "write_bash",
        json!({"sessionId": "1", "input": "rm -rf ~{enter}", "delay": 1}),
    );
    assert!(denied.stdout.contains("deny"), "{} {}", denied.stdout, denied.stderr);
    let fine =
        run_copilot_hook(&test, "write_bash", json!({"sessionId": "1", "input": "ls{enter}", "delay": 1}));
    assert!(!fine.stdout.contains("deny") && fine.exit == 0, "{} {}", fine.stdout, fine.stderr);
}

#[test]
fn text_that_a_multiplexer_types_is_judged_as_shell_text() {
    let test = TestContext::new();
    for command in [
        "tmux -L x send-keys 'rm -rf ~' Enter",
        "tmux send-keys -t 0 -l 'rm -rf ~'",
        "tmux send-keys rm Space -rf Space '~' Enter",
        "tmux send-keys -H 72 6d 20 2d 72 66 20 7e 0d",
        "tmux -f x.conf new -d \\; send 'rm -rf ~' C-m",
        "screen -S x -p 0 -X stuff 'rm -rf ~^M'",
        "screen -S x -X eval 'stuff \"rm -rf ~\\015\"'",
    ] {
        let ran = test.run(&["judge", "--json", "--shell", command]);
        assert_eq!(ran.json()["verdict"], "deny", "{command}");
    }
}
