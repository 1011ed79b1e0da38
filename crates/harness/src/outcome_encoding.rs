// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Reduces an outcome to what a harness can express for one event. The result is the nearest safe decision, and a list
//! of everything that the event does not support. Every codec starts with this step.

use serde::Serialize;
use serde_json::{Map, Value};
use tenterhook_event::{Decision, EventKind, Flow, HookCall, Modification, Outcome};

use crate::table::{AskSupport, DenySupport, EventRow, RewriteSupport, find_harness};
use crate::{HookReply, decode, mcp, payload_keys};

/// An outcome reduced to what the harness can express for one event.
pub(crate) struct ExpressibleOutcome<'a> {
    /// The decision, which is never weaker than the outcome's decision.
    pub(crate) decision: Decision,
    /// Reason for the decision; always present with a deny.
    pub(crate) reason: Option<String>,
    /// Complete new tool input, without the arguments that decoding added; absent with a deny.
    pub(crate) input: Option<Value>,
    /// Replacement for the tool's output.
    pub(crate) output: Option<&'a Value>,
    /// Text for the model, if the event accepts any.
    pub(crate) context: Option<String>,
    /// Message for the user.
    pub(crate) message: Option<String>,
    /// Reason shown to the user when the agent is to be stopped.
    pub(crate) stop: Option<String>,
    /// Parts of the outcome that the event does not support.
    pub(crate) lost: Vec<String>,
}

impl<'a> ExpressibleOutcome<'a> {
    pub(crate) fn new(row: &EventRow, call: &HookCall, outcome: &'a Outcome) -> Self {
        let decision = expressible(row, outcome);
        let stop = match &outcome.flow {
            Flow::Go => None,
            Flow::Stop { reason } => {
                reason.clone().or_else(|| outcome.reason()).or_else(|| Some(STOPPED.to_owned()))
            }
        };
        let writes = decision < Decision::Deny && row.rewrite == RewriteSupport::ToolInput;
        Self {
            decision,
            reason: reason(row, outcome, decision),
            input: writes.then(|| tool_input(call, outcome)).flatten(),
            output: outcome.tool_output().filter(|_| writes_output(row, call)),
            context: outcome.context_text().filter(|_| row.context),
            message: outcome.message_text(),
            stop,
            lost: unsupported_parts(Some(row), call, outcome),
        }
    }

    /// Returns whether the decision is a deny that the event can express.
    pub(crate) fn is_denied(&self, row: &EventRow) -> bool {
        self.decision == Decision::Deny && row.deny != DenySupport::Impossible
    }

    /// Returns the reason, or a default text for formats that require one.
    pub(crate) fn reason_text(&self) -> String {
        self.reason.clone().unwrap_or_else(|| DENIED.to_owned())
    }

    /// Returns the text for events that can only inform the model: the reason for a deny or stop, and the context.
    pub(crate) fn feedback_text(&self, row: &EventRow) -> Option<String> {
        let why = if self.is_denied(row) { Some(self.reason_text()) } else { self.stop.clone() };
        let said = [why, self.context.clone()];
        let said: Vec<_> = said.into_iter().flatten().collect();
        (!said.is_empty()).then(|| said.join("\n"))
    }

    /// Returns the new tool output as text, for harnesses that pass text to the model.
    pub(crate) fn output_text(&self) -> Option<String> {
        self.output.map(|output| output.as_str().map_or_else(|| output.to_string(), ToOwned::to_owned))
    }

    /// Records that the event does not support a part of the outcome.
    pub(crate) fn drop_unsupported(&mut self, what: &str) {
        self.lost.push(unsupported(what));
    }

    /// Drops the message for the user, if there is one, and records that it was dropped.
    pub(crate) fn drop_message(&mut self) {
        if self.message.take().is_some() {
            self.drop_unsupported("a message for the user");
        }
    }

    /// Drops the request to stop the agent, if there is one, and records that it was dropped.
    pub(crate) fn drop_stop(&mut self) {
        if self.stop.take().is_some() {
            self.drop_unsupported("stopping the agent");
        }
    }

