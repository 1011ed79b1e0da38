// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The daemon's own agent: sessions that programs create here and give work.
//!
//! It is the reference agent of [`tenterhook_agent`], fires down the same road as every other ([`road`]), and asks the
//! same people. A session belongs to the program that created it. Tools run under the daemon's account, so a daemon
//! of the whole machine has no sessions, and a guarded agent gets none.

mod behalf;
mod create;
mod end;
mod model;
mod road;
mod work;

use std::collections::{BTreeMap, VecDeque};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tenterhook_agent::{Cancel, Session};
use tenterhook_authority::{Action, Caller};
use tenterhook_home::Env;
use tokio::sync::{Notify, Semaphore};
use tokio::time::Instant;

pub(crate) use behalf::Handling;
pub(crate) use create::{Wanted, create};
pub(crate) use end::{end, end_all, watch_idle};
pub(crate) use work::{Told, Turn, execute, generate};

use crate::daemon::Daemon;
use crate::listen::Peer;
use crate::sdk::{Code, Holder, Id, Refusal};
use crate::shares::{Share, Shares};

/// How many sessions there may be, how many of one process, and how many of one client id.
const MOST: usize = 64;
const OF_PROCESS: usize = MOST / 2;
const OF_ONE: usize = 16;
/// The longest system prompt and the longest prompt.
const MAX_PROMPT_BYTES: usize = 1024 * 1024;
/// How much a session is told in all: its history stays in memory.
const MAX_HISTORY_BYTES: usize = 64 * 1024 * 1024;
/// How many sessions that have ended are remembered, to tell them from nonsense.
const ENDED: usize = 256;

/// All sessions.
pub(crate) struct Hosted {
    state: Mutex<State>,
    places: Arc<Shares<Holder>>,
    chains: behalf::Chains,
    models: model::Models,
    /// A session has begun.
    begun: Notify,
}

#[derive(Default)]
struct State {
    sessions: BTreeMap<String, Arc<Slot>>,
    /// Whose sessions begin.
    starting: Vec<Id>,
    ended: VecDeque<(String, Id)>,
    /// Nothing begins any more.
    closed: bool,
}

/// A session, and whose it is.
struct Slot {
    session: Session,
    owner: Id,
    uid: u32,
    /// Its place among the sessions of its process.
    _place: Share<Holder>,
    /// How many bytes of prompts it has taken.
    told: AtomicUsize,
    /// One turn at a time.
    turn: Arc<Semaphore>,
    under_way: Mutex<UnderWay>,
}

struct UnderWay {
    work: Vec<(u64, Cancel)>,
    /// How much there has been.
    count: u64,
    /// When something was last done.
    last: Instant,
    ended: bool,
}

/// Something under way in a session. Dropping it ends it.
struct Work {
    slot: Arc<Slot>,
    number: u64,
    cancel: Cancel,
}

/// Who asks for something, and from where.
pub(crate) struct Asker<'a> {
    pub(crate) peer: Peer,
    pub(crate) id: &'a Id,
    pub(crate) name: &'a str,
    /// The hook's handler it is asked from.
    pub(crate) handling: Option<Handling>,
}

impl Hosted {
    pub(crate) fn new(env: &Env) -> Self {
        let (state, chains) = (Mutex::default(), behalf::Chains::default());
        Self {
            state,
            places: Shares::new(MOST),
            chains,
            models: model::Models::of(env),
            begun: Notify::new(),
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Daemon {
    /// Lets somebody in who wants something of the agent, and says which account it is.
    async fn admit_asker(&self, asker: &Asker<'_>, what: &str) -> Result<Caller, Refusal> {
        if self.home.public.is_some() {
            let why = "this daemon serves the whole machine, and tools would run under its account";
            let hint = "start a daemon of your own for your agent, or run `tenterhook agent run`";
            return Err(Refusal::new(Code::Refused, why, hint));
        }
        let detail = serde_json::json!({"what": what, "client": asker.name});
        self.admit_program(Action::AgentSession, asker.peer, detail).await
    }

    /// A session of whoever asks.
    async fn own_session(&self, asker: &Asker<'_>, what: &str, id: &str) -> Result<Arc<Slot>, Refusal> {
        let uid = self.admit_asker(asker, what).await?.uid;
        let shown = tenterhook_records::sanitize(id, 100);
        let missing = |why: String, hint: &str| Err(Refusal::new(Code::NotFound, why, hint));
        {
            let state = self.hosted.lock();
            match state.sessions.get(id) {
                Some(slot) if slot.owner == *asker.id && slot.uid == uid => return Ok(Arc::clone(slot)),
                Some(_) => {
                    let hint = "only the client that created it gives it work; create one of your own";
                    return missing(format!("the session `{shown}` is another program's"), hint);
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
            None => missing(format!("there is no session `{shown}`"), "CreateSession makes one"),
        }
    }
}

impl Slot {
    fn new(session: Session, owner: Id, uid: u32, place: Share<Holder>) -> Arc<Self> {
        let under_way = UnderWay { work: Vec::new(), count: 0, last: Instant::now(), ended: false };
        let turn = Arc::new(Semaphore::new(1));
        let (under_way, told) = (Mutex::new(under_way), AtomicUsize::new(0));
        Arc::new(Self { session, owner, uid, _place: place, told, turn, under_way })
    }

    /// Something begins, unless the session has ended meanwhile.
    fn begin(self: &Arc<Self>) -> Result<Work, Refusal> {
        let mut under_way = self.under_way();
        if under_way.ended {
            return Err(Refusal::new(Code::NotFound, "the session has ended", "create another"));
        }
        under_way.count += 1;
        let (number, cancel) = (under_way.count, Cancel::new());
        under_way.work.push((number, cancel.clone()));
        Ok(Work { slot: Arc::clone(self), number, cancel })
    }

    /// Counts a prompt, if the session still has room for it.
    fn take_prompt(&self, prompt: &str) -> Result<(), Refusal> {
        if prompt.len() > MAX_PROMPT_BYTES {
            let why = format!("the prompt has {} bytes; the limit is {MAX_PROMPT_BYTES}", prompt.len());
            return Err(Refusal::new(Code::Limit, why, "put it into a file and name that"));
        }
        let told = self.told.fetch_add(prompt.len(), Ordering::Relaxed);
        if told.saturating_add(prompt.len()) > MAX_HISTORY_BYTES {
            let why = format!("the prompts of this session have {MAX_HISTORY_BYTES} bytes already");
            return Err(Refusal::new(Code::Limit, why, "create another session"));
        }
        Ok(())
    }

    fn under_way(&self) -> MutexGuard<'_, UnderWay> {
        self.under_way.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Work {
    fn drop(&mut self) {
        self.cancel.cancel();
        let mut under_way = self.slot.under_way();
        under_way.work.retain(|(number, _)| *number != self.number);
        under_way.last = Instant::now();
    }
}
