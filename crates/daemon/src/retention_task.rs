// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Removes records that exceed the authorized retention limits, in the background. Each batch is a transaction with
//! its own record, so a daemon that stops between two batches continues at the next start.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tenterhook_api::{LiveEvent, LiveWarning, RetentionRun, RetentionStatus};
use tenterhook_guard::{Retention, RetentionPlanner};
use tenterhook_home::call_meta;
use tokio::sync::Notify;

use crate::backfill;
use crate::daemon::Daemon;

/// Interval between retention runs.
const RUN_INTERVAL: Duration = Duration::from_hours(1);

/// The state of retention, for the API and for the task that applies it.
#[derive(Debug, Default)]
pub(crate) struct RetentionRuns {
    changed: Notify,
    last_run: Mutex<Option<RetentionRun>>,
}

/// State that the task keeps between two runs.
#[derive(Debug, Default)]
struct RetentionTask {
    planner: RetentionPlanner,
    /// The problem that was reported last.
    reported: Option<String>,
}

/// Applies the limits at start, after a change through the API, and periodically.
pub(crate) async fn watch(daemon: Arc<Daemon>) {
    let mut task = RetentionTask::default();
    loop {
        let running = Arc::clone(&daemon);
        let run = tokio::task::spawn_blocking(move || {
            let removed = task.run(&running);
            (task, removed)
        });
        let removed;
        (task, removed) = match run.await {
            Ok(ran) => ran,
            Err(error) => {
                tracing::warn!(%error, "retention: the run was interrupted");
                Default::default()
            }
        };
        if removed > 0 {
            backfill::rebuild_sessions(&daemon);
        }
        tokio::select! {
            () = daemon.retention.changed.notified() => {}
            () = tokio::time::sleep(RUN_INTERVAL) => {}
        }
    }
}

impl RetentionTask {
    /// Removes records that exceed the limits; returns the number of removed records.
    fn run(&mut self, daemon: &Daemon) -> u64 {
        let retention = Retention::read(&daemon.home);
        self.report_problem(daemon, &retention);
        let (limits, mut removed) = (retention.applied, 0);
        if limits.keeps_everything() {
            return 0;
        }
        let account = daemon.account_name(daemon.uid);
        let writer = (&daemon.ledger, account.as_str());
        let done = self.planner.apply(&daemon.home, limits, writer, || daemon.is_draining(), &mut removed);
        match &done {
            Err(error) => tracing::warn!(%error, removed, "retention: records could not be removed"),
            Ok(()) if removed > 0 => tracing::info!(removed, %limits, "retention: old records were removed"),
            Ok(()) => {}
        }
        let error = done.err().map(|error| error.to_string());
        let run = RetentionRun { ended: call_meta::now(), removed, error };
        *daemon.retention.last_run.lock().unwrap_or_else(PoisonError::into_inner) = Some(run);
        removed
    }

    /// Logs a problem once and publishes it in the live stream.
    fn report_problem(&mut self, daemon: &Daemon, retention: &Retention) {
        let problem = retention.problem.as_ref().map(ToString::to_string);
        if let Some(problem) = problem.as_ref().filter(|problem| self.reported.as_ref() != Some(problem)) {
            tracing::warn!(problem, applied = %retention.applied, "retention: the setting is not applied");
            daemon.observers.live.publish(|| {
                let what = format!("retention is not applied as configured: {problem}");
                LiveEvent::Warning(LiveWarning { what, ..LiveWarning::default() })
            });
        }
        self.reported = problem;
    }
}

impl RetentionRuns {
    /// Applies the limits now.
    pub(crate) fn apply(&self) {
        self.changed.notify_one();
    }

    /// Returns the state of retention for the API.
    pub(crate) fn status(&self, retention: &Retention) -> RetentionStatus {
        retention.status(self.last_run.lock().unwrap_or_else(PoisonError::into_inner).clone())
    }
}
