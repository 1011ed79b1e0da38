// SPDX-License-Identifier: Apache-2.0 OR MIT

//! An event as somebody writes it by hand: what the door knows anyway may be missing.

use serde::Deserialize;
use serde_json::Value;
use tenterhook_event::{
    Agent, Detail, Event, EventId, EventKind, FORMAT_VERSION, Mcp, Timestamp, ToolCall, ToolClass,
};
use tenterhook_harness::Door;

/// The normal form, without what it need not say.
#[derive(Deserialize)]
pub(super) struct Draft {
    v: Option<u32>,
    id: Option<EventId>,
    ts: Option<Timestamp>,
    source: String,
    event: EventKind,
    native_event: Option<String>,
    harness_session_id: Option<String>,
    turn_id: Option<String>,
    tool_use_id: Option<String>,
    cwd: Option<String>,
    project: Option<String>,
    tool: Option<Tool>,
    #[serde(default)]
    agent: Agent,
    #[serde(default)]
    detail: Detail,
}

#[derive(Deserialize)]
struct Tool {
    name: String,
    class: Option<ToolClass>,
    #[serde(default)]
    args: Value,
    mcp: Option<Mcp>,
}

impl Draft {
    /// The event, with a fresh id where it says none. Its time is ours; the sender's is kept beside it.
    pub(super) fn at(self, door: &Door) -> Event {
        let native = self.native_event.unwrap_or_else(|| self.event.name().to_owned());
        let (id, ts) = (self.id.unwrap_or(door.id), door.ts);
        Event {
            v: self.v.unwrap_or(FORMAT_VERSION),
            harness_session_id: self.harness_session_id,
            sender_ts: self.ts,
            turn_id: self.turn_id,
            tool_use_id: self.tool_use_id,
            cwd: self.cwd,
            project: self.project,
            tool: self.tool.map(Tool::call),
            agent: self.agent,
            detail: self.detail,
            ..Event::new(id, ts, &self.source, self.event, &native)
        }
    }
}

impl Tool {
    /// The class is known by the name, unless the agent says better.
    fn call(self) -> ToolCall {
        let known = ToolCall::new(&self.name, self.args);
        ToolCall { class: self.class.unwrap_or(known.class), mcp: self.mcp.or(known.mcp), ..known }
    }
}
