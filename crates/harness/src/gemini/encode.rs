// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Encodes an outcome for Gemini CLI and LLxprt Code.
//!
//! A deny is `{"decision": "deny", "reason": …}` with exit code 0. `ask` is never sent: Gemini CLI hangs on it
//! without a terminal, and LLxprt Code treats it as an allow.

use serde_json::Value;
use tenterhook_event::{EventKind, HookCall, Outcome, SelectionMode};

use super::wire::{GeminiHookOutput, GeminiSpecificOutput, ToolConfig};
use crate::outcome_encoding::{ExpressibleOutcome, changed_fields, model_request, model_response};
use crate::{EventRow, HookReply};

/// The client that reads the reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum GeminiVariant {
    Gemini,
    Llxprt,
}

pub(crate) fn encode(
    form: GeminiVariant,
    row: &'static EventRow,
    call: &HookCall,
    outcome: &Outcome,
) -> HookReply {
    let mut answer = ExpressibleOutcome::new(row, call, outcome);
    let mut output = GeminiHookOutput::default();
    let mut specific =
        GeminiSpecificOutput { additional_context: answer.context.take(), ..GeminiSpecificOutput::default() };
    if answer.is_denied(row) && row.kind != EventKind::ToolSelection {
        output.decision = Some("deny");
        output.reason = Some(answer.reason_text());
    }
    match row.kind {
        EventKind::PreTool => specific.tool_input = answer.input.take(),
        // The client replaces the tool's output with the reason.
        EventKind::PostTool if output.decision.is_none() && answer.output.is_some() => {
            output.decision = Some("deny");
            output.reason = answer.output_text();
        }
        EventKind::PreModel => before_model(form, call, outcome, &mut output, &mut specific),
        EventKind::PostModel if output.decision.is_none() => {
            specific.llm_response = model_response(call, outcome);
        }
        // LLxprt Code only displays a deny, and still runs the tools that the model requested.
        EventKind::PostModel if form == GeminiVariant::Gemini && answer.stop.is_none() => {
            answer.stop.clone_from(&output.reason);
        }
        EventKind::ToolSelection => {
            let none = answer.is_denied(row) || answer.stop.is_some();
            specific.tool_config = tool_config(form, outcome, none);
            // For this event the client ignores all other fields.
            answer.drop_message();
            answer.drop_stop();
        }
        // A deny would start another turn. Only an empty reply lets the agent stop.
        EventKind::Stop if form == GeminiVariant::Llxprt && answer.stop.take().is_some() => {
            output = GeminiHookOutput::default();
        }
        EventKind::SessionStart | EventKind::SessionEnd | EventKind::PreCompact | EventKind::Notification => {
            answer.drop_stop();
        }
        _ => {}
    }
    if let Some(reason) = answer.stop.take() {
        output.go_on = Some(false);
        output.stop_reason = Some(reason);
    }
    // The client would append the message to the tool output that the model reads.
    if form == GeminiVariant::Llxprt && row.kind.concerns_tool() {
        answer.drop_message();
    }
    output.system_message = answer.message.take();
    output.suppress_output = outcome.suppress_output.then_some(true);
    if specific != GeminiSpecificOutput::default() {
        specific.hook_event_name = row.native;
        output.hook_specific_output = Some(specific);
    }
    answer.into_reply(&output)
}

/// Sets the changed request or a synthetic response. The client reads a synthetic response only together with a deny.
fn before_model(
    form: GeminiVariant,
    call: &HookCall,
    outcome: &Outcome,
    output: &mut GeminiHookOutput,
    specific: &mut GeminiSpecificOutput,
) {
    if output.decision.is_some() {
        return;
    }
    if let Some(response) = model_response(call, outcome) {
        output.decision = Some("deny");
        output.reason = match form {
            GeminiVariant::Gemini => Some("answered by Tenterhook".to_owned()),
            // LLxprt Code shows the reason as the model's message.
            GeminiVariant::Llxprt => Some(response_text(&response)),
        };
        specific.llm_response = Some(response);
        return;
    }
    if let Some(request) = model_request(call, outcome) {
        specific.llm_request = Some(changed_fields(call.event.detail.model_request.as_ref(), &request));
    }
}

/// Returns the text of a model response.
fn response_text(response: &Value) -> String {
    if let Some(text) = response.get("text").and_then(Value::as_str) {
        return text.to_owned();
    }
    let candidates = response.get("candidates").and_then(Value::as_array).into_iter().flatten();
    let parts =
        candidates.filter_map(|candidate| candidate.get("content")?.get("parts")?.as_array()).flatten();
    let text = |part: &Value| part.as_str().or_else(|| part.get("text")?.as_str()).map(ToOwned::to_owned);
    parts.filter_map(text).collect()
}

/// Returns the tools that remain available. LLxprt Code reads mode `NONE` without a list as "no restriction"; only an
/// explicit empty list disables all tools.
fn tool_config(form: GeminiVariant, outcome: &Outcome, none: bool) -> Option<ToolConfig> {
    let (mode, allowed) = if none { (SelectionMode::None, &[][..]) } else { outcome.tool_selection()? };
    let (mode, names) = match mode {
        SelectionMode::Auto => ("AUTO", allowed),
        SelectionMode::Any => ("ANY", allowed),
        SelectionMode::None if form == GeminiVariant::Llxprt => {
            return Some(ToolConfig { mode: "NONE", allowed_function_names: Some(Vec::new()) });
        }
        SelectionMode::None => ("NONE", allowed),
    };
    let names = (!names.is_empty()).then(|| names.to_vec());
    Some(ToolConfig { mode, allowed_function_names: names })
}
