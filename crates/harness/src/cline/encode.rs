// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Encodes an outcome for Cline.

use serde::Serialize;
use serde_json::{Value, json};
use tenterhook_event::{EventKind, HookCall, Outcome};

use crate::outcome_encoding::{self, ExpressibleOutcome};
use crate::{EventRow, HookReply};

/// Maximum length of the context in characters. The client truncates longer context.
const MAX_CONTEXT_CHARS: usize = 50_000;

#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
struct ClineHookOutput {
    #[serde(skip_serializing_if = "Option::is_none")]
    cancel: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error_message: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    context_modification: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    override_input: Option<Value>,
}

pub(super) fn encode(row: &EventRow, call: &HookCall, outcome: &Outcome) -> HookReply {
    let mut answer = ExpressibleOutcome::new(row, call, outcome);
    let mut printed = ClineHookOutput::default();
    let denied = answer.is_denied(row);
    let waited_for = matches!(row.kind, EventKind::PreTool | EventKind::PostTool);
    match (row.kind, waited_for.then(|| answer.stop.take()).flatten()) {
        (_, Some(reason)) => printed = cancel_run(reason),
        (EventKind::PreTool, None) if denied => {
            let why = answer.reason_text();
            printed = harmless_input(call, &why).map_or_else(
                || cancel_run(why),
                |input| ClineHookOutput { override_input: Some(input), ..ClineHookOutput::default() },
            );
        }
        (EventKind::PreTool, None) => printed.override_input = answer.input.take(),
        (EventKind::PostTool, None) => answer.context = answer.feedback_text(row),
        _ => {}
    }
    let cut = |text: String| text.chars().take(MAX_CONTEXT_CHARS).collect();
    printed.context_modification = answer.context.take().map(cut);
    answer.drop_stop();
    answer.drop_message();
    answer.into_reply(&printed)
}

/// Returns the reply to a payload that cannot be decoded. The client reads only the JSON.
pub(super) fn refuse(row: Option<&EventRow>, why: &str) -> HookReply {
    let reply = outcome_encoding::refuse_by_exit(row, why);
    if row.is_some_and(|row| !row.is_gate()) {
        return reply;
    }
    let json = serde_json::to_string(&cancel_run(why.to_owned()));
    HookReply { stdout: json.map_or_else(|_| String::new(), |json| json + "\n"), ..reply }
}

/// Ends the run. The client does not show the reason.
fn cancel_run(why: String) -> ClineHookOutput {
    ClineHookOutput { cancel: Some(true), error_message: Some(why), ..ClineHookOutput::default() }
}

/// Returns a harmless input that shows the reason to the model; `None` for tools that have no such input.
fn harmless_input(call: &HookCall, why: &str) -> Option<Value> {
    match call.event.tool.as_ref()?.name.as_str() {
        "run_commands" => Some(json!({"commands": [format!("printf '%s\\n' {}", shell_quote(why))]})),
        // Uses a path that does not exist. The tool's error message repeats the path and so shows the reason to the
        // model.
        "read_files" => Some(json!({"files": [{"path": format!("/nonexistent/{}", why.replace('\0', ""))}]})),
        _ => None,
    }
}

/// Quotes text as one shell word.
fn shell_quote(text: &str) -> String {
    format!("'{}'", text.replace('\0', "").replace('\'', "'\\''"))
}
