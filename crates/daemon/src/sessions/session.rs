// SPDX-License-Identifier: Apache-2.0 OR MIT

//! One session, as it stands. What a list shows is always there; what only its own page shows is in
//! [`Body`], which goes when nobody has looked for long, and comes back from the ledger.

use std::collections::{BTreeMap, VecDeque};

use serde::Serialize;
use serde_json::{Value, json};
use tenterhook_event::{Decision, EventKind, Timestamp};

use super::Key;
use super::calls::{Tools, Waiting};
use super::denial::{Denial, Hint};
use super::files::{Counts, Files};
use super::happened::Gone;
use super::todo::{Progress, Todos};
use super::usage::Usage;

/// Without an event for so long, in milliseconds, nobody seems to work.
pub(super) const QUIET: u64 = 15 * 60 * 1000;
/// How long the last prompt of a session is that nobody looks at, in characters.
pub(super) const SHORT: usize = 100;

/// Everything one conversation did.
#[derive(Debug)]
pub(super) struct Session {
    pub(super) key: Key,
    pub(super) model: Option<String>,
    pub(super) user: Option<String>,
    pub(super) cwd: Option<String>,
    pub(super) project: Option<String>,
    pub(super) title: Option<String>,
    pub(super) started: Timestamp,
    pub(super) last: Timestamp,
    pub(super) last_event: EventKind,
    /// The latest leaf that is in it.
    pub(super) last_seq: u64,
    pub(super) doing: Doing,
    /// Until when the agent can wait for a person at most.
    pub(super) waits_until: Timestamp,
    pub(super) ended: Option<Ended>,
    pub(super) events: u64,
    /// Events of callers that the session does not belong to.
    pub(super) unverified: u64,
    /// Events of which the content is not there any more.
    pub(super) erased: u64,
    pub(super) verdicts: BTreeMap<Decision, u64>,
    pub(super) tools: Tools,
    /// The tools that ran last, the latest last.
    pub(super) recent: Vec<String>,
    pub(super) prompted: u64,
    pub(super) last_prompt: Option<String>,
    pub(super) turn: Option<String>,
    pub(super) usage: Usage,
    pub(super) denied: Denied,
    pub(super) body: Option<Box<Body>>,
    /// What a list shows of a body that is not there.
    pub(super) kept: Kept,
}

/// What only a session's own page shows.
#[derive(Debug, Default)]
pub(super) struct Body {
    pub(super) files: Files,
    pub(super) todos: Todos,
    pub(super) subagents: Vec<Subagent>,
    pub(super) prompts: VecDeque<Prompt>,
    pub(super) denials: VecDeque<Denial>,
    /// Calls that a person was asked about.
    pub(super) asks: VecDeque<Denial>,
    pub(super) waiting: Waiting,
    /// Calls that may have changed any file: commands, other agents, somebody else's tools.
    pub(super) commands: u64,
}

/// What a list shows of a body.
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct Kept {
    files: Counts,
    todos: Progress,
    subagents: usize,
}

/// How often the agent was denied something, and what it made of the hints.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Serialize)]
pub(super) struct Denied {
    pub(super) all: u64,
    pub(super) nudged: u64,
    pub(super) taken: u64,
    pub(super) repeated: u64,
}

/// How a session ended.
#[derive(Debug, Clone)]
pub(super) struct Ended {
    pub(super) at: Timestamp,
    pub(super) why: Option<String>,
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
    /// The agent that started it; absent for the session's own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) parent: Option<String>,
    pub(super) started: Timestamp,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) ended: Option<Timestamp>,
    pub(super) events: u64,
    pub(super) tools: u64,
    pub(super) failed: u64,
    pub(super) denied: u64,
    /// As the harness tells it at the end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) tokens: Option<u64>,
}

