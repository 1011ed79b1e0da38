// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Events for tests, and functions that evaluate a condition for an event.

use serde_json::{Value, json};
use tenterhook_event::{AgentIdentity, Event, EventDetail, EventId, EventKind, Timestamp, ToolCall};
use tenterhook_when::{When, WhenError};

/// An event with only the fields that every event has.
pub(crate) fn bare(kind: EventKind) -> Event {
    let ts = Timestamp::from_unix_ms(1_763_193_600_000);
    Event::new(EventId::from_parts(1, 7), ts, "claude-code", kind, "PreToolUse")
}

/// An event about a call of `tool`.
pub(crate) fn calling(tool: &str, args: Value) -> Event {
    Event { tool: Some(ToolCall::new(tool, args)), ..bare(EventKind::PreTool) }
}

/// An event with every field filled.
pub(crate) fn full() -> Event {
    let text = |text: &str| Some(text.to_owned());
    Event {
        harness_session_id: text("s-1"),
        turn_id: text("t-1"),
        tool_use_id: text("u-1"),
        cwd: text("/work/app/src"),
        project: text("/work/app"),
        agent: AgentIdentity {
            model: text("opus"),
            user: text("ada"),
            id: text("a-2"),
            kind: text("explore"),
            parent: text("a-1"),
            sandbox: Some(tenterhook_event::SandboxLevel::NamespacesLandlock),
        },
        detail: EventDetail {
            prompt: text("ship it"),
            response: text("done"),
            cause: text("resume"),
            message: text("hello"),
            error: text("exit 1"),
            stop_hook_active: Some(true),
            tool_output: Some(json!({"lines": ["a", "b"], "code": 0, "ratio": 0.5, "none": null})),
            model_request: Some(json!({"messages": [{"role": "user"}]})),
            model_response: Some(json!("yes")),
            duration_ms: Some(1500),
            unhooked_stdin: false,
            usage: None,
        },
        ..calling("Bash", json!({"command": "make deploy", "timeout": 60, "deep": {"er": {"x": true}}}))
    }
}

/// Evaluates the condition for this event.
pub(crate) fn ask(event: &Event, text: &str) -> Result<bool, WhenError> {
    When::compile(text)?.holds(event)
}

/// The error message for this condition, as users read it.
pub(crate) fn complaint(event: &Event, text: &str) -> String {
    match ask(event, text) {
        Ok(answer) => format!("no complaint, but {answer}"),
        Err(error) => error.to_string(),
    }
}
