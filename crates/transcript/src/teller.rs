// SPDX-License-Identifier: Apache-2.0 OR MIT

//! From what a transcript says to events, each told once.

use std::collections::{HashMap, HashSet};

use serde_json::{Map, Value};
use sha2::Digest as _;
use tenterhook_event::{Event, EventId, EventKind, Mcp, Timestamp, ToolCall, ToolClass};

use super::{Found, transcripts_of};
use tenterhook_harness::{Harness, mcp};

/// How many calls may wait for their result; a transcript that ends in the middle has few.
const MOST_WAITING: usize = 4096;

/// What is told while transcripts are read.
#[derive(Debug)]
pub enum Told {
    /// Something that happened.
    Event(Box<Event>),
    /// A part that could not be used.
    Unread(Unread),
    /// So many bytes further.
    Advanced(u64),
}

/// Why a part of a transcript could not be used.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Unread {
    /// It is no JSON object.
    Broken,
    /// It is longer than a payload may be.
    TooLong,
    /// It is of a kind that this version does not know.
    Unknown(String),
    /// A tool call or its result of which a part is missing.
    Partial,
}

/// Who acted, where and when.
#[derive(Debug, Clone, Default)]
#[expect(missing_docs, reason = "the names are those of the event")]
pub struct Around {
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

/// How a tool call ended.
#[derive(Debug, Clone, Default)]
pub struct Ended {
    /// What went wrong, if anything did.
    pub error: Option<String>,
    /// What came of it.
    pub output: Option<Value>,
    /// How long it took.
    pub duration_ms: Option<u64>,
}

/// Makes events of what transcripts say.
pub struct Teller<'a> {
    to: &'a mut dyn FnMut(Told),
    harness: &'static Harness,
    /// When the file was last written, for what says no time.
    last: Timestamp,
    /// Calls whose result has not come yet.
    waiting: HashMap<String, ToolCall>,
    /// What was told before: a session that was taken up again may be written down twice.
    told: HashSet<EventId>,
}

impl std::fmt::Debug for Teller<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Teller").field("harness", &self.harness.id).finish_non_exhaustive()
    }
}

impl<'a> Teller<'a> {
    /// Tells events of a harness.
    pub fn new(harness: &'static Harness, to: &'a mut dyn FnMut(Told)) -> Self {
        let last = Timestamp::from_unix_ms(0);
        Self { to, harness, last, waiting: HashMap::new(), told: HashSet::new() }
    }

    /// Reads one transcript.
    pub fn read(&mut self, found: &Found) -> std::io::Result<()> {
        let Some(transcripts) = transcripts_of(self.harness) else { return Ok(()) };
        self.last = Timestamp::from_unix_ms(found.modified_ms);
        self.waiting.clear();
        (transcripts.read)(&found.path, self)
    }

    /// So many bytes further.
    pub(crate) fn advance(&mut self, bytes: u64) {
        (self.to)(Told::Advanced(bytes));
    }

    /// A part could not be used.
    pub(crate) fn unread(&mut self, why: Unread) {
        (self.to)(Told::Unread(why));
    }

    /// A part of a kind that is not known.
    pub(crate) fn unknown(&mut self, kind: &str) {
        self.unread(Unread::Unknown(kind.chars().take(64).collect()));
    }

    /// A session begins.
    pub(crate) fn session(&mut self, around: &Around) {
        let event =
            self.event(around, EventKind::SessionStart, around.session.as_deref().unwrap_or_default());
        self.tell(event);
    }

    /// A subagent begins.
    pub(crate) fn subagent(&mut self, around: &Around) {
        let event = self.event(around, EventKind::SubagentStart, around.agent.as_deref().unwrap_or_default());
        self.tell(event);
    }

    /// A person says something.
    pub(crate) fn prompt(&mut self, around: &Around, mark: &str, text: &str) {
        let mut event = self.event(around, EventKind::Prompt, mark);
        event.detail.prompt = Some(text.to_owned());
        self.tell(event);
    }

    /// A tool is called.
    pub(crate) fn call(&mut self, around: &Around, id: &str, name: &str, args: Value, server: Option<Mcp>) {
        if id.is_empty() || name.is_empty() {
            return self.unread(Unread::Partial);
        }
        let mut tool = ToolCall::new(name, args);
        if tool.mcp.is_none() && tool.class == ToolClass::Other {
            tool.mcp = server.or_else(|| (self.harness.mcp_name)(name));
            if tool.mcp.is_some() {
                tool.class = ToolClass::Mcp;
            }
        }
        mcp::fill_url(&mut tool, None, &Map::new());
        let mut event = self.event(around, EventKind::PreTool, id);
        event.tool_use_id = Some(id.to_owned());
        event.tool = Some(tool.clone());
        if self.waiting.len() < MOST_WAITING {
            self.waiting.insert(id.to_owned(), tool);
        }
        self.tell(event);
    }

    /// A tool has run, or failed.
    pub(crate) fn result(&mut self, around: &Around, id: &str, ended: Ended) {
        let Some(tool) = self.waiting.remove(id) else { return self.unread(Unread::Partial) };
        let kind = if ended.error.is_some() { EventKind::ToolError } else { EventKind::PostTool };
        let mut event = self.event(around, kind, id);
        event.tool_use_id = Some(id.to_owned());
        event.tool = Some(tool);
        event.detail.error = ended.error;
        event.detail.tool_output = ended.output;
        event.detail.duration_ms = ended.duration_ms;
        self.tell(event);
    }

    /// The id follows from what the transcript says, so that the same event never comes in twice. The session
    /// is no part of it: one that was taken up again has another name for the same calls.
    fn event(&mut self, around: &Around, kind: EventKind, mark: &str) -> Event {
        let ts = around.ts.unwrap_or(self.last);
        self.last = ts;
        let harness = self.harness;
        let digest = sha2::Sha256::digest(format!("transcript/1\n{}\n{kind}\n{ts}\n{mark}", harness.id));
        let number = digest.iter().take(16).fold(0, |number, byte| number << 8 | u128::from(*byte));
        let id = EventId::from_parts(ts.unix_ms(), number);
        let row = harness.events.iter().find(|row| row.kind == kind);
        let mut event = Event::new(id, ts, harness.id, kind, row.map_or(kind.name(), |row| row.native));
        event.harness_session_id.clone_from(&around.session);
        event.turn_id.clone_from(&around.turn);
        event.cwd.clone_from(&around.cwd);
        event.project = around.project.clone().or_else(|| around.cwd.clone());
        event.agent.model.clone_from(&around.model);
        event.agent.id.clone_from(&around.agent);
        event.agent.kind.clone_from(&around.agent_type);
        event.agent.parent.clone_from(&around.agent_parent);
        event
    }

    fn tell(&mut self, event: Event) {
        if self.told.insert(event.id) {
            (self.to)(Told::Event(Box::new(event)));
        }
    }
}
