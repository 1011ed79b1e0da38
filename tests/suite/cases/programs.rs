// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Cases about timeouts, variables, chains, order and HTTP, with hooks that are real programs.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::time::Duration;

use serde_json::{Value, json};

use super::{case, command, fire, fire_file, lines_of_file};
use crate::context::TestContext;

/// A hook that appends its name to `ran`, stores its input, and continues with `then`.
fn tracing_hook(name: &str, then: &str) -> Value {
    command(&format!("echo {name} >> ../ran; cat > ../{name}.json; {then}"))
}

fn successes(answer: &Value) -> Vec<Value> {
    answer["trace"].as_array().unwrap().iter().map(|step| step["success"].clone()).collect()
}

#[test]
fn g_runner_037_a_hook_that_never_ends_is_ended_at_its_timeout() {
    let case = case("g-runner-037");
    let (given, expect) = (&case["given"], &case["expect"]);
    let test = TestContext::new();
    let mut hook = command("trap 'echo SIGTERM >> ../signals; exit' TERM; sleep 30 & wait");
    hook["timeout"] = given["timeout_ms"].clone();
    // SIGTERM is followed by SIGKILL shortly afterwards: on a busy machine the hook may not get to write.
    for _ in 0..10 {
        let answer = fire(&test, "gemini", "BeforeTool", &json!([{"hooks": [hook]}])).json();
        let step = &answer["trace"][0];
        assert_eq!((&step["success"], &step["output"]), (&expect["success"], &expect["output"]));
        let error = step["error"].as_str().unwrap();
        assert!(error.contains(expect["error_contains"].as_str().unwrap()), "{error}");
        assert_eq!(answer["decision"] == "deny", expect["blocked"] == true);
        if test.path("signals").exists() {
            break;
        }
    }
    assert_eq!(json!(lines_of_file(&test.path("signals"))), expect["signals"]);
}

#[test]
fn g_runner_047_a_hook_s_own_variables_win() {
    let case = case("g-runner-047");
    let test = TestContext::new();
    let mut hook = case["given"]["hook"].clone();
    hook["command"] = json!("env > ../env");
    fire(&test, "gemini", "BeforeTool", &json!([{"hooks": [hook]}]));
    let env = lines_of_file(&test.path("env"));
    for (name, value) in case["expect"]["env"].as_object().unwrap() {
        assert!(env.contains(&format!("{name}={}", value.as_str().unwrap())), "{env:?}");
    }
    let project = format!("GEMINI_PROJECT_DIR={}", test.path("work").display());
    assert!(env.contains(&project), "other variables are kept: {env:?}");
}

/// Hooks with the case's names and exit codes, in one group.
fn hook_group(case: &Value) -> Value {
    let given = &case["given"];
    let hook = |(at, name): (usize, &Value)| {
        tracing_hook(name.as_str().unwrap(), &format!("exit {}", given["exits"][at].as_u64().unwrap_or(0)))
    };
    let hooks: Vec<Value> = given["hooks"].as_array().unwrap().iter().enumerate().map(hook).collect();
    json!([{"sequential": given["mode"] == "sequential", "hooks": hooks}])
}

#[test]
fn g_runner_053_a_chain_goes_on_after_a_failure() {
    let case = case("g-runner-053");
    let test = TestContext::new();
    let answer = fire(&test, "gemini", "BeforeTool", &hook_group(&case)).json();
    assert_eq!(answer["sequential"], true);
    assert_eq!(json!(lines_of_file(&test.path("ran"))), case["expect"]["ran"]);
    assert_eq!(json!(successes(&answer)), case["expect"]["success"]);
}

