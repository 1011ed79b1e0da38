// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The daemon's own agent: sessions that programs create and use over gRPC.
//!
//! This is the reference agent of [`tenterhook_agent`]. Its events go through the same pipeline as every other call
//! ([`agent_pipeline`]). A session belongs to the program that created it. Tools run under the daemon's account, so a
//! machine-wide daemon hosts no sessions, and a guarded agent cannot create one.

mod agent_pipeline;
mod call_origin;
mod create;
mod end;
mod model;
mod work;

use std::collections::{BTreeMap, VecDeque};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tenterhook_agent::{AgentSession, CancelToken};
use tenterhook_authority::{Action, Caller};
use tenterhook_home::Env;
use tokio::sync::{Notify, Semaphore};
use tokio::time::Instant;

pub(crate) use call_origin::HandledEvent;
pub(crate) use create::{SessionRequest, create};
pub(crate) use end::{end, end_all, watch_idle};
pub(crate) use work::{RunningTurn, TurnUpdate, execute, generate};

use crate::daemon::Daemon;
use crate::listen::Peer;
use crate::sdk::{ClientId, ProgramRefusal, QuotaHolder, RefusalCode};
use crate::shares::{Share, Shares};

/// Maximum number of hosted sessions: in total, per process, and per client id.
const MAX_SESSIONS: usize = 64;
const MAX_SESSIONS_PER_PROCESS: usize = MAX_SESSIONS / 2;
const MAX_SESSIONS_PER_CLIENT: usize = 16;
/// Maximum size of a system prompt and of a prompt.
const MAX_PROMPT_BYTES: usize = 1024 * 1024;
/// Maximum size of all prompts of one session together, because the history stays in memory.
const MAX_HISTORY_BYTES: usize = 64 * 1024 * 1024;
/// Maximum number of ended sessions whose ids are remembered for a better error message.
const MAX_ENDED_SESSIONS: usize = 256;

/// All sessions that the daemon hosts.
pub(crate) struct HostedSessions {
    state: Mutex<State>,
    places: Arc<Shares<QuotaHolder>>,
    chains: call_origin::HookChains,
    models: model::ModelSettings,
    /// Notified when a session is added.
    begun: Notify,
}

#[derive(Default)]
struct State {
    sessions: BTreeMap<String, Arc<HostedSession>>,
    /// Owners of the sessions that are being created.
    starting: Vec<ClientId>,
    ended: VecDeque<(String, ClientId)>,
    /// Whether the daemon is shutting down and creates no more sessions.
    closed: bool,
}

/// A session and its owner.
struct HostedSession {
    session: AgentSession,
    owner: ClientId,
    uid: u32,
    /// Counts the session against the quota of the owner's process.
    _place: Share<QuotaHolder>,
    /// Bytes of all prompts so far.
    prompt_bytes: AtomicUsize,
    /// Semaphore that allows one turn at a time.
    turn: Arc<Semaphore>,
    running: Mutex<RunningWork>,
}

struct RunningWork {
    work: Vec<(u64, CancelToken)>,
    /// Sequence number of the last work that began.
    count: u64,
    /// When work last ended.
    last: Instant,
    ended: bool,
}

/// Permission to work in a session. Dropping it cancels the work.
struct WorkPermit {
    slot: Arc<HostedSession>,
    number: u64,
    cancel: CancelToken,
}

/// A program that uses the agent.
pub(crate) struct AgentCaller<'a> {
    pub(crate) peer: Peer,
    pub(crate) id: &'a ClientId,
    pub(crate) name: &'a str,
    /// The event that the program is handling, if it calls from inside a hook.
    pub(crate) handling: Option<HandledEvent>,
}

