// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Sessions of real harnesses, replayed from captured payloads. The panel of files and to-dos must be correct, and
//! must be the same live, after a restart of the daemon, and without a daemon.

mod live_and_recorded;
mod panels;
mod removed;
mod session_commands;

use serde_json::{Value, json};

use crate::context::repository;
use crate::daemon::{RunningDaemon, until};

/// A captured payload, in the session `s-1`.
pub(crate) fn captured_payload(harness: &str, name: &str) -> Value {
    let path = repository().join("tests/fixtures").join(harness).join(format!("{name}.json"));
    let mut payload: Value = serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap();
    payload["session_id"] = json!("s-1");
    payload
}

/// The payload with some fields changed.
pub(crate) fn with_fields(mut payload: Value, mut changes: Value) -> Value {
    payload.as_object_mut().unwrap().append(changes.as_object_mut().unwrap());
    payload
}

/// Calls the hooks of a harness with these payloads, in order.
pub(crate) fn replay(served: &RunningDaemon, harness: &str, payloads: &[Value]) {
    for payload in payloads {
        let event = payload["hook_event_name"].as_str().unwrap();
        let answer = served.post(&format!("/v1/hooks/{harness}/{event}"), payload);
        assert_eq!(answer.status, 200, "{event}: {answer:?}");
    }
}

/// Returns the session `s-1` after checking that it is the same live, read from the ledger by another daemon, and
/// without a daemon.
pub(crate) fn assert_same_everywhere(served: RunningDaemon) -> Value {
    assert_same_everywhere_by_id(served, "s-1")
}

/// Like [`assert_same_everywhere`], for the session with this id.
pub(crate) fn assert_same_everywhere_by_id(served: RunningDaemon, id: &str) -> Value {
    let path = format!("/v1/sessions/{id}");
    let live = served.json(&path);
    let mut served = served.restart();
    let rebuilt = until("sessions are known again", || {
        (served.json("/v1/sessions")["all"] == 1).then(|| served.json(&path))
    });
    assert_eq!(live, rebuilt, "from the ledger it is the same");
    served.signal(rustix::process::Signal::TERM);
    assert!(served.wait());
    let mut alone = served.test.run(&["sessions", "show", id, "--json"]).json();
    alone["labels"] = live["labels"].clone();
    // A command's output may contain the test's directory, which is replaced before the comparison.
    let live: Value = serde_json::from_str(&served.test.normalize(&live.to_string())).unwrap();
    assert_eq!(live, alone, "without a daemon it is the same");
    let listed = served.test.run(&["sessions", "list", "--json"]).json();
    for (key, value) in listed["sessions"][0].as_object().unwrap() {
        assert_eq!(live[key], *value, "{key}");
    }
    live
}

/// Lines of the session panel, one for each entry.
pub(crate) fn panel(session: &Value) -> Vec<String> {
    let word = |value: &Value| match value {
        Value::String(text) => text.clone(),
        Value::Null => "-".to_owned(),
        other => other.to_string(),
    };
    let mut lines = vec![format!(
        "{} | {} | {}",
        word(&session["title"]),
        word(&session["model"]),
        word(&session["end_reason"])
    )];
    let mut each = |name: &str, keys: &[&str]| {
        for item in session[name].as_array().unwrap() {
            let parts: Vec<_> = keys.iter().map(|key| word(&item[key])).collect();
            lines.push(format!("{name}: {}", parts.join(" ")));
        }
    };
    each("changed_files", &["shown", "changes", "tools", "added", "removed", "deleted", "behind"]);
    each("changes", &["tool", "how", "shown", "state", "added", "removed", "tool_use_id", "agent"]);
    each("todo_items", &["id", "status", "text", "active_form"]);
    each("agents", &["id", "type", "events", "tools", "denied", "tokens"]);
    each("denials", &["tool", "gist", "hint"]);
    lines.push(format!("todos: {}", word(&session["todos"]["progress"])));
    for (name, counted) in session["tool_results"].as_object().unwrap() {
        let parts: Vec<_> =
            ["calls", "ok", "failed", "denied"].iter().map(|key| word(&counted[key])).collect();
        lines.push(format!("tool: {name} {}", parts.join(" ")));
    }
    lines.push(format!("usage: {}", session["usage"]));
    lines
}
