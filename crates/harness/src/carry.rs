// SPDX-License-Identifier: Apache-2.0 OR MIT

//! A change in the event, brought into the native payload beside it, so that the next hook of a chain
//! reads it in its harness's words.

use serde_json::{Map, Value};
use tenterhook_event::{Call, Native};

use crate::keys::{Keys, Places, at_mut};
use crate::table::{ToolAt, find};

/// What of a call was changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// The tool's arguments.
    ToolInput,
    /// What the tool returned.
    ToolOutput,
    /// The request to the model.
    ModelRequest,
    /// The model's answer.
    ModelResponse,
    /// What the person asked.
    Prompt,
}

/// Brings a part of the event into the native payload, wherever the payload has it.
pub fn carry(call: &mut Call, part: Part) {
    let Call { event, native: Some(Native { bytes, fields }) } = call else { return };
    let harness = find(&event.source);
    let keys = harness.map_or(&Keys::CLAUDE, |harness| &harness.keys);
    let detail = &event.detail;
    let prompt = detail.prompt.clone().map(Value::String);
    let (places, value) = match part {
        Part::ToolInput => (keys.tool_input, event.tool.as_ref().map(|tool| &tool.args)),
        Part::ToolOutput => (keys.tool_output, detail.tool_output.as_ref()),
        Part::ModelRequest => (keys.model_request, detail.model_request.as_ref()),
        Part::ModelResponse => (keys.model_response, detail.model_response.as_ref()),
        Part::Prompt => (keys.prompt, prompt.as_ref()),
    };
    let Some(value) = value else { return };
    let at = harness.and_then(|harness| harness.event(&event.native_event)).map(|row| row.tool);
    let changed = match (part, at, value) {
        (Part::ToolInput, Some(ToolAt::Fields { args, .. }), Value::Object(value)) => {
            spread(fields, args, value)
        }
        _ => put(fields, places, value),
    };
    if changed {
        // Serialising plain data to memory has nothing to fail on.
        *bytes = serde_json::to_vec(fields).unwrap_or_default();
    }
}

/// Puts the value wherever the payload has one, as a text where it was a text.
fn put(fields: &mut Map<String, Value>, places: Places, value: &Value) -> bool {
    let mut any = false;
    for place in places {
        let Some(there) = at_mut(fields, place) else { continue };
        let text = there.is_string() && !value.is_string();
        *there = if text { Value::String(value.to_string()) } else { value.clone() };
        any = true;
    }
    any
}

/// Puts arguments back among the payload's own fields.
fn spread(fields: &mut Map<String, Value>, names: &[&str], value: &Map<String, Value>) -> bool {
    let named = names.iter().filter_map(|name| Some(((*name).to_owned(), value.get(*name)?.clone())));
    let before = fields.clone();
    fields.extend(named);
    *fields != before
}
