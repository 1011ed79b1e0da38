// SPDX-License-Identifier: Apache-2.0 OR MIT

use std::sync::Arc;
use std::sync::atomic::Ordering;

use axum::Json;
use axum::extract::State;
use axum::http::header;
use tenterhook_api::{DecisionMinute, DecisionRate};
use tenterhook_event::Timestamp;
use tenterhook_home::door;
use tenterhook_ledger::DiskUse;

use super::route::Route;
use super::shape::{PlainTextMedia, TextResponse};
use crate::daemon::Daemon;
use crate::metrics::Text;

const FORMAT: &str = "text/plain; version=0.0.4; charset=utf-8";

pub(super) fn routes() -> Vec<Route> {
    vec![
        Route::get("/v1/metrics", "getMetrics", metrics).about("Counters and times, for Prometheus."),
        Route::get("/v1/pace", "getPace", pace).about(
            "Decisions of each minute of the last hour since the daemon started, and how long they took.",
        ),
    ]
}

async fn pace(State(daemon): State<Arc<Daemon>>) -> Json<DecisionRate> {
    let minutes = daemon.observers.metrics.minutes.last(door::now_ms()).into_iter().map(|minute| {
        let verdicts = minute.decisions.iter().map(|(one, count)| (one.word().to_owned(), *count));
        let [p50_us, p95_us, p99_us] = minute.shares;
        let at = Timestamp::from_unix_ms(minute.number * 60_000);
        DecisionMinute { at, verdicts: verdicts.collect(), p50_us, p95_us, p99_us }
    });
    Json(DecisionRate { minutes: minutes.collect() })
}

async fn metrics(State(daemon): State<Arc<Daemon>>) -> TextResponse<PlainTextMedia> {
    let observed = &daemon.observers.metrics;
    let mut text = Text::default();
    let name = "tenterhook_decisions_total";
    text.begin(name, "counter", "Events that were decided and recorded.");
    for (harness, kind, decision, count) in observed.decisions() {
        text.value(
            name,
            &[("harness", harness), ("event", kind.name()), ("verdict", decision.word())],
            count,
        );
    }
    text.histogram("tenterhook_decision_seconds", "From the door to the decision.", &observed.deciding);
    text.histogram("tenterhook_record_seconds", "From the decision to the disk.", &observed.recording);
    let (fallbacks, refused) = observed.odd();
    let answered = daemon.answered.load(Ordering::Relaxed);
    for (name, about, value) in [
        ("tenterhook_hook_calls_total", "Hook calls that were answered.", answered),
        (
            "tenterhook_fallbacks_total",
            "Decisions that hooks made without the daemon and it took in.",
            fallbacks,
        ),
        ("tenterhook_refused_total", "Payloads that could not be read.", refused),
    ] {
        text.one(name, "counter", about, value);
    }
    if let Some(exporter) = &daemon.observers.telemetry {
        let about = "Spans that were dropped because the collector is slow or gone.";
        text.one("tenterhook_spans_dropped_total", "counter", about, exporter.dropped());
    }
    let base = daemon.generations.base();
    let (waiting, unreadable) = daemon.spooled();
    let on_disk = DiskUse::of(&daemon.home.ledger());
    let leaves = *daemon.observers.growth().borrow();
    for (name, about, value) in [
        ("tenterhook_in_flight", "Calls under way.", daemon.under_way()),
        ("tenterhook_streams", "Open streams.", daemon.streams()),
        ("tenterhook_pending_approvals", "Calls that wait for a person.", daemon.approvals.cards().len()),
        ("tenterhook_sessions", "Sessions that are remembered.", daemon.observers.sessions.count()),
        ("tenterhook_spool_entries", "Decisions that wait in the spool.", waiting),
        ("tenterhook_spool_unreadable", "Files in the spool that cannot be read.", unreadable),
        ("tenterhook_problems", "Rules, hooks and settings that cannot be used.", base.problems.len()),
        ("tenterhook_stale_files", "Files that changed and cannot be read.", base.stale.len()),
    ] {
        text.one(name, "gauge", about, value);
    }
    text.one("tenterhook_ledger_leaves", "gauge", "Leaves in the ledger, as far as is known.", leaves);
    text.one("tenterhook_ledger_bytes", "gauge", "Bytes of the ledger's files.", on_disk.total);
    text.one(
        "tenterhook_ledger_journal_bytes",
        "gauge",
        "Bytes of them in the journal, which is emptied when the ledger is idle.",
        on_disk.journal,
    );
    text.one(
        "tenterhook_uptime_seconds",
        "gauge",
        "Since the daemon began.",
        daemon.started.elapsed().as_secs(),
    );
    text.begin("tenterhook_generation_info", "gauge", "The rules and hooks in force.");
    text.value("tenterhook_generation_info", &[("generation", base.generation.name())], 1);
    TextResponse::new(([(header::CONTENT_TYPE, FORMAT)], text.end()))
}
