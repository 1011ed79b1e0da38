// SPDX-License-Identifier: Apache-2.0 OR MIT

//! What the dashboard shows first: one row per call, activity over time, the text of a rule, and codes.

use serde_json::{Value, json};

use crate::context::TestContext;
use crate::daemon::RunningDaemon;
use crate::terminal_user::code;

const REWRITES: &str = "\
hooks:
  - {id: limit, on: pre-tool, match: Fetch, command: 'echo {\\\"tool_input\\\":{\\\"timeout\\\":9},\\\"merge\\\":\\\"shallow\\\"}'}
";

/// Sends one event of a call.
fn event(served: &RunningDaemon, name: &str, id: &str, tool: &str, more: &Value) {
    let mut payload =
        json!({"tool_name": tool, "tool_use_id": id, "tool_input": {"command": format!("run-{id}")}});
    if let (Some(payload), Some(more)) = (payload.as_object_mut(), more.as_object()) {
        payload.extend(more.clone());
    }
    let answer = served.call(name, &payload);
    assert_eq!(answer.status, 200, "{answer:?}");
}

fn rows(served: &RunningDaemon, query: &str) -> Vec<Value> {
    served.json(&format!("/v1/ledger/calls?{query}"))["rows"].as_array().unwrap().clone()
}

/// A call that works, one that fails, one that is denied, one that is rewritten, and other events.
fn served_session() -> RunningDaemon {
    let test = TestContext::new();
    test.write("home/tenterhook.yaml", REWRITES);
    let served = RunningDaemon::in_home(test, &[]);
    served.call("SessionStart", &json!({"source": "startup"}));
    served.call("UserPromptSubmit", &json!({"prompt": "tidy up"}));
    event(&served, "PreToolUse", "a", "Bash", &json!({}));
    event(&served, "PreToolUse", "b", "Bash", &json!({}));
    event(&served, "PostToolUse", "a", "Bash", &json!({"tool_response": {}, "duration_ms": 40}));
    event(&served, "PostToolUseFailure", "b", "Bash", &json!({"error": "exit code 2"}));
    event(&served, "PreToolUse", "c", "Bash", &json!({"tool_input": {"command": "rm -rf ~/"}}));
    event(&served, "PreToolUse", "d", "Fetch", &json!({}));
    served.call("Notification", &json!({"message": "waiting"}));
    served.call("Stop", &json!({}));
    served
}

#[test]
fn a_call_and_its_result_are_one_row_and_other_events_are_folded() {
    let served = served_session();
    let all = rows(&served, "show=all");
    let ids: Vec<_> = all.iter().map(|row| row["tool_use_id"].as_str().unwrap_or_default()).collect();
    assert_eq!(ids, ["", "d", "c", "b", "a", "", ""], "{all:#?}");
    assert_eq!(all[0]["folded"]["events"], json!({"notification": 1, "stop": 1}));
    assert_eq!(all[1]["rewritten"], true);
    assert_eq!((&all[2]["verdict"], &all[2]["result"]), (&json!("deny"), &Value::Null));
    assert_eq!(all[3]["result"]["failed"], true);
    assert_eq!(all[3]["result"]["error"], "exit code 2");
    assert_eq!((&all[4]["result"]["failed"], &all[4]["result"]["ran_ms"]), (&json!(false), &json!(40)));
    assert_eq!(all[5]["said"], "tidy up", "a prompt is a row of its own");
    assert_eq!(all[6]["folded"]["events"]["session-start"], 1);
    let folded = all[6]["folded"]["count"].as_u64().unwrap();
    assert_eq!(all[6]["seq"].as_u64().unwrap() - all[6]["folded"]["first"].as_u64().unwrap() + 1, folded);
}

#[test]
fn pages_of_calls_join_without_gaps_and_pair_across_their_border() {
    let served = served_session();
    let whole = rows(&served, "show=all");
    let mut paged = Vec::new();
    let mut before = String::new();
    loop {
        let page = served.json(&format!("/v1/ledger/calls?show=all&limit=1{before}"));
        paged.extend(page["rows"].as_array().unwrap().clone());
        let Some(next) = page["next"].as_u64() else { break };
        before = format!("&before={next}");
    }
    let calls = |rows: &[Value]| -> Vec<Value> {
        rows.iter().filter(|row| row["folded"].is_null()).cloned().collect()
    };
    assert_eq!(calls(&paged), calls(&whole), "the results are on another page than their calls");
}

#[test]
fn a_result_without_a_call_is_a_row_of_its_own() {
    let served = RunningDaemon::new();
    event(&served, "PostToolUse", "x", "Bash", &json!({"tool_response": {}, "duration_ms": 7}));
    event(&served, "PostToolUseFailure", "y", "Bash", &json!({"error": "refused"}));
    event(&served, "PreToolUse", "z", "Bash", &json!({}));
    let all = rows(&served, "show=all&tool=Bash");
    let ids: Vec<_> = all.iter().map(|row| row["tool_use_id"].as_str().unwrap()).collect();
    assert_eq!(ids, ["z", "y", "x"]);
    assert_eq!((&all[1]["result"]["error"], &all[2]["result"]["ran_ms"]), (&json!("refused"), &json!(7)));
    let notable = rows(&served, "show=notable");
    assert_eq!((notable.len(), &notable[0]["tool_use_id"]), (1, &json!("y")));
}

