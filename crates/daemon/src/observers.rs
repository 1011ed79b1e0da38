// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Notifies observers (counters, sessions, live readers, telemetry) of decisions, which they cannot change or delay.

use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;
use tenterhook_api::{DecisionLine, LiveEvent, MissingContent, ToolGist};
use tenterhook_event::DecidedCall;
use tenterhook_ledger::{Appended, StoredRecord};
use tenterhook_policy::PriceTable;
use tenterhook_records::recorded::{self, RecordedDecision};
use tenterhook_telemetry::analytics::Analytics;
use tenterhook_telemetry::exporter::Exporter;
use tenterhook_telemetry::metrics::Metrics;
use tokio::sync::{Notify, watch};

use crate::live::LiveFeed;
use tenterhook_records::sanitize;
use tenterhook_sessions::{DecidedEvent, RecordedEvent, SessionKey, SessionProjector, SessionUpdate};

/// Maximum length of the summary in a line; longer ones are cut.
const MAX_GIST_CHARS: usize = 500;

pub(crate) struct Observers {
    pub(crate) metrics: Arc<Metrics>,
    pub(crate) analytics: Analytics,
    pub(crate) sessions: Arc<SessionProjector>,
    /// Notified when a summarized session continues.
    pub(crate) stale_session: Arc<Notify>,
    pub(crate) live: LiveFeed,
    /// Publishes events of sessions.
    pub(crate) session_feed: LiveFeed,
    pub(crate) telemetry: Option<Exporter>,
    /// Lower bound of the number of records. Readers that follow the ledger are notified of changes.
    ledger_size: watch::Sender<u64>,
}

impl Observers {
    pub(crate) fn new(
        user_home: Option<String>,
        prices: PriceTable,
        metrics: Arc<Metrics>,
        telemetry: Option<Exporter>,
    ) -> Self {
        let ledger_size = watch::Sender::new(0);
        let stale_session = Arc::new(Notify::new());
        let signal = Arc::clone(&stale_session);
        let sessions =
            SessionProjector::with_signal(user_home, Arc::new(prices), move || signal.notify_one());
        let (analytics, live) = (Analytics::default(), LiveFeed::default());
        let session_feed = LiveFeed::default();
        Self { metrics, analytics, sessions, stale_session, live, session_feed, telemetry, ledger_size }
    }

    /// Reports a durable decision. `gone` is set if the record lacks the decision's content, and gives the reason.
    pub(crate) fn report_decision(
        &self,
        decided: &DecidedCall<'_>,
        appended: Appended,
        gone: Option<MissingContent>,
        recording: Duration,
    ) {
        self.note_ledger_size(appended.seq() + 1);
        if let Appended::AlreadyThere { .. } = appended {
            return;
        }
        let (event, outcome) = (&decided.call.event, decided.outcome);
        let deciding = Duration::from_micros(decided.took_us);
        self.metrics.count_decision(event, outcome.decision, deciding, recording);
        self.metrics.minutes.count_decision(outcome.decision, decided.took_us, event.ts.unix_ms());
        self.analytics.count_outcome(event, outcome);
        if let Some(exporter) = &self.telemetry {
            exporter.export_decision(decided);
        }
        tracing::debug!(
            id = %event.id, harness = event.source, event = event.event.name(), verdict = outcome.decision.as_str(),
            rule = outcome.deciding_rule(), took_us = decided.took_us, "decided"
        );
        let happened = DecidedEvent::now(decided, appended.seq());
        let session = match gone {
            // Sessions show only what the record contains.
            Some(gone) => self.apply(&RecordedEvent::without_content(&happened, gone).as_decided()),
            None => self.apply(&happened),
        };
        self.live.publish(|| LiveEvent::Decided(Box::new(decision_line(decided, appended.seq()))));
        if let Some(key) = session {
            self.publish_session(&key);
        }
    }

