// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Routes of the dashboard: rules from decisions, hook statistics, hook packages, harnesses, exports.

use serde_json::{Value, json};

use crate::context::TestContext;
use crate::daemon::{HttpReply, RunningDaemon, until};
use crate::terminal_user::{self, code};

const HOOKS: &str = "\
hooks:
  - {id: look, on: pre-tool, match: Bash, command: 'case $(cat) in *docker*) echo no >&2; exit 2;; *make*) exit 3;; esac'}
  - {id: limit, on: pre-tool, match: Bash, command: 'echo {\\\"tool_input\\\":{\\\"timeout\\\":9},\\\"merge\\\":\\\"shallow\\\"}'}
";

fn put_policy(served: &RunningDaemon, draft: &Value, code: &str) -> HttpReply {
    let body = json!({"text": draft["text"], "proof": {"code": code}}).to_string();
    let seen = format!("If-Match: {}", draft["etag"].as_str().unwrap());
    served.request("PUT", "/v1/policy", &[&seen], body.as_bytes())
}

fn draft(served: &RunningDaemon, body: &Value) -> Value {
    let answer = served.post("/v1/policy/draft", body);
    assert_eq!(answer.status, 200, "{answer:?}");
    answer.json()
}

fn last_sequence_number(served: &RunningDaemon) -> u64 {
    served.json("/v1/ledger?kind=decision&limit=1")["leaves"][0]["seq"].as_u64().unwrap()
}

#[test]
fn a_rule_from_a_decision_is_tested_saved_and_denies() {
    let test = TestContext::new();
    let secret = test.enroll();
    let served = RunningDaemon::in_home(test, &[]);
    for command in
        ["git status", "docker run --rm -it ubuntu bash", "sudo docker run alpine", "echo docker run"]
    {
        assert_eq!(served.bash(command).body, "");
    }
    let seq = last_sequence_number(&served) - 2;
    let drafted = draft(&served, &json!({"seq": seq, "want": "block"}));
    assert_eq!(drafted["validation"]["ok"], true, "{drafted}");
    assert_eq!(
        drafted["rule"]["match"]["shell"],
        json!({"program": ["docker"], "words": ["run", "ubuntu", "bash"]})
    );
    assert_eq!(drafted["rule"]["examples"]["deny"], json!(["docker run --rm -it ubuntu bash"]));
    // The user edits the draft so that its condition matches more calls.
    let mut rule = drafted["rule"].clone();
    rule["match"]["shell"]["words"] = json!(["run"]);
    rule["reason"] = json!("no containers: here");
    let drafted = draft(&served, &json!({"rule": rule}));
    assert!(drafted["yaml"].as_str().unwrap().starts_with("- id: no-docker-"), "{drafted}");
    let tried = served.post("/v1/policy/backtest", &json!({"text": drafted["text"]})).json();
    assert_eq!(
        (&tried["replayed"], tried["differences"].as_array().unwrap().len()),
        (&json!(4), 2),
        "{tried}"
    );
    assert_eq!(put_policy(&served, &drafted, "000000").status, 403);
    assert_eq!(put_policy(&served, &drafted, &code(&secret, 0)).status, 200);
    assert!(served.bash("docker run x").body.contains("no containers: here"));
    assert_eq!(served.bash("echo docker run").body, "");
    assert_eq!(served.test.last_change()["what"], "policy change");

    // The opposite case: a draft of an exception for exactly this call in this directory.
    served.bash("docker run exactly-this");
    let drafted = draft(&served, &json!({"seq": last_sequence_number(&served), "want": "allow"}));
    assert_eq!(
        (&drafted["rule"]["verdict"], &drafted["rule"]["overrides"]),
        (&json!("allow"), &json!([rule["id"]]))
    );
    let done = put_policy(&served, &drafted, &code(&secret, 1));
    assert_eq!(done.status, 200, "{done:?}");
    assert!(!served.bash("docker run exactly-this").body.contains("deny"));
    assert!(served.bash("docker run exactly-this-not").body.contains("no containers: here"));
}