#[test]
fn notable_calls_were_stopped_rewritten_or_failed() {
    let served = served_session();
    let found = rows(&served, "show=notable");
    let ids: Vec<_> = found.iter().map(|row| row["tool_use_id"].as_str().unwrap()).collect();
    assert_eq!(ids, ["d", "c", "b"]);
    assert_eq!(found[2]["event"], "pre-tool", "the row of a failure is its call");
    assert_eq!(found[2]["result"]["failed"], true);
    assert_eq!(rows(&served, "show=notable&tool=Fetch").len(), 1);
    assert_eq!(rows(&served, "show=notable&text=run-b").len(), 1);
    assert_eq!(served.get("/v1/ledger/calls?show=some").status, 400);
}

#[test]
fn activity_counts_decisions_in_buckets_from_the_first_one() {
    let served = served_session();
    let activity = served.json("/v1/ledger/activity?since=24h&buckets=30");
    let buckets = activity["buckets"].as_array().unwrap();
    let sum = |name: &str| buckets.iter().map(|one| one["counts"][name].as_u64().unwrap()).sum::<u64>();
    for name in ["all", "asked", "denied"] {
        assert_eq!(sum(name), activity["total"][name].as_u64().unwrap(), "{name}: {activity:#}");
    }
    assert_eq!(activity["total"]["denied"], 1);
    assert_eq!(activity["rules"][0]["counts"]["denied"], 1);
    assert_eq!(activity["harnesses"][0]["name"], "claude-code");
    assert!(activity["bucket_ms"].as_u64().unwrap() < 60_000, "the range starts with the data: {activity:#}");
    assert!(activity["decision_time"]["p50_us"].as_u64().unwrap() > 0);
    assert!(activity["decision_time"]["p99_us"].as_u64() >= activity["decision_time"]["p50_us"].as_u64());
    assert!(buckets.iter().any(|one| one["decision_time"]["p95_us"].is_u64()));
    let denied = served.json("/v1/ledger/activity?verdict=deny");
    assert_eq!((&denied["total"]["all"], &denied["total"]["denied"]), (&json!(1), &json!(1)));
    let none = served.json("/v1/ledger/activity?text=nowhere-in-the-ledger");
    assert_eq!((&none["total"]["all"], &none["buckets"]), (&json!(0), &json!([])));
}

#[test]
fn a_rule_is_shown_as_it_is_written() {
    let test = TestContext::new();
    let rule = "version: 1\nrules:\n  - id: other\n    match: {shell: {program: [a]}}\n    verdict: deny\n\n  \
                # About make.\n  - id: no-make\n    match: {shell: {program: [make]}}\n    verdict: deny\n    \
                examples:\n      deny: [make all]\n";
    test.write("home/policy.yaml", rule);
    let served = RunningDaemon::in_home(test, &[]);
    let shown = served.json("/v1/policy/rules/no-make");
    assert_eq!(shown["matches"], json!(["a command with the program `make`"]));
    assert_eq!(shown["dangerous"], json!(["`make all`"]));
    let yaml = shown["yaml"].as_str().unwrap();
    assert!(yaml.starts_with("- id: no-make\n  match:") && yaml.ends_with("deny: [make all]\n"), "{yaml}");
    let builtin = served.json("/v1/policy/rules/recursive-delete");
    assert!(builtin["matches"].as_array().unwrap().len() > 3, "{builtin}");
    assert_eq!(served.get("/v1/policy/rules/nothing").status, 404);
    let programs = served.json("/v1/policy/programs");
    assert!(programs["builtin"].as_array().unwrap().contains(&json!("rm")));
    assert_eq!(programs["files"], json!([]));
}

#[test]
fn a_secret_from_the_browser_is_active_after_its_first_code_in_a_terminal() {
    let served = RunningDaemon::new();
    let made = served.post("/v1/authority/codes", &json!({})).json();
    let secret = made["secret"].as_str().unwrap();
    assert!(made["uri"].as_str().unwrap().contains(secret));
    let qr = made["qr"].as_array().unwrap();
    assert!(qr.len() > 20 && qr.iter().all(|row| row.as_str().unwrap().len() == qr.len()), "{made}");
    let needs = || served.json("/v1/authority?action=approve")["needs"].clone();
    assert_eq!(needs(), "tty", "the secret is not active yet");
    let secret = tenterhook_authority::totp::decode_base32(secret).unwrap();
    let done = served.test.run_on_terminal(&["approvals", "totp", "verify", &code(&secret, 0)]);
    assert_eq!(done.exit, 0, "{}", done.stderr);
    assert_eq!(needs(), "code");
    let again = served.post("/v1/authority/codes", &json!({}));
    assert_eq!(again.status, 409, "{again:?}");
}
