// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The live view shows exactly what the ledger contains.

use super::*;
use crate::context::TestContext;

fn call(id: &str, name: &str, input: &Value) -> Value {
    json!({"tool_use_id": id, "tool_name": name, "tool_input": input})
}

fn bash(id: &str, command: &str) -> Value {
    call(id, "Bash", &json!({"command": command}))
}

#[test]
fn content_too_large_for_the_record_is_never_shown() {
    let test = TestContext::new();
    test.write("home/tenterhook.yaml", "ledger: {max_payload: 400}\n");
    let served = RunningDaemon::in_home(test, &[]);
    let long = "many words ".repeat(100);
    served.call("UserPromptSubmit", &json!({"prompt": "few words"}));
    served.call("UserPromptSubmit", &json!({"prompt": long}));
    let write = call("t-1", "Write", &json!({"file_path": "large.txt", "content": long}));
    served.call("PreToolUse", &write);
    served.call("PostToolUse", &with_fields(write, json!({"tool_response": {"type": "create"}})));
    let edit =
        call("t-2", "Edit", &json!({"file_path": "small.txt", "old_string": "a", "new_string": "b\nc"}));
    served.call("PreToolUse", &edit);
    served.call("PostToolUse", &with_fields(edit, json!({"tool_response": {"originalFile": long}})));
    served.call("PreToolUse", &bash("t-3", &format!("rm -rf / # {long}")));
    served.call("PreToolUse", &bash("t-4", &format!("echo {long} > made.txt")));
    let session = assert_same_everywhere(served);
    let prompts = session["prompt_texts"].as_array().unwrap();
    let prompts: Vec<_> = prompts.iter().map(|prompt| (&prompt["text"], &prompt["gone"])).collect();
    assert_eq!(
        prompts,
        [(&json!("few words"), &json!(null)), (&json!(null), &json!("too-large"))],
        "{session}"
    );
    assert_eq!((&session["title"], &session["last_prompt"]), (&json!("few words"), &json!("few words")));
    let changes = session["changes"].as_array().unwrap();
    let changes: Vec<_> = changes.iter().map(|change| (&change["shown"], &change["state"])).collect();
    assert_eq!(changes, [(&json!("small.txt"), &json!("done"))]);
    assert_eq!((&session["files"]["left_out"], &session["erased"]), (&json!(2), &json!(6)));
    let denial = &session["denials"][0];
    assert_eq!((&denial["gist"], &denial["gone"]), (&json!(null), &json!("too-large")));
    assert_eq!(session["calls"], json!({"calls": 4, "ok": 2, "failed": 0, "denied": 1, "asked": 0}));
}

#[test]
fn files_are_known_for_events_without_rules() {
    let served = RunningDaemon::new();
    let mut told = served.stream("/v1/sessions/stream", &[]);
    assert_eq!(told.next().unwrap().kind, "hello");
    // This harness sends only results. Rules apply only to calls that can still be prevented.
    let ran = |call: Value, output: Value| {
        served.call("PostToolUse", &with_fields(call, json!({"tool_response": output})));
    };
    ran(bash("t-1", "rm -rf old && echo one > made.txt"), json!({"stdout": ""}));
    assert_eq!(served.json("/v1/sessions/s-1")["files"]["changed"], 2);
    let changed = [told.next_of("file-changed").data, told.next_of("file-changed").data];
    let changed = changed.each_ref().map(|change| (&change["shown"], &change["how"]));
    assert_eq!(
        changed,
        [(&json!("old"), &json!("delete")), (&json!("made.txt"), &json!("write"))],
        "followers receive the event"
    );
    let write = json!({"file_path": "b.txt", "content": "x\n"});
    ran(call("t-2", "Write", &write), json!({"type": "create"}));
    ran(call("t-3", "mcp__files__delete_file", &json!({"path": "b.txt"})), json!({}));
    let session = assert_same_everywhere(served);
    let lines = panel(&session);
    let changes: Vec<_> = lines.iter().filter(|line| line.starts_with("changes:")).collect();
    assert_eq!(
        changes,
        [
            "changes: Bash delete old done - - t-1 -",
            "changes: Bash write made.txt done - - t-1 -",
            "changes: Write write b.txt done 1 0 t-2 -",
            "changes: mcp__files__delete_file delete b.txt done - - t-3 -",
        ]
    );
}

#[test]
fn a_call_without_arguments_and_one_too_long_to_be_read_are_the_same_too() {
    let test = TestContext::new();
    let rule =
        "version: 1\nrules:\n  - id: no-ping\n    verdict: deny\n    match: {tool: [Ping]}\n    reason: no\n";
    test.write("home/policy.yaml", rule);
    let served = RunningDaemon::in_home(test, &[]);
    served.call("PreToolUse", &call("t-1", "Ping", &json!({})));
    served.call("PreToolUse", &bash("t-2", &format!("echo '{}' > made.txt", "many words ".repeat(8000))));
    served.call("PreToolUse", &bash("t-3", "echo few words > few.txt"));
    let session = assert_same_everywhere(served);
    assert_eq!(
        (&session["denials"][0]["tool"], &session["denials"][0]["gist"]),
        (&json!("Ping"), &json!("{}"))
    );
    assert_eq!(session["files"]["left_out"], 1);
    let changed: Vec<_> =
        session["changed_files"].as_array().unwrap().iter().map(|file| &file["shown"]).collect();
    assert_eq!(changed, ["few.txt"]);
}
