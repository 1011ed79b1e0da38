// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Converts the content of transcripts to events. Each event is emitted once.

use std::collections::{HashMap, HashSet};

use serde_json::{Map, Value};
use sha2::Digest as _;
use tenterhook_event::{Event, EventId, EventKind, McpToolId, Timestamp, ToolCall, ToolClass};

use super::{TranscriptFile, transcripts_of};
use tenterhook_harness::{Harness, mcp};

/// Maximum number of calls that may wait for their result. Even an incomplete transcript has only a few.
const MAX_PENDING_CALLS: usize = 4096;

/// Output of a [`TranscriptReader`].
#[derive(Debug)]
pub enum TranscriptOutput {
    /// An event of the transcript.
    Event(Box<Event>),
    /// A part that could not be used.
    UnreadPart(UnreadPart),
    /// Reports how many more bytes were read.
    Advanced(u64),
}

/// Reason why a part of a transcript could not be used.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum UnreadPart {
    /// The part is not a JSON object.
    Broken,
    /// The part is longer than the largest payload.
    TooLong,
    /// The part has a type that this version does not know.
    Unknown(String),
    /// A tool call or result is incomplete.
    Partial,
}

/// Agent, directory and time of an event.
#[derive(Debug, Clone, Default)]
#[expect(missing_docs, reason = "the names are those of the event")]
pub struct EventContext {
    pub ts: Option<Timestamp>,
    pub session: Option<String>,
    pub turn: Option<String>,
    pub cwd: Option<String>,
    pub project: Option<String>,
    pub model: Option<String>,
    pub agent: Option<String>,
    pub agent_type: Option<String>,
    pub agent_parent: Option<String>,
}

/// Result of a tool call.
#[derive(Debug, Clone, Default)]
pub struct RecordedToolResult {
    /// Error message, if the call failed.
    pub error: Option<String>,
    /// Output of the tool.
    pub output: Option<Value>,
    /// Duration in milliseconds.
    pub duration_ms: Option<u64>,
}

/// Converts the content of transcripts to events.
pub struct TranscriptReader<'a> {
    output: &'a mut dyn FnMut(TranscriptOutput),
    harness: &'static Harness,
    /// Last modification of the file, for parts without a time.
    last: Timestamp,
    /// Calls whose result has not been read yet.
    pending_calls: HashMap<String, ToolCall>,
    /// Ids of emitted events. They are stored because the content of a resumed session may be written twice.
    emitted: HashSet<EventId>,
}

impl std::fmt::Debug for TranscriptReader<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Teller").field("harness", &self.harness.id).finish_non_exhaustive()
    }
}

impl<'a> TranscriptReader<'a> {
    /// Creates a converter for transcripts of a harness.
    pub fn new(harness: &'static Harness, output: &'a mut dyn FnMut(TranscriptOutput)) -> Self {
        let last = Timestamp::from_unix_ms(0);
        Self { output, harness, last, pending_calls: HashMap::new(), emitted: HashSet::new() }
    }

    /// Reads one transcript.
    pub fn read(&mut self, found: &TranscriptFile) -> std::io::Result<()> {
        let Some(transcripts) = transcripts_of(self.harness) else { return Ok(()) };
        self.last = Timestamp::from_unix_ms(found.modified_ms);
        self.pending_calls.clear();
        (transcripts.read)(&found.path, self)
    }

    /// Reports that this many more bytes were read.
    pub(crate) fn report_progress(&mut self, bytes: u64) {
        (self.output)(TranscriptOutput::Advanced(bytes));
    }

    /// Reports a part that could not be used.
    pub(crate) fn report_unread(&mut self, why: UnreadPart) {
        (self.output)(TranscriptOutput::UnreadPart(why));
    }

    /// Reports a part of an unknown type.
    pub(crate) fn report_unknown(&mut self, kind: &str) {
        self.report_unread(UnreadPart::Unknown(kind.chars().take(64).collect()));
    }

