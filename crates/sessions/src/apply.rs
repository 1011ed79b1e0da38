// SPDX-License-Identifier: Apache-2.0 OR MIT

//! What one event changes in its session. Events may come out of order: what counts as the latest is
//! what happened last, not what was heard last.

use serde_json::Value;
use tenterhook_api::{PromptText, SessionChange, SessionEnd, SessionPrompt, SubagentSummary};
use tenterhook_event::{Decision, Event, EventKind, SessionCheck, Timestamp};
use tenterhook_harness::Ask;
use tenterhook_policy::Prices;

use super::denial::Denial;
use super::happened::DecidedEvent;
use super::session::{Body, Doing, Ended, QUIET, Session};
use super::session_update::SessionUpdate;
use tenterhook_records::sanitize;

const PROMPTS: usize = 20;
const PROMPT: usize = 2000;
const TITLE: usize = 80;
const SUBAGENTS: usize = 200;
const DENIALS: usize = 100;
/// No harness waits longer for an approval, in milliseconds.
const APPROVAL_MAX_MS: u64 = 90 * 1000;

/// What a session is put together with.
#[derive(Clone, Copy)]
pub(super) struct Around<'a> {
    /// Whose home `~` is.
    pub(super) person: Option<&'a str>,
    pub(super) prices: &'a Prices,
}

impl Session {
    /// Applies an event, and tells what came of it.
    pub(super) fn apply(
        &mut self,
        happened: &DecidedEvent<'_>,
        around: Around<'_>,
        told: &mut SessionUpdate,
    ) {
        let (event, decision) = (happened.event, happened.decision);
        let latest = event.ts >= self.last;
        self.started = self.started.min(event.ts);
        self.last_seq = self.last_seq.max(happened.seq);
        self.events += 1;
        self.erased += u64::from(happened.gone.is_some());
        self.unverified += u64::from(event.session_check == Some(SessionCheck::Unverified));
        *self.verdicts.entry(decision).or_default() += 1;
        newer(&mut self.model, event.agent.model.as_ref(), latest);
        newer(&mut self.user, event.agent.user.as_ref(), latest);
        newer(&mut self.cwd, event.cwd.as_ref(), latest);
        newer(&mut self.project, event.project.as_ref(), latest);
        newer(&mut self.turn, event.turn_id.as_ref(), latest);
        if latest && !(self.ended.is_some() && repeats_end(event)) {
            (self.last, self.last_event) = (event.ts, event.event);
            self.doing = doing(event, decision);
            self.waits_until = waits_until(event);
            self.end(event, told);
        }
        if self.usage.read(event, self.model.as_deref(), around.prices) {
            told.tell(|| SessionChange::Usage(self.usage.session_usage()));
        }
        // A body that is not there comes back whole, with this event in it.
        let mut body = self.body.take();
        if let Some(body) = body.as_deref_mut() {
            body.agent(happened, told);
        }
        match event.event {
            EventKind::Prompt => self.prompt(happened, body.as_deref_mut(), told),
            EventKind::PreTool => self.asked(happened, around, body.as_deref_mut(), told),
            EventKind::PostTool | EventKind::ToolError | EventKind::PermissionDenied => {
                self.result(happened, around, body.as_deref_mut(), told);
            }
            EventKind::PermissionRequest if happened.is_refused() => {
                self.permission_refused(happened, body.as_deref_mut(), told);
            }
            _ => {}
        }
        if happened.is_refused() && is_denial(event.event) {
            self.denied.all += 1;
            self.denied.nudged += u64::from(happened.nudge.is_some());
            if let Some(body) = body.as_deref_mut() {
                body.denied(Denial::of(happened), told);
            }
        }
        if decision == Decision::Ask
            && let Some(body) = body.as_deref_mut()
        {
            if body.asks.len() >= DENIALS {
                body.asks.pop_front();
            }
            body.asks.push_back(Denial::of(happened));
        }
        self.body = body;
    }

    fn prompt(&mut self, happened: &DecidedEvent<'_>, body: Option<&mut Body>, told: &mut SessionUpdate) {
        let ts = happened.event.ts;
        self.prompted += 1;
        let text = happened.event.detail.prompt.as_deref().map(|text| sanitize(text, PROMPT));
        if let Some(text) = &text {
            if self.title.is_none() {
                self.title = title(text);
            }
            self.last_prompt = Some(text.clone());
        }
        let gone = happened.gone;
        told.tell(|| SessionChange::Prompt(PromptText { text: text.clone(), gone }));
        let Some(body) = body else { return };
        let at = body.prompts.partition_point(|prompt| prompt.ts <= ts);
        body.prompts.insert(at, SessionPrompt { ts, seq: happened.seq, text, gone });
        if body.prompts.len() > PROMPTS {
            body.prompts.pop_front();
        }
    }

