// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Attacks on the gate for privileged actions. The name of each test begins with its mode; `docs/threat-model.md` lists
//! the attacks that a mode does not prevent.

use serde_json::{Value, json};

use crate::context::TestContext;
use crate::terminal_user::{SocketDaemon, code};

const RULE: &str = "version: 1\nrules:\n  - {id: no-make, match: {shell: {program: make}}, verdict: deny}\n";

/// A state directory in which the test process is marked as an agent, because it has called a hook.
fn home_with_agent() -> TestContext {
    let test = TestContext::new();
    test.write("home/policy.yaml", RULE);
    test.run_with(&["hook", "claude-code", "pre-tool-use"], test.bash("ls").as_bytes());
    test
}

fn denies(test: &TestContext) -> bool {
    let ran = test.run_with(&["hook", "claude-code", "pre-tool-use"], test.bash("make all").as_bytes());
    ran.stdout.contains("\"deny\"")
}

/// Every privileged action, as an agent would try it.
const PRIVILEGED_ACTIONS: &[&[&str]] = &[
    &["mode", "monitor"],
    &["rules", "disable", "no-make"],
    &["ledger", "erase", "0", "--reason", "x", "--yes"],
    &["ledger", "prune", "--before", "2999-01-01", "--reason", "x", "--yes"],
    &["policy", "trust", "--yes"],
    &["uninstall", "claude-code", "--yes"],
    &["totp", "enroll"],
];

#[test]
fn same_user_a_guarded_agent_weakens_nothing_and_every_try_is_recorded() {
    let test = home_with_agent();
    test.write("work/.tenterhook.yaml", RULE);
    test.run(&["install", "claude-code", "--yes"]);
    let settings = std::fs::read_to_string(test.path("person/.claude/settings.json")).unwrap();
    for with_daemon in [false, true] {
        let guard = with_daemon.then(|| SocketDaemon::of(&test));
        if let Some(guard) = &guard {
            guard.hook("claude-code", "pre-tool-use", &serde_json::from_str(&test.bash("ls")).unwrap());
        }
        for args in PRIVILEGED_ACTIONS.iter().copied().chain(guard.is_some().then_some(&["stop"][..])) {
            let ran = test.run(args);
            assert_eq!(ran.exit, 1, "{args:?}: {}{}", ran.stdout, ran.stderr);
            assert!(ran.stderr.contains("by a guarded agent"), "{args:?}: {}", ran.stderr);
            let leaf = test.last_change();
            assert_eq!(
                (&leaf["what"], &leaf["detail"]["authority"]["proof"]),
                (&json!("refused"), &json!("none"))
            );
            let agent = &leaf["detail"]["authority"]["agent"];
            assert_eq!(agent["pid"], std::process::id(), "{leaf}");
            assert!(args.join(" ").starts_with(leaf["detail"]["action"].as_str().unwrap()), "{leaf}");
        }
        assert!(denies(&test), "with a daemon: {with_daemon}");
    }
    assert_eq!(std::fs::read_to_string(test.path("person/.claude/settings.json")).unwrap(), settings);
    assert!(!test.home().join("totp.new").exists());
}

#[test]
fn same_user_a_guarded_agent_gets_nothing_over_the_api_for_any_claim() {
    let test = home_with_agent();
    test.write("home/tenterhook.yaml", "hooks:\n  - {id: mine, on: stop, command: 'true'}\n");
    let guard = SocketDaemon::of(&test);
    guard.hook("claude-code", "pre-tool-use", &serde_json::from_str(&test.bash("ls")).unwrap());
    let etag = guard.request("GET", "/v1/policy", &Value::Null).1["own"]["etag"].as_str().unwrap().to_owned();
    for (method, path, body) in [
        ("PUT", "/v1/mode", json!({"mode": "monitor", "proof": {"tty": true}})),
        ("POST", "/v1/authority", json!({"action": "stop", "proof": {"tty": true}})),
        ("PUT", "/v1/policy", json!({"text": "version: 1\nrules: []\n", "proof": {"code": "123456"}})),
        ("POST", "/v1/authority", json!({"action": "hooks add", "proof": {"tty": true}})),
        ("POST", "/v1/hooks/mine/disable", json!({"proof": {"tty": true}})),
    ] {
        let (status, answer) = guard.request_if_match(&etag, method, path, &body);
        assert_eq!(status, 403, "{path}: {answer}");
        assert!(answer["error"]["message"].as_str().unwrap().contains("a guarded agent"), "{answer}");
        assert_eq!(test.last_change()["what"], "refused");
    }
    assert_eq!(guard.request("GET", "/v1/mode", &Value::Null).1["mode"], "enforce");
    let (status, _) = guard.request("PUT", "/v1/mode", &json!({"mode": "enforce"}));
    assert_eq!(status, 200, "strengthening protection needs no confirmation");
    assert_eq!(std::fs::read_to_string(test.home().join("policy.yaml")).unwrap(), RULE);
    assert_eq!(guard.request("GET", "/v1/hooks", &Value::Null).1["hooks"][0]["enabled"], true);
}

