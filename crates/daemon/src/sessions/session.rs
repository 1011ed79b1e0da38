// SPDX-License-Identifier: Apache-2.0 OR MIT

//! One session, as it stands.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::{Value, json};
use tenterhook_event::{Decision, EventKind, Timestamp};

use super::Key;
use super::files::Files;
use super::todo::Todo;
use super::usage::Usage;

/// Without an event for so long, in milliseconds, nobody seems to work.
const QUIET: u64 = 15 * 60 * 1000;

/// How long the last prompt of a session is that nobody looks at, in bytes.
const SHRUNK: usize = 200;

/// Everything one conversation did.
#[derive(Debug)]
pub(super) struct Session {
    pub(super) key: Key,
    pub(super) model: Option<String>,
    pub(super) user: Option<String>,
    pub(super) cwd: Option<String>,
    pub(super) project: Option<String>,
    pub(super) started: Timestamp,
    pub(super) last: Timestamp,
    pub(super) last_event: EventKind,
    pub(super) doing: Doing,
    pub(super) events: u64,
    pub(super) verdicts: BTreeMap<Decision, u64>,
    pub(super) tools: BTreeMap<String, u64>,
    /// The tools that ran last, the latest last.
    pub(super) recent: Vec<String>,
    pub(super) files: Files,
    pub(super) todos: Vec<Todo>,
    pub(super) subagents: Vec<Subagent>,
    pub(super) prompts: Vec<Prompt>,
    pub(super) prompted: u64,
    pub(super) turn: Option<String>,
    pub(super) usage: Usage,
}

/// What the last event says about the agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Doing {
    /// It works.
    Works,
    /// A person has to say yes.
    Waits,
    /// It has finished its turn.
    Rests,
    /// The session is over.
    Ended,
}

/// How a session stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum State {
    Active,
    Waiting,
    Idle,
    Ended,
}

/// Another agent that this one started.
#[derive(Debug, Serialize)]
pub(super) struct Subagent {
    pub(super) id: String,
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    pub(super) kind: Option<String>,
    pub(super) started: Timestamp,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) ended: Option<Timestamp>,
}

/// What a person asked.
#[derive(Debug, Serialize)]
pub(super) struct Prompt {
    pub(super) ts: Timestamp,
    pub(super) text: String,
}

impl Prompt {
    fn shrunk(mut self) -> Self {
        self.text.truncate(self.text.floor_char_boundary(SHRUNK));
        self.text.shrink_to_fit();
        self
    }
}

impl State {
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Active => "active",
            Self::Waiting => "waiting",
            Self::Idle => "idle",
            Self::Ended => "ended",
        }
    }
}

impl Session {
    pub(super) fn new(key: Key, ts: Timestamp) -> Self {
        Self {
            key,
            model: None,
            user: None,
            cwd: None,
            project: None,
            started: ts,
            last: ts,
            last_event: EventKind::Other,
            doing: Doing::Works,
            events: 0,
            verdicts: BTreeMap::new(),
            tools: BTreeMap::new(),
            recent: Vec::new(),
            files: Files::default(),
            todos: Vec::new(),
            subagents: Vec::new(),
            prompts: Vec::new(),
            prompted: 0,
            turn: None,
            usage: Usage::default(),
        }
    }

    /// Keeps what a list shows and forgets the rest: there are many sessions, and few are looked at.
    pub(super) fn shrink(&mut self) {
        self.files.shrink();
        let last = self.prompts.pop();
        self.prompts = last.into_iter().map(Prompt::shrunk).collect();
        self.subagents = Vec::new();
        self.todos = Vec::new();
    }

    /// How it stands at a moment.
    pub(super) fn state(&self, now: Timestamp) -> State {
        let quiet = now.unix_ms().saturating_sub(self.last.unix_ms()) > QUIET;
        match self.doing {
            Doing::Ended => State::Ended,
            Doing::Waits => State::Waiting,
            Doing::Works if !quiet => State::Active,
            Doing::Works | Doing::Rests => State::Idle,
        }
    }

    /// In short, for a list.
    pub(super) fn summary(&self, now: Timestamp) -> Value {
        let counted = |word: &str| self.todos.iter().filter(|todo| todo.status == word).count();
        json!({
            "id": self.key.id,
            "harness": self.key.harness,
            "model": self.model,
            "user": self.user,
            "cwd": self.cwd,
            "project": self.project,
            "started": self.started,
            "last": self.last,
            "last_event": self.last_event,
            "state": self.state(now).word(),
            "events": self.events,
            "prompts": self.prompted,
            "last_prompt": self.prompts.last().map(|prompt| &prompt.text),
            "verdicts": self.verdicts.iter().map(|(verdict, count)| (verdict.word(), count)).collect::<BTreeMap<_, _>>(),
            "tools": self.tools,
            "files": self.files.counts(),
            "todos": {"all": self.todos.len(), "completed": counted("completed"), "in_progress": counted("in_progress")},
            "subagents": self.subagents.len(),
            "turn": self.turn,
            "usage": self.usage,
        })
    }

    /// All of it.
    pub(super) fn whole(&self, now: Timestamp) -> Value {
        let mut whole = self.summary(now);
        if let Some(fields) = whole.as_object_mut() {
            fields.extend([
                ("prompt_texts".to_owned(), json!(self.prompts)),
                ("touched".to_owned(), self.files.list()),
                ("todo_items".to_owned(), json!(self.todos)),
                ("agents".to_owned(), json!(self.subagents)),
            ]);
        }
        whole
    }
}
