// SPDX-License-Identifier: Apache-2.0 OR MIT

//! One session, as it stands. What a list shows is always there; what only its own page shows is in
//! [`Body`], which goes when nobody has looked for long, and comes back from the ledger.

use std::collections::{BTreeMap, VecDeque};

use tenterhook_api::{
    DenialCounts, FileCounts, SessionActivity, SessionDetails, SessionFiles, SessionPrompt, SessionSummary,
    SessionTodos, SubagentSummary, SuggestionResult,
};
use tenterhook_event::{Decision, EventKind, Timestamp};

use super::SessionKey;
use super::calls::{Tools, Waiting};
use super::denial::Denial;
use super::files::Files;
use super::todo::{Progress, Todos};
use super::usage::Usage;

/// Without an event for so long, in milliseconds, nobody seems to work.
pub(super) const QUIET: u64 = 15 * 60 * 1000;
/// How long the last prompt of a session is that nobody looks at, in characters.
pub(super) const SHORT: usize = 100;

/// Everything one conversation did.
#[derive(Debug)]
pub(super) struct Session {
    pub(super) key: SessionKey,
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
    pub(super) denied: DenialCounts,
    pub(super) body: Option<Box<Body>>,
    /// What a list shows of a body that is not there.
    pub(super) kept: Kept,
}

/// What only a session's own page shows.
#[derive(Debug, Default)]
pub(super) struct Body {
    pub(super) files: Files,
    pub(super) todos: Todos,
    pub(super) subagents: Vec<SubagentSummary>,
    pub(super) prompts: VecDeque<SessionPrompt>,
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
    files: FileCounts,
    todos: Progress,
    subagents: usize,
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

impl Session {
    pub(super) fn new(key: SessionKey, ts: Timestamp) -> Self {
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
            denied: DenialCounts::default(),
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
    pub(super) fn state(&self, now: Timestamp) -> SessionActivity {
        let quiet = now.unix_ms().saturating_sub(self.last.unix_ms()) > QUIET;
        match self.doing {
            Doing::Ended => SessionActivity::Ended,
            Doing::Waits if now <= self.waits_until => SessionActivity::Waiting,
            Doing::Works | Doing::Waits if !quiet => SessionActivity::Active,
            Doing::Works | Doing::Waits | Doing::Rests => SessionActivity::Idle,
        }
    }

    /// A path as a person would say it: from the project, or from where the agent works.
    pub(super) fn shown(&self, path: &str) -> String {
        let roots = [self.project.as_deref(), self.cwd.as_deref()];
        let inside = |root: &str| path.strip_prefix(root.trim_end_matches('/'))?.strip_prefix('/');
        roots.into_iter().flatten().find_map(inside).unwrap_or(path).to_owned()
    }

    /// In short, for a list.
    pub(super) fn summary(&self, now: Timestamp) -> SessionSummary {
        let Kept { files, todos, subagents } = self.numbers();
        let verdicts = self.verdicts.iter().map(|(verdict, count)| (verdict.word().to_owned(), *count));
        let tools = self.tools.0.iter().map(|(name, counted)| (name.clone(), counted.calls));
        SessionSummary {
            id: self.key.id.clone(),
            harness: self.key.harness.clone(),
            title: self.title.clone(),
            model: self.model.clone(),
            user: self.user.clone(),
            cwd: self.cwd.clone(),
            project: self.project.clone(),
            started: self.started,
            last: self.last,
            last_event: self.last_event,
            last_seq: self.last_seq,
            duration_ms: self.last.unix_ms().saturating_sub(self.started.unix_ms()),
            state: self.state(now),
            ended: self.ended.as_ref().map(|ended| ended.at),
            end_reason: self.ended.as_ref().and_then(|ended| ended.why.clone()),
            events: self.events,
            erased: self.erased,
            unverified: self.unverified,
            prompts: self.prompted,
            last_prompt: self.last_prompt.clone(),
            verdicts: verdicts.collect(),
            tools: tools.collect(),
            calls: self.tools.all(),
            denied: self.denied,
            files,
            todos: todos.todo_progress(),
            subagents,
            turn: self.turn.clone(),
            usage: self.usage.session_usage(),
        }
    }

    /// All of it. What is not in memory has to be brought back before.
    pub(super) fn whole(&self, now: Timestamp) -> SessionDetails {
        let nothing = Body::default();
        let body = self.body.as_deref().unwrap_or(&nothing);
        let SessionFiles { files, changes, .. } = self.files();
        SessionDetails {
            summary: self.summary(now),
            prompt_texts: body.prompts.iter().cloned().collect(),
            touched: body.files.list(),
            changed_files: files,
            changes,
            todo_items: body.todos.items(),
            tool_results: self.tools.0.clone(),
            denials: body.denials.iter().map(Denial::denied_call).collect(),
            asks: body.asks.iter().map(Denial::denied_call).collect(),
            agents: body.subagents.clone(),
            labels: None,
        }
    }

    /// The files it changed: each once, and every change.
    pub(super) fn files(&self) -> SessionFiles {
        let shown = |path: &str| self.shown(path);
        let Some(body) = &self.body else { return SessionFiles::default() };
        let changes = body.files.changes.iter().map(|change| change.file_change(&shown)).collect();
        SessionFiles { files: body.files.distinct(&shown), changes, left_out: body.files.left_out }
    }

    /// Its to-do list.
    pub(super) fn todos(&self) -> SessionTodos {
        let items = self.body.as_ref().map(|body| body.todos.items());
        SessionTodos { progress: self.numbers().todos.todo_progress(), items }
    }
}

/// Counts what the agent's next call did after a denial.
pub(super) fn count_next_call(denied: &mut DenialCounts, hint: SuggestionResult, nudged: bool) {
    denied.taken += u64::from(nudged && hint == SuggestionResult::Taken);
    denied.repeated += u64::from(hint == SuggestionResult::Repeated);
}
