// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Tracks which process owns a session. The first agent process that names a session owns it; its child processes may
//! use the session too. Events from other processes are evaluated, and recorded as *unverified*.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tenterhook_authority::Process;
use tenterhook_event::{Event, SessionCheck};

use crate::daemon::Daemon;
use crate::listen::Peer;
use crate::shares::is_fair;
use tenterhook_sessions::SessionKey;

/// Maximum number of sessions with a known owner; one process gets half of them.
const MAX_OWNED_SESSIONS: usize = 16_384;
/// Interval between checks that the owner is still the same process.
const OWNER_RECHECK_INTERVAL: Duration = Duration::from_secs(1);
/// Interval between searches for ended processes when the table is full.
const CLEAN_INTERVAL: Duration = Duration::from_secs(1);
/// Maximum number of a caller's ancestors that are checked.
const MAX_ANCESTORS: usize = 256;

/// The owners of all sessions.
#[derive(Debug, Default)]
pub(crate) struct SessionOwners(Mutex<OwnerTable>);

#[derive(Debug, Default)]
struct OwnerTable {
    by_session: HashMap<SessionKey, SessionOwner>,
    /// Number of sessions that each process owns, by pid and start time.
    counts: HashMap<(i32, u64), usize>,
    /// Time of the last search for ended processes.
    cleaned: Option<Instant>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct SessionOwner {
    uid: u32,
    pid: i32,
    /// Start time of the process: pids are reused, but not with the same start time.
    start: u64,
    checked: Instant,
}

impl Daemon {
    /// Checks whether the process that sent an event owns the session that the event names.
    pub(crate) fn check_session(&self, peer: Peer, event: &mut Event) {
        let Some(key) = SessionKey::of(event) else { return };
        let Peer::Local { uid, pid: Some(pid), start } = peer else {
            event.session_check = Some(SessionCheck::Unverified);
            return;
        };
        if start.is_some_and(|start| self.session_owners.is_owner(&key, uid, (pid, start))) {
            return;
        }
        let was_there = || self.observers.sessions.contains(&key);
        event.session_check = self.session_owners.check(&key, uid, pid, was_there);
    }

    /// Returns the agent process that a call comes from, if the kernel knows it.
    pub(crate) fn agent_process(&self, peer: Peer, harness: &str) -> Option<i32> {
        let Peer::Local { pid: Some(pid), .. } = peer else { return None };
        Process::read(pid).and_then(|caller| caller.calling_process(harness)).map(|origin| origin.pid)
    }

    /// Makes the daemon the owner of a session that its own agent runs.
    pub(crate) fn claim_session(&self, harness: &str, id: &str) {
        let key = SessionKey { harness: harness.to_owned(), id: id.to_owned() };
        let own = i32::try_from(std::process::id()).ok().and_then(Process::read);
        if let Some(own) = own {
            self.session_owners.bind(key, self.uid, &own);
        }
    }
}

impl SessionOwners {
    /// Whether a process that was identified when it connected owns the session. A pid and a start time identify one
    /// process, so an open connection need not read `/proc` for each of its calls.
    fn is_owner(&self, key: &SessionKey, uid: u32, process: (i32, u64)) -> bool {
        let owner = self.lock().by_session.get(key).copied();
        let owner = owner.filter(|owner| owner.uid == uid && owner.process() == process);
        owner.is_some_and(|owner| self.is_there(key, owner))
    }

    /// Whether the process may write to the session. A session without an owner becomes the caller's.
    /// `was_there` returns whether the session already has events; which process sent them is unknown.
    fn check(
        &self,
        key: &SessionKey,
        uid: u32,
        pid: i32,
        was_there: impl FnOnce() -> bool,
    ) -> Option<SessionCheck> {
        let owner = self.lock().by_session.get(key).copied();
        // The hook process waits for its answer, so it is still running.
        let Some(caller) = Process::read(pid) else { return Some(SessionCheck::Unverified) };
        let Some(owner) = owner else {
            let origin = caller.calling_process(&key.harness);
            return match origin.is_some_and(|origin| self.bind(key.clone(), uid, &origin)) {
                true if was_there() => Some(SessionCheck::Resumed),
                true => None,
                false => Some(SessionCheck::Unverified),
            };
        };
        if owner.uid != uid {
            return Some(SessionCheck::Unverified);
        }
        if comes_from(caller.clone(), owner.pid) && self.is_there(key, owner) {
            return None;
        }
        if Process::read(owner.pid).is_some_and(|found| found.start == owner.start) {
            return Some(SessionCheck::Unverified);
        }
        let origin = caller.calling_process(&key.harness);
        let bound = origin.is_some_and(|origin| self.bind(key.clone(), uid, &origin));
        Some(if bound { SessionCheck::Resumed } else { SessionCheck::Unverified })
    }

    /// Whether the owner is still the same process.
    fn is_there(&self, key: &SessionKey, owner: SessionOwner) -> bool {
        if owner.checked.elapsed() < OWNER_RECHECK_INTERVAL {
            return true;
        }
        let there = Process::read(owner.pid).is_some_and(|found| found.start == owner.start);
        if there
            && let Some(known) = self.lock().by_session.get_mut(key).filter(|known| known.pid == owner.pid)
        {
            known.checked = Instant::now();
        }
        there
    }

    /// Makes a process the owner, unless the table is full.
    fn bind(&self, key: SessionKey, uid: u32, process: &Process) -> bool {
        let owner = SessionOwner { uid, pid: process.pid, start: process.start, checked: Instant::now() };
        let mut owners = self.lock();
        if !owners.by_session.contains_key(&key) && !owners.has_room(&owner) {
            owners.forget_ended();
            if !owners.has_room(&owner) {
                return false;
            }
        }
        owners.insert(key, owner);
        true
    }

