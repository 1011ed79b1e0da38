// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Replies of the daemon's API to dashboards and SDKs.

use serde_json::{Value, json};

use crate::context::TestContext;
use crate::daemon::{RunningDaemon, until};
use crate::terminal_user::code;

const DENIED: &str = "sudo rm -rf /";

#[test]
fn the_ledger_is_found_shown_counted_and_proved() {
    let served = RunningDaemon::new();
    served.bash("ls");
    served.bash(DENIED);
    served.call("Stop", &json!({}));
    let all = served.json("/v1/ledger?kind=decision");
    let leaves = all["leaves"].as_array().unwrap();
    assert_eq!(leaves.len(), 3);
    assert_eq!(leaves[0]["leaf"]["event"], "stop", "newest first");
    let denied =
        &served.json("/v1/ledger?verdict=deny&tool=Bash&session=s-1&since=1h&text=RM%20-rf")["leaves"];
    assert_eq!(denied.as_array().unwrap().len(), 1);
    let (seq, id) = (&denied[0]["seq"], denied[0]["leaf"]["id"].as_str().unwrap());
    assert_eq!(served.json(&format!("/v1/ledger/{seq}")), served.json(&format!("/v1/ledger/{id}")));
    assert_eq!(served.json(&format!("/v1/ledger/{seq}"))["payload"]["args"]["command"], DENIED);
    let first = served.json("/v1/ledger?kind=decision&limit=2");
    let rest = served.json(&format!("/v1/ledger?kind=decision&limit=2&before={}", first["next"]));
    assert_eq!((rest["leaves"].as_array().unwrap().len(), &rest["next"]), (1, &Value::Null));

    let stats = served.json("/v1/ledger/stats?kind=decision");
    assert_eq!((&stats["leaves"], &stats["verdicts"]["deny"]), (&json!(3), &json!(1)));
    let proof = served.get(&format!("/v1/ledger/{seq}/proof"));
    assert_eq!(proof.status, 200, "{proof:?}");
    let file = served.test.write("proof", &proof.body);
    let key = served.json("/v1/ledger/checkpoint")["key"].as_str().unwrap().to_owned();
    let ran = served.test.run(&["ledger", "verify-proof", file.to_str().unwrap(), "--key", &key]);
    assert_eq!(ran.exit, 0, "{}{}", ran.stdout, ran.stderr);
}

#[test]
fn missing_or_unusable_resources_are_reported_with_a_hint() {
    let served = RunningDaemon::new();
    for (path, status, says) in [
        ("/v1/ledger/99", 404, "unknown record `99`"),
        ("/v1/ledger/99/proof", 404, "unknown record `99`"),
        ("/v1/ledger/nonsense", 404, "unknown record `nonsense`"),
        (
            "/v1/ledger?verdict=maybe",
            400,
            "invalid query: verdict: unknown variant `maybe`, expected one of `none`, `allow`, `defer`, `ask`, `deny`",
        ),
        ("/v1/ledger?since=whenever", 400, "invalid time `whenever`"),
        (
            "/v1/ledger?kind=x",
            400,
            "invalid query: kind: unknown variant `x`, expected one of `start`, `decision`, `seen`, `change`, `erase`, `rotate`, `prune`",
        ),
        ("/v1/ledger/verify", 404, "the ledger was not verified since the daemon started"),
        ("/v1/sessions/none", 404, "unknown session `none`"),
        ("/v1/sessions/none/timeline", 404, "unknown session `none`"),
        (
            "/v1/sessions?state=asleep",
            400,
            "invalid query: state: unknown variant `asleep`, expected one of `active`, `waiting`, `idle`, `ended`",
        ),
        ("/v1/nothing", 404, "unknown path"),
    ] {
        let answer = served.get(path);
        assert_eq!((answer.status, answer.message().as_str()), (status, says), "{path}");
    }
    let wrong = served.post("/v1/health", &json!({}));
    assert_eq!((wrong.status, wrong.message().as_str()), (405, "method not allowed for this path"));
    for query in ["/v1/ledger?sesion=x", "/v1/ledger?limit=many"] {
        assert_eq!(served.get(query).status, 400, "{query}");
    }
    let no_event = served.post("/v1/events", &json!({"v": 1}));
    assert!(
        no_event.status == 400
            && no_event.message() == "invalid request body: missing field `source` at line 1 column 7",
        "{no_event:?}"
    );
    let no_harness = served.post("/v1/hooks/nobody/PreToolUse", &json!({}));
    assert_eq!((no_harness.status, no_harness.message().as_str()), (404, "unknown harness `nobody`"));
}

