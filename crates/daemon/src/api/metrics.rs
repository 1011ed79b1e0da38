// SPDX-License-Identifier: Apache-2.0 OR MIT

use std::sync::Arc;
use std::sync::atomic::Ordering;

use axum::Json;
use axum::extract::State;
use axum::http::header;
use tenterhook_api::{DecisionMinute, DecisionRate};
use tenterhook_event::Timestamp;
use tenterhook_home::call_meta;
use tenterhook_ledger::DiskUse;
use tenterhook_telemetry::exporter::Exporter;
use tenterhook_telemetry::metrics::{self, DaemonReadings, OPEN_METRICS_MEDIA_TYPE};

use super::error::ApiError;
use super::route::Route;
use super::shape::{OpenMetricsMedia, TextResponse};
use crate::daemon::Daemon;

pub(super) fn routes() -> Vec<Route> {
    vec![
        Route::get("/v1/metrics", "getMetrics", get_metrics).about("Counters and times, for Prometheus."),
        Route::get("/v1/pace", "getPace", get_rate).about(
            "Decisions of each minute of the last hour since the daemon started, and how long they took.",
        ),
    ]
}

async fn get_rate(State(daemon): State<Arc<Daemon>>) -> Json<DecisionRate> {
    let minutes =
        daemon.observers.metrics.minutes.last_minutes(call_meta::now_ms()).into_iter().map(|minute| {
            let verdicts = minute.decisions.iter().map(|(one, count)| (one.as_str().to_owned(), *count));
            let [p50_us, p95_us, p99_us] = minute.percentiles_us;
            let at = Timestamp::from_unix_ms(minute.number * 60_000);
            DecisionMinute { at, verdicts: verdicts.collect(), p50_us, p95_us, p99_us }
        });
    Json(DecisionRate { minutes: minutes.collect() })
}

async fn get_metrics(State(daemon): State<Arc<Daemon>>) -> Result<TextResponse<OpenMetricsMedia>, ApiError> {
    let page = metrics::render(Arc::clone(&daemon.observers.metrics), read_daemon(&daemon));
    let page = page.map_err(|_| ApiError::internal("cannot write the metrics page"))?;
    Ok(TextResponse::new(([(header::CONTENT_TYPE, OPEN_METRICS_MEDIA_TYPE)], page)))
}

fn read_daemon(daemon: &Daemon) -> DaemonReadings {
    let base = daemon.generations.base();
    let spool = daemon.spool_counts();
    let disk = DiskUse::measure(&daemon.home.ledger());
    DaemonReadings {
        answered: daemon.answered.load(Ordering::Relaxed),
        dropped_spans: daemon.observers.telemetry.as_ref().map(Exporter::dropped_spans),
        dropped_notices: daemon.notifications.dropped(),
        failed_notices: daemon.notifications.failed(),
        calls_in_progress: daemon.count_calls(),
        streams: daemon.count_streams(),
        pending_approvals: daemon.approvals.list_pending().len(),
        sessions: daemon.observers.sessions.count(),
        spool_entries: spool.waiting,
        spool_unreadable: spool.refused,
        problems: base.problems.len(),
        stale_files: base.stale.len(),
        generation: base.generation.name().to_owned(),
        ledger_records: *daemon.observers.subscribe_ledger_size().borrow(),
        ledger_bytes: disk.total,
        journal_bytes: disk.journal,
        uptime_seconds: daemon.started.elapsed().as_secs(),
    }
}