    fn lock(&self) -> MutexGuard<'_, OwnerTable> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl SessionOwner {
    fn process(&self) -> (i32, u64) {
        (self.pid, self.start)
    }
}

impl OwnerTable {
    /// Whether the owner's process may own another session.
    fn has_room(&self, owner: &SessionOwner) -> bool {
        let own = self.counts.get(&owner.process()).copied().unwrap_or(0);
        is_fair(own, self.by_session.len(), 1, MAX_OWNED_SESSIONS)
    }

    fn insert(&mut self, key: SessionKey, owner: SessionOwner) {
        *self.counts.entry(owner.process()).or_default() += 1;
        if let Some(before) = self.by_session.insert(key, owner) {
            self.release(before.process());
        }
    }

    fn release(&mut self, process: (i32, u64)) {
        if let Some(count) = self.counts.get_mut(&process) {
            *count -= 1;
            if *count == 0 {
                self.counts.remove(&process);
            }
        }
    }

    /// Forgets sessions whose process has ended. Runs at most once per interval, because it checks every process.
    fn forget_ended(&mut self) {
        if self.cleaned.is_some_and(|cleaned| cleaned.elapsed() < CLEAN_INTERVAL) {
            return;
        }
        self.cleaned = Some(Instant::now());
        self.counts.retain(|(pid, start), _| Process::read(*pid).is_some_and(|found| found.start == *start));
        let counts = &self.counts;
        self.by_session.retain(|_, owner| counts.contains_key(&owner.process()));
    }
}

/// Whether the caller is the process with this pid or one of its descendants.
fn comes_from(caller: Process, pid: i32) -> bool {
    let next = |process: &Process| {
        (process.pid != pid && process.parent != pid && process.parent > 1)
            .then(|| Process::read(process.parent))
            .flatten()
    };
    let mut line = std::iter::successors(Some(caller), next).take(MAX_ANCESTORS);
    line.any(|process| process.pid == pid || process.parent == pid)
}

#[cfg(test)]
#[cfg(target_os = "linux")]
mod tests {
    use std::process::{Child, Command};

    use super::*;

    fn key(id: &str) -> SessionKey {
        SessionKey { harness: "codex".to_owned(), id: id.to_owned() }
    }

    fn sleeper() -> (Child, i32) {
        let child = Command::new("sleep").arg("60").spawn().unwrap();
        let pid = i32::try_from(child.id()).unwrap();
        (child, pid)
    }

    fn end(mut child: Child) {
        child.kill().unwrap();
        child.wait().unwrap();
    }

    #[test]
    fn a_session_is_its_first_processs_and_of_those_it_starts() {
        let owners = SessionOwners::default();
        let own = i32::try_from(std::process::id()).unwrap();
        let ((first, one), (second, other)) = (sleeper(), sleeper());
        let check = |id: &str, uid, pid| owners.check(&key(id), uid, pid, || false);
        assert_eq!(check("s", 7, one), None);
        assert_eq!(check("s", 7, one), None);
        assert_eq!(check("s", 7, other), Some(SessionCheck::Unverified));
        assert_eq!(check("s", 7, own), Some(SessionCheck::Unverified), "a parent is not of the tree");
        assert_eq!(check("s", 8, one), Some(SessionCheck::Unverified), "another account");
        assert_eq!(check("s", 7, -1), Some(SessionCheck::Unverified), "an ended process");
        assert_eq!((check("t", 7, own), check("t", 7, one)), (None, None), "a child");
        end(first);
        assert_eq!(check("s", 7, other), Some(SessionCheck::Resumed));
        assert_eq!(check("s", 7, other), None);
        assert_eq!(check("s", 8, own), Some(SessionCheck::Unverified));
        end(second);
        assert_eq!(owners.check(&key("u"), 7, own, || true), Some(SessionCheck::Resumed));
    }

    #[test]
    fn an_identified_owner_is_known_by_number_start_and_account_as_long_as_it_runs() {
        let owners = SessionOwners::default();
        let (child, pid) = sleeper();
        let start = Process::read(pid).unwrap().start;
        assert!(!owners.is_owner(&key("s"), 7, (pid, start)), "a session without an owner");
        assert_eq!(owners.check(&key("s"), 7, pid, || false), None);
        assert!(owners.is_owner(&key("s"), 7, (pid, start)));
        for (id, uid, process) in [
            ("s", 8, (pid, start)),
            ("s", 7, (pid, start + 1)),
            ("s", 7, (pid + 1, start)),
            ("t", 7, (pid, start)),
        ] {
            assert!(!owners.is_owner(&key(id), uid, process), "{id} {uid} {process:?}");
        }
        end(child);
        std::thread::sleep(OWNER_RECHECK_INTERVAL);
        assert!(!owners.is_owner(&key("s"), 7, (pid, start)), "it has ended");
    }

    #[test]
    fn a_process_with_very_many_sessions_leaves_room_for_others() {
        let owners = SessionOwners::default();
        let own = i32::try_from(std::process::id()).unwrap();
        let process = Process::read(own).unwrap();
        let bound = (0..MAX_OWNED_SESSIONS).filter(|n| owners.bind(key(&n.to_string()), 7, &process)).count();
        assert_eq!(bound, MAX_OWNED_SESSIONS / 2);
        assert_eq!(owners.check(&key("more"), 7, own, || false), Some(SessionCheck::Unverified));
        let (child, other) = sleeper();
        assert_eq!(owners.check(&key("theirs"), 7, other, || false), None);
        end(child);
    }
}
