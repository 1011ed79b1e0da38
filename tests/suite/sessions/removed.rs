// SPDX-License-Identifier: Apache-2.0 OR MIT

//! What was erased, redacted or superseded is shown as such.

use super::*;

#[test]
fn what_was_erased_is_gone_from_the_session_and_said_to_be() {
    let served = Served::new();
    served.call(
        "UserPromptSubmit",
        &json!({"prompt": concat!("the key is AKIA", "Q3EGRZ7LWQ2NFKXT, keep it")}),
    );
    let write = json!({"tool_name": "Write", "tool_input": {"file_path": "a.txt", "content": "x\n"}, "tool_use_id": "t-1"});
    served.call("PreToolUse", &write);
    served.call("PostToolUse", &with(write, json!({"tool_response": {"type": "create"}})));
    let before = served.json("/v1/sessions/s-1");
    assert_eq!(before["title"], "the key is [aws-access-key], keep it");
    assert_eq!(before["changes"][0]["state"], "done");
    let decisions = served.test.leaves().into_iter().filter(|leaf| leaf["kind"] == "decision");
    let seqs: Vec<_> = decisions.map(|leaf| leaf["seq"].to_string()).collect();
    let erased =
        served.test.person(&["ledger", "erase", &format!("{}..{}", seqs[0], seqs[1]), "--reason", "a test"]);
    assert_eq!(erased.exit, 0, "{}", erased.stderr);
    let session = until("sessions are put together anew", || {
        let session = served.get("/v1/sessions/s-1");
        (session.status == 200).then(|| session.json()).filter(|session| session["erased"] == 2)
    });
    assert_eq!((&session["title"], &session["erased"]), (&json!(null), &json!(2)));
    assert_eq!(
        (&session["prompt_texts"][0]["text"], &session["prompt_texts"][0]["gone"]),
        (&json!(null), &json!("erased"))
    );
    let timeline = served.json("/v1/sessions/s-1/timeline");
    assert_eq!(
        (&timeline["steps"][0]["erased"], &timeline["steps"][0]["said"]),
        (&json!(true), &json!(null))
    );
}
