// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Checks that an input has the fields that its event requires. Additional keys are allowed.

use serde_json::Value;
use tenterhook_event::EventKind;

use crate::switches::{MergeStrategy, Profile, ProfileEvent};

pub(super) fn input(profile: &Profile, row: &ProfileEvent, input: &Value) -> bool {
    let is = |key: &str, test: fn(&Value) -> bool| input.get(key).is_some_and(test);
    if !input.is_object() {
        return false;
    }
    // Only the events of LLxprt's hook documentation have defined fields on the bus.
    if matches!(row.merge, MergeStrategy::Permission | MergeStrategy::Actions) {
        return true;
    }
    let tool = || is("tool_name", named) && is("tool_input", Value::is_object) && mcp(input);
    match row.kind {
        EventKind::PreTool => tool(),
        EventKind::PostTool => tool() && is("tool_response", Value::is_object),
        EventKind::Prompt => is("prompt", Value::is_string),
        EventKind::Stop => {
            is("prompt", Value::is_string)
                && is("prompt_response", Value::is_string)
                && is("stop_hook_active", Value::is_boolean)
        }
        EventKind::PreModel | EventKind::ToolSelection => is("llm_request", Value::is_object),
        EventKind::PostModel => is("llm_request", Value::is_object) && is("llm_response", Value::is_object),
        EventKind::Notification => {
            is("notification_type", |_| true) && is("message", named) && is("details", Value::is_object)
        }
        EventKind::SessionStart => !profile.bus_refuses_session_events && is("source", Value::is_string),
        EventKind::SessionEnd => !profile.bus_refuses_session_events && is("reason", Value::is_string),
        EventKind::PreCompact => !profile.bus_refuses_session_events && is("trigger", Value::is_string),
        _ => true,
    }
}

fn named(value: &Value) -> bool {
    value.as_str().is_some_and(|text| !text.is_empty())
}

fn mcp(input: &Value) -> bool {
    input.get("mcp_context").is_none_or(|context| context.get("server_name").is_some_and(named))
}
