// SPDX-License-Identifier: Apache-2.0 OR MIT

//! What every codec asks of an outcome before it says it in its harness's words: what this event can
//! express, what has to become the nearest safe thing instead, and what is lost.

use serde::Serialize;
use serde_json::{Map, Value};
use tenterhook_event::{Call, Decision, EventKind, Flow, Modification, Outcome};

use crate::table::{Ask, Deny, EventRow, Rewrite, find};
use crate::{Reply, decode, keys, mcp};

/// An outcome, as one event can express it.
pub(crate) struct Answer<'a> {
    /// Nothing weaker than what was decided.
    pub(crate) decision: Decision,
    /// Why; always there beside a deny.
    pub(crate) reason: Option<String>,
    /// The whole new tool input, without what decode put in; never beside a deny.
    pub(crate) input: Option<Value>,
    /// The new tool output.
    pub(crate) output: Option<&'a Value>,
    /// Text for the model, where it can be given.
    pub(crate) context: Option<String>,
    /// Text for the person.
    pub(crate) message: Option<String>,
    /// The agent ends here, and what the person is told.
    pub(crate) stop: Option<String>,
    /// What cannot be said here.
    pub(crate) lost: Vec<String>,
}

impl<'a> Answer<'a> {
    pub(crate) fn new(row: &EventRow, call: &Call, outcome: &'a Outcome) -> Self {
        let decision = expressible(row, outcome);
        let stop = match &outcome.flow {
            Flow::Go => None,
            Flow::Stop { reason } => {
                reason.clone().or_else(|| outcome.reason()).or_else(|| Some(STOPPED.to_owned()))
            }
        };
        let writes = decision < Decision::Deny && row.rewrite == Rewrite::ToolInput;
        Self {
            decision,
            reason: reason(row, outcome, decision),
            input: writes.then(|| tool_input(call, outcome)).flatten(),
            output: outcome.tool_output().filter(|_| writes_output(row, call)),
            context: outcome.context_text().filter(|_| row.context),
            message: outcome.message_text(),
            stop,
            lost: lost(Some(row), call, outcome),
        }
    }

    /// Whether it is denied, at an event where that is heard.
    pub(crate) fn denied(&self, row: &EventRow) -> bool {
        self.decision == Decision::Deny && row.deny != Deny::Impossible
    }

    /// The reason, for the places that need a text.
    pub(crate) fn why(&self) -> String {
        self.reason.clone().unwrap_or_else(|| DENIED.to_owned())
    }

    /// Where the model can be told something but not "no" or "stop", it is told why.
    pub(crate) fn told(&self, row: &EventRow) -> Option<String> {
        let why = if self.denied(row) { Some(self.why()) } else { self.stop.clone() };
        let said = [why, self.context.clone()];
        let said: Vec<_> = said.into_iter().flatten().collect();
        (!said.is_empty()).then(|| said.join("\n"))
    }

    /// The new tool output as a text, for the harnesses that show the model a text.
    pub(crate) fn output_text(&self) -> Option<String> {
        self.output.map(|output| output.as_str().map_or_else(|| output.to_string(), ToOwned::to_owned))
    }

    /// Notes that something is not said.
    pub(crate) fn lose(&mut self, what: &str) {
        self.lost.push(format!("{what} cannot be said here"));
    }

    /// Notes that the person's message is not said, if there is one.
    pub(crate) fn lose_message(&mut self) {
        if self.message.take().is_some() {
            self.lose("a message for the person");
        }
    }

    /// Notes that the agent is not stopped, if it should be.
    pub(crate) fn lose_stop(&mut self) {
        if self.stop.take().is_some() {
            self.lose("the end of the turn");
        }
    }

    /// The reply: this JSON, or nothing when there is nothing in it.
    pub(crate) fn say(self, output: &impl Serialize) -> Reply {
        let (stdout, stderr, exit) = match serde_json::to_string(output) {
            Ok(json) if json == "{}" => Default::default(),
            Ok(json) => (json + "\n", String::new(), 0),
            Err(error) => {
                (String::new(), format!("tenterhook: the reply could not be written: {error}\n"), 2)
            }
        };
        Reply { stdout, stderr, exit, lost: self.lost }
    }
}

const DENIED: &str = "denied by Tenterhook";
const STOPPED: &str = "stopped by Tenterhook";

/// The reply to a payload we cannot read, of a harness that reads exit codes. Where "no" prevents
/// something it is exit 2; at a stop it would only keep a broken agent going.
pub(crate) fn refuse_by_exit(row: Option<&EventRow>, why: &str) -> Reply {
    let exit = match row {
        // An event nobody can name may be a gate of tomorrow.
        None => 2,
        Some(row)
            if row.deny == Deny::Prevents
                && !matches!(row.kind, EventKind::Stop | EventKind::SubagentStop) =>
        {
            2
        }
        Some(_) => 1,
    };
    Reply { stderr: format!("tenterhook: {why}\n"), exit, ..Reply::silent() }
}

/// The decision as this event can express it: what cannot be said becomes the nearest safe thing.
fn expressible(row: &EventRow, outcome: &Outcome) -> Decision {
    let stops = row.ask == Ask::Prompt || row.ask == Ask::Wait && row.kind != EventKind::Prompt;
    match outcome.decision {
        // Many let this very tool run when the agent is told to end.
        decision if stops && outcome.flow != Flow::Go => decision.max(Decision::Deny),
        // What would run is not what was judged.
        _ if unchangeable(row, outcome) => Decision::Deny,
        Decision::Ask if row.ask != Ask::Prompt => Decision::Deny,
        Decision::Defer if !row.defers => Decision::Deny,
        decision => decision,
    }
}

