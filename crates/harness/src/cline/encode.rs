// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Outcome → what Cline reads.

use serde::Serialize;
use serde_json::{Value, json};
use tenterhook_event::{Call, EventKind, Outcome};

use crate::answer::{self, Answer};
use crate::{EventRow, Reply};

/// More is cut off by the client.
const LONGEST_CONTEXT: usize = 50_000;

#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
struct Printed {
    #[serde(skip_serializing_if = "Option::is_none")]
    cancel: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error_message: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    context_modification: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    override_input: Option<Value>,
}

pub(super) fn encode(row: &EventRow, call: &Call, outcome: &Outcome) -> Reply {
    let mut answer = Answer::new(row, call, outcome);
    let mut printed = Printed::default();
    let denied = answer.denied(row);
    let waited_for = matches!(row.kind, EventKind::PreTool | EventKind::PostTool);
    match (row.kind, waited_for.then(|| answer.stop.take()).flatten()) {
        (_, Some(reason)) => printed = cancelled(reason),
        (EventKind::PreTool, None) if denied => {
            let why = answer.why();
            printed = harmless(call, &why).map_or_else(
                || cancelled(why),
                |input| Printed { override_input: Some(input), ..Printed::default() },
            );
        }
        (EventKind::PreTool, None) => printed.override_input = answer.input.take(),
        (EventKind::PostTool, None) => answer.context = answer.told(row),
        _ => {}
    }
    let cut = |text: String| text.chars().take(LONGEST_CONTEXT).collect();
    printed.context_modification = answer.context.take().map(cut);
    answer.lose_stop();
    answer.lose_message();
    answer.say(&printed)
}

/// The reply to a payload we cannot read: only the JSON is heard.
pub(super) fn refuse(row: Option<&EventRow>, why: &str) -> Reply {
    let reply = answer::refuse_by_exit(row, why);
    if row.is_some_and(|row| !row.is_gate()) {
        return reply;
    }
    let json = serde_json::to_string(&cancelled(why.to_owned()));
    Reply { stdout: json.map_or_else(|_| String::new(), |json| json + "\n"), ..reply }
}

/// The run ends, and nobody reads why.
fn cancelled(why: String) -> Printed {
    Printed { cancel: Some(true), error_message: Some(why), ..Printed::default() }
}

/// An input with which the tool does no harm and the model reads why, for the tools that have one.
fn harmless(call: &Call, why: &str) -> Option<Value> {
    match call.event.tool.as_ref()?.name.as_str() {
        "run_commands" => Some(json!({"commands": [format!("printf '%s\\n' {}", quoted(why))]})),
        // A file that is not there: the error names it.
        "read_files" => Some(json!({"files": [{"path": format!("/nonexistent/{}", why.replace('\0', ""))}]})),
        _ => None,
    }
}

/// One word for a shell, whatever is in it.
fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\0', "").replace('\'', "'\\''"))
}
