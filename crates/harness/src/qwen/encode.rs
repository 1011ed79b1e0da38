// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Outcome → what Qwen Code reads.
//!
//! Another hook's `permissionDecision: allow` beats a `decision: deny` and an exit 2, so a deny is a
//! `permissionDecision` too, and an `allow` is never said: it would beat somebody else's deny.

use tenterhook_event::{Call, Decision, EventKind, Outcome};

use crate::answer::Answer;
use crate::claude_code::wire::{Behavior, HookOutput, PermissionDecision, Specific, Verdict};
use crate::{EventRow, Reply};

pub(super) fn encode(row: &EventRow, call: &Call, outcome: &Outcome) -> Reply {
    let mut answer = Answer::new(row, call, outcome);
    let mut output = HookOutput::default();
    let mut specific = Specific::default();
    let denied = answer.denied(row);
    match row.kind {
        EventKind::PreTool if denied => {
            specific.permission_decision = Some(PermissionDecision::Deny);
            specific.permission_decision_reason.clone_from(&answer.reason);
        }
        EventKind::PermissionRequest => {
            specific.decision = match answer.decision {
                Decision::Deny => Some(Behavior::Deny { message: answer.reason.clone(), interrupt: None }),
                Decision::Allow => Some(Behavior::Allow { updated_input: None }),
                Decision::None | Decision::Defer | Decision::Ask => None,
            };
        }
        // A block changes nothing here: the reason goes to the model beside the output, and a new
        // output in the place of a reason to stop.
        EventKind::PostTool => {
            specific.additional_context = if denied { answer.told(row) } else { answer.context.take() };
            if let (Some(text), None) = (answer.output_text(), &answer.stop) {
                answer.stop = Some(text);
            }
        }
        // `continue: false` would keep the agent going; only saying nothing lets it end.
        EventKind::Stop | EventKind::SubagentStop if answer.stop.take().is_some() => {}
        _ if denied => {
            output.decision = Some(Verdict::Block);
            output.reason = Some(answer.why());
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
    answer.lose_stop();
    output.system_message = answer.message.take();
    if specific != Specific::default() {
        specific.hook_event_name = Some(row.native.to_owned());
        output.hook_specific_output = Some(specific);
    }
    answer.say(&output)
}