#[test]
fn same_user_without_a_user_nothing_is_weakened_and_the_error_has_a_hint() {
    let test = TestContext::new();
    test.write("home/policy.yaml", RULE);
    for with_daemon in [false, true] {
        let _guard = with_daemon.then(|| SocketDaemon::of(&test));
        let ran = test.run(&["mode", "monitor"]);
        assert_eq!(ran.exit, 1);
        assert!(ran.stderr.contains("needs confirmation on a terminal"), "{}", ran.stderr);
        assert!(ran.stderr.contains("tenterhook approvals totp enroll"), "{}", ran.stderr);
        assert_eq!(test.last_change()["what"], "refused");
    }
    assert!(denies(&test));
}

#[test]
fn same_user_a_user_confirms_by_typing_the_action() {
    let test = home_with_agent();
    for with_daemon in [false, true] {
        let _guard = with_daemon.then(|| SocketDaemon::of(&test));
        let ran = test.run_on_terminal_answering(&["mode", "monitor"], |_| "yes".to_owned());
        assert_eq!(ran.exit, 1, "{}", ran.stderr);
        assert!(ran.stderr.contains("you did not type `mode monitor`"), "{}", ran.stderr);
        assert!(denies(&test));

        let ran = test.run_on_terminal(&["mode", "monitor"]);
        assert_eq!(ran.exit, 0, "{}", ran.stderr);
        assert!(ran.stdout.contains("verdicts are only recorded"), "{}", ran.stdout);
        let leaf = test.last_change();
        assert_eq!((&leaf["what"], &leaf["detail"]["to"]), (&json!("mode monitor"), &json!("monitor")));
        let by = &leaf["detail"]["authority"];
        assert_eq!(by["proof"], "tty");
        assert!(by["program"].as_str().unwrap().ends_with("tenterhook"), "{leaf}");
        assert!(!denies(&test), "effective at once");
        assert!(test.run(&["check"]).stdout.contains("all rules are only monitored"));
        assert_eq!(test.run(&["mode", "--json"]).json()["mode"], "monitor");

        assert_eq!(test.run(&["mode", "enforce"]).exit, 0, "strengthening protection needs no confirmation");
        assert_eq!(test.last_change()["what"], "mode enforce");
        assert!(denies(&test), "effective at once");
    }
}

#[test]
fn same_user_with_codes_a_terminal_is_not_enough_and_no_code_counts_twice() {
    let test = home_with_agent();
    let secret = test.enroll();
    for with_daemon in [false, true] {
        let _guard = with_daemon.then(|| SocketDaemon::of(&test));
        let ran = test.run_on_terminal(&["mode", "monitor", "--code", "000000"]);
        assert!(ran.exit == 1 && ran.stderr.contains("the code is wrong"), "{}", ran.stderr);
        let right = code(&secret, i64::from(with_daemon));
        assert_eq!(test.run(&["mode", "monitor"]).exit, 1, "a guarded agent without a code");
        assert_eq!(test.run(&["mode", "monitor", "--code", "000000"]).exit, 1, "or with a wrong one");
        let file = test.write("code.txt", &format!("{right}\n"));
        let ran = test.run_on_terminal(&["mode", "monitor", "--code-file", file.to_str().unwrap()]);
        assert_eq!(ran.exit, 0, "{}", ran.stderr);
        assert_eq!(test.last_change()["detail"]["authority"]["proof"], "code");
        test.run(&["mode", "enforce"]);
        let ran = test.run_on_terminal(&["mode", "monitor", "--code", &right]);
        assert!(ran.exit == 1 && ran.stderr.contains("was used already"), "a used code: {}", ran.stderr);
        if !with_daemon {
            // Five attempts per minute are allowed. Setting up codes used one, and the test has made three more.
            let ran = test.run_on_terminal(&["totp", "remove", "--code", "111111"]);
            assert!(ran.exit == 1 && ran.stderr.contains("the code is wrong"), "{}", ran.stderr);
            let ran = test.run_on_terminal(&["totp", "remove", "--code", "222222"]);
            assert!(ran.exit == 1 && ran.stderr.contains("too many codes"), "{}", ran.stderr);
            forget_attempts(&test);
        }
    }
    assert_eq!(test.run(&["totp", "status", "--json"]).json()["on"], true);
}

