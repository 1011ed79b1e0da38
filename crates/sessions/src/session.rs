// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The state of one session. The fields that lists show are always in memory. The details are in [`SessionBody`],
//! which is dropped for old sessions and reloaded from the ledger on demand.

use std::collections::{BTreeMap, VecDeque};

use tenterhook_api::{
    DenialCounts, FileCounts, SessionActivity, SessionDetails, SessionFiles, SessionPrompt, SessionSummary,
    SessionTodos, SubagentSummary, SuggestionResult,
};
use tenterhook_event::{Decision, EventKind, Timestamp};

use super::SessionKey;
use super::denial::TrackedDenial;
use super::file_activity::FileActivity;
use super::todo_list::{TodoCounts, TodoTracker};
use super::unfinished_calls::{ToolStats, UnfinishedCalls};
use super::usage_totals::UsageTotals;

/// A session without an event for this many milliseconds counts as idle.
pub(super) const IDLE_AFTER_MS: u64 = 15 * 60 * 1000;
/// Number of characters of the last prompt that a session without a body keeps.
pub(super) const SHORT_PROMPT_CHARS: usize = 100;

/// Everything that happened in one conversation.
#[derive(Debug)]
pub(super) struct ProjectedSession {
    pub(super) key: SessionKey,
    pub(super) model: Option<String>,
    pub(super) user: Option<String>,
    pub(super) cwd: Option<String>,
    pub(super) project: Option<String>,
    pub(super) title: Option<String>,
    pub(super) started: Timestamp,
    pub(super) last: Timestamp,
    pub(super) last_event: EventKind,
    /// Highest sequence number applied.
    pub(super) last_seq: u64,
    pub(super) status: AgentStatus,
    /// Latest time until which the agent can wait for an approval.
    pub(super) waits_until: Timestamp,
    pub(super) ended: Option<SessionEnding>,
    pub(super) events: u64,
    /// Events from callers that do not own the session.
    pub(super) unverified: u64,
    /// Events whose content was erased.
    pub(super) erased: u64,
    pub(super) verdicts: BTreeMap<Decision, u64>,
    pub(super) tools: ToolStats,
    /// Names of the last tools that ran, latest last.
    pub(super) recent: Vec<String>,
    pub(super) prompted: u64,
    pub(super) last_prompt: Option<String>,
    pub(super) turn: Option<String>,
    pub(super) usage: UsageTotals,
    pub(super) denied: DenialCounts,
    pub(super) body: Option<Box<SessionBody>>,
    /// Counts of the body, stored when the body is dropped.
    pub(super) counts: BodyCounts,
}

/// Details of a session, which only its own page shows.
#[derive(Debug, Default)]
pub(super) struct SessionBody {
    pub(super) files: FileActivity,
    pub(super) todos: TodoTracker,
    pub(super) subagents: Vec<SubagentSummary>,
    pub(super) prompts: VecDeque<SessionPrompt>,
    pub(super) denials: VecDeque<TrackedDenial>,
    /// Calls with the verdict `ask`.
    pub(super) asks: VecDeque<TrackedDenial>,
    pub(super) pending: UnfinishedCalls,
    /// Number of calls that may have changed any file: commands, subagents, MCP and unknown tools.
    pub(super) commands: u64,
}

/// Counts of a body, for lists.
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct BodyCounts {
    files: FileCounts,
    todos: TodoCounts,
    subagents: usize,
}

/// Time and reason of a session's end.
#[derive(Debug, Clone)]
pub(super) struct SessionEnding {
    pub(super) at: Timestamp,
    pub(super) why: Option<String>,
}

/// What the agent is doing, according to the last event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum AgentStatus {
    /// The agent is working.
    Working,
    /// The agent waits for an approval.
    Waiting,
    /// The agent has finished its turn.
    Resting,
    /// The session has ended.
    Ended,
}

