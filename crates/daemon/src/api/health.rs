// SPDX-License-Identifier: Apache-2.0 OR MIT

use std::sync::Arc;
use std::sync::atomic::Ordering;

use axum::extract::State;
use axum::routing::on;
use axum::{Extension, Json};
use serde_json::{Value, json};

use super::HEALTH;
use super::route::{Gives, Route};
use crate::daemon::Daemon;
use crate::listen::Peer;
use crate::wiring::GuardedHarnesses;

pub(super) const ROUTES: &[Route] = &[Route::get(HEALTH, "getHealth", |method| on(method, health))
    .about("Whether the daemon is well. Whoever has no token, or another account, learns no more than that.")
    .gives(Gives::Json("Health"))];

async fn health(State(daemon): State<Arc<Daemon>>, peer: Option<Extension<Peer>>) -> Json<Value> {
    let mut health = json!({"ok": true, "version": env!("CARGO_PKG_VERSION")});
    let ours = match peer {
        Some(Extension(Peer::Local { uid, .. })) => daemon.is_own(uid),
        Some(Extension(Peer::Token | Peer::Browser)) => true,
        None => false,
    };
    if let (true, Some(health)) = (ours, health.as_object_mut()) {
        let base = daemon.generations.base();
        let (waiting, refused) = daemon.spooled();
        health.extend([
            ("pid".to_owned(), std::process::id().into()),
            (
                "uptime_ms".to_owned(),
                u64::try_from(daemon.started.elapsed().as_millis()).unwrap_or(u64::MAX).into(),
            ),
            ("listen".to_owned(), json!(daemon.listen.get())),
            ("hook_versions".to_owned(), json!(daemon.hook_versions.list())),
            ("answered".to_owned(), daemon.answered.load(Ordering::Relaxed).into()),
            ("mode".to_owned(), json!(base.mode)),
            ("pending".to_owned(), daemon.approvals.count().into()),
            ("generation".to_owned(), base.generation.name().into()),
            ("problems".to_owned(), json!(base.problems)),
            ("stale".to_owned(), json!(base.stale)),
            ("unwired".to_owned(), json!(daemon.wiring.lost())),
            ("undelivered".to_owned(), daemon.undelivered.report()),
            ("spool".to_owned(), json!({"waiting": waiting, "refused": refused})),
        ]);
        if let Some(GuardedHarnesses { guarded, unguarded }) = daemon.wiring.harnesses() {
            health.insert("guarded".to_owned(), json!(guarded));
            health.insert("unguarded".to_owned(), json!(unguarded));
        }
    }
    Json(health)
}
