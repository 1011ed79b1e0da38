// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Callbacks of an Agent SDK program: their answers are combined with the policy, and recorded in the ledger and
//! the session.

use serde_json::{Value, json};
use tenterhook_client::Client;
use tenterhook_client::proto::{
    CallbackAnswer, ErrorCode, FailBehavior, FireRequest, FireResponse, HookError,
};

use crate::daemon::RunningDaemon;
use crate::sdk::run;

/// Fires an event of Claude Code with the answers of the program's callbacks.
async fn fire(client: &Client, payload: &Value, callbacks: Vec<CallbackAnswer>) -> FireResponse {
    let request = FireRequest {
        event_type: payload["hook_event_name"].as_str().unwrap().into(),
        source: "claude-code".into(),
        native: true,
        payload: payload.to_string().into_bytes(),
        callbacks,
        ..FireRequest::default()
    };
    client.rpc().fire(request).await.unwrap().into_inner()
}

fn callback(name: &str, output: &Value) -> CallbackAnswer {
    CallbackAnswer { name: name.into(), output: output.to_string().into_bytes(), ..Default::default() }
}

fn reply(response: &FireResponse) -> Value {
    let reply = response.reply.as_ref().unwrap();
    assert_eq!((reply.exit_code, response.error.as_ref()), (0, None), "{response:?}");
    serde_json::from_slice(&reply.stdout).unwrap_or(Value::Null)
}

fn event(served: &RunningDaemon, name: &str, id: &str, tool: &str, input: Value) -> Value {
    let mut event: Value = serde_json::from_str(&served.test.bash("")).unwrap();
    event["hook_event_name"] = json!(name);
    event["tool_name"] = json!(tool);
    event["tool_input"] = input;
    event["tool_use_id"] = json!(id);
    event
}

fn decisions(served: &RunningDaemon) -> Vec<Value> {
    served.test.records().into_iter().filter(|leaf| leaf["kind"] == "decision").collect()
}

// seed: 000-060
#[test]
fn a_call_denied_by_a_callback_is_recorded_as_denied_and_not_shown_as_done() {
    let served = RunningDaemon::new();
    run(async {
        let client = served.program("my-agent");
        let delete = event(&served, "PreToolUse", "t-1", "Bash", json!({"command": "rm -rf ./x"}));
        let denies = json!({"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "deny",
            "permissionDecisionReason": "Dangerous command blocked"}});
        let answers =
            vec![callback("quiet", &json!({"continue": true})), callback("blockDangerous", &denies)];
        let response = fire(&client, &delete, answers).await;
        assert_eq!(response.callbacks, 2);
        assert_eq!(
            reply(&response)["hookSpecificOutput"]["permissionDecisionReason"],
            "Dangerous command blocked"
        );
    });
    let [leaf] = &decisions(&served)[..] else { panic!("one call, one record") };
    assert_eq!((&leaf["verdict"], &leaf["reason"]), (&json!("deny"), &json!("Dangerous command blocked")));
    let by: Vec<_> = leaf["trace"].as_array().unwrap().iter().map(|step| &step["by"]).collect();
    assert_eq!(by[..2], ["hook:callback:quiet", "hook:callback:blockDangerous"]);
    let session = served.json("/v1/sessions/s-1");
    assert_eq!(session["changed_files"], json!([]));
    assert_eq!(session["tool_results"]["Bash"]["denied"], 1);
    assert_eq!(session["denials"][0]["rule"], "hook:callback:blockDangerous");
}

// seed: 000-061
#[test]
fn an_input_that_a_callback_changed_is_judged_and_counts_once_with_its_real_lines() {
    let served = RunningDaemon::new();
    run(async {
        let client = served.program("my-agent");
        let path = served.test.path("work/a.ts");
        let changed = |content: &str| json!({"file_path": path, "content": content});
        let answer = |input: &Value| {
            json!({"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "allow",
                "updatedInput": input}})
        };
        let write = event(&served, "PreToolUse", "t-1", "Write", changed("text\n"));
        let wanted = changed("// Auto-generated\ntext\n");
        let response = fire(&client, &write, vec![callback("addHeader", &answer(&wanted))]).await;
        assert_eq!(reply(&response)["hookSpecificOutput"]["updatedInput"], wanted);
        let mut done = event(&served, "PostToolUse", "t-1", "Write", wanted);
        done["tool_response"] = json!({"type": "create"});
        fire(&client, &done, vec![]).await;

        // The rules evaluate the changed input, not only the original one.
        let harmless = event(&served, "PreToolUse", "t-2", "Bash", json!({"command": "echo harmless"}));
        let bad = answer(&json!({"command": "sudo rm -rf /"}));
        let response = fire(&client, &harmless, vec![callback("rewrite", &bad)]).await;
        assert_eq!(reply(&response)["hookSpecificOutput"]["permissionDecision"], "deny");
        assert_eq!(reply(&response)["hookSpecificOutput"].get("updatedInput"), None);
    });
    let session = served.json("/v1/sessions/s-1");
    let counted = json!({"calls": 1, "ok": 1, "failed": 0, "denied": 0, "asked": 0});
    assert_eq!(session["tool_results"]["Write"], counted);
    let [file] = session["changed_files"].as_array().unwrap().as_slice() else { panic!("{session}") };
    assert_eq!((&file["added"], &file["removed"], &file["changes"]), (&json!(2), &json!(0), &json!(1)));
    assert_eq!(decisions(&served).len(), 3);
}

