// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Outcome → what Claude Code reads.
//!
//! A deny is JSON with exit code 0. Exit 2 would block as well, but the client then shows the model
//! our whole command line, and drops the nudge's line breaks.

use serde_json::Value;
use tenterhook_event::{Call, Decision, Flow, Outcome};

use super::HARNESS;
use super::wire::{Behavior, HookOutput, PermissionDecision, Specific, Verdict};
use crate::{Deny, EventRow, Reply, Rewrite, mcp};

pub(super) fn encode(call: &Call, outcome: &Outcome) -> Reply {
    let Some(row) = HARNESS.event(&call.event.native_event) else {
        return Reply { lost: lost_at(None, outcome), ..Reply::silent() };
    };
    let mut output = HookOutput::default();
    let mut specific = Specific::default();
    let mut reply = Reply { lost: lost_at(Some(row), outcome), ..Reply::silent() };

    let decision = expressible(row, outcome);
    let reason = reason(row, outcome, decision);
    match row.native {
        "PreToolUse" | "PreModelSwitch" => {
            specific.permission_decision = permission(decision);
            specific.permission_decision_reason = specific.permission_decision.and(reason);
        }
        "PermissionRequest" => specific.decision = behavior(call, outcome, decision, reason),
        "Elicitation" | "ElicitationResult" if decision == Decision::Deny => {
            specific.action = Some("decline".to_owned());
        }
        // These two read an exit code and nothing else.
        "TeammateIdle" | "TaskCompleted" if decision == Decision::Deny => {
            return Reply { stderr: reason.unwrap_or_default() + "\n", exit: 2, ..reply };
        }
        _ if decision == Decision::Deny && row.deny != Deny::Impossible => {
            output.decision = Some(Verdict::Block);
            output.reason = reason;
        }
        _ => {}
    }
    if decision < Decision::Deny {
        match row.rewrite {
            Rewrite::ToolInput if row.native == "PreToolUse" => {
                specific.updated_input = tool_input(call, outcome);
            }
            Rewrite::ToolOutput => specific.updated_tool_output = outcome.tool_output().cloned(),
            Rewrite::ToolInput | Rewrite::Nothing => {}
        }
    }
    if row.context {
        specific.additional_context = outcome.context_text();
    }
    if let Flow::Stop { reason } = &outcome.flow {
        output.go_on = Some(false);
        output.stop_reason = reason.clone().or_else(|| outcome.reason());
    }
    output.system_message = outcome.message_text();
    output.suppress_output = outcome.suppress_output.then_some(true);

    if specific != Specific::default() {
        specific.hook_event_name = Some(row.native.to_owned());
        output.hook_specific_output = Some(specific);
    }
    if !output.is_empty() {
        match serde_json::to_string(&output) {
            Ok(json) => reply.stdout = json + "\n",
            Err(error) => return refuse(Some(row), &format!("the reply could not be written: {error}")),
        }
    }
    reply
}

/// The reply to a payload we cannot read. Where "no" prevents something it is said with exit 2,
/// which every version understands; at `Stop` it would only keep a broken agent going.
pub(super) fn refuse(row: Option<&EventRow>, why: &str) -> Reply {
    let stderr = format!("tenterhook: {why}\n");
    match row {
        Some(row) if row.native == "PermissionRequest" => {
            let decision = Behavior::Deny { message: Some(why.to_owned()), interrupt: None };
            let name = Some(row.native.to_owned());
            let specific =
                Specific { hook_event_name: name, decision: Some(decision), ..Specific::default() };
            let output = HookOutput { hook_specific_output: Some(specific), ..HookOutput::default() };
            match serde_json::to_string(&output) {
                // The client ignores exit 2 at this event but reads the JSON.
                Ok(json) => Reply { stdout: json + "\n", stderr, ..Reply::silent() },
                Err(_) => Reply { stderr, exit: 2, ..Reply::silent() },
            }
        }
        Some(row) if matches!(row.native, "Stop" | "SubagentStop") => {
            Reply { stderr, exit: 1, ..Reply::silent() }
        }
        Some(row) if matches!(row.deny, Deny::OrAsk | Deny::Prevents) => {
            Reply { stderr, exit: 2, ..Reply::silent() }
        }
        // An event nobody can name may be a gate of tomorrow.
        None => Reply { stderr, exit: 2, ..Reply::silent() },
        Some(_) => Reply { stderr, exit: 1, ..Reply::silent() },
    }
}