/// What a person asked.
#[derive(Debug, Serialize)]
pub(super) struct Prompt {
    pub(super) ts: Timestamp,
    pub(super) seq: u64,
    pub(super) text: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) gone: Option<Gone>,
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
            title: None,
            started: ts,
            last: ts,
            last_event: EventKind::Other,
            last_seq: 0,
            doing: Doing::Works,
            waits_until: ts,
            ended: None,
            events: 0,
            erased: 0,
            unverified: 0,
            verdicts: BTreeMap::new(),
            tools: Tools::default(),
            recent: Vec::new(),
            prompted: 0,
            last_prompt: None,
            turn: None,
            usage: Usage::default(),
            denied: Denied::default(),
            body: Some(Box::default()),
            kept: Kept::default(),
        }
    }

    /// Keeps what a list shows and forgets the rest: there are many sessions, and few are looked at.
    pub(super) fn shrink(&mut self) {
        self.kept = self.numbers();
        self.body = None;
        if let Some(prompt) = &mut self.last_prompt
            && let Some((cut, _)) = prompt.char_indices().nth(SHORT)
        {
            prompt.truncate(cut);
            prompt.shrink_to_fit();
        }
    }

    fn numbers(&self) -> Kept {
        match &self.body {
            Some(body) => Kept {
                files: body.files.counts(),
                todos: body.todos.progress(),
                subagents: body.subagents.len(),
            },
            None => self.kept,
        }
    }

    /// How it stands at a moment.
    pub(super) fn state(&self, now: Timestamp) -> State {
        let quiet = now.unix_ms().saturating_sub(self.last.unix_ms()) > QUIET;
        match self.doing {
            Doing::Ended => State::Ended,
            Doing::Waits if now <= self.waits_until => State::Waiting,
            Doing::Works | Doing::Waits if !quiet => State::Active,
            Doing::Works | Doing::Waits | Doing::Rests => State::Idle,
        }
    }

    /// A path as a person would say it: from the project, or from where the agent works.
    pub(super) fn shown(&self, path: &str) -> String {
        let roots = [self.project.as_deref(), self.cwd.as_deref()];
        let inside = |root: &str| path.strip_prefix(root.trim_end_matches('/'))?.strip_prefix('/');
        roots.into_iter().flatten().find_map(inside).unwrap_or(path).to_owned()
    }

    /// In short, for a list.
    pub(super) fn summary(&self, now: Timestamp) -> Value {
        let Kept { files, todos, subagents } = self.numbers();
        let tools = self.tools.0.iter().map(|(name, counted)| (name, counted.calls));
        json!({
            "id": self.key.id,
            "harness": self.key.harness,
            "title": self.title,
            "model": self.model,
            "user": self.user,
            "cwd": self.cwd,
            "project": self.project,
            "started": self.started,
            "last": self.last,
            "last_event": self.last_event,
            "last_seq": self.last_seq,
            "duration_ms": self.last.unix_ms().saturating_sub(self.started.unix_ms()),
            "state": self.state(now).word(),
            "ended": self.ended.as_ref().map(|ended| ended.at),
            "end_reason": self.ended.as_ref().and_then(|ended| ended.why.as_ref()),
            "events": self.events,
            "erased": self.erased,
            "unverified": self.unverified,
            "prompts": self.prompted,
            "last_prompt": self.last_prompt,
            "verdicts": self.verdicts.iter().map(|(verdict, count)| (verdict.word(), count)).collect::<BTreeMap<_, _>>(),
            "tools": tools.collect::<BTreeMap<_, _>>(),
            "calls": self.tools.all(),
            "denied": self.denied,
            "files": files.json(),
            "todos": todos.json(),
            "subagents": subagents,
            "turn": self.turn,
            "usage": self.usage,
        })
    }

    /// All of it. What is not in memory has to be brought back before.
    pub(super) fn whole(&self, now: Timestamp) -> Value {
        let mut whole = self.summary(now);
        let nothing = Body::default();
        let body = self.body.as_deref().unwrap_or(&nothing);
        if let Some(fields) = whole.as_object_mut() {
            fields.extend([
                ("prompt_texts".to_owned(), json!(body.prompts)),
                ("touched".to_owned(), body.files.list()),
                ("todo_items".to_owned(), json!(body.todos.0)),
                ("agents".to_owned(), json!(body.subagents)),
                ("tool_results".to_owned(), json!(self.tools.0)),
                ("denials".to_owned(), body.denials.iter().map(Denial::json).collect()),
                ("asks".to_owned(), body.asks.iter().map(Denial::json).collect()),
            ]);
            if let Value::Object(files) = self.files() {
                fields.extend([
                    ("changed_files".to_owned(), files.get("files").cloned().unwrap_or_default()),
                    ("changes".to_owned(), files.get("changes").cloned().unwrap_or_default()),
                ]);
            }
        }
        whole
    }

    /// The files it changed: each once, and every change.
    pub(super) fn files(&self) -> Value {
        let shown = |path: &str| self.shown(path);
        let Some(body) = &self.body else { return json!({"files": [], "changes": [], "left_out": 0}) };
        let changes: Vec<_> = body.files.changes.iter().map(|change| change.json(&shown)).collect();
        json!({"files": body.files.distinct(&shown), "changes": changes, "left_out": body.files.left_out})
    }

    /// Its to-do list.
    pub(super) fn todos(&self) -> Value {
        let items = self.body.as_ref().map(|body| json!(body.todos.0)).unwrap_or_default();
        let mut todos = self.numbers().todos.json();
        if let Some(fields) = todos.as_object_mut() {
            fields.insert("items".to_owned(), items);
        }
        todos
    }
}

impl Denied {
    /// A denial was answered by the agent's next call.
    pub(super) fn heard(&mut self, hint: Hint, nudged: bool) {
        self.taken += u64::from(nudged && hint == Hint::Taken);
        self.repeated += u64::from(hint == Hint::Repeated);
    }
}
