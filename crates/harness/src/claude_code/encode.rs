// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Encodes an outcome for Claude Code.
//!
//! A deny is JSON with exit code 0. Exit code 2 would block as well, but the client would then show the model the
//! hook's whole command line and remove the line breaks from the suggestion.

use tenterhook_event::{Decision, HookCall, Outcome};

use super::wire::{
    BlockDecision, ClaudeHookOutput, HookSpecificOutput, PermissionBehavior, PermissionDecision,
};
use crate::outcome_encoding::{self, ExpressibleOutcome};
use crate::{EventRow, HookReply, RewriteSupport};

pub(crate) fn encode(row: &EventRow, call: &HookCall, outcome: &Outcome) -> HookReply {
    let mut answer = ExpressibleOutcome::new(row, call, outcome);
    let mut output = ClaudeHookOutput::default();
    let mut specific = HookSpecificOutput::default();
    match row.native {
        "PreToolUse" | "PreModelSwitch" => {
            specific.permission_decision = permission(answer.decision);
            specific.permission_decision_reason =
                specific.permission_decision.and_then(|_| answer.reason.clone());
        }
        "PermissionRequest" => {
            if outcome.tool_input.is_some() && !matches!(outcome.decision, Decision::Allow | Decision::Deny) {
                answer.drop_unsupported("a changed tool input without `allow`");
            }
            specific.decision = behavior(&mut answer);
        }
        "Elicitation" | "ElicitationResult" if answer.is_denied(row) => {
            specific.action = Some("decline".to_owned());
        }
        // For these two events the client reads only the exit code.
        "TeammateIdle" | "TaskCompleted" if answer.is_denied(row) => {
            return HookReply {
                stderr: answer.reason_text() + "\n",
                exit: 2,
                lost: answer.lost,
                ..HookReply::silent()
            };
        }
        _ if answer.is_denied(row) => {
            output.decision = Some(BlockDecision::Block);
            output.reason.clone_from(&answer.reason);
        }
        _ => {}
    }
    if row.native == "PreToolUse" {
        specific.updated_input = answer.input.take();
    }
    if row.rewrite == RewriteSupport::ToolOutput && answer.decision < Decision::Deny {
        specific.updated_tool_output = answer.output.cloned();
    }
    specific.additional_context = answer.context.take();
    if let Some(reason) = answer.stop.take() {
        output.go_on = Some(false);
        output.stop_reason = Some(reason);
    }
    output.system_message = answer.message.take();
    output.suppress_output = outcome.suppress_output.then_some(true);
    if specific != HookSpecificOutput::default() {
        specific.hook_event_name = Some(row.native.to_owned());
        output.hook_specific_output = Some(specific);
    }
    answer.into_reply(&output)
}

/// Returns the reply to a payload that cannot be decoded. For `PermissionRequest` the client ignores exit code 2 but
/// reads the JSON.
pub(crate) fn refuse(row: Option<&EventRow>, why: &str) -> HookReply {
    let reply = outcome_encoding::refuse_by_exit(row, why);
    match row {
        Some(row) if row.native == "PermissionRequest" => {
            let decision = PermissionBehavior::Deny { message: Some(why.to_owned()), interrupt: None };
            let output = ClaudeHookOutput::specific(
                row,
                HookSpecificOutput { decision: Some(decision), ..HookSpecificOutput::default() },
            );
            match serde_json::to_string(&output) {
                Ok(json) => HookReply { stdout: json + "\n", exit: 0, ..reply },
                Err(_) => reply,
            }
        }
        _ => reply,
    }
}

fn permission(decision: Decision) -> Option<PermissionDecision> {
    match decision {
        Decision::None => None,
        Decision::Allow => Some(PermissionDecision::Allow),
        Decision::Defer => Some(PermissionDecision::Defer),
        Decision::Ask => Some(PermissionDecision::Ask),
        Decision::Deny => Some(PermissionDecision::Deny),
    }
}

fn behavior(answer: &mut ExpressibleOutcome<'_>) -> Option<PermissionBehavior> {
    match answer.decision {
        // An empty reply makes the client show its own prompt, which is what `ask` means.
        Decision::None | Decision::Defer | Decision::Ask => None,
        Decision::Allow => Some(PermissionBehavior::Allow { updated_input: answer.input.take() }),
        Decision::Deny => {
            let interrupt = answer.stop.is_some().then_some(true);
            Some(PermissionBehavior::Deny { message: answer.reason.clone(), interrupt })
        }
    }
}
