// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Removes hooks some time after their program's stream ended (the linger time). The removal is recorded, because a
//! user may rely on the hooks.

use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;
use tenterhook_api::{LiveEvent, LiveWarning};

use super::register::hook_json;
use super::{ClientHook, ClientId};
use crate::daemon::Daemon;

impl Daemon {
    /// Handles the end of a program's stream.
    pub(crate) fn stream_ended(self: &Arc<Self>, id: &ClientId) {
        if self.is_draining() {
            return;
        }
        watch_absence(self, id);
        self.programs.remove_if_unused(id);
    }
}

/// Waits for a program to reconnect, and removes each of its hooks when the hook's linger time is over.
pub(super) fn watch_absence(daemon: &Arc<Daemon>, id: &ClientId) {
    let (weak, id) = (Arc::downgrade(daemon), id.clone());
    tokio::spawn(async move {
        loop {
            let Some(daemon) = weak.upgrade() else { return };
            let Some(left) = time_to_next_expiry(&daemon, &id) else { return };
            drop(daemon);
            tokio::time::sleep(left).await;
            let Some(daemon) = weak.upgrade() else { return };
            if daemon.is_draining() {
                return;
            }
            remove_expired(&daemon, &id).await;
        }
    });
}

/// Returns the time until the first hook of a disconnected program expires.
fn time_to_next_expiry(daemon: &Daemon, id: &ClientId) -> Option<Duration> {
    let away = daemon.programs.with_program(id, |slot| slot.client.disconnected_for())??;
    let first = daemon.programs.hooks_of(id).iter().map(|known| known.linger).min()?;
    Some(first.saturating_sub(away))
}

/// Removes the hooks whose linger time is over.
async fn remove_expired(daemon: &Arc<Daemon>, id: &ClientId) {
    let programs = &daemon.programs;
    let _turn = programs.change_lock.lock().await;
    let Some(client) = programs.with_program(id, |slot| Arc::clone(&slot.client)) else { return };
    let Some(away) = client.disconnected_for() else { return };
    let gone: Vec<ClientHook> =
        programs.hooks_of(id).into_iter().filter(|known| known.linger <= away).collect();
    programs.with_program(id, |slot| slot.hooks.retain(|known| known.linger > away));
    daemon.generations.set_programs(programs.all_hooks());
    for known in &gone {
        let mut detail = hook_json(client.name(), known);
        if let Value::Object(detail) = &mut detail {
            detail.insert("why".to_owned(), "its program did not reconnect".into());
        }
        daemon.observers.live.publish(|| {
            let (what, hook) = ("a hook was removed".to_owned(), Some(known.hook.id.to_string()));
            LiveEvent::Warning(LiveWarning { what, hook, ..LiveWarning::default() })
        });
        tracing::warn!(hook = &*known.hook.id, "a hook was removed: its program did not reconnect");
        if let Err(error) = daemon.record_change("hook gone", daemon.uid, detail, Vec::new()).await {
            tracing::warn!(%error, "the removal of a hook could not be recorded");
        }
    }
    programs.remove_if_unused(id);
}
