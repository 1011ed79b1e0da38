// SPDX-License-Identifier: Apache-2.0 OR MIT

//! A session ends: because it is told to, because nobody has given it work for long, or with the daemon.

use std::sync::Arc;
use std::time::Duration;

use futures_util::future::join_all;
use tokio::time::Instant;

use super::{Asker, ENDED, Hosted, Slot, behalf};
use crate::daemon::Daemon;
use crate::sdk::Refusal;

/// How long a session may have nothing to do.
const IDLE: Duration = Duration::from_mins(30);
/// How often that is looked at.
const LOOKS: Duration = Duration::from_secs(30);
/// How long what is under way may take to end.
const PATIENCE: Duration = Duration::from_secs(5);
/// How long all sessions may take to end with the daemon.
const FAREWELL: Duration = Duration::from_secs(5);
/// The longest reason.
const REASON: usize = 200;

/// Ends a session of a program.
pub(crate) async fn end(
    daemon: &Arc<Daemon>,
    asker: &Asker<'_>,
    id: &str,
    reason: &str,
) -> Result<(), Refusal> {
    let slot = daemon.own_session(asker, "end", id).await?;
    daemon.hosted.take(&slot);
    let reason = if reason.is_empty() { "ended" } else { reason };
    let chain = daemon.hosted.chains.of(asker.handling.as_ref(), &daemon.programs.of(asker.id));
    behalf::on(chain, finish(&slot, &tenterhook_records::sanitize(reason, REASON))).await;
    Ok(())
}

/// Ends all sessions; none begins any more.
pub(crate) async fn end_all(daemon: &Daemon) {
    let all: Vec<_> = {
        let mut state = daemon.hosted.lock();
        state.closed = true;
        std::mem::take(&mut state.sessions).into_values().collect()
    };
    let ending = join_all(all.iter().map(|slot| finish(slot, "shutdown")));
    if tokio::time::timeout(FAREWELL, ending).await.is_err() {
        tracing::warn!(sessions = all.len(), "sessions of the agent did not end in time");
    }
}

/// Ends sessions that nobody gives work, again and again.
pub(crate) async fn watch_idle(daemon: Arc<Daemon>) {
    loop {
        if daemon.hosted.lock().sessions.is_empty() {
            daemon.hosted.begun.notified().await;
        }
        tokio::time::sleep(LOOKS).await;
        for slot in daemon.hosted.idle(Instant::now()) {
            tracing::info!(session = slot.session.id(), "a session of the agent was idle, and ends");
            daemon.hosted.take(&slot);
            finish(&slot, "idle").await;
        }
    }
}

/// Cancels what is under way, waits for it and tells that the session is over.
pub(super) async fn finish(slot: &Slot, reason: &str) {
    {
        let mut under_way = slot.under_way();
        if std::mem::replace(&mut under_way.ended, true) {
            return;
        }
        under_way.work.iter().for_each(|(_, cancel)| cancel.cancel());
    }
    let began = Instant::now();
    while !slot.under_way().work.is_empty() && began.elapsed() < PATIENCE {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    if let Err(why) = slot.session.end(reason).await {
        tracing::warn!(session = slot.session.id(), %why, "the end of a session could not be told");
    }
}

impl Hosted {
    /// From now on it is not there any more.
    fn take(&self, slot: &Slot) {
        let mut state = self.lock();
        state.sessions.remove(slot.session.id());
        if state.ended.len() >= ENDED {
            state.ended.pop_front();
        }
        state.ended.push_back((slot.session.id().to_owned(), slot.owner.clone()));
    }

    /// The sessions that have had nothing to do for long.
    fn idle(&self, now: Instant) -> Vec<Arc<Slot>> {
        let is_idle = |slot: &&Arc<Slot>| {
            let under_way = slot.under_way();
            under_way.work.is_empty() && now.saturating_duration_since(under_way.last) >= IDLE
        };
        self.lock().sessions.values().filter(is_idle).map(Arc::clone).collect()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use tenterhook_agent::tools::Toolbox;
    use tenterhook_agent::{Agent, Cancel, Fire, FireError, NobodyAnswers, NobodyWatches, Session, Settings};
    use tenterhook_engine::BoxFuture;
    use tenterhook_event::{Call, EventId, EventKind, Outcome, Timestamp};

    use super::*;
    use crate::sdk::{Holder, Id};
    use crate::shares::Shares;

    #[derive(Default)]
    struct Heard(Mutex<Vec<EventKind>>);

    impl Fire for Heard {
        fn fire(&self, call: Call) -> BoxFuture<'_, Result<Outcome, FireError>> {
            self.0.lock().unwrap().push(call.event.event);
            Box::pin(async { Ok(Outcome::default()) })
        }
    }

    async fn slot(heard: &Arc<Heard>) -> Arc<Slot> {
        let agent = Agent {
            fire: Arc::clone(heard) as Arc<dyn Fire>,
            provider: Arc::new(super::super::model::NoModel),
            tools: Toolbox::own(),
            subagents: Vec::new(),
            ask: Arc::new(NobodyAnswers),
            watch: Arc::new(NobodyWatches),
            mint: Arc::new(|| (EventId::from_parts(0, 0), Timestamp::from_unix_ms(0))),
            prices: None,
            settings: Settings::new("m", "/"),
        };
        let session = Session::start(Arc::new(agent), "s", "startup", &Cancel::new()).await.unwrap();
        let place = Shares::new(4).try_take(Holder::Process(0, 1), 1).unwrap();
        Slot::new(session, Id::read("0123456789abcdef").unwrap(), 0, place)
    }

    #[tokio::test(start_paused = true)]
    async fn a_session_without_work_ends_once_and_one_with_work_does_not() {
        let (hosted, heard) = (Hosted::new(&tenterhook_home::Env::default()), Arc::default());
        let slot = slot(&heard).await;
        hosted.lock().sessions.insert("s".to_owned(), Arc::clone(&slot));
        let idle = || hosted.idle(Instant::now()).len();
        tokio::time::advance(IDLE / 2).await;
        let work = slot.begin().unwrap();
        tokio::time::advance(IDLE * 2).await;
        assert_eq!(idle(), 0, "something is under way");
        drop(work);
        assert_eq!(idle(), 0, "it has just ended");
        tokio::time::advance(IDLE).await;
        assert_eq!(idle(), 1);
        hosted.take(&slot);
        finish(&slot, "idle").await;
        finish(&slot, "idle").await;
        assert_eq!(*heard.0.lock().unwrap(), [EventKind::SessionStart, EventKind::SessionEnd]);
        assert!(slot.begin().is_err() && hosted.lock().sessions.is_empty());
        assert_eq!(hosted.lock().ended.len(), 1);
    }
}