/// Whether the call has to be changed at a gate that cannot change it.
fn unchangeable(row: &EventRow, outcome: &Outcome) -> bool {
    outcome.tool_input.is_some() && row.is_gate() && row.rewrite != Rewrite::ToolInput
}

fn reason(row: &EventRow, outcome: &Outcome, decision: Decision) -> Option<String> {
    let said = outcome.reason_with_nudge().or_else(|| match &outcome.flow {
        Flow::Stop { reason } => reason.clone(),
        Flow::Go => None,
    });
    // A deny with a blank reason is no deny to some.
    let said = said.filter(|said| decision != Decision::Deny || !said.trim().is_empty());
    let with = |note: String| {
        let said = said.clone().map(|said| said + " ").unwrap_or_default();
        Some(format!("{said}({note})"))
    };
    match (outcome.decision, decision) {
        (Decision::Deny, Decision::Deny) => said.or_else(|| Some(DENIED.to_owned())),
        (_, Decision::Deny) if outcome.flow != Flow::Go => said.or_else(|| Some(DENIED.to_owned())),
        (Decision::Ask | Decision::Defer, Decision::Deny) => {
            with(format!("this needs a person's approval, which cannot be asked for at {}", row.native))
        }
        (_, Decision::Deny) => {
            let input = outcome.tool_input.as_ref().map(Value::to_string).unwrap_or_default();
            with(format!(
                "the call has to be another, and cannot be changed at {}: call it with {input}",
                row.native
            ))
        }
        _ => said,
    }
}

fn tool_input(call: &Call, outcome: &Outcome) -> Option<Value> {
    let input = outcome.tool_input.as_ref()?;
    let judged = call.event.tool.as_ref().map_or(&Value::Null, |tool| &tool.args);
    let harness = find(&call.event.source);
    let native = call.native.as_ref().zip(harness);
    // Arguments that came as free text go back as free text.
    let sent = native.and_then(|(native, harness)| keys::value(&native.fields, harness.keys.tool_input));
    let native = native.map_or(Value::Null, |(native, harness)| decode::arguments(harness, &native.fields));
    let changed = mcp::without_filled_url(input, judged, &native);
    let is_free_text = sent.is_some_and(Value::is_string) && native.get(decode::FREE_TEXT) == sent;
    Some(match changed.get(decode::FREE_TEXT) {
        Some(text) if is_free_text => text.clone(),
        _ => changed,
    })
}

fn writes_output(row: &EventRow, call: &Call) -> bool {
    let by_server = call.event.tool.as_ref().is_some_and(|tool| tool.mcp.is_some());
    row.rewrite == Rewrite::ToolOutput || row.rewrite == Rewrite::McpOutput && by_server
}

/// What the outcome says that the harness cannot be told at this event.
pub(crate) fn lost(row: Option<&EventRow>, call: &Call, outcome: &Outcome) -> Vec<String> {
    let mut lost = Vec::new();
    let mut note = |what: &str| lost.push(format!("{what} cannot be said here"));
    if outcome.decision >= Decision::Ask && row.is_none_or(|row| row.deny == Deny::Impossible) {
        note(outcome.decision.word());
    }
    if !outcome.context.is_empty() && !row.is_some_and(|row| row.context) {
        note("context for the model");
    }
    let rewrites = |what: Rewrite| row.is_some_and(|row| row.rewrite == what);
    if outcome.tool_input.is_some() && !rewrites(Rewrite::ToolInput) {
        note("a changed tool input");
    }
    if outcome.tool_output().is_some() && !row.is_some_and(|row| writes_output(row, call)) {
        note("a changed tool output");
    }
    for said in &outcome.modifications {
        match said.what {
            Modification::ModelRequest { .. } if !rewrites(Rewrite::ModelRequest) => {
                note("a changed model request");
            }
            Modification::ModelResponse { .. }
                if !rewrites(Rewrite::ModelRequest) && !rewrites(Rewrite::ModelResponse) =>
            {
                note("a changed model response");
            }
            Modification::ToolSelection { .. } if !rewrites(Rewrite::ToolSelection) => {
                note("a selection of tools");
            }
            _ => {}
        }
    }
    lost
}

/// The parts of a changed model request, or of a changed answer: what was there is left out, since
/// saying it again can cost a harness what its simpler form does not show.
pub(crate) fn changed(before: Option<&Value>, after: &Value) -> Value {
    match (before, after) {
        (Some(Value::Object(before)), Value::Object(after)) => {
            let different = after.iter().filter(|(key, value)| before.get(*key) != Some(value));
            Value::Object(different.map(|(key, value)| (key.clone(), value.clone())).collect::<Map<_, _>>())
        }
        _ => after.clone(),
    }
}

/// The request to the model after all modifications, if there is any.
pub(crate) fn model_request(call: &Call, outcome: &Outcome) -> Option<Value> {
    let mut request = call.event.detail.model_request.clone().unwrap_or(Value::Null);
    let mut any = false;
    for said in &outcome.modifications {
        if let Modification::ModelRequest { merge, value } = &said.what {
            merge.apply(&mut request, value);
            any = true;
        }
    }
    any.then_some(request)
}

/// The model's answer after all modifications, if there is any.
pub(crate) fn model_response(call: &Call, outcome: &Outcome) -> Option<Value> {
    let mut response = call.event.detail.model_response.clone().unwrap_or(Value::Null);
    let mut any = false;
    for said in &outcome.modifications {
        if let Modification::ModelResponse { merge, value } = &said.what {
            merge.apply(&mut response, value);
            any = true;
        }
    }
    any.then_some(response)
}
