// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Runs a harness's own hook settings through the program, as the harness itself would run them.

use serde_json::{Value, json};

use crate::context::{CommandOutput, TestContext};

fn deny(reason: &str) -> String {
    format!("echo '{{\"decision\":\"deny\",\"reason\":\"{reason}\"}}'")
}

fn gemini(test: &TestContext, groups: &Value) -> String {
    let settings = json!({"hooks": {"BeforeTool": groups, "BeforeModel": groups}});
    test.write("settings.json", &settings.to_string()).display().to_string()
}

fn fire(test: &TestContext, args: &[&str], input: &Value) -> CommandOutput {
    let args: Vec<_> = ["fire"].iter().chain(args).copied().collect();
    test.run_with(&args, input.to_string().as_bytes())
}

#[test]
fn with_json_it_shows_the_plan_the_trace_and_the_merged_result() {
    let test = TestContext::new();
    let settings = gemini(
        &test,
        &json!([
            {"matcher": "write_.*", "hooks": [{"type": "command", "name": "writes", "command": deny("no writes")}]},
            {"matcher": "read_.*", "hooks": [{"type": "command", "name": "reads", "command": deny("no reads")}]},
        ]),
    );
    let input = json!({"session_id": "s", "tool_name": "write_file", "tool_input": {"path": "x"}});
    let args = ["--profile", "gemini", "--event", "BeforeTool", "--settings", &settings];
    let ran = fire(&test, &[&args[..], &["--json"]].concat(), &input);
    let answer = ran.json();
    assert_eq!(answer["success"], true);
    assert_eq!(answer["finalOutput"]["decision"], "deny");
    assert_eq!(answer["decision"], "deny");
    assert_eq!(answer["processed"]["shouldStop"], false);
    assert_eq!(answer["plan"][0]["matched"], true);
    assert_eq!(answer["plan"][1]["matched"], false);
    assert_eq!(answer["plan"][1]["why"], "the tool is `write_file`, not `read_.*`");
    assert_eq!(answer["trace"][0]["hook"], "writes");
    assert_eq!(answer["trace"][0]["exitCode"], 0);

    let ran = fire(&test, &args, &input);
    let reply: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!((reply["decision"].clone(), reply["reason"].clone()), (json!("deny"), json!("no writes")));
    assert_eq!(ran.exit, 0, "as one merged hook would answer");
}

#[test]
fn the_original_s_weakness_is_reproduced_under_its_profile_only() {
    let test = TestContext::new();
    let allow = "echo '{\"decision\":\"allow\"}'";
    let groups = json!([{"hooks": [
        {"type": "command", "name": "no", "command": deny("no")},
        {"type": "command", "name": "yes", "command": allow},
    ]}]);
    let settings = gemini(&test, &groups);
    let input = json!({"llm_request": {}});
    let args = ["--profile", "gemini", "--event", "BeforeModel", "--settings", &settings, "--json"];
    assert_eq!(fire(&test, &args, &input).json()["decision"], "none", "a later allow erases an earlier deny");

    // If the same two hooks guard an agent, the denial takes precedence.
    test.write(
        "home/tenterhook.yaml",
        &format!(
            "hooks:\n  - {{id: 'no', on: pre-tool, dialect: gemini, command: {}}}\n  - {{id: 'yes', on: pre-tool, \
             dialect: gemini, command: {}}}\n",
            json!(deny("no")),
            json!(allow)
        ),
    );
    let ran = test.run_with(&["hook", "claude-code", "pre-tool-use"], test.bash("ls").as_bytes());
    assert_eq!(ran.json()["hookSpecificOutput"]["permissionDecision"], "deny");
}

#[test]
fn explain_shows_what_each_hook_did_and_the_merged_result() {
    let test = TestContext::new();
    let settings = gemini(
        &test,
        &json!([
            {"matcher": "nothing", "hooks": [{"type": "command", "name": "other", "command": "true"}]},
            {"hooks": [{"type": "command", "name": "crash", "command": "echo oops >&2; exit 1"}]},
        ]),
    );
    let args = ["explain", "--profile", "gemini", "--event", "BeforeTool", "--settings", &settings];
    let ran = test.run_with(&args, json!({"tool_name": "write_file"}).to_string().as_bytes());
    assert_eq!(ran.exit, 0, "{}", ran.stderr);
    for part in ["BeforeTool in profile gemini", "○ other", "● crash", "exit code 1", "Warning: oops"] {
        assert!(ran.stdout.contains(part), "`{part}` is not in\n{}", ran.stdout);
    }
}