#[test]
fn g_runner_061_a_failed_hook_changes_nothing_for_the_next() {
    let test = TestContext::new();
    let mut groups = hook_group(&case("g-runner-061"));
    // The first hook prints an answer, which is ignored because the hook fails.
    groups[0]["hooks"][0] =
        tracing_hook("a", r#"echo '{"hookSpecificOutput":{"tool_input":{"content":"changed"}}}'; exit 1"#);
    fire(&test, "gemini", "BeforeTool", &groups);
    let read = |name: &str| std::fs::read_to_string(test.path(name)).unwrap();
    assert_eq!(lines_of_file(&test.path("ran")), ["a", "b"]);
    assert_eq!(read("a.json"), read("b.json"));

    groups[0]["hooks"][0] =
        tracing_hook("a", r#"echo '{"hookSpecificOutput":{"tool_input":{"content":"changed"}}}'; exit 0"#);
    fire(&test, "gemini", "BeforeTool", &groups);
    let second: Value = serde_json::from_str(&read("b.json")).unwrap();
    assert_eq!(
        second["tool_input"],
        json!({"path": "a", "content": "changed"}),
        "the answer of a hook that did not fail"
    );
}

#[test]
fn g_runner_063_a_deny_does_not_end_a_chain() {
    let case = case("g-runner-063");
    let test = TestContext::new();
    let mut groups = hook_group(&case);
    groups[0]["hooks"][0] = tracing_hook("a", &format!("echo '{}'", case["given"]["first_stdout"]));
    let answer = fire(&test, "gemini", "BeforeTool", &groups).json();
    assert_eq!(
        lines_of_file(&test.path("ran")).contains(&"b".to_owned()),
        case["expect"]["second_hook_runs"] == true
    );
    assert_eq!(answer["decision"], "deny");
}

#[test]
fn g_runner_067_results_come_in_the_order_of_the_configuration() {
    let case = case("g-runner-067");
    let test = TestContext::new();
    let mut groups = hook_group(&case);
    // The first hook waits for the second, so the test passes only if they run in parallel, and the first ends last.
    groups[0]["hooks"][0] = tracing_hook(
        "a",
        "n=0; while [ ! -e ../b.done ] && [ $n -lt 500 ]; do sleep 0.01; n=$((n+1)); done; echo a >> ../ended",
    );
    groups[0]["hooks"][1] = tracing_hook("b", "echo b >> ../ended; : > ../b.done; exit 1");
    let answer = fire(&test, "gemini", "BeforeTool", &groups).json();
    assert_eq!(answer["sequential"], false);
    assert_eq!(lines_of_file(&test.path("ended")), ["b", "a"]);
    assert_eq!(json!(successes(&answer)), case["expect"]["success"]);
}

/// Starts a server that answers one request. Returns its address and a thread that returns the request.
fn start_server(answer: String) -> (String, std::thread::JoinHandle<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    let thread = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(5))).unwrap();
        let (mut request, mut buffer) = (Vec::new(), [0; 4096]);
        while !request.ends_with(b"}") {
            let read = stream.read(&mut buffer).unwrap();
            request.extend_from_slice(&buffer[..read]);
        }
        stream.write_all(answer.as_bytes()).unwrap();
        String::from_utf8(request).unwrap()
    });
    (url, thread)
}

/// Calls an HTTP hook as the case describes, and returns the result and the request.
fn call_http_hook(case: &Value) -> (Value, String) {
    let output = &case["outputs"][0];
    let body = output["body"].as_str().unwrap();
    let head = format!("HTTP/1.1 {} X\r\ncontent-length: {}\r\n\r\n", output["http_status"], body.len());
    let (url, server) = start_server(head + body);
    let mut hook = json!({"type": "http"});
    if let Some(fields) = case.pointer("/config/0/hooks/0") {
        hook = fields.clone();
    }
    hook["url"] = json!(url);
    let test = TestContext::new();
    let settings = json!({"hooks": {"PreToolUse": [{"hooks": [hook]}]}});
    let answer = fire_file(&test, "claude", "PreToolUse", &settings, &case["input"]).json();
    assert_eq!(answer["trace"][0]["success"], true, "{answer}");
    (answer, server.join().unwrap())
}

#[test]
fn cc_079_and_081_an_http_hook_answers_with_a_status_and_a_body() {
    for id in ["cc-079-http-2xx-empty", "cc-081-http-200-json-deny"] {
        let case = case(id);
        let (answer, asked) = call_http_hook(&case);
        assert_eq!(answer["decision"], case["expect"]["decision"], "{id}");
        let specific = &answer["finalOutput"]["hookSpecificOutput"];
        assert_eq!(specific["permissionDecisionReason"], case["expect"]["reason"], "{id}");
        assert!(asked.contains(&case["input"]["tool_use_id"].to_string()), "it gets the payload: {asked}");
    }
}

#[test]
fn cc_083_a_header_variable_that_is_not_allowed_is_empty_under_the_profile_and_an_error_in_our_own_file() {
    let case = case("cc-083-http-env-unlisted-empty");
    let (_, asked) = call_http_hook(&case);
    let headers = case["expect"]["request_headers"].as_object().unwrap();
    for (name, value) in headers {
        let expected = format!("{name}: {}", value.as_str().unwrap()).to_lowercase();
        let sent = asked.lines().find(|line| line.to_lowercase().starts_with(&name.to_lowercase()));
        assert_eq!(sent.unwrap().trim().to_lowercase(), expected.trim());
    }
    let test = TestContext::new();
    let hook =
        "{id: web, on: PreToolUse, match: Bash, url: 'http://127.0.0.1:9', headers: {a: 'Bearer ${TOKEN}'}}";
    test.write("home/tenterhook.yaml", &format!("hooks:\n  - {hook}\n"));
    let ran = test.run(&["check"]);
    assert_eq!(ran.exit, 1);
    assert!(ran.stdout.contains("variable `TOKEN` is not set"), "{}", ran.stdout);
}