    /// Returns a reply with this JSON on standard output, or an empty reply if the JSON has no fields.
    pub(crate) fn into_reply(self, output: &impl Serialize) -> HookReply {
        let (stdout, stderr, exit) = match serde_json::to_string(output) {
            Ok(json) if json == "{}" => Default::default(),
            Ok(json) => (json + "\n", String::new(), 0),
            Err(error) => (String::new(), format!("tenterhook: cannot serialize the reply: {error}\n"), 2),
        };
        HookReply { stdout, stderr, exit, lost: self.lost }
    }
}

const DENIED: &str = "denied by Tenterhook";
const STOPPED: &str = "stopped by Tenterhook";

/// Returns the reply to a payload that cannot be decoded, for harnesses that read the exit code. Exit code 2 denies,
/// so it is used where a deny prevents the action. For a stop event, a deny would only keep the broken agent running.
pub(crate) fn refuse_by_exit(row: Option<&EventRow>, why: &str) -> HookReply {
    let exit = match row {
        // An unknown event may be new in this version of the harness and may require a decision.
        None => 2,
        Some(row)
            if row.deny == DenySupport::Prevents
                && !matches!(row.kind, EventKind::Stop | EventKind::SubagentStop) =>
        {
            2
        }
        Some(_) => 1,
    };
    HookReply { stderr: format!("tenterhook: {why}\n"), exit, ..HookReply::silent() }
}

/// Returns the weakest decision that the event can express and that is at least as strict as the outcome's decision.
fn expressible(row: &EventRow, outcome: &Outcome) -> Decision {
    let stops = row.ask == AskSupport::Prompt || row.ask == AskSupport::Wait && row.kind != EventKind::Prompt;
    match outcome.decision {
        // Many harnesses still run the current tool if a hook only tells the agent to stop.
        decision if stops && outcome.flow != Flow::Go => decision.max(Decision::Deny),
        // Without a deny, the tool would run with input other than the input that was evaluated.
        _ if unchangeable(row, outcome) => Decision::Deny,
        Decision::Ask if row.ask != AskSupport::Prompt => Decision::Deny,
        Decision::Defer if !row.defers => Decision::Deny,
        decision => decision,
    }
}

/// Returns whether the outcome changes the tool's input, but the harness cannot change it for this event.
fn unchangeable(row: &EventRow, outcome: &Outcome) -> bool {
    outcome.tool_input.is_some() && row.is_gate() && row.rewrite != RewriteSupport::ToolInput
}

fn reason(row: &EventRow, outcome: &Outcome, decision: Decision) -> Option<String> {
    let said = outcome.reason_with_nudge().or_else(|| match &outcome.flow {
        Flow::Stop { reason } => reason.clone(),
        Flow::Go => None,
    });
    // Some harnesses ignore a deny with an empty reason.
    let said = said.filter(|said| decision != Decision::Deny || !said.trim().is_empty());
    let with = |note: String| {
        let said = said.clone().map(|said| said + " ").unwrap_or_default();
        Some(format!("{said}({note})"))
    };
    match (outcome.decision, decision) {
        (Decision::Deny, Decision::Deny) => said.or_else(|| Some(DENIED.to_owned())),
        (_, Decision::Deny) if outcome.flow != Flow::Go => said.or_else(|| Some(DENIED.to_owned())),
        (Decision::Ask | Decision::Defer, Decision::Deny) => {
            with(format!("this call needs the user's approval, which cannot be requested at {}", row.native))
        }
        (_, Decision::Deny) => {
            let input = outcome.tool_input.as_ref().map(Value::to_string).unwrap_or_default();
            with(format!(
                "this call must be changed before it may run, which is not possible at {}; retry with {input}",
                row.native
            ))
        }
        _ => said,
    }
}