    /// Emits the start of a session.
    pub(crate) fn emit_session_start(&mut self, context: &EventContext) {
        let event =
            self.event(context, EventKind::SessionStart, context.session.as_deref().unwrap_or_default());
        self.emit(event);
    }

    /// Emits the start of a subagent.
    pub(crate) fn emit_subagent_start(&mut self, context: &EventContext) {
        let event =
            self.event(context, EventKind::SubagentStart, context.agent.as_deref().unwrap_or_default());
        self.emit(event);
    }

    /// Emits a prompt of the user.
    pub(crate) fn emit_prompt(&mut self, context: &EventContext, mark: &str, text: &str) {
        let mut event = self.event(context, EventKind::Prompt, mark);
        event.detail.prompt = Some(text.to_owned());
        self.emit(event);
    }

    /// Emits a tool call.
    pub(crate) fn emit_call(
        &mut self,
        context: &EventContext,
        id: &str,
        name: &str,
        args: Value,
        server: Option<McpToolId>,
    ) {
        if id.is_empty() || name.is_empty() {
            return self.report_unread(UnreadPart::Partial);
        }
        let mut tool = ToolCall::new(name, args);
        if tool.mcp.is_none() && tool.class == ToolClass::Other {
            tool.mcp = server.or_else(|| (self.harness.mcp_name)(name));
            if tool.mcp.is_some() {
                tool.class = ToolClass::Mcp;
            }
        }
        mcp::fill_url(&mut tool, None, &Map::new());
        let mut event = self.event(context, EventKind::PreTool, id);
        event.tool_use_id = Some(id.to_owned());
        event.tool = Some(tool.clone());
        if self.pending_calls.len() < MAX_PENDING_CALLS {
            self.pending_calls.insert(id.to_owned(), tool);
        }
        self.emit(event);
    }

    /// Emits the result of a tool call.
    pub(crate) fn emit_result(&mut self, context: &EventContext, id: &str, ended: RecordedToolResult) {
        let Some(tool) = self.pending_calls.remove(id) else {
            return self.report_unread(UnreadPart::Partial);
        };
        let kind = if ended.error.is_some() { EventKind::ToolError } else { EventKind::PostTool };
        let mut event = self.event(context, kind, id);
        event.tool_use_id = Some(id.to_owned());
        event.tool = Some(tool);
        event.detail.error = ended.error;
        event.detail.tool_output = ended.output;
        event.detail.duration_ms = ended.duration_ms;
        self.emit(event);
    }

    /// Creates an event. Its id is derived from the transcript's content, so the same event is never imported twice.
    /// The id does not depend on the session, because a resumed session repeats the same calls under a different
    /// session id.
    fn event(&mut self, context: &EventContext, kind: EventKind, mark: &str) -> Event {
        let ts = context.ts.unwrap_or(self.last);
        self.last = ts;
        let harness = self.harness;
        let digest = sha2::Sha256::digest(format!("transcript/1\n{}\n{kind}\n{ts}\n{mark}", harness.id));
        let number = digest.iter().take(16).fold(0, |number, byte| number << 8 | u128::from(*byte));
        let id = EventId::from_parts(ts.unix_ms(), number);
        let row = harness.events.iter().find(|row| row.kind == kind);
        let mut event = Event::new(id, ts, harness.id, kind, row.map_or(kind.name(), |row| row.native));
        event.harness_session_id.clone_from(&context.session);
        event.turn_id.clone_from(&context.turn);
        event.cwd.clone_from(&context.cwd);
        event.project = context.project.clone().or_else(|| context.cwd.clone());
        event.agent.model.clone_from(&context.model);
        event.agent.id.clone_from(&context.agent);
        event.agent.kind.clone_from(&context.agent_type);
        event.agent.parent.clone_from(&context.agent_parent);
        event
    }

    fn emit(&mut self, event: Event) {
        if self.emitted.insert(event.id) {
            (self.output)(TranscriptOutput::Event(Box::new(event)));
        }
    }
}
