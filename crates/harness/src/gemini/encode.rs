// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Outcome → what Gemini CLI and LLxprt Code read.
//!
//! `{"decision": "deny", "reason": …}` with exit 0. Neither is ever told `ask`: one hangs where nobody
//! sits, the other takes it for a yes.

use serde_json::Value;
use tenterhook_event::{Call, EventKind, Outcome, SelectionMode};

use super::wire::{Printed, Specific, ToolConfig};
use crate::answer::{Answer, changed, model_request, model_response};
use crate::{EventRow, Reply};

/// Which of the two reads it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    Gemini,
    Llxprt,
}

pub(crate) fn encode(form: Form, row: &'static EventRow, call: &Call, outcome: &Outcome) -> Reply {
    let mut answer = Answer::new(row, call, outcome);
    let mut output = Printed::default();
    let mut specific = Specific { additional_context: answer.context.take(), ..Specific::default() };
    if answer.denied(row) && row.kind != EventKind::ToolSelection {
        output.decision = Some("deny");
        output.reason = Some(answer.why());
    }
    match row.kind {
        EventKind::PreTool => specific.tool_input = answer.input.take(),
        // The reason takes the place of the output.
        EventKind::PostTool if output.decision.is_none() && answer.output.is_some() => {
            output.decision = Some("deny");
            output.reason = answer.output_text();
        }
        EventKind::PreModel => before_model(form, call, outcome, &mut output, &mut specific),
        EventKind::PostModel if output.decision.is_none() => {
            specific.llm_response = model_response(call, outcome);
        }
        // There a deny is said on the screen, and the tools that the model asked for run.
        EventKind::PostModel if form == Form::Gemini && answer.stop.is_none() => {
            answer.stop.clone_from(&output.reason);
        }
        EventKind::ToolSelection => {
            let none = answer.denied(row) || answer.stop.is_some();
            specific.tool_config = tool_config(form, outcome, none);
            // Whatever else is said here is dropped.
            answer.lose_message();
            answer.lose_stop();
        }
        // There it would start another turn; only saying nothing lets the agent end.
        EventKind::Stop if form == Form::Llxprt && answer.stop.take().is_some() => {
            output = Printed::default();
        }
        EventKind::SessionStart | EventKind::SessionEnd | EventKind::PreCompact | EventKind::Notification => {
            answer.lose_stop();
        }
        _ => {}
    }
    if let Some(reason) = answer.stop.take() {
        output.go_on = Some(false);
        output.stop_reason = Some(reason);
    }
    // There the model would read it at the end of the tool's output.
    if form == Form::Llxprt && row.kind.concerns_tool() {
        answer.lose_message();
    }
    output.system_message = answer.message.take();
    output.suppress_output = outcome.suppress_output.then_some(true);
    if specific != Specific::default() {
        specific.hook_event_name = row.native;
        output.hook_specific_output = Some(specific);
    }
    answer.say(&output)
}

/// The request as it should be, or an answer in the model's place, which is heard only beside a deny.
fn before_model(form: Form, call: &Call, outcome: &Outcome, output: &mut Printed, specific: &mut Specific) {
    if output.decision.is_some() {
        return;
    }
    if let Some(response) = model_response(call, outcome) {
        output.decision = Some("deny");
        output.reason = match form {
            Form::Gemini => Some("answered by Tenterhook".to_owned()),
            // There the reason itself is what the model seems to have said.
            Form::Llxprt => Some(spoken(&response)),
        };
        specific.llm_response = Some(response);
        return;
    }
    if let Some(request) = model_request(call, outcome) {
        specific.llm_request = Some(changed(call.event.detail.model_request.as_ref(), &request));
    }
}

/// The text of a model's answer.
fn spoken(response: &Value) -> String {
    if let Some(text) = response.get("text").and_then(Value::as_str) {
        return text.to_owned();
    }
    let candidates = response.get("candidates").and_then(Value::as_array).into_iter().flatten();
    let parts =
        candidates.filter_map(|candidate| candidate.get("content")?.get("parts")?.as_array()).flatten();
    let text = |part: &Value| part.as_str().or_else(|| part.get("text")?.as_str()).map(ToOwned::to_owned);
    parts.filter_map(text).collect()
}

/// The tools that stay on offer. LLxprt Code reads the mode `NONE` without a list as "no restriction", and
/// offers nothing only for an explicit empty list.
fn tool_config(form: Form, outcome: &Outcome, none: bool) -> Option<ToolConfig> {
    let (mode, allowed) = if none { (SelectionMode::None, &[][..]) } else { outcome.tool_selection()? };
    let (mode, names) = match mode {
        SelectionMode::Auto => ("AUTO", allowed),
        SelectionMode::Any => ("ANY", allowed),
        SelectionMode::None if form == Form::Llxprt => {
            return Some(ToolConfig { mode: "NONE", allowed_function_names: Some(Vec::new()) });
        }
        SelectionMode::None => ("NONE", allowed),
    };
    let names = (!names.is_empty()).then(|| names.to_vec());
    Some(ToolConfig { mode, allowed_function_names: names })
}
