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

use tenterhook_engine::Hook;
use tenterhook_engine::sdk::Client;
use tenterhook_harness::dialect::A3sMatcher;

pub(crate) use audit::Notes;
pub(crate) use level::set as set_level;
pub(crate) use register::{Wanted, kind, register, sit_down, unregister};

/// How many programs there may be at once.
const PROGRAMS: usize = 256;

/// All programs with hooks.
pub(crate) struct Programs {
    seats: Mutex<BTreeMap<Id, Seat>>,
    /// Held while a hook comes or goes, until that is recorded.
    changing: tokio::sync::Mutex<()>,
    /// What is written down about hooks.
    pub(crate) notes: Arc<Notes>,
}

/// A client id: nobody but the program knows it.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Id(String);

struct Seat {
    client: Arc<Client>,
    /// The account it runs under.
    uid: u32,
    hooks: Vec<Registered>,
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
    pub(crate) fn seat(&self, id: &Id, name: &str, uid: u32) -> Result<Arc<Client>, Refusal> {
        let mut seats = self.lock();
        if let Some(seat) = seats.get(id) {
            let same = seat.uid == uid;
            return same.then(|| Arc::clone(&seat.client)).ok_or_else(|| {
                Refusal::new(Code::Refused, "this client id is another account's", "make up one of your own")
            });
        }
        if seats.len() >= PROGRAMS {
            let why = format!("{PROGRAMS} programs have hooks here already");
            return Err(Refusal::new(Code::Overloaded, why, "end one of them"));
        }
        let client = Client::new(name);
        seats.insert(id.clone(), Seat { client: Arc::clone(&client), uid, hooks: Vec::new() });
        Ok(client)
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
