// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Encodes an outcome for Codex.
//!
//! Codex uses Claude Code's format, but parses it strictly. An unknown field, a deny without a reason or an `allow`
//! without a change makes the whole output a hook failure, and the tool runs. Every reply therefore contains only
//! fields that its event supports.

use tenterhook_event::{Decision, EventKind, HookCall, Outcome};

use crate::claude_code::wire::{
    BlockDecision, ClaudeHookOutput, HookSpecificOutput, PermissionBehavior, PermissionDecision,
};
use crate::outcome_encoding::ExpressibleOutcome;
use crate::{EventRow, HookReply};

pub(super) fn encode(row: &EventRow, call: &HookCall, outcome: &Outcome) -> HookReply {
    let mut answer = ExpressibleOutcome::new(row, call, outcome);
    let mut output = ClaudeHookOutput::default();
    let mut specific = HookSpecificOutput::default();
    let denied = answer.is_denied(row);
    match row.kind {
        EventKind::PreTool if denied => {
            specific.permission_decision = Some(PermissionDecision::Deny);
            specific.permission_decision_reason.clone_from(&answer.reason);
        }
        EventKind::PreTool => {
            // A changed input requires an `allow`, and an `allow` requires a changed input.
            specific.updated_input = answer.input.take();
            specific.permission_decision = specific.updated_input.as_ref().map(|_| PermissionDecision::Allow);
        }
        EventKind::PermissionRequest => {
            specific.decision = match answer.decision {
                Decision::Deny => {
                    Some(PermissionBehavior::Deny { message: answer.reason.clone(), interrupt: None })
                }
                Decision::Allow => Some(PermissionBehavior::Allow { updated_input: None }),
                Decision::None | Decision::Defer | Decision::Ask => None,
            };
        }
        EventKind::SessionStart | EventKind::PreCompact if denied || answer.stop.is_some() => {
            output.go_on = Some(false);
            output.stop_reason = answer.stop.take().or_else(|| Some(answer.reason_text()));
        }
        // Only an empty reply lets the agent stop.
        EventKind::Stop | EventKind::SubagentStop if answer.stop.take().is_some() => {}
        EventKind::Prompt if answer.stop.is_some() => {
            output.decision = Some(BlockDecision::Block);
            output.reason = answer.stop.take();
        }
        // The reason replaces the tool's output. The turn continues even if the outcome asks to stop the agent.
        EventKind::PostTool if !denied && (answer.output.is_some() || answer.stop.is_some()) => {
            let text = answer.stop.clone().or_else(|| answer.output_text());
            output.decision = Some(BlockDecision::Block);
            output.reason = text.filter(|text| !text.trim().is_empty()).or_else(|| Some(EMPTY.to_owned()));
        }
        _ if denied => {
            output.decision = Some(BlockDecision::Block);
            output.reason = Some(answer.reason_text());
        }
        _ => {}
    }
    answer.drop_stop();
    let decides = output != ClaudeHookOutput::default() || specific != HookSpecificOutput::default();
    if decides || row.kind == EventKind::SessionEnd {
        answer.drop_message();
    }
    output.system_message = answer.message.take();
    specific.additional_context = answer.context.take();
    if specific != HookSpecificOutput::default() {
        specific.hook_event_name = Some(row.native.to_owned());
        output.hook_specific_output = Some(specific);
    }
    answer.into_reply(&output)
}

/// Reason to send in place of an empty one, because Codex ignores an empty reason.
const EMPTY: &str = "(empty)";
