// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Applies one event to its session. Events may arrive out of order, so the latest event is the one with the
//! latest time, not the one that arrived last.

use serde_json::Value;
use tenterhook_api::{PromptText, SessionChange, SessionEnd, SessionPrompt, SubagentSummary};
use tenterhook_event::{Decision, Event, EventKind, SessionCheck, Timestamp};
use tenterhook_harness::AskSupport;
use tenterhook_policy::PriceTable;

use super::decided_event::DecidedEvent;
use super::denial::TrackedDenial;
use super::session::{AgentStatus, IDLE_AFTER_MS, ProjectedSession, SessionBody, SessionEnding};
use super::session_update::SessionUpdate;
use tenterhook_records::sanitize;

const MAX_PROMPTS: usize = 20;
const MAX_PROMPT_CHARS: usize = 2000;
const MAX_TITLE_CHARS: usize = 80;
const MAX_SUBAGENTS: usize = 200;
const MAX_DENIALS: usize = 100;
/// The longest time, in milliseconds, that a harness waits for an approval.
const APPROVAL_MAX_MS: u64 = 90 * 1000;

/// Data that the projection needs besides the events.
#[derive(Clone, Copy)]
pub(super) struct ProjectionContext<'a> {
    /// Home directory that `~` refers to.
    pub(super) person: Option<&'a str>,
    pub(super) prices: &'a PriceTable,
}

impl ProjectedSession {
    /// Applies an event and adds the changes to `update`.
    pub(super) fn apply(
        &mut self,
        decided: &DecidedEvent<'_>,
        context: ProjectionContext<'_>,
        update: &mut SessionUpdate,
    ) {
        let (event, decision) = (decided.event, decided.decision);
        let latest = event.ts >= self.last;
        self.started = self.started.min(event.ts);
        self.last_seq = self.last_seq.max(decided.seq);
        self.events += 1;
        self.erased += u64::from(decided.gone.is_some());
        self.unverified += u64::from(event.session_check == Some(SessionCheck::Unverified));
        *self.verdicts.entry(decision).or_default() += 1;
        update_if_newer(&mut self.model, event.agent.model.as_ref(), latest);
        update_if_newer(&mut self.user, event.agent.user.as_ref(), latest);
        update_if_newer(&mut self.cwd, event.cwd.as_ref(), latest);
        update_if_newer(&mut self.project, event.project.as_ref(), latest);
        update_if_newer(&mut self.turn, event.turn_id.as_ref(), latest);
        if latest && !(self.ended.is_some() && repeats_end(event)) {
            (self.last, self.last_event) = (event.ts, event.event);
            self.status = agent_status(event, decision);
            self.waits_until = waits_until(event);
            self.update_end(event, update);
        }
        if self.usage.apply_event(event, self.model.as_deref(), context.prices) {
            update.push(|| SessionChange::Usage(self.usage.session_usage()));
        }
        // If the body was dropped, it is reloaded later together with this event.
        let mut body = self.body.take();
        if let Some(body) = body.as_deref_mut() {
            body.apply_subagent(decided, update);
        }
        match event.event {
            EventKind::Prompt => self.apply_prompt(decided, body.as_deref_mut(), update),
            EventKind::PreTool => self.apply_pre_tool(decided, context, body.as_deref_mut(), update),
            EventKind::PostTool | EventKind::ToolError | EventKind::PermissionDenied => {
                self.apply_tool_result(decided, context, body.as_deref_mut(), update);
            }
            EventKind::PermissionRequest if decided.is_refused() => {
                self.apply_permission_denied(decided, body.as_deref_mut(), update);
            }
            _ => {}
        }
        if decided.is_refused() && is_denial(event.event) {
            self.denied.all += 1;
            self.denied.nudged += u64::from(decided.nudge.is_some());
            if let Some(body) = body.as_deref_mut() {
                body.push_denial(TrackedDenial::new(decided), update);
            }
        }
        if decision == Decision::Ask
            && let Some(body) = body.as_deref_mut()
        {
            if body.asks.len() >= MAX_DENIALS {
                body.asks.pop_front();
            }
            body.asks.push_back(TrackedDenial::new(decided));
        }
        self.body = body;
    }

    fn apply_prompt(
        &mut self,
        decided: &DecidedEvent<'_>,
        body: Option<&mut SessionBody>,
        update: &mut SessionUpdate,
    ) {
        let ts = decided.event.ts;
        self.prompted += 1;
        let text = decided.event.detail.prompt.as_deref().map(|text| sanitize(text, MAX_PROMPT_CHARS));
        if let Some(text) = &text {
            if self.title.is_none() {
                self.title = title_of(text);
            }
            self.last_prompt = Some(text.clone());
        }
        let gone = decided.gone;
        update.push(|| SessionChange::Prompt(PromptText { text: text.clone(), gone }));
        let Some(body) = body else { return };
        let at = body.prompts.partition_point(|prompt| prompt.ts <= ts);
        body.prompts.insert(at, SessionPrompt { ts, seq: decided.seq, text, gone });
        if body.prompts.len() > MAX_PROMPTS {
            body.prompts.pop_front();
        }
    }

