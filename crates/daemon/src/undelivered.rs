// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Tracks answers that did not reach the hook program, because the program was killed or its client cancelled
//! the call.
//!
//! Only the client decides what happens to such a call. Each undelivered answer is recorded. If the client
//! then reports a result, the tool ran although the answer did not arrive; this is recorded too.

use std::collections::VecDeque;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde_json::json;
use tenterhook_api::{LiveEvent, LiveWarning, UndeliveredCall, UndeliveredCalls};
use tenterhook_event::{Event, EventId, EventKind};
use tenterhook_harness::{CallMeta, Harness};
use tokio::sync::Notify;
use tokio::time::Instant;

use crate::daemon::Daemon;
use crate::listen::Peer;
use tenterhook_records::sanitize;

/// Maximum number of undelivered answers kept in memory. The ledger has all of them.
const MAX_RECENT: usize = 32;
/// Maximum number of undelivered answers in the health report.
const MAX_LISTED: usize = 5;
/// Maximum length of a tool or session name in the report.
const MAX_NAME_CHARS: usize = 200;
/// Maximum time for a decision to arrive through the spool from a hook that evaluated the call itself.
const SPOOL_DELAY: Duration = Duration::from_secs(5);
const SPOOL_POLL_INTERVAL: Duration = Duration::from_millis(100);

/// Names of the two changes that are recorded in the ledger.
const NOT_DELIVERED: &str = "answer not delivered";
const RAN_WITHOUT_ANSWER: &str = "tool ran without its answer";

/// Undelivered answers since the daemon started.
#[derive(Debug, Default)]
pub(crate) struct UndeliveredAnswers {
    count: AtomicU64,
    ran: AtomicU64,
    /// Whether `recent` has entries. If not, calls do not lock `recent`.
    has_recent: AtomicBool,
    recent: Mutex<VecDeque<UndeliveredAnswer>>,
    results: Notify,
}

/// One call whose answer did not arrive.
#[derive(Debug, Clone)]
pub(crate) struct UndeliveredAnswer {
    /// Description for the API.
    shown: UndeliveredCall,
    call: CallIdentity,
    /// The event that reports a result of the call.
    result: Option<EventId>,
}

/// Fields that the events before and after a tool call have in common.
#[derive(Debug, Clone, PartialEq, Eq)]
struct CallIdentity {
    is_tool_call: bool,
    session: Option<String>,
    tool_use_id: Option<String>,
    tool: Option<String>,
    args_hash: u64,
}

impl CallIdentity {
    fn of(event: &Event) -> Self {
        let mut hasher = DefaultHasher::new();
        event.tool.as_ref().map(|tool| tool.args.to_string()).hash(&mut hasher);
        Self {
            is_tool_call: event.event == EventKind::PreTool,
            session: event.harness_session_id.clone(),
            tool_use_id: event.tool_use_id.clone(),
            tool: event.tool.as_ref().map(|tool| tool.name.clone()),
            args_hash: hasher.finish(),
        }
    }

    /// Whether `result` is the result of this call. Harnesses without call ids repeat the arguments.
    fn has_result(&self, result: &Self) -> bool {
        let same_call_key = match (&self.tool_use_id, &result.tool_use_id) {
            (Some(asked), Some(reported)) => asked == reported,
            _ => self.tool == result.tool && self.args_hash == result.args_hash,
        };
        self.is_tool_call && self.session == result.session && same_call_key
    }
}

impl UndeliveredAnswers {
    /// Notes that the answer to this event did not arrive.
    fn add(&self, harness: &'static Harness, event: &Event) -> UndeliveredAnswer {
        let name = |text: &String| sanitize(text, MAX_NAME_CHARS);
        let shown = UndeliveredCall {
            id: event.id,
            ts: event.ts,
            harness: harness.id.to_owned(),
            event: event.native_event.clone(),
            tool: event.tool.as_ref().map(|tool| name(&tool.name)),
            session: event.harness_session_id.as_ref().map(name),
            ran: false,
        };
        let answer = UndeliveredAnswer { shown, call: CallIdentity::of(event), result: None };
        self.count.fetch_add(1, Ordering::Relaxed);
        let mut recent = self.lock_recent();
        recent.truncate(MAX_RECENT - 1);
        recent.push_front(answer.clone());
        self.has_recent.store(true, Ordering::Release);
        answer
    }