    /// Reports a decision that was made without the daemon and imported.
    pub(crate) fn report_imported(&self, recorded: &RecordedDecision, record: &StoredRecord) {
        let seq = record.seq;
        self.note_ledger_size(seq + 1);
        self.metrics.count_fallback();
        if let Some(past) = RecordedEvent::from_record(record) {
            self.apply(&past.as_decided());
        }
        let generation = recorded.leaf.get("generation").and_then(Value::as_str).unwrap_or_default();
        let call = tenterhook_event::HookCall { event: recorded.event.clone(), native: None };
        let outcome = &recorded.outcome;
        let took_us = recorded.took_us;
        let decided =
            DecidedCall { call: &call, outcome, generation, took_us, facts: None, file_effects: None };
        self.live.publish(|| LiveEvent::Decided(Box::new(decision_line(&decided, seq))));
    }

    /// Reports an event imported from a transcript. Sessions show the event, but it is not a decision.
    pub(crate) fn report_transcript_event(&self, record: &StoredRecord) {
        self.note_ledger_size(record.seq + 1);
        if let Some(past) = RecordedEvent::from_record(record) {
            self.apply(&past.as_decided());
        }
    }

    /// Reports the end of an approval. Publishes the session now, because it may send no event for minutes.
    pub(crate) fn approval_ended(&self, event: &tenterhook_event::Event) {
        if let Some(key) = self.sessions.approval_ended(event) {
            self.publish_session(&key);
        }
    }

    /// Publishes the state of a session.
    fn publish_session(&self, key: &SessionKey) {
        if self.live.is_watched()
            && let Some(summary) = self.sessions.summary(key)
        {
            self.live.publish(|| LiveEvent::Session(Box::new(summary)));
        }
    }

    /// Updates the session and notifies readers that follow it.
    fn apply(&self, happened: &DecidedEvent<'_>) -> Option<SessionKey> {
        let mut update = SessionUpdate::new(self.session_feed.is_watched());
        let key = self.sessions.apply(happened, &mut update)?;
        let events = update.into_events(&key, happened.event, happened.seq);
        if !events.is_empty() {
            let session = Arc::new(key.clone());
            for event in &events {
                self.session_feed.publish_session_event(&session, event);
            }
        }
        Some(key)
    }

    /// Notes that the ledger has at least this many records.
    pub(crate) fn note_ledger_size(&self, size: u64) {
        self.ledger_size.send_if_modified(|known| {
            let more = size > *known;
            *known = size.max(*known);
            more
        });
    }

    /// Returns a receiver that is notified when the ledger grows.
    pub(crate) fn subscribe_ledger_size(&self) -> watch::Receiver<u64> {
        self.ledger_size.subscribe()
    }
}

/// Describes a decision in one line, without secrets.
fn decision_line(decided: &DecidedCall<'_>, seq: u64) -> DecisionLine {
    let (event, outcome) = (&decided.call.event, decided.outcome);
    let tool = event.tool.as_ref().map(|tool| ToolGist {
        name: tool.name.clone(),
        class: tool.class,
        gist: Some(sanitize(&tool.gist(), MAX_GIST_CHARS)),
    });
    DecisionLine {
        seq,
        id: event.id,
        ts: event.ts,
        harness: event.source.clone(),
        event: event.event,
        native_event: event.native_event.clone(),
        session: event.harness_session_id.clone(),
        tool,
        tool_use_id: event.tool_use_id.clone(),
        ran_ms: event.detail.duration_ms,
        rewritten: outcome.tool_input.is_some(),
        prompt: event.detail.prompt.as_deref().map(|prompt| sanitize(prompt, MAX_GIST_CHARS)),
        cwd: event.cwd.clone(),
        model: event.agent.model.clone(),
        verdict: outcome.decision,
        rule: outcome.deciding_rule().map(ToOwned::to_owned),
        by: recorded::outcome_decided_by(outcome),
        reason: outcome.reason().map(|reason| sanitize(&reason, MAX_GIST_CHARS)),
        generation: decided.generation.to_owned(),
        took_us: decided.took_us,
    }
}
