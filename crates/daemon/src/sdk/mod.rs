// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Keeps the programs that registered hooks: who they are, which hooks they registered, and how long the
//! hooks outlive a connection.
//!
//! [`crate::grpc`] carries a program's stream and calls this module; the engine asks hooks and reads their answers
//! ([`tenterhook_engine::sdk`]). A client id is a secret, because it identifies the program.

mod audit_level;
mod hook_notes;
mod linger;
mod program_admission;
mod register;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tenterhook_authority::Caller;
use tenterhook_engine::sdk::SdkClient;
use tenterhook_engine::{Hook, HookLimits, RegisterError};
use tenterhook_harness::dialect::A3sMatcher;

pub(crate) use audit_level::set as set_audit_level;
pub(crate) use hook_notes::HookNotes;
pub(crate) use register::{
    HookRegistration, is_hook_name, open_client, parse_event_kind, register, unregister,
};

use crate::shares::is_fair;

/// Maximum number of programs with hooks at a time; one process may have half of them.
const MAX_PROGRAMS: usize = 512;
/// All programs together may register this many times the number of hooks that one program may register.
const PROGRAM_SHARES: usize = 4;

pub(crate) struct ProgramRegistry {
    slots: Mutex<BTreeMap<ClientId, ProgramSlot>>,
    /// Held while a hook is registered or removed, until the change is recorded.
    change_lock: tokio::sync::Mutex<()>,
    /// Records the actions of hooks.
    pub(crate) notes: Arc<HookNotes>,
}

/// The secret id of a program.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct ClientId(String);

/// A program with its hooks.
struct ProgramSlot {
    client: Arc<SdkClient>,
    holder: QuotaHolder,
    /// Account that the program runs under.
    uid: u32,
    hooks: Vec<ClientHook>,
}

/// The holder whose quota a program uses. A process can choose any number of client ids, so the process is counted.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(crate) enum QuotaHolder {
    /// A process, identified by the kernel.
    Process(u32, i32),
    /// A program over TCP, of which only the client id is known.
    Client(ClientId),
}

/// A registered hook, with the request that is shown in lists and records.
#[derive(Debug, Clone)]
pub(crate) struct ClientHook {
    pub(crate) hook: Arc<Hook>,
    pub(crate) event_type: String,
    pub(crate) matcher: A3sMatcher,
    pub(crate) linger: Duration,
}

/// Why a program's request was refused.
#[derive(Debug)]
pub(crate) struct ProgramRefusal {
    pub(crate) code: RefusalCode,
    pub(crate) message: String,
    pub(crate) hint: String,
}

/// Kind of a refusal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RefusalCode {
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

impl Default for ProgramRegistry {
    fn default() -> Self {
        Self { slots: Mutex::default(), change_lock: tokio::sync::Mutex::default(), notes: HookNotes::new() }
    }
}

impl ProgramRegistry {
    /// Finds the program with this client id, and adds it if it is new.
    pub(crate) fn find_or_add(
        &self,
        id: &ClientId,
        name: &str,
        caller: &Caller,
    ) -> Result<Arc<SdkClient>, ProgramRefusal> {
        let (mut slots, holder) = (self.lock(), QuotaHolder::of(caller, id));
        if let Some(slot) = slots.get_mut(id) {
            if slot.uid != caller.uid {
                let why = "this client id belongs to another account";
                return Err(ProgramRefusal::new(RefusalCode::Refused, why, "use a client id of your own"));
            }
            // A program that was restarted is a different process.
            slot.holder = holder;
            return Ok(Arc::clone(&slot.client));
        }
        let own = slots.values().filter(|slot| slot.holder == holder).count();
        if !is_fair(own, slots.len(), 1, MAX_PROGRAMS) {
            let why = format!("too many programs with hooks: {} in all, {own} of this process", slots.len());
            return Err(ProgramRefusal::new(RefusalCode::Overloaded, why, "end one of them and try again"));
        }
        let client = SdkClient::new(name);
        let slot = ProgramSlot { client: Arc::clone(&client), holder, uid: caller.uid, hooks: Vec::new() };
        slots.insert(id.clone(), slot);
        Ok(client)
    }