#[test]
fn drafts_report_problems_and_change_nothing() {
    let served = RunningDaemon::new();
    served.bash("ls");
    for (body, status, says) in [
        (json!({}), 400, "the source of the rule is missing or ambiguous"),
        (json!({"seq": 99, "want": "block"}), 404, "unknown record `99`"),
        (json!({"seq": 0, "want": "block"}), 422, "record 0 is of kind"),
        (json!({"seq": last_sequence_number(&served), "want": "allow"}), 422, "no rule denied it or asked"),
        (json!({"template": "nothing"}), 422, "there is no template `nothing`"),
    ] {
        let answer = served.post("/v1/policy/draft", &body);
        assert_eq!(answer.status, status, "{answer:?}");
        assert!(answer.message().contains(says), "{answer:?}");
    }
    let bad = draft(&served, &json!({"rule": {"id": "x", "match": {"shel": 1}, "verdict": "deny"}}));
    assert_eq!((&bad["text"], &bad["validation"]["ok"]), (&Value::Null, &json!(false)));
    assert!(bad["validation"]["problems"][0]["message"].as_str().unwrap().contains("shel"), "{bad}");
    let wrong = json!({"id": "x", "match": {"shell": {"program": ["a"]}}, "verdict": "deny", "examples": {"deny": ["b"]}});
    let wrong = draft(&served, &json!({"rule": wrong}));
    assert_eq!(wrong["validation"]["ok"], false, "an example fails: {wrong}");
    let template = draft(&served, &json!({"template": "env-files"}));
    assert_eq!((&template["ids"], &template["validation"]["ok"]), (&json!(["env-files"]), &json!(true)));
    assert!(!served.test.home().join("policy.yaml").exists());
}

// seed: 003-101
#[test]
fn hook_statistics_are_counted_and_a_hook_can_be_tested() {
    let test = TestContext::new();
    test.write("home/tenterhook.yaml", HOOKS);
    let served = RunningDaemon::in_home(test, &[]);
    for command in ["ls", "docker ps", "make"] {
        served.bash(command);
    }
    let found = served.json("/v1/hooks/analytics?minutes=5");
    let (look, limit) = (&found["hooks"]["look"], &found["hooks"]["limit"]);
    let numbers = |hook: &Value| {
        ["calls", "failures", "blocks", "modifications"].map(|key| hook["recent"][key].as_u64().unwrap())
    };
    assert_eq!(numbers(look), [3, 1, 1, 0], "{look}");
    assert_eq!(numbers(limit), [3, 0, 0, 3], "{limit}");
    assert!(look["recent"]["p95_us"].as_u64().unwrap() > 0);
    assert!(look["last_error"]["message"].as_str().unwrap().contains('3'), "{look}");
    let size = served.json("/v1/ledger/stats")["size"].clone();
    let sample = |command: &str, tool: &str| json!({"sample": {"event": "pre-tool", "tool": {"name": tool, "args": {"command": command}}}});
    let tested = served.post("/v1/hooks/look/test", &sample("docker ps", "Bash")).json();
    assert_eq!(
        (&tested["applies"], &tested["outcome"]["decision"]),
        (&json!(true), &json!("deny")),
        "{tested}"
    );
    let tested = served.post("/v1/hooks/look/test", &sample("x", "Read")).json();
    assert!(tested["applies"] == false && tested["why"].is_string(), "{tested}");
    assert_eq!(served.post("/v1/hooks/none/test", &sample("x", "Bash")).status, 404);
    assert_eq!(served.post("/v1/hooks/look/test", &json!({})).status, 400);
    assert_eq!(served.json("/v1/ledger/stats")["size"], size, "nothing was recorded");
    // Over the socket the kernel identifies the caller: the test process, which is treated as an agent after it has
    // called a hook over the socket.
    let socket = served.socket();
    let call = json!({"session_id": "s", "hook_event_name": "Stop"});
    terminal_user::request(&socket, "POST", "/v1/hooks/claude-code/Stop", &call);
    let (status, _) = terminal_user::request(&socket, "POST", "/v1/hooks/look/test", &sample("ls", "Bash"));
    assert_eq!(status, 403, "an agent may not test hooks");
    let again = served.json("/v1/hooks/analytics");
    assert_eq!(again["hooks"]["look"]["all"]["calls"], 3, "a refused test is not counted");
}