    fn end(&mut self, event: &Event, told: &mut SessionUpdate) {
        self.ended = None;
        if event.event == EventKind::SessionEnd {
            let why = event.detail.cause.as_deref().map(|cause| sanitize(cause, TITLE));
            told.tell(|| SessionChange::Ended(SessionEnd { reason: why.clone() }));
            self.ended = Some(Ended { at: event.ts, why });
        }
    }
}

impl Body {
    /// What an event says about the agent beneath that it comes from.
    fn agent(&mut self, happened: &DecidedEvent<'_>, told: &mut SessionUpdate) {
        let event = happened.event;
        let Some(id) = &event.agent.id else { return };
        let begins = event.event == EventKind::SubagentStart;
        let ends = event.event == EventKind::SubagentStop && happened.decision != Decision::Deny;
        let Some(child) = self.child(id, event.ts) else { return };
        child.started = child.started.min(event.ts);
        child.ended = if ends { child.ended.max(Some(event.ts)) } else { child.ended };
        child.events += 1;
        child.tools += u64::from(event.event == EventKind::PreTool);
        child.failed += u64::from(event.event == EventKind::ToolError);
        child.denied += u64::from(happened.is_refused() && is_denial(event.event));
        newer(&mut child.kind, event.agent.kind.as_ref(), false);
        newer(&mut child.parent, event.agent.parent.as_ref(), false);
        if begins || ends {
            told.tell(|| SessionChange::Subagent(child.clone()));
        }
    }

    pub(super) fn child(&mut self, id: &str, ts: Timestamp) -> Option<&mut SubagentSummary> {
        if let Some(known) = self.subagents.iter().position(|known| known.id == id) {
            return self.subagents.get_mut(known);
        }
        if self.subagents.len() >= SUBAGENTS {
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

    fn denied(&mut self, denial: Denial, told: &mut SessionUpdate) {
        told.tell(|| SessionChange::Denied(denial.denied_call()));
        if self.denials.len() >= DENIALS {
            self.denials.pop_front();
        }
        self.denials.push_back(denial);
    }
}

/// Whether a deny at such an event keeps the agent from something. A denied stop means: go on.
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

/// Whether the event is the end of a session by its name, but was recorded as something else because the session had
/// ended already.
fn repeats_end(event: &Event) -> bool {
    let row = tenterhook_harness::find(&event.source).and_then(|harness| harness.event(&event.native_event));
    event.event == EventKind::Other && row.is_some_and(|row| row.kind == EventKind::SessionEnd)
}

/// The first line that says something.
fn title(prompt: &str) -> Option<String> {
    let line = prompt.lines().map(str::trim).find(|line| !line.is_empty())?;
    Some(match line.char_indices().nth(TITLE) {
        Some((cut, _)) => format!("{}…", line.get(..cut).unwrap_or_default()),
        None => line.to_owned(),
    })
}

fn newer(known: &mut Option<String>, said: Option<&String>, latest: bool) {
    if let Some(said) = said
        && (latest || known.is_none())
        && known.as_ref() != Some(said)
    {
        *known = Some(said.clone());
    }
}

fn doing(event: &Event, decision: Decision) -> Doing {
    match event.event {
        EventKind::SessionEnd => Doing::Ended,
        // A denied stop means: not finished yet.
        EventKind::Stop if decision != Decision::Deny => Doing::Rests,
        EventKind::SessionStart => Doing::Rests,
        EventKind::PermissionRequest if decision == Decision::None => Doing::Waits,
        _ if decision == Decision::Ask => Doing::Waits,
        _ => Doing::Works,
    }
}

/// Until when an agent that asked at this event can wait for the answer. Where the harness has a prompt of
/// its own, nothing tells when it is closed; else the approval ends at the harness's deadline.
fn waits_until(event: &Event) -> Timestamp {
    let row = tenterhook_harness::find(&event.source).and_then(|harness| harness.event(&event.native_event));
    let longest = if row.is_some_and(|row| row.ask == Ask::Prompt) { QUIET } else { APPROVAL_MAX_MS };
    Timestamp::from_unix_ms(event.ts.unix_ms().saturating_add(longest))
}

/// A value as an option: null is nothing.
pub(super) fn some(value: Option<&Value>) -> Option<&Value> {
    value.filter(|value| !value.is_null())
}