#[test]
fn invalid_parts_of_a_request_are_errors_in_json() {
    let served = RunningDaemon::new();
    for (method, path, body, says) in [
        ("PUT", "/v1/mode", &b"{\"mode\": \"off\"}"[..], "invalid request body: unknown variant `off`"),
        ("PUT", "/v1/mode", b"", "invalid request body: missing field `mode`"),
        ("POST", "/v1/ledger/verify", b"[null, null]", "invalid request body: invalid type: sequence"),
        ("POST", "/v1/authority/agents/x/forget", b"{}", "invalid path: Cannot parse `x` to a `i32`"),
        ("GET", "/v1/authority", b"", "invalid query: missing field `action`"),
        ("GET", "/v1/sessions/%FF", b"", "invalid path: "),
    ] {
        let answer = served.request(method, path, &[], body);
        assert_eq!(answer.status, 400, "{path}: {answer:?}");
        assert!(answer.message().starts_with(says), "{path}: {answer:?}");
    }
}

#[test]
fn the_ledger_is_checked_in_the_background() {
    let served = RunningDaemon::new();
    served.bash("ls");
    let begun = served.post("/v1/ledger/verify", &json!({}));
    assert_eq!(begun.status, 202, "{begun:?}");
    let status = until("the check ends", || {
        Some(served.json("/v1/ledger/verify")).filter(|status| status["running"] == false)
    });
    assert_eq!(status["result"]["verified"], true, "{status}");
    assert_eq!(status["checked"], status["of"]);
    let other = json!({"key": "x+00000000+AQ"});
    assert_eq!(served.post("/v1/ledger/verify", &other).status, 400);
    let gone = json!({"since": "no checkpoint"});
    assert!(served.post("/v1/ledger/verify", &gone).message().starts_with("`since` is not a checkpoint"));
}

#[test]
fn sessions_are_put_together_and_survive_the_daemon() {
    let served = RunningDaemon::new();
    served.call("SessionStart", &json!({"source": "startup", "model": "claude-test-1"}));
    served.call("UserPromptSubmit", &json!({"prompt": "please tidy up"}));
    served.bash("cat notes.txt");
    served.bash(DENIED);
    let todos = json!([{"content": "tidy", "status": "in_progress", "activeForm": "tidying"}]);
    served.call(
        "PreToolUse",
        &json!({"tool_name": "TodoWrite", "tool_input": {"todos": todos}, "tool_use_id": "t2"}),
    );
    let check = |served: &RunningDaemon| {
        let list = served.json("/v1/sessions?harness=claude-code&state=active");
        assert_eq!(list["all"], 1, "{list}");
        let session = served.json("/v1/sessions/s-1");
        assert_eq!(session["model"], "claude-test-1");
        assert_eq!((&session["verdicts"]["deny"], &session["tools"]["Bash"]), (&json!(1), &json!(2)));
        assert_eq!(session["prompt_texts"][0]["text"], "please tidy up");
        assert_eq!(
            session["todo_items"][0],
            json!({"text": "tidy", "status": "in_progress", "active_form": "tidying"})
        );
    };
    check(&served);
    let read = |session: &Value| {
        session["touched"][0]["path"].as_str().is_some_and(|path| path.ends_with("/notes.txt"))
    };
    until("the file is known", || Some(served.json("/v1/sessions/s-1")).filter(read));
    // The harness sends the model's name only once, but the records of all later events contain it.
    let leaf = &served.json("/v1/ledger?verdict=deny")["leaves"][0]["leaf"];
    assert_eq!(leaf["agent"]["model"], "claude-test-1");
    let timeline = served.json("/v1/sessions/s-1/timeline");
    let events: Vec<_> =
        timeline["steps"].as_array().unwrap().iter().map(|step| step["event"].as_str().unwrap()).collect();
    assert_eq!(events, ["session-start", "prompt", "pre-tool", "pre-tool", "pre-tool"]);
    assert_eq!(timeline["steps"][3]["tool"]["gist"], DENIED);
    assert_eq!(timeline["steps"][1]["said"], "please tidy up");

    let served = served.restart();
    until("sessions are known again", || {
        Some(()).filter(|()| {
            served.json("/v1/sessions")["all"] == 1 && served.json("/v1/sessions/s-1")["events"] == 5
        })
    });
    check(&served);
    assert!(served.json("/v1/sessions?state=ended")["sessions"].as_array().unwrap().is_empty());
}

