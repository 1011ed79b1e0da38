// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Reads the tokens and cost of a hook call's session from its transcript, before the call is evaluated.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use tenterhook_event::HookCall;
use tenterhook_guard::usage::{
    MAX_INLINE_READ_BYTES, MAX_READ_BYTES, TranscriptOwner, UsageReader, UsageRequest, UsageUpdate,
};
use tenterhook_harness::Harness;
use tenterhook_home::caller_rights::spawn_as;
use tokio::sync::{Notify, oneshot};
use tokio::time::timeout;

use crate::daemon::Daemon;

/// Delay before the read positions in transcripts are saved.
const SAVE_DELAY: Duration = Duration::from_secs(2);
/// Maximum time that a call waits for another account's transcript.
const OTHER_ACCOUNT_TIMEOUT: Duration = Duration::from_millis(500);

/// Adds the session's usage to a call if the usage has changed or is unknown. `caller` is set for another account.
pub(crate) async fn attach(
    daemon: &Daemon,
    harness: &'static Harness,
    call: &mut HookCall,
    caller: Option<u32>,
) -> Option<UsageUpdate> {
    let request = UsageReader::request(harness, call)?;
    let found = match caller {
        None => read_own(&daemon.usage, &request),
        Some(account) => read_as(&daemon.usage, request, account).await,
    };
    call.event.detail.usage.clone_from(&found.usage);
    Some(found)
}

fn read_own(reader: &UsageReader, request: &UsageRequest) -> UsageUpdate {
    let owner = TranscriptOwner::current();
    let found = reader.read(request, owner, MAX_INLINE_READ_BYTES);
    if !found.is_behind {
        return found;
    }
    // A long transcript is read only when its session is first seen. Other calls continue on another thread.
    tokio::task::block_in_place(|| reader.read(request, owner, MAX_READ_BYTES))
}

/// Reads with the caller's rights, in a thread that no other account waits for.
async fn read_as(reader: &Arc<UsageReader>, request: UsageRequest, account: u32) -> UsageUpdate {
    let (sender, receiver) = oneshot::channel();
    let reader = Arc::clone(reader);
    let started = spawn_as(account, move |_| {
        let found = reader.read(&request, TranscriptOwner::other(account), MAX_READ_BYTES);
        // The call may already have ended; then the result is dropped.
        drop(sender.send(found));
    });
    if started.is_ok()
        && let Ok(Ok(found)) = timeout(OTHER_ACCOUNT_TIMEOUT, receiver).await
    {
        return found;
    }
    UsageUpdate::unknown("the transcript could not be read in time")
}

/// Whether read positions may have to be saved.
#[derive(Debug, Default)]
pub(crate) struct UnsavedUsage {
    is_noted: AtomicBool,
    noted: Notify,
}

impl UnsavedUsage {
    /// Notes that a transcript was read. Among many calls, only the first wakes a thread.
    pub(crate) fn note(&self) {
        if !self.is_noted.swap(true, Ordering::Relaxed) {
            self.noted.notify_one();
        }
    }
}

/// Saves read positions soon after transcripts were read.
pub(crate) async fn watch(daemon: Arc<Daemon>) {
    loop {
        daemon.unsaved_usage.noted.notified().await;
        tokio::time::sleep(SAVE_DELAY).await;
        daemon.unsaved_usage.is_noted.store(false, Ordering::Relaxed);
        save(&daemon).await;
    }
}

pub(crate) async fn save(daemon: &Daemon) {
    if daemon.usage.has_unsaved() {
        let reader = Arc::clone(&daemon.usage);
        // If saving fails, transcripts are read again after a restart.
        let _ = tokio::task::spawn_blocking(move || reader.save()).await;
    }
}
