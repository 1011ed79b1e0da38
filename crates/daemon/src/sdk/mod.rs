// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Programs with hooks of their own: who they are, what they registered, and how long it outlives them.
//!
//! Whatever carries a program's stream ([`crate::grpc`]) calls here; asking and answering is the engine's
//! ([`tenterhook_engine::sdk`]). A client id is a secret: whoever has it is the program.

mod admit;
mod audit;
mod level;
mod linger;
mod register;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tenterhook_authority::Caller;
use tenterhook_engine::sdk::Client;
use tenterhook_engine::{Hook, Limits, RegisterError};
use tenterhook_harness::dialect::A3sMatcher;

pub(crate) use audit::Notes;
pub(crate) use level::set as set_level;
pub(crate) use register::{Wanted, is_hook_name, kind, register, sit_down, unregister};

use crate::shares::is_fair;

/// How many programs there may be at once; one process gets half of them.
const MAX_PROGRAMS: usize = 512;
/// For how many programs' worth of hooks there is room beside each other.
const PROGRAM_SHARES: usize = 4;

/// All programs with hooks.
pub(crate) struct Programs {
    seats: Mutex<BTreeMap<Id, Seat>>,
    /// Held while a hook comes or goes, until that is recorded.
    changing: tokio::sync::Mutex<()>,
    /// What is written down about hooks.
    pub(crate) notes: Arc<Notes>,
}

/// A client id: nobody but the program knows it.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Id(String);

struct Seat {
    client: Arc<Client>,
    holder: Holder,
    /// The account it runs under.
    uid: u32,
    hooks: Vec<Registered>,
}

/// Who is counted for what a program uses: it may make up as many client ids as it likes.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(crate) enum Holder {
    /// A process, as the kernel names it.
    Process(u32, i32),
    /// A program over TCP, of which only the client id is known.
    Client(Id),
}

/// A hook of a program, and what it said about it.
#[derive(Debug, Clone)]
pub(crate) struct Registered {
    pub(crate) hook: Arc<Hook>,
    pub(crate) event_type: String,
    pub(crate) matcher: A3sMatcher,
    pub(crate) linger: Duration,
}

/// Why a program does not get what it wants.
#[derive(Debug)]
pub(crate) struct Refusal {
    pub(crate) code: Code,
    pub(crate) message: String,
    pub(crate) hint: String,
}

/// What kind of refusal it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Code {
    Invalid,
    NotFound,
    AlreadyExists,
    Limit,
    Refused,
    Overloaded,
    Internal,
    Blocked,
    Model,
    TimedOut,
    Cancelled,
}

impl Default for Programs {
    fn default() -> Self {
        Self { seats: Mutex::default(), changing: tokio::sync::Mutex::default(), notes: Notes::new() }
    }
}

impl Programs {
    /// The program of this id, which is there from now on.
    pub(crate) fn seat(&self, id: &Id, name: &str, caller: &Caller) -> Result<Arc<Client>, Refusal> {
        let (mut seats, holder) = (self.lock(), Holder::of(caller, id));
        if let Some(seat) = seats.get_mut(id) {
            if seat.uid != caller.uid {
                let why = "this client id is another account's";
                return Err(Refusal::new(Code::Refused, why, "make up one of your own"));
            }
            // A program that was started again is another process.
            seat.holder = holder;
            return Ok(Arc::clone(&seat.client));
        }
        let own = seats.values().filter(|seat| seat.holder == holder).count();
        if !is_fair(own, seats.len(), 1, MAX_PROGRAMS) {
            let why = format!("{} programs have hooks here, and {own} of them are yours", seats.len());
            return Err(Refusal::new(Code::Overloaded, why, "end one of them"));
        }
        let client = Client::new(name);
        let seat = Seat { client: Arc::clone(&client), holder, uid: caller.uid, hooks: Vec::new() };
        seats.insert(id.clone(), seat);
        Ok(client)
    }

