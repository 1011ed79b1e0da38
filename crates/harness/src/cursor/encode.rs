// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Outcome → what Cursor reads.
//!
//! Where it asks for a permission it wants one, so "nobody objected" is a plain
//! `{"permission":"allow"}` with nothing in it that a model could read.

use serde::Serialize;
use serde_json::Value;
use tenterhook_event::{Call, Decision, EventKind, Outcome};

use crate::answer::{self, Answer};
use crate::{Deny, EventRow, Reply};

#[derive(Debug, Default, Serialize)]
struct Printed {
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

pub(super) fn encode(row: &EventRow, call: &Call, outcome: &Outcome) -> Reply {
    let mut answer = Answer::new(row, call, outcome);
    let mut output = Printed::default();
    let denied = answer.denied(row);
    match row.kind {
        EventKind::PreTool | EventKind::SubagentStart => {
            let objects = denied || answer.decision == Decision::Ask;
            output.permission = Some(match answer.decision {
                _ if denied => "deny",
                Decision::Ask => "ask",
                _ => "allow",
            });
            if objects {
                output.user_message = Some(answer.why());
                output.agent_message = tells_agent(row).then(|| answer.why());
            }
            output.updated_input = answer.input.take();
        }
        EventKind::Prompt => {
            let stopped = answer.stop.take();
            output.go_on = Some(!denied && stopped.is_none());
            if output.go_on == Some(false) {
                output.user_message = stopped.or_else(|| Some(answer.why()));
            }
        }
        EventKind::PostTool if row.context => {
            output.additional_context = answer.told(row);
            output.updated_mcp_tool_output = answer.output.cloned();
        }
        // Only saying nothing lets the agent end.
        EventKind::Stop | EventKind::SubagentStop if answer.stop.take().is_some() => {}
        EventKind::Stop | EventKind::SubagentStop if denied => {
            // What the person has ended, or what has failed, is not to start again by itself.
            let completed = call.event.detail.cause.as_deref() == Some("completed");
            if completed {
                output.followup_message = Some(answer.why());
            } else {
                answer.lose("deny");
            }
        }
        EventKind::PreCompact => output.user_message = answer.message.take(),
        _ => output.additional_context = answer.context.take(),
    }
    answer.lose_stop();
    answer.lose_message();
    answer.say(&output)
}

/// The reply to a payload we cannot read: exit 2 denies, and the JSON says why.
pub(super) fn refuse(row: Option<&EventRow>, why: &str) -> Reply {
    let mut reply = answer::refuse_by_exit(row, why);
    let why = Some(why.to_owned());
    let output = match row {
        Some(row) if row.kind == EventKind::Prompt => {
            Printed { go_on: Some(false), user_message: why, ..Printed::default() }
        }
        Some(row) if !permits(row) => return reply,
        _ => Printed { permission: Some("deny"), user_message: why, ..Printed::default() },
    };
    reply.stdout = serde_json::to_string(&output).map_or_else(|_| String::new(), |json| json + "\n");
    reply
}

pub(super) fn neutral(row: Option<&EventRow>) -> &'static str {
    match row {
        Some(row) if row.kind == EventKind::Prompt => "{\"continue\":true}\n",
        Some(row) if !permits(row) => "",
        _ => "{\"permission\":\"allow\"}\n",
    }
}

/// Whether the event asks for a permission.
fn permits(row: &EventRow) -> bool {
    row.deny == Deny::Prevents && matches!(row.kind, EventKind::PreTool | EventKind::SubagentStart)
}

/// Whether the model can be told why.
fn tells_agent(row: &EventRow) -> bool {
    matches!(row.native, "preToolUse" | "beforeShellExecution" | "beforeMCPExecution")
}