    /// Checks the limits for one more hook. The limits in the settings are for one program. All programs
    /// together get a multiple of them, divided so that every program gets a fair share.
    fn check_limits(
        &self,
        id: &ClientId,
        all: &[Arc<Hook>],
        replaced: bool,
        new: &Hook,
        limits: &HookLimits,
    ) -> Result<(), RegisterError> {
        let slots = self.lock();
        let Some(holder) = slots.get(id).map(|slot| &slot.holder) else { return Ok(()) };
        let is_others = |hook: &Hook| {
            let mut others = slots.values().filter(|slot| slot.holder != *holder);
            others.any(|slot| slot.hooks.iter().any(|known| known.hook.id == hook.id))
        };
        let same_id = all.iter().find(|hook| hook.id == new.id);
        if same_id.is_some_and(|hook| !replaced || is_others(hook)) {
            return Err(RegisterError::Duplicate(new.id.to_string()));
        }
        // A hook that replaces another one is not counted twice.
        let beside =
            all.iter().map(AsRef::as_ref).filter(|hook: &&Hook| hook.id != new.id && !is_others(hook));
        limits.check_new_hook(&beside, new)?;
        if replaced {
            return Ok(());
        }
        let count = |own: bool, fits: &dyn Fn(&Hook) -> bool| {
            let slots = slots.values().filter(|slot| !own || slot.holder == *holder);
            slots.flat_map(|slot| &slot.hooks).filter(|known| fits(&known.hook)).count()
        };
        let fair = |limit: usize, fits: &dyn Fn(&Hook) -> bool| {
            is_fair(count(true, fits), count(false, fits), 1, limit.saturating_mul(PROGRAM_SHARES))
        };
        if !fair(limits.max_hooks, &|_| true) {
            return Err(RegisterError::TooMany { id: new.id.to_string(), limit: limits.max_hooks });
        }
        let crowded =
            new.on.iter().find(|kind| !fair(limits.max_hooks_per_event, &|hook| hook.on.contains(kind)));
        crowded.map_or(Ok(()), |kind| {
            let (id, limit) = (new.id.to_string(), limits.max_hooks_per_event);
            Err(RegisterError::TooManyOn { id, kind: *kind, limit })
        })
    }

    pub(crate) fn hooks_of(&self, id: &ClientId) -> Vec<ClientHook> {
        self.lock().get(id).map(|slot| slot.hooks.clone()).unwrap_or_default()
    }

    /// Returns the hook with this id, of any program.
    pub(crate) fn find_hook(&self, hook: &str) -> Option<ClientHook> {
        let slots = self.lock();
        slots.values().flat_map(|slot| &slot.hooks).find(|known| *known.hook.id == *hook).cloned()
    }

    /// Removes a program that has neither a stream nor hooks.
    fn remove_if_unused(&self, id: &ClientId) {
        let mut slots = self.lock();
        if slots.get(id).is_some_and(|slot| slot.hooks.is_empty() && !slot.client.is_connected()) {
            slots.remove(id);
        }
    }

    /// Returns every hook, in the order of registration.
    fn all_hooks(&self) -> Vec<Arc<Hook>> {
        self.lock().values().flat_map(|slot| &slot.hooks).map(|known| Arc::clone(&known.hook)).collect()
    }

    fn with_program<T>(&self, id: &ClientId, change: impl FnOnce(&mut ProgramSlot) -> T) -> Option<T> {
        self.lock().get_mut(id).map(change)
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<ClientId, ProgramSlot>> {
        self.slots.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl QuotaHolder {
    /// Returns the quota holder for a caller with this client id.
    pub(crate) fn of(caller: &Caller, id: &ClientId) -> Self {
        match caller.pid {
            Some(pid) => Self::Process(caller.uid, pid),
            None => Self::Client(id.clone()),
        }
    }
}

impl ClientId {
    /// Parses a client id: 16 to 128 letters, digits, `_` or `-`.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let long_enough = (16..=128).contains(&text.len());
        let plain = text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-".contains(&byte));
        (long_enough && plain).then(|| Self(text.to_owned()))
    }
}

impl ProgramRefusal {
    pub(crate) fn new(code: RefusalCode, message: impl Into<String>, hint: &str) -> Self {
        Self { code, message: message.into(), hint: hint.to_owned() }
    }
}
