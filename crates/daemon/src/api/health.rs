// SPDX-License-Identifier: Apache-2.0 OR MIT

use std::sync::Arc;
use std::sync::atomic::Ordering;

use axum::extract::State;
use axum::{Extension, Json};
use tenterhook_api::{DaemonHealth, HealthReport};

use super::mode::enforcement_mode;
use super::route::Route;
use super::{HEALTH_PATH, file_problems};
use crate::daemon::Daemon;
use crate::listen::Peer;

pub(super) fn routes() -> Vec<Route> {
    vec![Route::get(HEALTH_PATH, "getHealth", get).about(
        "Whether the daemon runs. Callers without a token, or of another account, receive only `ok` and `version`.",
    )]
}

async fn get(State(daemon): State<Arc<Daemon>>, peer: Option<Extension<Peer>>) -> Json<DaemonHealth> {
    let is_own_account = match peer {
        Some(Extension(Peer::Local { uid, .. })) => daemon.is_own_account(uid),
        Some(Extension(Peer::Token | Peer::Browser)) => true,
        None => false,
    };
    let version = env!("CARGO_PKG_VERSION").to_owned();
    Json(DaemonHealth { ok: true, version, report: is_own_account.then(|| report(&daemon)) })
}

fn report(daemon: &Daemon) -> HealthReport {
    let base = daemon.generations.base();
    let (guarded, unguarded) = match daemon.hook_watch.guarded_harnesses(&daemon.observers.sessions) {
        Some(known) => (
            Some(known.guarded.into_iter().collect()),
            Some(known.unguarded.into_iter().map(ToOwned::to_owned).collect()),
        ),
        None => (None, None),
    };
    HealthReport {
        pid: std::process::id(),
        uptime_ms: u64::try_from(daemon.started.elapsed().as_millis()).unwrap_or(u64::MAX),
        listen: daemon.listen.get().map(ToString::to_string),
        hook_versions: daemon.hook_versions.list(),
        answered: daemon.answered.load(Ordering::Relaxed),
        mode: enforcement_mode(base.mode),
        mode_until: base.sources.monitor_until,
        level: base.sources.level.name().to_owned(),
        pending: daemon.approvals.count(),
        generation: base.generation.name().to_owned(),
        problems: file_problems(&base.problems),
        stale: file_problems(&base.stale),
        unwired: daemon.hook_watch.list_lost().into_iter().collect(),
        undelivered: daemon.undelivered.report(),
        spool: daemon.spool_counts(),
        runs: daemon.authority.agents.runs.list(),
        guarded,
        unguarded,
    }
}