#[test]
fn a_hook_package_written_by_a_user_runs_at_once() {
    let test = TestContext::new();
    let secret = test.enroll();
    let served = RunningDaemon::in_home(test, &[]);
    assert!(served.json("/v1/templates")["templates"].as_array().unwrap().len() >= 22);
    let put = |name: &str, body: &Value| {
        served.request("PUT", &format!("/v1/kits/{name}"), &[], body.to_string().as_bytes())
    };
    let refused = put("keys", &json!({"template": "env-guard"}));
    assert!(refused.status == 403 && refused.message().contains("needs a code"), "{refused:?}");
    assert_eq!(served.json("/v1/kits")["kits"], json!([]));
    let done = put("keys", &json!({"template": "env-guard", "proof": {"code": code(&secret, 0)}}));
    assert_eq!((done.status, &done.json()["kits"][0]["standing"]), (200, &json!("trusted")), "{done:?}");
    let hooks = served.json("/v1/hooks");
    assert_eq!((&hooks["hooks"][0]["id"], &hooks["hooks"][0]["enabled"]), (&json!("keys"), &json!(true)));
    assert_eq!(served.test.last_change()["what"], "hooks trust");
    let write = json!({"tool_name": "Write", "tool_input": {"file_path": "/w/.env", "content": "API_KEY=0123456789"}});
    assert!(served.call("PreToolUse", &write).body.contains("key or a password"));

    // A changed file disables the hook package shortly afterwards.
    served.test.write("home/hooks/keys/guard.py", "pass\n");
    until("the change is noticed", || {
        served.json("/v1/hooks")["hooks"].as_array().unwrap().is_empty().then_some(())
    });
    assert_eq!(served.json("/v1/kits")["kits"][0]["standing"], "changed");
    let problems = served.json("/v1/health")["problems"].to_string();
    assert!(problems.contains("`guard.py` was changed"), "{problems}");
    let removed = served.post("/v1/kits/keys/remove", &json!({"proof": {"code": code(&secret, 1)}}));
    assert_eq!((removed.status, removed.json()), (200, json!({"kits": []})));

    let hook = "title: A\nabout: B\nlanguage: config\nhooks:\n  - {id: a, on: stop, exec: [cat, '{kit}/answer.json']}\n";
    let valid = |files: Value| served.post("/v1/kits/validate", &json!({"files": files})).json();
    assert_eq!(valid(json!({"hook.yaml": hook, "answer.json": "{}"}))["hooks"], json!(["a"]));
    let bad = valid(json!({"hook.yaml": hook.replace("on: stop", "on: never")}));
    assert!(bad["ok"] == false && bad["problem"].as_str().unwrap().contains("`never`"), "{bad}");
    assert_eq!(valid(json!({"hook.yaml": hook, "../x": ""}))["ok"], false);
    assert_eq!(put("../x", &json!({"template": "env-guard"})).status, 404);
    assert_eq!(put("X", &json!({"template": "env-guard"})).status, 400);
}

