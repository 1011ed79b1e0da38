// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Encodes an outcome for Qwen Code.
//!
//! If another hook returns `permissionDecision: allow`, the client ignores `decision: deny` and exit code 2. A deny
//! is therefore sent as a `permissionDecision`. An `allow` is never sent, because it would override another hook's
//! deny.

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
        EventKind::PermissionRequest => {
            specific.decision = match answer.decision {
                Decision::Deny => {
                    Some(PermissionBehavior::Deny { message: answer.reason.clone(), interrupt: None })
                }
                Decision::Allow => Some(PermissionBehavior::Allow { updated_input: None }),
                Decision::None | Decision::Defer | Decision::Ask => None,
            };
        }
        // A block has no effect for this event: the client only adds its reason to the output as context. If a hook
        // replaces the output of the tool, the new output is sent in the field `stopReason`.
        EventKind::PostTool => {
            specific.additional_context =
                if denied { answer.feedback_text(row) } else { answer.context.take() };
            if let (Some(text), None) = (answer.output_text(), &answer.stop) {
                answer.stop = Some(text);
            }
        }
        // `continue: false` would keep the agent running. Only an empty reply lets the agent stop.
        EventKind::Stop | EventKind::SubagentStop if answer.stop.take().is_some() => {}
        _ if denied => {
            output.decision = Some(BlockDecision::Block);
            output.reason = Some(answer.reason_text());
        }
        _ => {}
    }
    if specific.additional_context.is_none() {
        specific.additional_context = answer.context.take();
    }
    if matches!(row.kind, EventKind::PreTool | EventKind::PostTool | EventKind::Prompt)
        && let Some(reason) = answer.stop.take()
    {
        output.go_on = Some(false);
        output.stop_reason = Some(reason);
    }
    answer.drop_stop();
    output.system_message = answer.message.take();
    if specific != HookSpecificOutput::default() {
        specific.hook_event_name = Some(row.native.to_owned());
        output.hook_specific_output = Some(specific);
    }
    answer.into_reply(&output)
}