/// The decision as this event can express it: what cannot be said becomes the nearest safe thing.
fn expressible(row: &EventRow, outcome: &Outcome) -> Decision {
    let stops_tool = row.deny == Deny::OrAsk || row.native == "PermissionRequest";
    match outcome.decision {
        // `continue: false` ends the turn but lets this very tool run.
        decision if stops_tool && outcome.flow != Flow::Go => decision.max(Decision::Deny),
        Decision::Ask if row.deny != Deny::OrAsk && row.native != "PermissionRequest" => Decision::Deny,
        Decision::Defer if row.native != "PreToolUse" => Decision::Deny,
        decision => decision,
    }
}

fn reason(row: &EventRow, outcome: &Outcome, decision: Decision) -> Option<String> {
    let said = outcome.reason_with_nudge().or_else(|| match &outcome.flow {
        Flow::Stop { reason } => reason.clone(),
        Flow::Go => None,
    });
    match (outcome.decision, decision) {
        (Decision::Ask | Decision::Defer, Decision::Deny) if outcome.flow == Flow::Go => {
            let said = said.map(|said| said + " ").unwrap_or_default();
            Some(format!(
                "{said}(this needs a person's approval, which cannot be asked for at {})",
                row.native
            ))
        }
        // The client needs a text beside a deny.
        (_, Decision::Deny) => said.or_else(|| Some("denied by Tenterhook".to_owned())),
        _ => said,
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

fn behavior(call: &Call, outcome: &Outcome, decision: Decision, message: Option<String>) -> Option<Behavior> {
    match decision {
        // Saying nothing leaves the client's own question to the person: that is what `ask` means.
        Decision::None | Decision::Defer | Decision::Ask => None,
        Decision::Allow => Some(Behavior::Allow { updated_input: tool_input(call, outcome) }),
        Decision::Deny => {
            let interrupt = (outcome.flow != Flow::Go).then_some(true);
            Some(Behavior::Deny { message, interrupt })
        }
    }
}

fn tool_input(call: &Call, outcome: &Outcome) -> Option<Value> {
    let input = outcome.tool_input.as_ref()?;
    let judged = call.event.tool.as_ref().map_or(&Value::Null, |tool| &tool.args);
    let native =
        call.native.as_ref().and_then(|native| native.fields.get("tool_input")).unwrap_or(&Value::Null);
    Some(mcp::without_filled_url(input, judged, native))
}

/// What the outcome says that the client cannot be told at this event.
fn lost_at(row: Option<&EventRow>, outcome: &Outcome) -> Vec<String> {
    let mut lost = Vec::new();
    let mut note = |what: &str| lost.push(format!("{what} cannot be said here"));
    if outcome.decision >= Decision::Ask && row.is_none_or(|row| row.deny == Deny::Impossible) {
        note(outcome.decision.word());
    }
    if !outcome.context.is_empty() && !row.is_some_and(|row| row.context) {
        note("context for the model");
    }
    if outcome.tool_input.is_some() && !row.is_some_and(|row| row.rewrite == Rewrite::ToolInput) {
        note("a changed tool input");
    }
    if row.is_some_and(|row| row.native == "PermissionRequest")
        && outcome.tool_input.is_some()
        && !matches!(outcome.decision, Decision::Allow | Decision::Deny)
    {
        note("a changed tool input without `allow`");
    }
    if outcome.tool_output().is_some() && !row.is_some_and(|row| row.rewrite == Rewrite::ToolOutput) {
        note("a changed tool output");
    }
    lost
}