    /// Notes an event that may report the result of a call whose answer did not arrive.
    pub(crate) fn note_result(&self, event: &Event) {
        let is_result = matches!(event.event, EventKind::PostTool | EventKind::ToolError);
        if !is_result || !self.has_recent.load(Ordering::Acquire) {
            return;
        }
        let result = CallIdentity::of(event);
        let mut recent = self.lock_recent();
        let found = recent.iter_mut().find(|answer| answer.call.has_result(&result));
        if let Some(answer) = found.filter(|answer| answer.result.is_none()) {
            answer.result = Some(event.id);
            self.results.notify_one();
        }
    }

    /// Removes a call that the hook program evaluated itself, because its harness got an answer.
    pub(crate) fn remove(&self, id: EventId) {
        let mut recent = self.lock_recent();
        let before = recent.len();
        recent.retain(|answer| answer.shown.id != id);
        if recent.len() < before {
            self.count.fetch_sub(1, Ordering::Relaxed);
        }
    }

    /// Takes the calls whose reported results have not been recorded yet.
    fn take_results(&self) -> Vec<UndeliveredAnswer> {
        let mut recent = self.lock_recent();
        let new = recent.iter_mut().filter(|answer| answer.result.is_some() && !answer.shown.ran);
        let new = new.map(|answer| {
            answer.shown.ran = true;
            answer.clone()
        });
        new.collect()
    }

    /// Returns a summary for the health report.
    pub(crate) fn report(&self) -> UndeliveredCalls {
        let recent = self.lock_recent().iter().take(MAX_LISTED).map(|answer| answer.shown.clone()).collect();
        let count = |count: &AtomicU64| count.load(Ordering::Relaxed);
        UndeliveredCalls { count: count(&self.count), ran: count(&self.ran), recent }
    }

    fn lock_recent(&self) -> MutexGuard<'_, VecDeque<UndeliveredAnswer>> {
        self.recent.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Notes that the answer to this call did not arrive. Returns `None` if a denial would not have prevented anything.
pub(crate) fn note(
    daemon: &Daemon,
    harness: &'static Harness,
    meta: &CallMeta,
    payload: &[u8],
) -> Option<UndeliveredAnswer> {
    let mut event = gate_event(harness, meta, payload)?;
    daemon.redact_identifiers(&mut event);
    Some(daemon.undelivered.add(harness, &event))
}

/// Returns the event of a call that a denial would prevent. A payload that cannot be parsed counts as a call too.
fn gate_event(harness: &'static Harness, meta: &CallMeta, payload: &[u8]) -> Option<Event> {
    let row = harness.event(&meta.event).filter(|row| row.is_gate())?;
    let unreadable = || Event::new(meta.id, meta.ts, harness.id, row.kind, row.native);
    Some(harness.decode(meta, payload).map_or_else(|_| unreadable(), |call| call.event))
}

/// Records an undelivered answer and links it to the record of its decision.
pub(crate) async fn record(daemon: &Daemon, peer: Peer, answer: &UndeliveredAnswer) {
    let uid = peer.uid().unwrap_or(daemon.uid);
    report(daemon, NOT_DELIVERED, uid, answer, vec![answer.shown.id]).await;
}

/// Waits for results of calls without a delivered answer, and records that the tool ran without the answer.
pub(crate) async fn watch(daemon: Arc<Daemon>) {
    loop {
        daemon.undelivered.results.notified().await;
        // A hook that timed out answers its harness itself, and its decision arrives through the spool.
        let began = Instant::now();
        while daemon.spool_counts().waiting > 0 && began.elapsed() < SPOOL_DELAY {
            tokio::time::sleep(SPOOL_POLL_INTERVAL).await;
        }
        for answer in daemon.undelivered.take_results() {
            daemon.undelivered.ran.fetch_add(1, Ordering::Relaxed);
            let links = [Some(answer.shown.id), answer.result].into_iter().flatten().collect();
            report(&daemon, RAN_WITHOUT_ANSWER, daemon.uid, &answer, links).await;
        }
    }
}

async fn report(
    daemon: &Daemon,
    what: &'static str,
    uid: u32,
    answer: &UndeliveredAnswer,
    links: Vec<EventId>,
) {
    let UndeliveredCall { id, harness, event, tool, session, .. } = &answer.shown;
    tracing::warn!(%id, harness, event, tool, "{what}");
    daemon.observers.live.publish(|| {
        let call = Some(answer.shown.clone());
        LiveEvent::Warning(LiveWarning { what: what.to_owned(), call, ..LiveWarning::default() })
    });
    let detail = json!({"harness": harness, "event": event, "tool": tool, "session": session});
    if let Err(why) = daemon.record_change(what, uid, detail, links).await {
        tracing::warn!(%why, "an undelivered answer could not be recorded");
    }
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    const PRE_TOOL: &str = "pre-tool-use";

    fn event(native: &str, id: u8, payload: &Value) -> (CallMeta, Vec<u8>) {
        let id = format!("01JCQZ8W3N6R5T4V7X9Y2B1D{id:02}").parse().unwrap();
        (CallMeta::new(id, tenterhook_home::call_meta::now(), native), payload.to_string().into_bytes())
    }

    fn claude() -> &'static Harness {
        tenterhook_harness::find_harness("claude-code").unwrap()
    }

