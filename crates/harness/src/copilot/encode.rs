// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Encodes an outcome for Copilot CLI.
//!
//! A deny is JSON with exit code 0. Exit code 2 denies as well, but the model then reads "hook exited with code 2"
//! instead of the reason.

use serde::Serialize;
use serde_json::{Value, json};
use tenterhook_event::{Decision, EventKind, HookCall, Outcome};

use crate::outcome_encoding::{self, ExpressibleOutcome};
use crate::{EventRow, HookReply};

#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
struct CopilotHookOutput {
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

pub(super) fn encode(row: &EventRow, call: &HookCall, outcome: &Outcome) -> HookReply {
    let mut answer = ExpressibleOutcome::new(row, call, outcome);
    let mut printed = CopilotHookOutput::default();
    let denied = answer.is_denied(row);
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
            printed = deny_permission(answer.reason_text());
            printed.interrupt = interrupts.then_some(true);
        }
        EventKind::PermissionRequest if answer.decision == Decision::Allow => {
            printed.behavior = Some("allow");
        }
        EventKind::PostTool => {
            answer.context = answer.feedback_text(row);
            printed.modified_result = answer.output.map(tool_result);
        }
        EventKind::Prompt => {
            if denied {
                let why =
                    format!("This prompt was refused and must not be acted upon: {}", answer.reason_text());
                answer.reason = Some(why);
            }
            answer.context = answer.feedback_text(row);
        }
        // Only an empty reply lets the agent stop.
        EventKind::Stop | EventKind::SubagentStop if answer.stop.take().is_some() => {}
        EventKind::Stop | EventKind::SubagentStop if denied => {
            printed.decision = Some("block");
            printed.reason = Some(answer.reason_text());
        }
        _ => {}
    }
    printed.additional_context = answer.context.take();
    answer.drop_stop();
    answer.drop_message();
    answer.into_reply(&printed)
}

/// Returns the reply, with the reason, to a payload that cannot be decoded.
pub(super) fn refuse(row: Option<&EventRow>, why: &str) -> HookReply {
    let reply = outcome_encoding::refuse_by_exit(row, why);
    let printed = match row {
        Some(row) if row.is_gate() && row.kind == EventKind::PermissionRequest => {
            deny_permission(why.to_owned())
        }
        Some(row) if !row.is_gate() => return reply,
        _ => CopilotHookOutput {
            permission_decision: Some("deny"),
            permission_decision_reason: Some(why.to_owned()),
            ..CopilotHookOutput::default()
        },
    };
    match serde_json::to_string(&printed) {
        Ok(json) => HookReply { stdout: json + "\n", exit: 0, ..reply },
        Err(_) => reply,
    }
}

fn deny_permission(why: String) -> CopilotHookOutput {
    CopilotHookOutput { behavior: Some("deny"), message: Some(why), ..CopilotHookOutput::default() }
}

/// Returns a tool result in the client's format.
fn tool_result(output: &Value) -> Value {
    if output.get("textResultForLlm").is_some() {
        return output.clone();
    }
    let text = output.as_str().map_or_else(|| output.to_string(), ToOwned::to_owned);
    json!({"resultType": "success", "textResultForLlm": text})
}
