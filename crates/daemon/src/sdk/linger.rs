// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Hooks outlive their program's stream for a while. When that is over they are gone, and the record
//! says so: somebody may have relied on them.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::Instant;

use super::register::shown;
use super::{Id, Registered};
use crate::daemon::Daemon;

impl Daemon {
    /// A stream of a program has ended.
    pub(crate) fn left(self: &Arc<Self>, id: &Id) {
        if self.is_draining() {
            return;
        }
        wait(self, id);
        self.programs.tidy(id);
    }
}

/// Waits for a program to come back, and takes out the hooks that do not wait any longer.
pub(super) fn wait(daemon: &Arc<Daemon>, id: &Id) {
    let (weak, id, since) = (Arc::downgrade(daemon), id.clone(), Instant::now());
    tokio::spawn(async move {
        loop {
            let Some(daemon) = weak.upgrade() else { return };
            let Some(next) = daemon.programs.of(&id).iter().map(|known| known.linger).min() else { return };
            drop(daemon);
            tokio::time::sleep_until(since + next).await;
            let Some(daemon) = weak.upgrade() else { return };
            if daemon.is_draining() || !expire(&daemon, &id, since.elapsed()).await {
                return;
            }
        }
    });
}

/// Takes out what has waited so long; whether the program is still away.
async fn expire(daemon: &Arc<Daemon>, id: &Id, waited: Duration) -> bool {
    let programs = &daemon.programs;
    let _turn = programs.changing.lock().await;
    let Some(client) = programs.with(id, |seat| Arc::clone(&seat.client)) else { return false };
    if client.is_there() {
        return false;
    }
    let gone: Vec<Registered> = programs.of(id).into_iter().filter(|known| known.linger <= waited).collect();
    programs.with(id, |seat| seat.hooks.retain(|known| known.linger > waited));
    daemon.generations.set_programs(programs.all());
    for known in &gone {
        let mut detail = shown(client.name(), known);
        if let Value::Object(detail) = &mut detail {
            detail.insert("why".to_owned(), "its program did not come back".into());
        }
        daemon.observers.live.tell("warning", || json!({"what": "a hook is gone", "hook": &*known.hook.id}));
        tracing::warn!(hook = &*known.hook.id, "a hook is gone: its program did not come back");
        if let Err(error) = daemon.change("hook gone", daemon.uid, detail, Vec::new()).await {
            tracing::warn!(error, "that a hook is gone could not be recorded");
        }
    }
    programs.tidy(id);
    true
}