impl ProjectedSession {
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
            status: AgentStatus::Working,
            waits_until: ts,
            ended: None,
            events: 0,
            erased: 0,
            unverified: 0,
            verdicts: BTreeMap::new(),
            tools: ToolStats::default(),
            recent: Vec::new(),
            prompted: 0,
            last_prompt: None,
            turn: None,
            usage: UsageTotals::default(),
            denied: DenialCounts::default(),
            body: Some(Box::default()),
            counts: BodyCounts::default(),
        }
    }

    /// Drops the body and keeps its counts, because there are many sessions and few are viewed.
    pub(super) fn shrink(&mut self) {
        self.counts = self.body_counts();
        self.body = None;
        if let Some(prompt) = &mut self.last_prompt
            && let Some((cut, _)) = prompt.char_indices().nth(SHORT_PROMPT_CHARS)
        {
            prompt.truncate(cut);
            prompt.shrink_to_fit();
        }
    }

    fn body_counts(&self) -> BodyCounts {
        match &self.body {
            Some(body) => BodyCounts {
                files: body.files.counts(),
                todos: body.todos.progress(),
                subagents: body.subagents.len(),
            },
            None => self.counts,
        }
    }

    /// Activity of the session at the given time.
    pub(super) fn state(&self, now: Timestamp) -> SessionActivity {
        let is_quiet = now.unix_ms().saturating_sub(self.last.unix_ms()) > IDLE_AFTER_MS;
        match self.status {
            AgentStatus::Ended => SessionActivity::Ended,
            AgentStatus::Waiting if now <= self.waits_until => SessionActivity::Waiting,
            AgentStatus::Working | AgentStatus::Waiting if !is_quiet => SessionActivity::Active,
            AgentStatus::Working | AgentStatus::Waiting | AgentStatus::Resting => SessionActivity::Idle,
        }
    }

    /// Path for display: relative to the project or to the working directory.
    pub(super) fn display_path(&self, path: &str) -> String {
        let roots = [self.project.as_deref(), self.cwd.as_deref()];
        let inside = |root: &str| path.strip_prefix(root.trim_end_matches('/'))?.strip_prefix('/');
        roots.into_iter().flatten().find_map(inside).unwrap_or(path).to_owned()
    }

    /// Summary for lists.
    pub(super) fn summary(&self, now: Timestamp) -> SessionSummary {
        let BodyCounts { files, todos, subagents } = self.body_counts();
        let verdicts = self.verdicts.iter().map(|(verdict, count)| (verdict.as_str().to_owned(), *count));
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
            calls: self.tools.total(),
            denied: self.denied,
            files,
            todos: todos.todo_progress(),
            subagents,
            turn: self.turn.clone(),
            usage: self.usage.session_usage(),
        }
    }

    /// All details. If the body was dropped, it must be reloaded first.
    pub(super) fn details(&self, now: Timestamp) -> SessionDetails {
        let empty = SessionBody::default();
        let body = self.body.as_deref().unwrap_or(&empty);
        let SessionFiles { files, changes, .. } = self.files();
        SessionDetails {
            summary: self.summary(now),
            prompt_texts: body.prompts.iter().cloned().collect(),
            touched: body.files.touched_files(),
            changed_files: files,
            changes,
            todo_items: body.todos.items(),
            tool_results: self.tools.0.clone(),
            denials: body.denials.iter().map(TrackedDenial::denied_call).collect(),
            asks: body.asks.iter().map(TrackedDenial::denied_call).collect(),
            agents: body.subagents.clone(),
            labels: None,
            snapshots: Vec::new(),
        }
    }

    /// The changed files, and every change.
    pub(super) fn files(&self) -> SessionFiles {
        let shown = |path: &str| self.display_path(path);
        let Some(body) = &self.body else { return SessionFiles::default() };
        let changes = body.files.changes.iter().map(|change| change.file_change(&shown)).collect();
        SessionFiles { files: body.files.changed_files(&shown), changes, left_out: body.files.left_out }
    }

    /// The session's todo list.
    pub(super) fn todos(&self) -> SessionTodos {
        let items = self.body.as_ref().map(|body| body.todos.items());
        SessionTodos { progress: self.body_counts().todos.todo_progress(), items }
    }
}

/// Updates the denial counts with the agent's reaction to a denial.
pub(super) fn count_next_call(denied: &mut DenialCounts, hint: SuggestionResult, nudged: bool) {
    denied.taken += u64::from(nudged && hint == SuggestionResult::Taken);
    denied.repeated += u64::from(hint == SuggestionResult::Repeated);
}
