// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Encodes an outcome for Cursor.
//!
//! Some Cursor events require a permission in the reply. For these events, "no match" is a plain
//! `{"permission":"allow"}` without any text for the model.

use serde::Serialize;
use serde_json::Value;
use tenterhook_event::{Decision, EventKind, HookCall, Outcome};

use crate::outcome_encoding::{self, ExpressibleOutcome};
use crate::{DenySupport, EventRow, HookReply};

#[derive(Debug, Default, Serialize)]
struct CursorHookOutput {
    #[serde(skip_serializing_if = "Option::is_none")]
    permission: Option<&'static str>,
    #[serde(rename = "continue", skip_serializing_if = "Option::is_none")]
    go_on: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    user_message: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    agent_message: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    updated_input: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    additional_context: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    updated_mcp_tool_output: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    followup_message: Option<String>,
}

pub(super) fn encode(row: &EventRow, call: &HookCall, outcome: &Outcome) -> HookReply {
    let mut answer = ExpressibleOutcome::new(row, call, outcome);
    let mut output = CursorHookOutput::default();
    let denied = answer.is_denied(row);
    match row.kind {
        EventKind::PreTool | EventKind::SubagentStart => {
            let objects = denied || answer.decision == Decision::Ask;
            output.permission = Some(match answer.decision {
                _ if denied => "deny",
                Decision::Ask => "ask",
                _ => "allow",
            });
            if objects {
                output.user_message = Some(answer.reason_text());
                output.agent_message = shows_reason_to_model(row).then(|| answer.reason_text());
            }
            output.updated_input = answer.input.take();
        }
        EventKind::Prompt => {
            let stopped = answer.stop.take();
            output.go_on = Some(!denied && stopped.is_none());
            if output.go_on == Some(false) {
                output.user_message = stopped.or_else(|| Some(answer.reason_text()));
            }
        }
        EventKind::PostTool if row.context => {
            output.additional_context = answer.feedback_text(row);
            output.updated_mcp_tool_output = answer.output.cloned();
        }
        // Only an empty reply lets the agent stop.
        EventKind::Stop | EventKind::SubagentStop if answer.stop.take().is_some() => {}
        EventKind::Stop | EventKind::SubagentStop if denied => {
            // A turn that failed or that the user ended must not restart by itself.
            let completed = call.event.detail.cause.as_deref() == Some("completed");
            if completed {
                output.followup_message = Some(answer.reason_text());
            } else {
                answer.drop_unsupported("deny");
            }
        }
        EventKind::PreCompact => output.user_message = answer.message.take(),
        _ => output.additional_context = answer.context.take(),
    }
    answer.drop_stop();
    answer.drop_message();
    answer.into_reply(&output)
}

/// Returns the reply to a payload that cannot be decoded. Exit code 2 denies, and the JSON contains the reason.
pub(super) fn refuse(row: Option<&EventRow>, why: &str) -> HookReply {
    let mut reply = outcome_encoding::refuse_by_exit(row, why);
    let why = Some(why.to_owned());
    let output = match row {
        Some(row) if row.kind == EventKind::Prompt => {
            CursorHookOutput { go_on: Some(false), user_message: why, ..CursorHookOutput::default() }
        }
        Some(row) if !asks_permission(row) => return reply,
        _ => CursorHookOutput { permission: Some("deny"), user_message: why, ..CursorHookOutput::default() },
    };
    reply.stdout = serde_json::to_string(&output).map_or_else(|_| String::new(), |json| json + "\n");
    reply
}

pub(super) fn neutral(row: Option<&EventRow>) -> &'static str {
    match row {
        Some(row) if row.kind == EventKind::Prompt => "{\"continue\":true}\n",
        Some(row) if !asks_permission(row) => "",
        _ => "{\"permission\":\"allow\"}\n",
    }
}

/// Returns whether the event expects a permission in the reply.
fn asks_permission(row: &EventRow) -> bool {
    row.deny == DenySupport::Prevents && matches!(row.kind, EventKind::PreTool | EventKind::SubagentStart)
}

/// Returns whether the reason can be shown to the model.
fn shows_reason_to_model(row: &EventRow) -> bool {
    matches!(row.native, "preToolUse" | "beforeShellExecution" | "beforeMCPExecution")
}