#[test]
fn harnesses_are_listed_and_wired_with_the_change_shown_first() {
    let test = TestContext::new();
    let settings = test.write("person/.claude/settings.json", "{\n  \"model\": \"x\"\n}\n");
    let served = RunningDaemon::in_home(test, &[]);
    let claude = |served: &RunningDaemon| {
        let all = served.json("/v1/harnesses");
        all["harnesses"]
            .as_array()
            .unwrap()
            .iter()
            .find(|one| one["harness"] == "claude-code")
            .unwrap()
            .clone()
    };
    let before = claude(&served);
    assert_eq!((&before["found"], &before["wired"]), (&json!(true), &json!("no")), "{before}");
    let row =
        before["coverage"].as_array().unwrap().iter().find(|row| row["native"] == "PreToolUse").unwrap();
    assert_eq!(
        (&row["wired"], &row["deny"], &row["ask"]),
        (&json!("guard"), &json!("prevents"), &json!("prompt"))
    );
    let plan = served.post("/v1/harnesses/claude-code/plan", &json!({})).json();
    assert!(plan["diff"].as_str().unwrap().contains("+  \"hooks\""), "{plan}");
    assert_eq!(std::fs::read_to_string(&settings).unwrap(), "{\n  \"model\": \"x\"\n}\n");
    let done = served.post("/v1/harnesses/claude-code/install", &json!({}));
    assert_eq!((done.status, &done.json()["changed"]), (200, &json!(true)), "{done:?}");
    assert!(std::fs::read_to_string(&settings).unwrap().contains("tenterhook-hook"));
    assert_eq!(claude(&served)["wired"], "yes");
    assert_eq!(served.post("/v1/harnesses/nothing/plan", &json!({})).status, 404);
    assert_eq!(served.post("/v1/harnesses/continue/plan", &json!({})).status, 400);
}

#[test]
fn the_ledger_is_exported_as_a_file() {
    let served = RunningDaemon::new();
    served.bash("sudo rm -rf /");
    let whole = served.get("/v1/ledger/export");
    assert_eq!(whole.header("content-disposition"), Some("attachment; filename=\"ledger.jsonl\""));
    let file = served.test.write("ledger.jsonl", &whole.body);
    let ran = served.test.run(&["ledger", "verify", "--file", file.to_str().unwrap()]);
    assert_eq!(ran.exit, 0, "{}{}", ran.stdout, ran.stderr);
    assert!(
        served.get("/v1/ledger/export?format=csv").body.contains("rm -rf /")
            || served.get("/v1/ledger/export?format=csv").body.contains("deny")
    );
    assert_eq!(served.get("/v1/ledger/export?format=pdf").status, 400);
    let report = served.get("/v1/ledger/report?since=24h");
    assert!(report.status == 200 && report.body.starts_with("<!doctype html>"), "{report:?}");
    assert!(report.header("content-disposition").unwrap().starts_with("attachment"));
    assert_eq!(served.get("/v1/ledger/report?since=never").status, 400);
    // An unknown session has an empty report.
    let empty = served.get("/v1/ledger/report?session=%00");
    assert!(empty.status == 200 && empty.body.contains("<b>0</b> decisions"), "{empty:?}");
}

#[test]
fn a_pack_is_turned_on_by_any_caller_and_off_by_a_user() {
    let test = TestContext::new();
    let secret = test.enroll();
    let served = RunningDaemon::in_home(test, &[]);
    let on = |name: &str| {
        let packs = served.json("/v1/packs");
        packs["packs"].as_array().unwrap().iter().find(|pack| pack["name"] == name).unwrap()["on"].clone()
    };
    let switch = |body: Value| served.post("/v1/packs/switch", &body);
    assert_eq!((on("git-strict"), on("destructive")), (json!(false), json!(true)));
    assert_eq!(switch(json!({"name": "git-strict", "on": true})).status, 200);
    assert_eq!(on("git-strict"), true);
    assert_eq!(served.test.last_change()["what"], "rules enable");
    assert_eq!(switch(json!({"name": "git-strict", "on": false})).status, 403);
    assert_eq!(on("git-strict"), true);
    let proof = json!({"code": code(&secret, 0)});
    let off = switch(json!({"name": "recursive-delete", "on": false, "proof": proof}));
    assert_eq!((off.status, &off.json()["disabled"]), (200, &json!(["recursive-delete"])), "{off:?}");
    let rules = served.json("/v1/policy")["rules"].as_array().unwrap().clone();
    assert_eq!(rules.iter().find(|rule| rule["id"] == "recursive-delete").unwrap()["disabled"], true);
    assert_eq!(switch(json!({"name": "guard-files", "on": false})).status, 409, "it is locked");
    assert_eq!(switch(json!({"name": "nothing", "on": false})).status, 404);
}
