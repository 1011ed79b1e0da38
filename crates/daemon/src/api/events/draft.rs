// SPDX-License-Identifier: Apache-2.0 OR MIT

//! An event as a program sends it: what the daemon knows anyway may be missing.

use tenterhook_api::{EventRequest, EventToolRequest};
use tenterhook_event::{Event, FORMAT_VERSION, ToolCall};
use tenterhook_harness::CallMeta;

/// The event, with a fresh id if it has none. Its time is ours; the sender's is kept beside it.
pub(super) fn complete_event(request: EventRequest, door: &CallMeta) -> Event {
    let native = request.native_event.unwrap_or_else(|| request.event.name().to_owned());
    let (id, ts) = (request.id.unwrap_or(door.id), door.ts);
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

/// The class is known by the name, unless the sender gives one.
fn tool_call(request: EventToolRequest) -> ToolCall {
    let known = ToolCall::new(&request.name, request.args);
    ToolCall { class: request.class.unwrap_or(known.class), mcp: request.mcp.or(known.mcp), ..known }
}
