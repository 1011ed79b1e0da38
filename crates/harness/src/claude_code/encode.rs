// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Outcome → what Claude Code reads.
//!
//! A deny is JSON with exit code 0. Exit 2 would block as well, but the client then shows the model
//! our whole command line, and drops the nudge's line breaks.

use tenterhook_event::{Call, Decision, Outcome};

use super::wire::{Behavior, HookOutput, PermissionDecision, Specific, Verdict};
use crate::answer::{self, Answer};
use crate::{EventRow, Reply, Rewrite};

pub(crate) fn encode(row: &EventRow, call: &Call, outcome: &Outcome) -> Reply {
    let mut answer = Answer::new(row, call, outcome);
    let mut output = HookOutput::default();
    let mut specific = Specific::default();
    match row.native {
        "PreToolUse" | "PreModelSwitch" => {
            specific.permission_decision = permission(answer.decision);
            specific.permission_decision_reason =
                specific.permission_decision.and_then(|_| answer.reason.clone());
        }
        "PermissionRequest" => {
            if outcome.tool_input.is_some() && !matches!(outcome.decision, Decision::Allow | Decision::Deny) {
                answer.lose("a changed tool input without `allow`");
            }
            specific.decision = behavior(&mut answer);
        }
        "Elicitation" | "ElicitationResult" if answer.denied(row) => {
            specific.action = Some("decline".to_owned());
        }
        // These two read an exit code and nothing else.
        "TeammateIdle" | "TaskCompleted" if answer.denied(row) => {
            return Reply { stderr: answer.why() + "\n", exit: 2, lost: answer.lost, ..Reply::silent() };
        }
        _ if answer.denied(row) => {
            output.decision = Some(Verdict::Block);
            output.reason.clone_from(&answer.reason);
        }
        _ => {}
    }
    if row.native == "PreToolUse" {
        specific.updated_input = answer.input.take();
    }
    if row.rewrite == Rewrite::ToolOutput && answer.decision < Decision::Deny {
        specific.updated_tool_output = answer.output.cloned();
    }
    specific.additional_context = answer.context.take();
    if let Some(reason) = answer.stop.take() {
        output.go_on = Some(false);
        output.stop_reason = Some(reason);
    }
    output.system_message = answer.message.take();
    output.suppress_output = outcome.suppress_output.then_some(true);
    if specific != Specific::default() {
        specific.hook_event_name = Some(row.native.to_owned());
        output.hook_specific_output = Some(specific);
    }
    answer.say(&output)
}

/// The reply to a payload we cannot read. The client ignores exit 2 at `PermissionRequest` but reads
/// the JSON.
pub(crate) fn refuse(row: Option<&EventRow>, why: &str) -> Reply {
    let reply = answer::refuse_by_exit(row, why);
    match row {
        Some(row) if row.native == "PermissionRequest" => {
            let decision = Behavior::Deny { message: Some(why.to_owned()), interrupt: None };
            let output =
                HookOutput::specific(row, Specific { decision: Some(decision), ..Specific::default() });
            match serde_json::to_string(&output) {
                Ok(json) => Reply { stdout: json + "\n", exit: 0, ..reply },
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

fn behavior(answer: &mut Answer<'_>) -> Option<Behavior> {
    match answer.decision {
        // Saying nothing leaves the client's own question to the person: that is what `ask` means.
        Decision::None | Decision::Defer | Decision::Ask => None,
        Decision::Allow => Some(Behavior::Allow { updated_input: answer.input.take() }),
        Decision::Deny => {
            let interrupt = answer.stop.is_some().then_some(true);
            Some(Behavior::Deny { message: answer.reason.clone(), interrupt })
        }
    }
}