    fn update_end(&mut self, event: &Event, update: &mut SessionUpdate) {
        self.ended = None;
        if event.event == EventKind::SessionEnd {
            let why = event.detail.cause.as_deref().map(|cause| sanitize(cause, MAX_TITLE_CHARS));
            update.push(|| SessionChange::Ended(SessionEnd { reason: why.clone() }));
            self.ended = Some(SessionEnding { at: event.ts, why });
        }
    }
}

impl SessionBody {
    /// Updates the subagent that an event comes from.
    fn apply_subagent(&mut self, decided: &DecidedEvent<'_>, update: &mut SessionUpdate) {
        let event = decided.event;
        let Some(id) = &event.agent.id else { return };
        let begins = event.event == EventKind::SubagentStart;
        let ends = event.event == EventKind::SubagentStop && decided.decision != Decision::Deny;
        let Some(subagent) = self.subagent_mut(id, event.ts) else { return };
        subagent.started = subagent.started.min(event.ts);
        subagent.ended = if ends { subagent.ended.max(Some(event.ts)) } else { subagent.ended };
        subagent.events += 1;
        subagent.tools += u64::from(event.event == EventKind::PreTool);
        subagent.failed += u64::from(event.event == EventKind::ToolError);
        subagent.denied += u64::from(decided.is_refused() && is_denial(event.event));
        update_if_newer(&mut subagent.kind, event.agent.kind.as_ref(), false);
        update_if_newer(&mut subagent.parent, event.agent.parent.as_ref(), false);
        if begins || ends {
            update.push(|| SessionChange::Subagent(subagent.clone()));
        }
    }

    pub(super) fn subagent_mut(&mut self, id: &str, ts: Timestamp) -> Option<&mut SubagentSummary> {
        if let Some(known) = self.subagents.iter().position(|known| known.id == id) {
            return self.subagents.get_mut(known);
        }
        if self.subagents.len() >= MAX_SUBAGENTS {
            return None;
        }
        self.subagents.push(SubagentSummary {
            id: id.to_owned(),
            kind: None,
            parent: None,
            started: ts,
            ended: None,
            events: 0,
            tools: 0,
            failed: 0,
            denied: 0,
            tokens: None,
        });
        self.subagents.last_mut()
    }

    fn push_denial(&mut self, denial: TrackedDenial, update: &mut SessionUpdate) {
        update.push(|| SessionChange::Denied(denial.denied_call()));
        if self.denials.len() >= MAX_DENIALS {
            self.denials.pop_front();
        }
        self.denials.push_back(denial);
    }
}

/// Whether denying an event of this kind prevents an action. Denying a stop makes the agent continue, so it
/// is excluded. The other excluded kinds report what has already happened.
fn is_denial(kind: EventKind) -> bool {
    !matches!(
        kind,
        EventKind::Stop
            | EventKind::SubagentStop
            | EventKind::PostTool
            | EventKind::ToolError
            | EventKind::PermissionDenied
    )
}

/// Whether the event repeats the end of a session. `fill_from_session` sets the kind of repeated ends to `Other`.
fn repeats_end(event: &Event) -> bool {
    let row = tenterhook_harness::find_harness(&event.source)
        .and_then(|harness| harness.event(&event.native_event));
    event.event == EventKind::Other && row.is_some_and(|row| row.kind == EventKind::SessionEnd)
}

/// Derives the session title from a prompt: its first non-empty line, shortened.
fn title_of(prompt: &str) -> Option<String> {
    let line = prompt.lines().map(str::trim).find(|line| !line.is_empty())?;
    Some(match line.char_indices().nth(MAX_TITLE_CHARS) {
        Some((cut, _)) => format!("{}…", line.get(..cut).unwrap_or_default()),
        None => line.to_owned(),
    })
}

fn update_if_newer(known: &mut Option<String>, new: Option<&String>, latest: bool) {
    if let Some(new) = new
        && (latest || known.is_none())
        && known.as_ref() != Some(new)
    {
        *known = Some(new.clone());
    }
}

fn agent_status(event: &Event, decision: Decision) -> AgentStatus {
    match event.event {
        EventKind::SessionEnd => AgentStatus::Ended,
        // A denied stop makes the agent continue.
        EventKind::Stop if decision != Decision::Deny => AgentStatus::Resting,
        EventKind::SessionStart => AgentStatus::Resting,
        EventKind::PermissionRequest if decision == Decision::None => AgentStatus::Waiting,
        _ if decision == Decision::Ask => AgentStatus::Waiting,
        _ => AgentStatus::Working,
    }
}

/// Latest time until which the agent can wait for an approval. If the harness shows its own prompt, no event reports
/// when the prompt closes, so the limit is the time after which a session is idle. Otherwise the limit is the harness's
/// deadline for approvals.
fn waits_until(event: &Event) -> Timestamp {
    let row = tenterhook_harness::find_harness(&event.source)
        .and_then(|harness| harness.event(&event.native_event));
    let max_ms =
        if row.is_some_and(|row| row.ask == AskSupport::Prompt) { IDLE_AFTER_MS } else { APPROVAL_MAX_MS };
    Timestamp::from_unix_ms(event.ts.unix_ms().saturating_add(max_ms))
}

/// Treats a null value as missing.
pub(super) fn non_null(value: Option<&Value>) -> Option<&Value> {
    value.filter(|value| !value.is_null())
}