#[test]
fn check_reports_hooks_that_would_not_run_as_intended() {
    let test = TestContext::new();
    let settings = test.write(
        "settings.json",
        "{\n  // comments are fine\n  \"hooks\": {\n    \"PreToolUse\": [\n      {\"matcher\": \"Bash\", \"hooks\": [{\"type\": \
         \"command\", \"command\": \"x\", \"timeout\": 60000}]}\n    ],\n    \"Stop\": [\n      {\"matcher\": \"Bash\", \
         \"hooks\": [{\"type\": \"Command\", \"command\": \"y\"}]}\n    ]\n  }\n}\n",
    );
    let ran = test.run(&["check", "--profile", "claude", settings.to_str().unwrap()]);
    assert_eq!(ran.exit, 1);
    for part in [
        "settings.json:8:",
        "unknown hook type `Command`",
        "settings.json:5:",
        "60000 seconds",
        "ignores matchers",
    ] {
        assert!(ran.stdout.contains(part), "`{part}` is not in\n{}", ran.stdout);
    }
    let answer = test.run(&["check", "--profile", "claude", settings.to_str().unwrap(), "--json"]).json();
    assert_eq!((answer["hooks"].clone(), answer["enabled"].clone()), (json!(1), json!(true)));
}

#[test]
fn the_bus_answers_every_line_and_a_slow_request_does_not_hold_up_the_next() {
    let test = TestContext::new();
    let slow = "case $(cat) in *slow*) sleep 1;; esac; echo '{\"decision\":\"allow\"}'";
    let settings = gemini(&test, &json!([{"hooks": [{"type": "command", "command": slow}]}]));
    let request = |id: &str, tool: &str| {
        json!({"type": "HOOK_EXECUTION_REQUEST", "payload": {"correlationId": id, "eventName": "BeforeTool",
            "input": {"tool_name": tool, "tool_input": {}}}})
    };
    let unknown = json!({"type": "HOOK_EXECUTION_REQUEST", "payload": {"correlationId": "c-3", "eventName": "Nope", "input": {}}});
    let lines = format!("{}\n{}\n{unknown}\n", request("c-1", "slow"), request("c-2", "fast"));
    let ran = test.run_with(&["bus", "--profile", "llxprt", "--settings", &settings], lines.as_bytes());
    let answers: Vec<Value> = ran.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(answers.len(), 3, "{}", ran.stdout);
    assert!(answers.iter().all(|answer| answer["type"] == "HOOK_EXECUTION_RESPONSE"));
    let place =
        |id: &str| answers.iter().position(|answer| answer["payload"]["correlationId"] == id).unwrap();
    assert!(place("c-2") < place("c-1"), "{}", ran.stdout);
    assert_eq!(answers[place("c-1")]["payload"]["success"], true);
    assert_eq!(answers[place("c-3")]["payload"]["error"]["code"], "unsupported_event");
}

#[test]
fn unknown_names_are_reported_with_the_known_ones() {
    let test = TestContext::new();
    let ran = fire(&test, &["--profile", "gemni", "--event", "BeforeTool"], &json!({}));
    assert_eq!(
        (ran.exit, ran.stderr.as_str()),
        (2, "error: unknown profile `gemni`\nhint: known: claude, llxprt, llxprt-2026-08, gemini, a3s\n")
    );
    let ran = fire(&test, &["--profile", "gemini", "--event", "PreToolUse"], &json!({}));
    assert_eq!(ran.exit, 2);
    assert!(
        ran.stderr
            .starts_with("error: unknown event `PreToolUse` of profile gemini\nhint: known: SessionStart")
    );
    let ran =
        fire(&test, &["--profile", "gemini", "--event", "BeforeTool", "--settings", "/no/such"], &json!({}));
    assert_eq!((ran.exit, ran.stderr.as_str()), (2, "error: file `/no/such` does not exist\n"));
}

#[test]
fn an_http_hook_of_a_settings_file_gets_only_its_allowed_variables() {
    use std::io::{Read, Write};
    let test = TestContext::new();
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/h", listener.local_addr().unwrap());
    let settings = json!({"hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [{"type": "http", "url": url,
        "headers": {"x-known": "a $HOME", "x-unknown": "b $TENTERHOOK_HOME."}, "allowedEnvVars": ["HOME"]}]}]}});
    let settings = test.write("settings.json", &settings.to_string()).display().to_string();
    let server = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut request = vec![0; 16 * 1024];
        let read = stream.read(&mut request).unwrap();
        let body = "{\"hookSpecificOutput\":{\"hookEventName\":\"PreToolUse\",\"permissionDecision\":\"deny\",\
                    \"permissionDecisionReason\":\"by http\"}}";
        write!(stream, "HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n{body}", body.len()).unwrap();
        String::from_utf8_lossy(&request[..read]).into_owned()
    });
    let input: Value = serde_json::from_str(&test.bash("ls")).unwrap();
    let args = ["--profile", "claude", "--event", "PreToolUse", "--settings", &settings, "--json"];
    assert_eq!(fire(&test, &args, &input).json()["decision"], "deny");
    let request = server.join().unwrap();
    assert!(request.contains(&format!("x-known: a {}\r\n", test.path("person").display())), "{request}");
    assert!(request.contains("x-unknown: b .\r\n"), "{request}");
}
