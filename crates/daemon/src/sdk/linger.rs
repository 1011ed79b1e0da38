// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Hooks outlive their program's stream for a while. When that is over they are gone, and the record
//! says so: somebody may have relied on them.

use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;
use tenterhook_api::{LiveEvent, LiveWarning};

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
    let (weak, id) = (Arc::downgrade(daemon), id.clone());
    tokio::spawn(async move {
        loop {
            let Some(daemon) = weak.upgrade() else { return };
            let Some(left) = left(&daemon, &id) else { return };
            drop(daemon);
            tokio::time::sleep(left).await;
            let Some(daemon) = weak.upgrade() else { return };
            if daemon.is_draining() {
                return;
            }
            expire(&daemon, &id).await;
        }
    });
}

/// How long until the first hook of a program that is away has waited enough.
fn left(daemon: &Daemon, id: &Id) -> Option<Duration> {
    let away = daemon.programs.with(id, |seat| seat.client.away_for())??;
    let first = daemon.programs.of(id).iter().map(|known| known.linger).min()?;
    Some(first.saturating_sub(away))
}

/// Takes out what has waited enough.
async fn expire(daemon: &Arc<Daemon>, id: &Id) {
    let programs = &daemon.programs;
    let _turn = programs.changing.lock().await;
    let Some(client) = programs.with(id, |seat| Arc::clone(&seat.client)) else { return };
    let Some(away) = client.away_for() else { return };
    let gone: Vec<Registered> = programs.of(id).into_iter().filter(|known| known.linger <= away).collect();
    programs.with(id, |seat| seat.hooks.retain(|known| known.linger > away));
    daemon.generations.set_programs(programs.all());
    for known in &gone {
        let mut detail = shown(client.name(), known);
        if let Value::Object(detail) = &mut detail {
            detail.insert("why".to_owned(), "its program did not come back".into());
        }
        daemon.observers.live.tell(|| {
            let (what, hook) = ("a hook is gone".to_owned(), Some(known.hook.id.to_string()));
            LiveEvent::Warning(LiveWarning { what, hook, ..LiveWarning::default() })
        });
        tracing::warn!(hook = &*known.hook.id, "a hook is gone: its program did not come back");
        if let Err(error) = daemon.change("hook gone", daemon.uid, detail, Vec::new()).await {
            tracing::warn!(%error, "that a hook is gone could not be recorded");
        }
    }
    programs.tidy(id);
}