// seed: 000-013, 000-028
#[test]
fn answers_that_the_client_would_ignore_stop_the_tool() {
    let served = RunningDaemon::new();
    run(async {
        let client = served.program("my-agent");
        let call = |name: &str| event(&served, name, "t-1", "Bash", json!({"command": "touch ran"}));
        let stop = json!({"continue": false, "stopReason": "enough"});
        let stopped = reply(&fire(&client, &call("PreToolUse"), vec![callback("stop", &stop)]).await);
        assert_eq!((&stopped["continue"], &stopped["stopReason"]), (&json!(false), &json!("enough")));
        assert_eq!(stopped["hookSpecificOutput"]["permissionDecision"], "deny");
        let block = json!({"decision": "block", "reason": "not now"});
        let blocked = reply(&fire(&client, &call("PermissionRequest"), vec![callback("ask", &block)]).await);
        let decision = &blocked["hookSpecificOutput"]["decision"];
        assert_eq!((&decision["behavior"], &decision["message"]), (&json!("deny"), &json!("not now")));
    });
    let session = served.json("/v1/sessions/s-1");
    assert_eq!(
        (&session["changed_files"], &session["tool_results"]["Bash"]["denied"]),
        (&json!([]), &json!(1))
    );
}

// seed: 000-065
#[test]
fn a_callback_that_failed_counts_as_it_was_registered() {
    let served = RunningDaemon::new();
    let failed = |code: ErrorCode, message: &str, fail: FailBehavior| CallbackAnswer {
        name: "broken".into(),
        error: Some(HookError { code: code.into(), message: message.into(), hint: String::new() }),
        fail_behavior: fail.into(),
        ..CallbackAnswer::default()
    };
    run(async {
        let client = served.program("my-agent");
        let call = event(&served, "PreToolUse", "t-1", "Bash", json!({"command": "ls"}));
        let open = failed(ErrorCode::ErrorHandler, "TypeError: x", FailBehavior::FailContinue);
        assert_eq!(reply(&fire(&client, &call, vec![open]).await), Value::Null);
        let closed = failed(ErrorCode::ErrorTimedOut, "no answer within 1 s", FailBehavior::FailBlock);
        let answer = reply(&fire(&client, &call, vec![closed]).await);
        let reason = &answer["hookSpecificOutput"]["permissionDecisionReason"];
        assert_eq!(reason, "the callback `broken` failed: no answer within 1 s");
        // An answer that names another event is treated as a failure.
        let misplaced =
            json!({"hookSpecificOutput": {"hookEventName": "Stop", "permissionDecision": "deny"}});
        assert_eq!(reply(&fire(&client, &call, vec![callback("misplaced", &misplaced)]).await), Value::Null);
    });
    let statuses: Vec<_> = decisions(&served).iter().map(|leaf| leaf["trace"][0]["status"].clone()).collect();
    assert_eq!(statuses, ["failed", "timed-out", "failed"]);
}

#[test]
fn callbacks_cannot_weaken_a_rule_and_need_a_readable_name_and_format() {
    let served = RunningDaemon::new();
    run(async {
        let client = served.program("my-agent");
        let call = event(&served, "PreToolUse", "t-1", "Bash", json!({"command": "sudo rm -rf /"}));
        let allow =
            json!({"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "allow"}});
        let answer = reply(&fire(&client, &call, vec![callback("allow", &allow)]).await);
        assert_eq!(answer["hookSpecificOutput"]["permissionDecision"], "deny");
        let error = fire(&client, &call, vec![callback("rule:x", &allow)]).await.error.unwrap();
        assert_eq!(error.code(), ErrorCode::ErrorInvalid);
        let request = |source: &str, native: bool| FireRequest {
            event_type: "PreToolUse".into(),
            source: source.into(),
            native,
            payload: served.test.bash("ls").into_bytes(),
            callbacks: vec![callback("allow", &allow)],
            ..FireRequest::default()
        };
        for (source, native) in [("cursor", true), ("my-agent", false)] {
            let response = client.rpc().fire(request(source, native)).await.unwrap().into_inner();
            assert_eq!(response.error.unwrap().code(), ErrorCode::ErrorInvalid, "{source}");
        }
    });
}