#[test]
fn the_policy_is_shown_tested_and_explained() {
    let test = TestContext::new();
    test.write(
        "home/policy.yaml",
        "version: 1\nrules:\n  - id: no-curl\n    verdict: deny\n    match: {shell: {program: [curl]}}\n    reason: no\n",
    );
    let served = RunningDaemon::in_home(test, &[]);
    let policy = served.json("/v1/policy");
    let own = policy["rules"].as_array().unwrap().iter().find(|rule| rule["id"] == "no-curl").unwrap();
    assert_eq!((&own["layer"], &own["verdict"]), (&json!("user"), &json!("deny")), "{policy}");
    assert!(policy["own"]["text"].as_str().unwrap().contains("no-curl"));

    let explained =
        served.post("/v1/policy/explain", &json!({"command": "curl example.com", "cwd": "/work"})).json();
    assert_eq!((&explained["verdict"], &explained["rule"]), (&json!("deny"), &json!("no-curl")));
    assert_eq!(explained["facts"]["commands"][0]["program"], "curl");
    let event = &explained["event"];
    let again = served.post("/v1/policy/explain", &json!({"event": event})).json();
    assert_eq!(again["verdict"], "deny");
    let tool = json!({"tool": {"name": "Write", "args": {"file_path": "/work/a", "content": "x"}}, "cwd": "/work", "all": true});
    let fine = served.post("/v1/policy/explain", &tool).json();
    assert_eq!(fine["verdict"], "none");
    assert_eq!(fine["considered"], fine["rules"].as_array().unwrap().len());
    assert_eq!(served.post("/v1/policy/explain", &json!({})).status, 400);

    let checked = served
        .request("POST", "/v1/policy/validate", &[], b"version: 1\nrules:\n  - id: x\n    verdict: dney\n")
        .json();
    let lines: Vec<_> = checked["problems"].as_array().unwrap().iter().map(|one| &one["line"]).collect();
    assert_eq!((&checked["ok"], lines), (&json!(false), vec![&json!(3), &json!(4)]), "{checked}");
    let checked = served.request("POST", "/v1/policy/validate", &[], b"version: 1\nrules: []\n").json();
    assert_eq!((&checked["ok"], &checked["problems"]), (&json!(true), &json!([])));
    assert_eq!(served.json("/v1/policy")["own"], policy["own"], "a test changes nothing");
    assert!(
        served.json("/v1/ledger?kind=decision")["leaves"].as_array().unwrap().is_empty(),
        "an explanation changes nothing"
    );
}

#[test]
fn hooks_are_listed_without_their_secrets() {
    let test = TestContext::new();
    let hooks = "hooks:\n  - id: notify\n    on: stop\n    url: http://127.0.0.1:9/x\n    headers: {authorization: hunter2}\n  - id: look\n    on: pre-tool\n    match: Bash\n    command: 'true'\n    enabled: false\n";
    test.write("home/tenterhook.yaml", hooks);
    let served = RunningDaemon::in_home(test, &[]);
    let hooks = served.get("/v1/hooks");
    assert!(!hooks.body.contains("hunter2"));
    let hooks = hooks.json();
    assert_eq!(hooks["hooks"][0]["runs"], json!({"type": "http", "url": "http://127.0.0.1:9/x"}));
    assert_eq!((&hooks["hooks"][1]["id"], &hooks["hooks"][1]["enabled"]), (&json!("look"), &json!(false)));
}

#[test]
fn counters_are_there_for_prometheus() {
    let served = RunningDaemon::new();
    served.bash("ls");
    served.bash(DENIED);
    served.hook("this is no JSON");
    let metrics = served.get("/v1/metrics");
    assert_eq!(
        metrics.header("content-type"),
        Some("application/openmetrics-text; version=1.0.0; charset=utf-8")
    );
    for line in [
        "tenterhook_decisions_total{harness=\"claude-code\",event=\"pre-tool\",verdict=\"deny\"} 1\n",
        "tenterhook_decisions_total{harness=\"claude-code\",event=\"pre-tool\",verdict=\"none\"} 1\n",
        "tenterhook_decision_seconds_count 2\n",
        "tenterhook_record_seconds_count 2\n",
        "tenterhook_hook_calls_total 3\n",
        "tenterhook_refused_total 1\n",
        "tenterhook_in_flight 0\n",
        "tenterhook_sessions 1\n",
        "tenterhook_spool_entries 0\n",
    ] {
        assert!(metrics.body.contains(line), "{line} is not in {}", metrics.body);
    }
    let generation = served.json("/v1/policy")["generation"].as_str().unwrap().to_owned();
    assert!(metrics.body.contains(&format!("tenterhook_generation_info{{generation=\"{generation}\"}} 1\n")));
}

