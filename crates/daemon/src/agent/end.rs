// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Ends sessions: on request, when they are idle, or when the daemon shuts down.

use std::sync::Arc;
use std::time::Duration;

use futures_util::future::join_all;
use tokio::time::Instant;

use super::{AgentCaller, HostedSession, HostedSessions, MAX_ENDED_SESSIONS, call_origin};
use crate::daemon::Daemon;
use crate::sdk::ProgramRefusal;

/// Idle time after which a session ends.
const MAX_IDLE_TIME: Duration = Duration::from_mins(30);
/// Interval between two checks for idle sessions.
const IDLE_CHECK_INTERVAL: Duration = Duration::from_secs(30);
/// Maximum time for the running work of a session to end.
const WORK_END_TIMEOUT: Duration = Duration::from_secs(5);
/// Maximum time for all sessions to end when the daemon shuts down.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(5);
/// Maximum length of a stored reason; longer reasons are cut.
const MAX_REASON_CHARS: usize = 200;

/// Ends a session that the calling program owns.
pub(crate) async fn end(
    daemon: &Arc<Daemon>,
    asker: &AgentCaller<'_>,
    id: &str,
    reason: &str,
) -> Result<(), ProgramRefusal> {
    let slot = daemon.find_own_session(asker, "end", id).await?;
    daemon.hosted.remove(&slot);
    let reason = if reason.is_empty() { "ended" } else { reason };
    let chain = daemon.hosted.chains.chain_of(asker.handling.as_ref(), &daemon.programs.hooks_of(asker.id));
    call_origin::run_caused_by(chain, finish(&slot, &tenterhook_records::sanitize(reason, MAX_REASON_CHARS)))
        .await;
    Ok(())
}

/// Ends all sessions and refuses new ones.
pub(crate) async fn end_all(daemon: &Daemon) {
    let all: Vec<_> = {
        let mut state = daemon.hosted.lock();
        state.closed = true;
        std::mem::take(&mut state.sessions).into_values().collect()
    };
    let ending = join_all(all.iter().map(|slot| finish(slot, "shutdown")));
    if tokio::time::timeout(SHUTDOWN_TIMEOUT, ending).await.is_err() {
        tracing::warn!(sessions = all.len(), "agent sessions did not end in time");
    }
}

/// Ends idle sessions, until the daemon shuts down.
pub(crate) async fn watch_idle(daemon: Arc<Daemon>) {
    loop {
        if daemon.hosted.lock().sessions.is_empty() {
            daemon.hosted.begun.notified().await;
        }
        tokio::time::sleep(IDLE_CHECK_INTERVAL).await;
        for slot in daemon.hosted.idle_sessions(Instant::now()) {
            tracing::info!(session = slot.session.id(), "ended an idle agent session");
            daemon.hosted.remove(&slot);
            finish(&slot, "idle").await;
        }
    }
}

/// Cancels the running work, waits for it and fires the session's last event.
pub(super) async fn finish(slot: &HostedSession, reason: &str) {
    {
        let mut running = slot.running_work();
        if std::mem::replace(&mut running.ended, true) {
            return;
        }
        running.work.iter().for_each(|(_, cancel)| cancel.cancel());
    }
    let began = Instant::now();
    while !slot.running_work().work.is_empty() && began.elapsed() < WORK_END_TIMEOUT {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    if let Err(why) = slot.session.end(reason).await {
        tracing::warn!(session = slot.session.id(), %why, "the end of a session could not be reported");
    }
}

impl HostedSessions {
    /// Removes a session and remembers its id as ended.
    fn remove(&self, slot: &HostedSession) {
        let mut state = self.lock();
        state.sessions.remove(slot.session.id());
        if state.ended.len() >= MAX_ENDED_SESSIONS {
            state.ended.pop_front();
        }
        state.ended.push_back((slot.session.id().to_owned(), slot.owner.clone()));
    }

    /// Returns the sessions that have been idle for too long.
    fn idle_sessions(&self, now: Instant) -> Vec<Arc<HostedSession>> {
        let is_idle = |slot: &&Arc<HostedSession>| {
            let running = slot.running_work();
            running.work.is_empty() && now.saturating_duration_since(running.last) >= MAX_IDLE_TIME
        };
        self.lock().sessions.values().filter(is_idle).map(Arc::clone).collect()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use tenterhook_agent::tools::Toolbox;
    use tenterhook_agent::{
        AgentRuntime, AgentSession, AgentSettings, CancelToken, DispatchError, EventDispatcher, NoObserver,
        NoPermissionPrompt,
    };
    use tenterhook_engine::BoxFuture;
    use tenterhook_event::{EventId, EventKind, HookCall, Outcome, Timestamp};

    use super::*;
    use crate::sdk::{ClientId, QuotaHolder};
    use crate::shares::Shares;

    #[derive(Default)]
    struct FiredKinds(Mutex<Vec<EventKind>>);

    impl EventDispatcher for FiredKinds {
        fn fire(&self, call: HookCall) -> BoxFuture<'_, Result<Outcome, DispatchError>> {
            self.0.lock().unwrap().push(call.event.event);
            Box::pin(async { Ok(Outcome::default()) })
        }
    }

    async fn slot(fired: &Arc<FiredKinds>) -> Arc<HostedSession> {
        let agent = AgentRuntime {
            dispatcher: Arc::clone(fired) as Arc<dyn EventDispatcher>,
            provider: Arc::new(super::super::model::MissingModel),
            tools: Toolbox::builtin(),
            subagents: Vec::new(),
            permission_prompt: Arc::new(NoPermissionPrompt),
            observer: Arc::new(NoObserver),
            event_ids: Arc::new(|| (EventId::from_parts(0, 0), Timestamp::from_unix_ms(0))),
            prices: None,
            settings: AgentSettings::new("m", "/"),
        };
        let session =
            AgentSession::start(Arc::new(agent), "s", "startup", &CancelToken::new()).await.unwrap();
        let place = Shares::new(4).try_take(QuotaHolder::Process(0, 1), 1).unwrap();
        HostedSession::new(session, ClientId::parse("0123456789abcdef").unwrap(), 0, place)
    }

    #[tokio::test(start_paused = true)]
    async fn a_session_without_work_ends_once_and_one_with_work_does_not() {
        let (hosted, fired) = (HostedSessions::new(&tenterhook_home::Env::default()), Arc::default());
        let slot = slot(&fired).await;
        hosted.lock().sessions.insert("s".to_owned(), Arc::clone(&slot));
        let idle = || hosted.idle_sessions(Instant::now()).len();
        tokio::time::advance(MAX_IDLE_TIME / 2).await;
        let work = slot.begin().unwrap();
        tokio::time::advance(MAX_IDLE_TIME * 2).await;
        assert_eq!(idle(), 0, "something is under way");
        drop(work);
        assert_eq!(idle(), 0, "it has just ended");
        tokio::time::advance(MAX_IDLE_TIME).await;
        assert_eq!(idle(), 1);
        hosted.remove(&slot);
        finish(&slot, "idle").await;
        finish(&slot, "idle").await;
        assert_eq!(*fired.0.lock().unwrap(), [EventKind::SessionStart, EventKind::SessionEnd]);
        assert!(slot.begin().is_err() && hosted.lock().sessions.is_empty());
        assert_eq!(hosted.lock().ended.len(), 1);
    }
}