    fn bash(command: &str, id: Option<&str>) -> Value {
        let mut payload =
            json!({"session_id": "s", "cwd": "/", "tool_name": "Bash", "tool_input": {"command": command}});
        if let Some(id) = id {
            payload["tool_use_id"] = id.into();
        }
        payload
    }

    fn note(answers: &UndeliveredAnswers, payload: &Value) -> usize {
        let (meta, payload) = event("post-tool-use", 99, payload);
        answers.note_result(&claude().decode(&meta, &payload).unwrap().event);
        answers.take_results().len()
    }

    fn lost(answers: &UndeliveredAnswers, native: &str, id: u8, payload: &Value) -> Option<EventId> {
        let (meta, payload) = event(native, id, payload);
        gate_event(claude(), &meta, &payload).map(|event| answers.add(claude(), &event).shown.id)
    }

    #[test]
    fn the_result_of_a_call_without_an_answer_is_noticed_once() {
        let answers = UndeliveredAnswers::default();
        assert_eq!(note(&answers, &bash("ls", Some("u-1"))), 0);
        lost(&answers, PRE_TOOL, 1, &bash("ls", Some("u-1"))).unwrap();
        assert_eq!(note(&answers, &bash("ls", Some("u-2"))), 0, "another call with the same arguments");
        assert_eq!(note(&answers, &bash("ls -a", Some("u-1"))), 1);
        assert_eq!(note(&answers, &bash("ls -a", Some("u-1"))), 0);
        assert!(answers.report().recent[0].ran);
    }

    #[test]
    fn without_a_number_a_call_is_known_by_its_arguments() {
        let answers = UndeliveredAnswers::default();
        lost(&answers, PRE_TOOL, 1, &bash("ls", None)).unwrap();
        assert_eq!(note(&answers, &bash("pwd", None)), 0);
        assert_eq!(note(&answers, &bash("ls", None)), 1);
    }

    #[test]
    fn only_answers_that_could_have_prevented_something_count() {
        let answers = UndeliveredAnswers::default();
        assert_eq!(lost(&answers, "session-end", 1, &json!({"session_id": "s"})), None);
        assert_eq!(answers.report().count, 0);
        // This answer counts as undelivered, but a later result does not show that the tool ran without an
        // answer: the client asks the user, and the tool call is evaluated again before it runs.
        lost(&answers, "permission-request", 2, &bash("ls", None)).unwrap();
        assert_eq!(note(&answers, &bash("ls", None)), 0);
        // A payload that cannot be parsed counts as a call too.
        let (meta, _) = event(PRE_TOOL, 3, &json!({}));
        let unreadable = gate_event(claude(), &meta, b"{").unwrap();
        assert_eq!(unreadable.event, EventKind::PreTool);
        assert_eq!(answers.report().count, 1);
    }

    #[test]
    fn a_call_that_its_hook_evaluated_has_its_answer() {
        let answers = UndeliveredAnswers::default();
        let id = lost(&answers, PRE_TOOL, 1, &bash("ls", Some("u-1"))).unwrap();
        answers.remove(id);
        answers.remove(id);
        assert_eq!(note(&answers, &bash("ls", Some("u-1"))), 0);
        assert_eq!(answers.report(), UndeliveredCalls { count: 0, ran: 0, recent: Vec::new() });
    }

    #[test]
    fn the_list_does_not_grow_without_end() {
        let answers = UndeliveredAnswers::default();
        for id in 0..90 {
            lost(&answers, PRE_TOOL, id, &bash("ls", None)).unwrap();
        }
        assert_eq!(answers.lock_recent().len(), MAX_RECENT);
        assert_eq!(answers.report().count, 90);
    }
}