#[test]
fn the_policy_and_hooks_change_only_with_a_users_proof() {
    let test = TestContext::new();
    test.write("home/tenterhook.yaml", "hooks:\n  - id: look\n    on: stop\n    command: 'true'\n");
    let served = RunningDaemon::in_home(test, &[]);
    let tag = served.get("/v1/policy").header("etag").unwrap().to_owned();
    assert_eq!(tag, "\"none\"");
    let change = |headers: &[&str], body: &Value| {
        served.request("PUT", "/v1/policy", headers, body.to_string().as_bytes())
    };
    let text = json!({"text": "version: 1\nrules: []\n", "proof": {"tty": true, "code": "000000"}});
    assert_eq!(change(&[], &text).status, 428);
    assert_eq!(change(&["If-Match: \"abc\""], &text).status, 412);
    let matching = format!("If-Match: {tag}");
    let broken = change(&[&matching], &json!({"text": "version: 1\nrules:\n  - id: x\n"}));
    assert_eq!(broken.status, 422, "{broken:?}");
    assert_eq!(broken.json()["validation"]["problems"][0]["line"], 3);
    let refused = change(&[&matching], &text);
    assert_eq!(refused.status, 403, "a terminal cannot be proven over TCP: {refused:?}");
    assert!(!served.test.home().join("policy.yaml").exists());
    let refused = served.post("/v1/hooks/look/disable", &json!({}));
    assert_eq!(refused.status, 403, "{refused:?}");
    assert_eq!(served.json("/v1/hooks")["hooks"][0]["enabled"], true);
    let same = served.post("/v1/hooks/look/enable", &json!({}));
    assert_eq!(
        (same.status, &same.json()["changed"]),
        (200, &json!(false)),
        "an unchanged state needs no proof"
    );
    assert_eq!(served.post("/v1/hooks/nothing/disable", &json!({})).status, 404);
    let leaves = served.json("/v1/ledger?kind=change&text=refused");
    assert_eq!(leaves["leaves"].as_array().unwrap().len(), 2, "the caller is recorded: {leaves}");
}

#[test]
fn a_policy_that_cannot_be_read_is_not_replaced() {
    let test = TestContext::new();
    let secret = test.enroll();
    let served = RunningDaemon::in_home(test, &[]);
    let policy = served.test.home().join("policy.yaml");
    let not_utf8 = b"version: 1 # \xff\nrules: []\n";
    std::fs::write(&policy, not_utf8).unwrap();
    let tag = served.get("/v1/policy").header("etag").unwrap().to_owned();
    let body = json!({"text": "version: 1\nrules: []\n", "proof": {"code": code(&secret, 0)}}).to_string();
    let refused = served.request("PUT", "/v1/policy", &[&format!("If-Match: {tag}")], body.as_bytes());
    assert_eq!(refused.status, 500, "{refused:?}");
    assert!(refused.message().contains("is not valid UTF-8"), "{refused:?}");
    assert_eq!(std::fs::read(&policy).unwrap(), not_utf8);
}

#[test]
fn with_a_code_a_user_changes_the_policy_and_switches_hooks() {
    let test = TestContext::new();
    test.write("home/tenterhook.yaml", "hooks:\n  - id: look\n    on: stop\n    command: 'true'\n");
    let secret = test.enroll();
    let served = RunningDaemon::in_home(test, &[]);
    let text = "version: 1\nrules:\n  - id: no-make\n    verdict: deny\n    match: {shell: {program: [make]}}\n    reason: not here\n";
    let change = |tag: &str, code: &str| {
        let body = json!({"text": text, "proof": {"code": code}}).to_string();
        served.request("PUT", "/v1/policy", &[&format!("If-Match: {tag}")], body.as_bytes())
    };
    let right = code(&secret, 0);
    let done = change("\"none\"", &right);
    assert_eq!(done.status, 200, "{done:?}");
    assert_eq!(std::fs::read_to_string(served.test.home().join("policy.yaml")).unwrap(), text);
    assert_eq!(done.header("etag"), served.get("/v1/policy").header("etag"));
    assert!(served.bash("make all").body.contains("not here"), "active when the reply arrives");
    assert_eq!(served.json("/v1/health")["generation"], done.json()["generation"]);
    let twice = change(done.header("etag").unwrap(), &right);
    assert!(twice.status == 403 && twice.message().contains("used already"), "{twice:?}");
    let leaf = served.test.last_change();
    assert_eq!(leaf["detail"]["authority"]["via"], "tcp", "{leaf}");

    let off = served.post("/v1/hooks/look/disable", &json!({"proof": {"code": code(&secret, 1)}}));
    assert_eq!((off.status, &off.json()["hook"]["enabled"]), (200, &json!(false)), "{off:?}");
    let served = served.restart();
    assert_eq!(served.json("/v1/hooks")["hooks"][0]["enabled"], false, "the hook stays disabled");
}