    /// Whether one more hook fits beside those of other programs. The limits of the settings are for one program;
    /// together they have a few times as much, and none takes what others need.
    fn admit(
        &self,
        id: &Id,
        all: &[Arc<Hook>],
        replaced: bool,
        new: &Hook,
        limits: &Limits,
    ) -> Result<(), RegisterError> {
        let seats = self.lock();
        let Some(holder) = seats.get(id).map(|seat| &seat.holder) else { return Ok(()) };
        let is_others = |hook: &Hook| {
            let mut others = seats.values().filter(|seat| seat.holder != *holder);
            others.any(|seat| seat.hooks.iter().any(|known| known.hook.id == hook.id))
        };
        let same_id = all.iter().find(|hook| hook.id == new.id);
        if same_id.is_some_and(|hook| !replaced || is_others(hook)) {
            return Err(RegisterError::Duplicate(new.id.to_string()));
        }
        // One that takes another's place needs no room beside it.
        let beside =
            all.iter().map(AsRef::as_ref).filter(|hook: &&Hook| hook.id != new.id && !is_others(hook));
        limits.admit(&beside, new)?;
        if replaced {
            return Ok(());
        }
        let count = |own: bool, fits: &dyn Fn(&Hook) -> bool| {
            let seats = seats.values().filter(|seat| !own || seat.holder == *holder);
            seats.flat_map(|seat| &seat.hooks).filter(|known| fits(&known.hook)).count()
        };
        let fair = |limit: usize, fits: &dyn Fn(&Hook) -> bool| {
            is_fair(count(true, fits), count(false, fits), 1, limit.saturating_mul(PROGRAM_SHARES))
        };
        if !fair(limits.hooks, &|_| true) {
            return Err(RegisterError::TooMany { id: new.id.to_string(), limit: limits.hooks });
        }
        let crowded =
            new.on.iter().find(|kind| !fair(limits.hooks_per_event, &|hook| hook.on.contains(kind)));
        crowded.map_or(Ok(()), |kind| {
            let (id, limit) = (new.id.to_string(), limits.hooks_per_event);
            Err(RegisterError::TooManyOn { id, kind: *kind, limit })
        })
    }

    /// What a program registered.
    pub(crate) fn of(&self, id: &Id) -> Vec<Registered> {
        self.lock().get(id).map(|seat| seat.hooks.clone()).unwrap_or_default()
    }

    /// What any program registered under this id of a hook.
    pub(crate) fn find(&self, hook: &str) -> Option<Registered> {
        let seats = self.lock();
        seats.values().flat_map(|seat| &seat.hooks).find(|known| *known.hook.id == *hook).cloned()
    }

    /// A program without a stream and without hooks is none.
    fn tidy(&self, id: &Id) {
        let mut seats = self.lock();
        if seats.get(id).is_some_and(|seat| seat.hooks.is_empty() && !seat.client.is_there()) {
            seats.remove(id);
        }
    }

    /// Every hook, in the order of registration.
    fn all(&self) -> Vec<Arc<Hook>> {
        self.lock().values().flat_map(|seat| &seat.hooks).map(|known| Arc::clone(&known.hook)).collect()
    }

    fn with<T>(&self, id: &Id, change: impl FnOnce(&mut Seat) -> T) -> Option<T> {
        self.lock().get_mut(id).map(change)
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<Id, Seat>> {
        self.seats.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Holder {
    /// Who is counted for a caller with this client id.
    pub(crate) fn of(caller: &Caller, id: &Id) -> Self {
        match caller.pid {
            Some(pid) => Self::Process(caller.uid, pid),
            None => Self::Client(id.clone()),
        }
    }
}

impl Id {
    /// Reads a client id.
    pub(crate) fn read(text: &str) -> Option<Self> {
        let long_enough = (16..=128).contains(&text.len());
        let plain = text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-".contains(&byte));
        (long_enough && plain).then(|| Self(text.to_owned()))
    }
}

impl Refusal {
    pub(crate) fn new(code: Code, message: impl Into<String>, hint: &str) -> Self {
        Self { code, message: message.into(), hint: hint.to_owned() }
    }
}
