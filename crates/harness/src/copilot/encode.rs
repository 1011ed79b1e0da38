// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Outcome → what Copilot CLI reads.
//!
//! A deny is JSON with exit 0: exit 2 denies as well, but the model then reads "hook exited with code
//! 2" and not why.

use serde::Serialize;
use serde_json::{Value, json};
use tenterhook_event::{Call, Decision, EventKind, Outcome};

use crate::answer::{self, Answer};
use crate::{EventRow, Reply};

#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
struct Printed {
    #[serde(skip_serializing_if = "Option::is_none")]
    permission_decision: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    permission_decision_reason: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    modified_args: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    behavior: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    interrupt: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    decision: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    modified_result: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    additional_context: Option<String>,
}

pub(super) fn encode(row: &EventRow, call: &Call, outcome: &Outcome) -> Reply {
    let mut answer = Answer::new(row, call, outcome);
    let mut printed = Printed::default();
    let denied = answer.denied(row);
    match row.kind {
        EventKind::PreTool if row.is_gate() => {
            printed.permission_decision = match answer.decision {
                Decision::None | Decision::Defer => None,
                Decision::Allow => Some("allow"),
                Decision::Ask => Some("ask"),
                Decision::Deny => Some("deny"),
            };
            printed.permission_decision_reason =
                printed.permission_decision.and_then(|_| answer.reason.clone());
            printed.modified_args = answer.input.take();
        }
        EventKind::PermissionRequest if denied => {
            let interrupts = answer.stop.take().is_some();
            printed = refusal(answer.why());
            printed.interrupt = interrupts.then_some(true);
        }
        EventKind::PermissionRequest if answer.decision == Decision::Allow => {
            printed.behavior = Some("allow");
        }
        EventKind::PostTool => {
            answer.context = answer.told(row);
            printed.modified_result = answer.output.map(result);
        }
        EventKind::Prompt => {
            if denied {
                let why = format!("This prompt was refused and must not be acted upon: {}", answer.why());
                answer.reason = Some(why);
            }
            answer.context = answer.told(row);
        }
        // Only saying nothing lets the agent end.
        EventKind::Stop | EventKind::SubagentStop if answer.stop.take().is_some() => {}
        EventKind::Stop | EventKind::SubagentStop if denied => {
            printed.decision = Some("block");
            printed.reason = Some(answer.why());
        }
        _ => {}
    }
    printed.additional_context = answer.context.take();
    answer.lose_stop();
    answer.lose_message();
    answer.say(&printed)
}

/// The reply to a payload we cannot read, which says why too.
pub(super) fn refuse(row: Option<&EventRow>, why: &str) -> Reply {
    let reply = answer::refuse_by_exit(row, why);
    let printed = match row {
        Some(row) if row.is_gate() && row.kind == EventKind::PermissionRequest => refusal(why.to_owned()),
        Some(row) if !row.is_gate() => return reply,
        _ => Printed {
            permission_decision: Some("deny"),
            permission_decision_reason: Some(why.to_owned()),
            ..Printed::default()
        },
    };
    match serde_json::to_string(&printed) {
        Ok(json) => Reply { stdout: json + "\n", exit: 0, ..reply },
        Err(_) => reply,
    }
}

fn refusal(why: String) -> Printed {
    Printed { behavior: Some("deny"), message: Some(why), ..Printed::default() }
}

/// A tool's result in the client's shape.
fn result(output: &Value) -> Value {
    if output.get("textResultForLlm").is_some() {
        return output.clone();
    }
    let text = output.as_str().map_or_else(|| output.to_string(), ToOwned::to_owned);
    json!({"resultType": "success", "textResultForLlm": text})
}