#[test]
fn same_user_over_tcp_the_token_gives_access_and_weakens_nothing_without_a_code() {
    let test = TestContext::new();
    let loosen = |token: Option<&str>, proof: &Value| {
        let address = test.run(&["status", "--json"]).json()["listen"].as_str().unwrap().to_owned();
        let body = json!({"mode": "monitor", "proof": proof}).to_string();
        let token = token.map(|token| format!("Authorization: Bearer {token}\r\n")).unwrap_or_default();
        let length = body.len();
        let mut stream = std::net::TcpStream::connect(&address).unwrap();
        let head = format!(
            "PUT /v1/mode HTTP/1.1\r\nHost: {address}\r\n{token}Connection: close\r\nContent-Type: application/json\r\nContent-Length: {length}\r\n\r\n"
        );
        std::io::Write::write_all(&mut stream, (head + &body).as_bytes()).unwrap();
        let mut answer = String::new();
        std::io::Read::read_to_string(&mut stream, &mut answer).unwrap();
        answer.split(' ').nth(1).unwrap().parse::<u16>().unwrap()
    };
    let program = std::path::Path::new(env!("CARGO_BIN_EXE_tenterhook"));
    let _guard = SocketDaemon::with(&test, test.command(program, &["serve", "--listen", "127.0.0.1:0"]));
    let token = std::fs::read_to_string(test.home().join("run/token")).unwrap();
    assert_eq!(loosen(None, &json!({"tty": true})), 401, "no token");
    let wrong = token.chars().rev().collect::<String>() + "0";
    assert_eq!(loosen(Some(&wrong), &json!({"tty": true})), 401, "a wrong one");
    assert_eq!(loosen(Some(&token), &json!({"tty": true})), 403, "the caller is unknown");
    assert_eq!(test.last_change()["detail"]["authority"]["via"], "tcp");
    let secret = test.enroll();
    assert_eq!(loosen(Some(&token), &json!({"code": "000000"})), 403);
    assert_eq!(loosen(Some(&token), &json!({"code": code(&secret, 0)})), 200);
    assert_eq!(test.last_change()["detail"]["authority"]["proof"], "code");
}

/// Removes the recorded attempts, as if a minute had passed.
fn forget_attempts(test: &TestContext) {
    let path = test.home().join("totp");
    let mut kept: Value = serde_json::from_str(&std::fs::read_to_string(&path).unwrap()).unwrap();
    kept["tries"] = json!([]);
    std::fs::write(path, kept.to_string()).unwrap();
}

#[test]
fn same_user_a_signal_ends_the_daemon_and_is_recorded() {
    let test = TestContext::new();
    let guard = SocketDaemon::of(&test);
    guard.terminate();
    let leaf = test.last_change();
    assert_eq!(leaf["what"], "stop");
    assert_eq!(leaf["detail"]["authority"], json!({"via": "signal", "proof": "none"}));
}

#[test]
fn same_user_only_a_user_stops_or_restarts_the_daemon() {
    let test = TestContext::new();
    let guard = SocketDaemon::of(&test);
    assert_eq!(test.run(&["stop"]).exit, 1);
    assert_eq!(test.run(&["restart"]).exit, 1);
    assert_eq!(test.run(&["status"]).exit, 0, "the daemon still runs");
    let ran = std::thread::scope(|scope| {
        // The daemon is a child of the test and stays a zombie until the test waits for it.
        scope.spawn(|| guard.wait_until_ended());
        test.run_on_terminal(&["stop"])
    });
    assert_eq!((ran.exit, ran.stdout.as_str()), (0, "the daemon stopped\n"), "{}", ran.stderr);
    let leaf = test.last_change();
    assert_eq!((&leaf["what"], &leaf["detail"]["authority"]["proof"]), (&json!("stop"), &json!("tty")));
}

#[test]
fn same_user_a_hook_that_a_user_runs_by_hand_marks_no_agent() {
    let test = TestContext::new();
    // If an interactive shell started the hook, the user did, so the shell is not marked as an agent.
    let payload = test.write("payload.json", &test.bash("ls"));
    let line = format!(
        "'{}' hook claude-code pre-tool-use < '{}'\nexit\n",
        env!("CARGO_BIN_EXE_tenterhook"),
        payload.display()
    );
    let shell = test.command(std::path::Path::new("/bin/sh"), &[]);
    let ran = test.run_command(shell, line.as_bytes());
    assert_eq!(ran.exit, 0, "{}", ran.stderr);
    assert_eq!(test.decisions().len(), 1);
    let agents = std::fs::read_dir(test.home().join("run/agents")).map(Iterator::count).unwrap_or_default();
    assert_eq!(agents, 0);
    test.run_with(&["hook", "claude-code", "pre-tool-use"], test.bash("ls").as_bytes());
    assert_eq!(
        std::fs::read_dir(test.home().join("run/agents")).unwrap().count(),
        1,
        "this process is an agent"
    );
}