impl HostedSessions {
    pub(crate) fn new(env: &Env) -> Self {
        let (state, chains) = (Mutex::default(), call_origin::HookChains::default());
        Self {
            state,
            places: Shares::new(MAX_SESSIONS),
            chains,
            models: model::ModelSettings::of(env),
            begun: Notify::new(),
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Daemon {
    /// Identifies a program and checks that it may use the agent.
    async fn admit_agent_caller(
        &self,
        asker: &AgentCaller<'_>,
        what: &str,
    ) -> Result<Caller, ProgramRefusal> {
        if self.home.is_machine_wide() {
            let why = "this daemon serves the whole machine; tools would run under its account";
            let hint = "start a daemon under your own account, or run `tenterhook agent run`";
            return Err(ProgramRefusal::new(RefusalCode::Refused, why, hint));
        }
        let detail = serde_json::json!({"what": what, "client": asker.name});
        self.admit_program(Action::AgentSession, asker.peer, detail).await
    }

    /// Returns the session with this id, if it belongs to the caller.
    async fn find_own_session(
        &self,
        asker: &AgentCaller<'_>,
        what: &str,
        id: &str,
    ) -> Result<Arc<HostedSession>, ProgramRefusal> {
        let uid = self.admit_agent_caller(asker, what).await?.uid;
        let shown = tenterhook_records::sanitize(id, 100);
        let missing = |why: String, hint: &str| Err(ProgramRefusal::new(RefusalCode::NotFound, why, hint));
        {
            let state = self.hosted.lock();
            match state.sessions.get(id) {
                Some(slot) if slot.owner == *asker.id && slot.uid == uid => return Ok(Arc::clone(slot)),
                Some(_) => {
                    let hint = "a session can be used only by the client that created it; create another one";
                    return missing(format!("the session `{shown}` belongs to another program"), hint);
                }
                None => {}
            }
            if state.ended.iter().any(|(ended, owner)| ended == id && owner == asker.id) {
                return missing(format!("the session `{shown}` has ended"), "create another");
            }
        }
        match self.observers.sessions.find(id) {
            Some((key, _)) => {
                let why = format!("the session `{shown}` is run by {}, not by this daemon", key.harness);
                let hint = "run the command in your own program, or create a session here with CreateSession";
                missing(why, hint)
            }
            None => missing(format!("unknown session `{shown}`"), "create one with CreateSession"),
        }
    }
}

impl HostedSession {
    fn new(session: AgentSession, owner: ClientId, uid: u32, place: Share<QuotaHolder>) -> Arc<Self> {
        let running = RunningWork { work: Vec::new(), count: 0, last: Instant::now(), ended: false };
        let turn = Arc::new(Semaphore::new(1));
        let (running, prompt_bytes) = (Mutex::new(running), AtomicUsize::new(0));
        Arc::new(Self { session, owner, uid, _place: place, prompt_bytes, turn, running })
    }

    /// Begins work, unless the session has ended.
    fn begin(self: &Arc<Self>) -> Result<WorkPermit, ProgramRefusal> {
        let mut running = self.running_work();
        if running.ended {
            return Err(ProgramRefusal::new(
                RefusalCode::NotFound,
                "the session has ended",
                "create another",
            ));
        }
        running.count += 1;
        let (number, cancel) = (running.count, CancelToken::new());
        running.work.push((number, cancel.clone()));
        Ok(WorkPermit { slot: Arc::clone(self), number, cancel })
    }

    /// Counts a prompt against the session's limits.
    fn count_prompt(&self, prompt: &str) -> Result<(), ProgramRefusal> {
        if prompt.len() > MAX_PROMPT_BYTES {
            let why = format!("the prompt has {} bytes; the limit is {MAX_PROMPT_BYTES}", prompt.len());
            return Err(ProgramRefusal::new(
                RefusalCode::Limit,
                why,
                "write it to a file and name the file in the prompt",
            ));
        }
        let before = self.prompt_bytes.fetch_add(prompt.len(), Ordering::Relaxed);
        if before.saturating_add(prompt.len()) > MAX_HISTORY_BYTES {
            let why = format!("the prompts of this session exceed {MAX_HISTORY_BYTES} bytes");
            return Err(ProgramRefusal::new(RefusalCode::Limit, why, "create another session"));
        }
        Ok(())
    }

    fn running_work(&self) -> MutexGuard<'_, RunningWork> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for WorkPermit {
    fn drop(&mut self) {
        self.cancel.cancel();
        let mut running = self.slot.running_work();
        running.work.retain(|(number, _)| *number != self.number);
        running.last = Instant::now();
    }
}
