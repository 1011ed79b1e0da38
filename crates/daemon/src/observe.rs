// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Everybody who looks at what was decided: counters, sessions, live readers, telemetry. None of them
//! can change or delay it.

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

use crate::live::Live;
use tenterhook_records::sanitize;
use tenterhook_sessions::{DecidedEvent, RecordedEvent, SessionKey, SessionProjector, SessionUpdate};

/// The longest text of a call that is shown in a line.
const GIST: usize = 500;

pub(crate) struct Observers {
    pub(crate) metrics: Arc<Metrics>,
    pub(crate) analytics: Analytics,
    pub(crate) sessions: Arc<SessionProjector>,
    /// Notified when a session that is kept in short has something new.
    pub(crate) cold: Arc<Notify>,
    pub(crate) live: Live,
    /// What happens in sessions.
    pub(crate) followed: Live,
    pub(crate) telemetry: Option<Exporter>,
    /// Lower bound of the number of records; readers that follow the ledger are notified of changes.
    grew: watch::Sender<u64>,
}

impl Observers {
    pub(crate) fn new(
        person: Option<String>,
        prices: PriceTable,
        metrics: Arc<Metrics>,
        telemetry: Option<Exporter>,
    ) -> Self {
        let grew = watch::Sender::new(0);
        let cold = Arc::new(Notify::new());
        let signal = Arc::clone(&cold);
        let sessions = SessionProjector::with_signal(person, Arc::new(prices), move || signal.notify_one());
        let (analytics, live, followed) = (Analytics::default(), Live::default(), Live::default());
        Self { metrics, analytics, sessions, cold, live, followed, telemetry, grew }
    }

    /// A decision is durable. `gone` says why its content is not in the record, if so.
    pub(crate) fn decided(
        &self,
        decided: &DecidedCall<'_>,
        appended: Appended,
        gone: Option<MissingContent>,
        recording: Duration,
    ) {
        self.grew(appended.seq() + 1);
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
            // Sessions show what the record keeps, from the start.
            Some(gone) => self.apply(&RecordedEvent::without_content(&happened, gone).as_decided()),
            None => self.apply(&happened),
        };
        self.live.publish(|| LiveEvent::Decided(Box::new(line(decided, appended.seq()))));
        if let Some(key) = session {
            self.tell_session(&key);
        }
    }

    /// Reports a decision that was made without the daemon and imported.
    pub(crate) fn report_imported(&self, recorded: &RecordedDecision, record: &StoredRecord) {
        let seq = record.seq;
        self.grew(seq + 1);
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
        self.live.publish(|| LiveEvent::Decided(Box::new(line(&decided, seq))));
    }

    /// Reports an event imported from a transcript. Sessions show it; it is not a decision.
    pub(crate) fn report_transcript_event(&self, record: &StoredRecord) {
        self.grew(record.seq + 1);
        if let Some(past) = RecordedEvent::from_record(record) {
            self.apply(&past.as_decided());
        }
    }

    /// The approval that an event waited for has ended. Live views learn it now: the session may send nothing
    /// for minutes.
    pub(crate) fn approval_ended(&self, event: &tenterhook_event::Event) {
        if let Some(key) = self.sessions.approval_ended(event) {
            self.tell_session(&key);
        }
    }

    /// Live views learn how a session stands.
    fn tell_session(&self, key: &SessionKey) {
        if self.live.is_watched()
            && let Some(summary) = self.sessions.summary(key)
        {
            self.live.publish(|| LiveEvent::Session(Box::new(summary)));
        }
    }

    /// Updates the session, and the readers that follow it.
    fn apply(&self, happened: &DecidedEvent<'_>) -> Option<SessionKey> {
        let mut told = SessionUpdate::new(self.followed.is_watched());
        let key = self.sessions.apply(happened, &mut told)?;
        let news = told.into_events(&key, happened.event, happened.seq);
        if !news.is_empty() {
            let about = Arc::new(key.clone());
            for event in &news {
                self.followed.tell_about(&about, event);
            }
        }
        Some(key)
    }

    /// Notes that the ledger has at least this many records.
    pub(crate) fn grew(&self, size: u64) {
        self.grew.send_if_modified(|known| {
            let more = size > *known;
            *known = size.max(*known);
            more
        });
    }

    /// Hears when the ledger grows.
    pub(crate) fn growth(&self) -> watch::Receiver<u64> {
        self.grew.subscribe()
    }
}

/// A decision as one line of a live view. Secrets are out of it.
fn line(decided: &DecidedCall<'_>, seq: u64) -> DecisionLine {
    let (event, outcome) = (&decided.call.event, decided.outcome);
    let tool = event.tool.as_ref().map(|tool| ToolGist {
        name: tool.name.clone(),
        class: tool.class,
        gist: Some(sanitize(&tool.gist(), GIST)),
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
        prompt: event.detail.prompt.as_deref().map(|prompt| sanitize(prompt, GIST)),
        cwd: event.cwd.clone(),
        model: event.agent.model.clone(),
        verdict: outcome.decision,
        rule: outcome.deciding_rule().map(ToOwned::to_owned),
        by: recorded::outcome_decided_by(outcome),
        reason: outcome.reason().map(|reason| sanitize(&reason, GIST)),
        generation: decided.generation.to_owned(),
        took_us: decided.took_us,
    }
}
