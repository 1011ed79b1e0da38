// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Completes an event that a program sent: the daemon fills in the fields it knows.

use tenterhook_api::{EventRequest, EventToolRequest};
use tenterhook_event::{Event, FORMAT_VERSION, ToolCall};
use tenterhook_harness::CallMeta;

/// Builds the event with the daemon's time; the sender's time becomes `sender_ts`. An event without an id gets one.
pub(super) fn complete_event(request: EventRequest, meta: &CallMeta) -> Event {
    let native = request.native_event.unwrap_or_else(|| request.event.name().to_owned());
    let (id, ts) = (request.id.unwrap_or(meta.id), meta.ts);
    Event {
        v: request.v.unwrap_or(FORMAT_VERSION),
        harness_session_id: request.harness_session_id,
        sender_ts: request.ts,
        turn_id: request.turn_id,
        tool_use_id: request.tool_use_id,
        cwd: request.cwd,
        project: request.project,
        tool: request.tool.map(tool_call),
        agent: request.agent,
        detail: request.detail,
        ..Event::new(id, ts, &request.source, request.event, &native)
    }
}

/// Builds the tool call. The class follows from the tool's name, unless the sender gives one.
fn tool_call(request: EventToolRequest) -> ToolCall {
    let known = ToolCall::new(&request.name, request.args);
    ToolCall { class: request.class.unwrap_or(known.class), mcp: request.mcp.or(known.mcp), ..known }
}
