// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Outcome → what Codex reads.
//!
//! Codex's form is Claude Code's, read strictly: one field it does not know, a deny without a reason
//! or an `allow` with nothing to change, and the whole answer counts as a failure of the hook, which
//! lets the tool run. So every reply has what its event knows and nothing else.

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
        EventKind::PreTool => {
            // A changed input counts only beside an `allow`, and an `allow` only beside one.
            specific.updated_input = answer.input.take();
            specific.permission_decision = specific.updated_input.as_ref().map(|_| PermissionDecision::Allow);
        }
        EventKind::PermissionRequest => {
            specific.decision = match answer.decision {
                Decision::Deny => Some(Behavior::Deny { message: answer.reason.clone(), interrupt: None }),
                Decision::Allow => Some(Behavior::Allow { updated_input: None }),
                Decision::None | Decision::Defer | Decision::Ask => None,
            };
        }
        EventKind::SessionStart | EventKind::PreCompact if denied || answer.stop.is_some() => {
            output.go_on = Some(false);
            output.stop_reason = answer.stop.take().or_else(|| Some(answer.why()));
        }
        // Only saying nothing lets the agent end.
        EventKind::Stop | EventKind::SubagentStop if answer.stop.take().is_some() => {}
        EventKind::Prompt if answer.stop.is_some() => {
            output.decision = Some(Verdict::Block);
            output.reason = answer.stop.take();
        }
        // The reason takes the place of the output; the turn goes on whatever is said.
        EventKind::PostTool if !denied && (answer.output.is_some() || answer.stop.is_some()) => {
            let text = answer.stop.clone().or_else(|| answer.output_text());
            output.decision = Some(Verdict::Block);
            output.reason = text.filter(|text| !text.trim().is_empty()).or_else(|| Some(EMPTY.to_owned()));
        }
        _ if denied => {
            output.decision = Some(Verdict::Block);
            output.reason = Some(answer.why());
        }
        _ => {}
    }
    answer.lose_stop();
    let decides = output != HookOutput::default() || specific != Specific::default();
    if decides || row.kind == EventKind::SessionEnd {
        answer.lose_message();
    }
    output.system_message = answer.message.take();
    specific.additional_context = answer.context.take();
    if specific != Specific::default() {
        specific.hook_event_name = Some(row.native.to_owned());
        output.hook_specific_output = Some(specific);
    }
    answer.say(&output)
}

/// Codex hears no reason that is blank.
const EMPTY: &str = "(empty)";