fn tool_input(call: &HookCall, outcome: &Outcome) -> Option<Value> {
    let input = outcome.tool_input.as_ref()?;
    let judged = call.event.tool.as_ref().map_or(&Value::Null, |tool| &tool.args);
    let harness = find_harness(&call.event.source);
    let native = call.native.as_ref().zip(harness);
    // Arguments that were sent as plain text are returned as plain text.
    let sent = native
        .and_then(|(native, harness)| payload_keys::find_value(&native.fields, harness.keys.tool_input));
    let native = native.map_or(Value::Null, |(native, harness)| decode::arguments(harness, &native.fields));
    let changed = mcp::without_filled_url(input, judged, &native);
    let is_free_text = sent.is_some_and(Value::is_string) && native.get(decode::FREE_TEXT) == sent;
    Some(match changed.get(decode::FREE_TEXT) {
        Some(text) if is_free_text => text.clone(),
        _ => changed,
    })
}

fn writes_output(row: &EventRow, call: &HookCall) -> bool {
    let by_server = call.event.tool.as_ref().is_some_and(|tool| tool.mcp.is_some());
    row.rewrite == RewriteSupport::ToolOutput || row.rewrite == RewriteSupport::McpOutput && by_server
}

/// Returns the parts of the outcome that the event does not support.
pub(crate) fn unsupported_parts(row: Option<&EventRow>, call: &HookCall, outcome: &Outcome) -> Vec<String> {
    let mut lost = Vec::new();
    let mut note = |what: &str| lost.push(unsupported(what));
    if outcome.decision >= Decision::Ask && row.is_none_or(|row| row.deny == DenySupport::Impossible) {
        note(outcome.decision.as_str());
    }
    if !outcome.context.is_empty() && !row.is_some_and(|row| row.context) {
        note("context for the model");
    }
    let rewrites = |what: RewriteSupport| row.is_some_and(|row| row.rewrite == what);
    if outcome.tool_input.is_some() && !rewrites(RewriteSupport::ToolInput) {
        note("a changed tool input");
    }
    if outcome.tool_output().is_some() && !row.is_some_and(|row| writes_output(row, call)) {
        note("a changed tool output");
    }
    for said in &outcome.modifications {
        match said.value {
            Modification::ModelRequest { .. } if !rewrites(RewriteSupport::ModelRequest) => {
                note("a changed model request");
            }
            Modification::ModelResponse { .. }
                if !rewrites(RewriteSupport::ModelRequest) && !rewrites(RewriteSupport::ModelResponse) =>
            {
                note("a changed model response");
            }
            Modification::ToolSelection { .. } if !rewrites(RewriteSupport::ToolSelection) => {
                note("a selection of tools");
            }
            _ => {}
        }
    }
    lost
}

/// Returns the fields that differ from the original request or response. Unchanged fields are left out, because
/// sending them back could remove content that the harness's simplified format does not contain.
pub(crate) fn changed_fields(before: Option<&Value>, after: &Value) -> Value {
    match (before, after) {
        (Some(Value::Object(before)), Value::Object(after)) => {
            let different = after.iter().filter(|(key, value)| before.get(*key) != Some(value));
            Value::Object(different.map(|(key, value)| (key.clone(), value.clone())).collect::<Map<_, _>>())
        }
        _ => after.clone(),
    }
}

/// Returns the model request after all modifications; `None` if there are none.
pub(crate) fn model_request(call: &HookCall, outcome: &Outcome) -> Option<Value> {
    let mut request = call.event.detail.model_request.clone().unwrap_or(Value::Null);
    let mut any = false;
    for said in &outcome.modifications {
        if let Modification::ModelRequest { merge, value } = &said.value {
            merge.apply(&mut request, value);
            any = true;
        }
    }
    any.then_some(request)
}

/// Returns the model response after all modifications; `None` if there are none.
pub(crate) fn model_response(call: &HookCall, outcome: &Outcome) -> Option<Value> {
    let mut response = call.event.detail.model_response.clone().unwrap_or(Value::Null);
    let mut any = false;
    for said in &outcome.modifications {
        if let Modification::ModelResponse { merge, value } = &said.value {
            merge.apply(&mut response, value);
            any = true;
        }
    }
    any.then_some(response)
}

fn unsupported(what: &str) -> String {
    format!("{what} is not supported at this event")
}
