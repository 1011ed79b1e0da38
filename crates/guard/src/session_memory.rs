// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Stores the state that rules keep for each session from one call to the next.
//!
//! A rule with a `limit`, a budget or a `label` depends on earlier calls, but without a daemon every call is a
//! separate process. The state is therefore stored in `<state>/sessions/`. Each session has one small file, named by
//! a hash of the harness and the session id. The file `all.json` is for limits that count all sessions together and
//! for today's spend.
//!
//! - Files are readable only by their owner and are replaced atomically. A change is made under a lock, and the rules
//!   are evaluated again while the lock is held, so that two concurrent calls cannot both be the last call that a
//!   limit allows.
//! - Nothing is read unless a rule needs it, and nothing is written unless something changed.
//! - Events without a session id share one state per harness, so that leaving out the id does not reset limits and
//!   labels. Only the list of created paths makes rules less strict; it is recorded for events with an id only.
//! - The state of a session whose file is unreadable counts as incomplete, and stays so: rules apply as if the session
//!   had every label. The trace reports files that cannot be read or written.
//! - Files that have not changed for a week are removed.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::fs::File;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use serde::{Deserialize, Serialize};
use tenterhook_error::Failure;
use tenterhook_event::{Decision, Event, EventId, Finding, Origin, SessionCheck, TraceEntry, TraceStatus};
use tenterhook_files::lock_with_retry;
use tenterhook_harness_install::receipt::FileFingerprint;
use tenterhook_policy::{PolicyJudgement, RuleSet, SessionFileChange, SessionState, StateDelta};

use tenterhook_home::read_file;
use tenterhook_home::{make_private_dir, write_atomic};

const STATE_FILE_FORMAT: u32 = 1;
/// Key and file name of the state that all sessions share.
const ALL_SESSIONS: &str = "all";
const LOCK_FILE: &str = "lock";
/// Reason for verdicts that apply because a part of the state was lost.
const INCOMPLETE_STATE_REASON: &str =
    "a part of this session's state was lost, so the rules assume the worst";
/// State that has not changed for this long is removed.
const STATE_LIFETIME: Duration = Duration::from_hours(7 * 24);
/// Maximum number of attempts to take the lock. Other processes hold it for less than a millisecond.
const LOCK_ATTEMPTS: u32 = 50;
/// Maximum number of recent events whose state is kept. It is used to recognise an event that is evaluated again.
const MAX_RECENT_EVENTS: usize = 64;
const LOCK_RETRY_INTERVAL: Duration = Duration::from_millis(10);
/// Minimum age of a directory's stamp before it is trusted. File system clocks are coarse, so a directory that
/// changed more recently may change again without a new stamp.
const STAMP_SETTLE_TIME: Duration = Duration::from_millis(50);
/// Maximum age of cached states. After this time they are read again, even if the directory is unchanged.
const CACHE_LIFETIME: Duration = Duration::from_secs(1);
const MAX_CACHED_STATES: usize = 256;

/// Directory with the state of all sessions.
#[derive(Debug, Clone)]
pub struct SessionStateDir {
    dir: PathBuf,
}

/// The session state used by one process.
pub struct SessionMemory {
    sessions: Option<SessionStateDir>,
    is_writable: bool,
    /// Recent events, each with the state before it and what it added. If a hook changed a call, the call is
    /// evaluated twice but counts once.
    last: Mutex<VecDeque<(EventId, SessionState, StateDelta)>>,
    cache: Mutex<StateCache>,
}

/// States as they were read. They are valid while the directory is unchanged, because files are replaced by renaming,
/// which changes the directory.
#[derive(Default)]
struct StateCache {
    stamp: Option<DirectoryStamp>,
    read_at: Option<Instant>,
    by_session: HashMap<String, SessionState>,
}

/// Identifies the version of the directory that was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum DirectoryStamp {
    Missing,
    Changed { inode: u64, at: SystemTime },
}

#[derive(Debug, Serialize, Deserialize)]
struct SessionStateFile {
    v: u32,
    /// Key of the session, so that two sessions with the same hash do not share a state.
    of: String,
    #[serde(flatten)]
    state: SessionState,
}

/// Why a session file or the lock cannot be used.
#[derive(Debug, thiserror::Error)]
enum SessionFileError {
    #[error("another process holds the lock")]
    Locked,
    #[error("it belongs to another session")]
    OtherSession,
    #[error("its format is {0}, not {STATE_FILE_FORMAT}")]
    OtherFormat(u32),
    #[error(transparent)]
    Json(#[from] serde_json::Error),
    #[error(transparent)]
    Io(#[from] std::io::Error),
    #[error(transparent)]
    Home(#[from] Failure),
}

/// The state of one session, as it was read.
struct OpenSession {
    of: String,
    state: SessionState,
    shared: SessionState,
    notes: Vec<String>,
    /// Lock that is held until the evaluation ends.
    _lock: Option<File>,
}

// === impl SessionStateDir ===

impl SessionStateDir {
    /// Returns the session states stored in this directory.
    pub fn new(dir: PathBuf) -> Self {
        Self { dir }
    }

    /// Returns the labels that rules gave to a session.
    pub fn labels(&self, harness: &str, session: &str) -> Result<Vec<String>, Failure> {
        let of = format!("{harness}\n{session}");
        let path = self.path(&of);
        let state = self.read(&path, &of).map_err(|error| {
            Failure::internal(format!("cannot read the labels of the session: `{}`: {error}", path.display()))
        })?;
        Ok(state.labels.into_iter().collect())
    }

    /// Reads the state of an event's session. If the state is going to change, the lock is taken first.
    fn open(&self, event: &Event, changes: bool) -> OpenSession {
        let of = session_key(event);
        let mut notes = Vec::new();
        let lock = if changes {
            self.lock().map_err(|why| notes.push(format!("session state is not locked: {why}"))).ok()
        } else {
            None
        };
        let mut read = |of: &str| {
            let path = self.path(of);
            self.read(&path, of).unwrap_or_else(|why| {
                let is_own = of != ALL_SESSIONS;
                let meaning = if is_own { "the session may have any label" } else { "it counts as empty" };
                notes.push(format!("`{}` cannot be read, so {meaning}: {why}", path.display()));
                SessionState { is_incomplete: is_own, ..SessionState::default() }
            })
        };
        let (state, shared) = (read(&of), read(ALL_SESSIONS));
        OpenSession { of, state, shared, notes, _lock: lock }
    }

    /// Reads the state like [`SessionStateDir::open`], but without a lock. Uses cached states while the directory is
    /// unchanged.
    fn open_cached(&self, event: &Event, cache: &Mutex<StateCache>) -> OpenSession {
        let Some(stamp) = DirectoryStamp::of(&self.dir) else { return self.open(event, false) };
        let of = session_key(event);
        if let Some((state, shared)) = lock_cache(cache).get(stamp, &of) {
            return OpenSession { of, state, shared, notes: Vec::new(), _lock: None };
        }
        let opened = self.open(event, false);
        if opened.notes.is_empty() {
            lock_cache(cache).insert(stamp, &opened);
        }
        opened
    }

    fn path(&self, of: &str) -> PathBuf {
        let name = if of == ALL_SESSIONS {
            ALL_SESSIONS.to_owned()
        } else {
            FileFingerprint::of(of.as_bytes()).fnv1a
        };
        self.dir.join(format!("{name}.json"))
    }

    fn lock(&self) -> Result<File, SessionFileError> {
        make_private_dir(&self.dir)?;
        let locked = lock_with_retry(&self.dir.join(LOCK_FILE), LOCK_ATTEMPTS, LOCK_RETRY_INTERVAL)?;
        locked.ok_or(SessionFileError::Locked)
    }

    fn read(&self, path: &Path, of: &str) -> Result<SessionState, SessionFileError> {
        let Some(text) = read_file::state_file(path)? else {
            return Ok(SessionState::default());
        };
        match serde_json::from_str(&text)? {
            SessionStateFile { v: STATE_FILE_FORMAT, of: whose, state } if whose == of => Ok(state),
            SessionStateFile { v: STATE_FILE_FORMAT, .. } => Err(SessionFileError::OtherSession),
            SessionStateFile { v, .. } => Err(SessionFileError::OtherFormat(v)),
        }
    }

    fn write(&self, of: &str, state: SessionState) -> Result<(), SessionFileError> {
        let path = self.path(of);
        if !path.exists() {
            self.prune();
        }
        let file = SessionStateFile { v: STATE_FILE_FORMAT, of: of.to_owned(), state };
        let bytes = serde_json::to_vec(&file)?;
        Ok(write_atomic(&path, &bytes, 0o600)?)
    }

    /// Removes files that have not changed for a week. A file that cannot be removed is left.
    fn prune(&self) {
        let Ok(entries) = std::fs::read_dir(&self.dir) else { return };
        let now = SystemTime::now();
        for path in entries.filter_map(|entry| Some(entry.ok()?.path())) {
            let age = std::fs::metadata(&path).and_then(|metadata| metadata.modified());
            let old = age.is_ok_and(|at| now.duration_since(at).is_ok_and(|age| age > STATE_LIFETIME));
            if old && path.extension().is_some_and(|extension| extension == "json") {
                let _ = std::fs::remove_file(&path);
            }
        }
    }
}

// === impl SessionMemory ===

impl SessionMemory {
    /// Creates a memory that reads and writes session state.
    pub fn read_write(sessions: Option<SessionStateDir>) -> Self {
        Self { sessions, is_writable: true, last: Mutex::default(), cache: Mutex::default() }
    }

    /// Creates a memory that reads session state and never writes it.
    pub fn read_only(sessions: Option<SessionStateDir>) -> Self {
        Self { is_writable: false, ..Self::read_write(sessions) }
    }

    /// Returns the parts of the session's state that these rules use.
    pub fn state_of(&self, event: &Event, rules: &RuleSet) -> SessionState {
        match &self.sessions {
            Some(sessions) if is_stateful(event, rules) => sessions.open(event, false).combined_state(rules),
            _ => SessionState::default(),
        }
    }

    /// Returns the hashes of files that calls of the session ran, by path.
    pub fn run_hashes(&self, event: &Event) -> BTreeMap<String, String> {
        let opened = self.sessions.as_ref().map(|sessions| sessions.open_cached(event, &self.cache));
        opened.map(|opened| opened.state.run_hashes).unwrap_or_default()
    }

    /// Returns the state of the session, for the statements that changed its shell.
    pub fn shell_state(&self, event: &Event) -> SessionState {
        let opened = self.sessions.as_ref().map(|sessions| sessions.open_cached(event, &self.cache));
        opened.map(|opened| opened.state).unwrap_or_default()
    }

    /// Changes the state of the session without evaluating rules. `changes` may be called twice.
    pub fn update(&self, event: &Event, changes: impl Fn(&SessionState) -> Vec<SessionFileChange>) {
        let Some(sessions) = self.sessions.as_ref().filter(|_| self.is_writable) else { return };
        if changes(&sessions.open_cached(event, &self.cache).state).is_empty() {
            return;
        }
        let mut opened = sessions.open(event, true);
        opened.state.apply(&StateDelta { files: changes(&opened.state), ..StateDelta::default() });
        // A state that is not written makes later verdicts stricter.
        let _ = sessions.write(&opened.of, opened.state);
    }

    /// Evaluates the rules with the session state and stores what they add to it.
    pub fn judge(
        &self,
        event: &Event,
        rules: &RuleSet,
        judge: impl Fn(&SessionState) -> PolicyJudgement,
    ) -> PolicyJudgement {
        let Some(sessions) = self.sessions.as_ref().filter(|_| is_stateful(event, rules)) else {
            return judge(&SessionState::default());
        };
        let earlier = self.take_earlier(event.id);
        // Most calls change nothing, so the first evaluation takes no lock.
        let mut opened = sessions.open_cached(event, &self.cache);
        let (mut before, mut added) = match earlier {
            Some((_, before, delta)) => (before, delta),
            None => (opened.combined_state(rules), StateDelta::default()),
        };
        let mut judgement = judge(&before);
        if self.is_writable && !judgement.delta.without(&added).is_empty() {
            // Another process may have changed the state since it was read.
            opened = sessions.open(event, true);
            if added.is_empty() {
                before = opened.combined_state(rules);
                judgement = judge(&before);
            }
            let new = judgement.delta.without(&added);
            opened.store(&new, rules, sessions);
            added.extend(new);
        }
        if before.is_incomplete {
            explain_incomplete(
                &mut judgement,
                &judge(&SessionState { is_incomplete: false, ..before.clone() }),
            );
        }
        self.remember(event.id, before, added);
        judgement.steps.extend(opened.notes.into_iter().map(failure_step));
        judgement
    }
}

impl SessionMemory {
    fn take_earlier(&self, id: EventId) -> Option<(EventId, SessionState, StateDelta)> {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        let at = last.iter().position(|(other, ..)| *other == id)?;
        last.remove(at)
    }

    fn remember(&self, id: EventId, before: SessionState, added: StateDelta) {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        if last.len() >= MAX_RECENT_EVENTS {
            last.pop_front();
        }
        last.push_back((id, before, added));
    }
}

/// Returns the key of an event's session. If the session does not belong to the caller, the caller gets a
/// separate state.
pub(crate) fn session_key(event: &Event) -> String {
    let apart = if event.session_check == Some(SessionCheck::Unverified) { "unverified\n" } else { "" };
    let id = event.harness_session_id.as_deref().unwrap_or_default();
    format!("{apart}{}\n{id}", event.source)
}

fn is_stateful(event: &Event, rules: &RuleSet) -> bool {
    rules.is_stateful(event.event) || rules.counts_usage_of(event)
}

fn lock_cache(cache: &Mutex<StateCache>) -> MutexGuard<'_, StateCache> {
    cache.lock().unwrap_or_else(PoisonError::into_inner)
}

// === impl StateCache ===

impl StateCache {
    /// Returns the cached states of a session and of all sessions together, if the directory has not changed since
    /// they were read.
    fn get(&self, stamp: DirectoryStamp, of: &str) -> Option<(SessionState, SessionState)> {
        let is_valid =
            self.stamp == Some(stamp) && self.read_at.is_some_and(|at| at.elapsed() < CACHE_LIFETIME);
        let read = |of: &str| self.by_session.get(of).filter(|_| is_valid).cloned();
        Some((read(of)?, read(ALL_SESSIONS)?))
    }

    /// Caches states that were read after this stamp was taken.
    fn insert(&mut self, stamp: DirectoryStamp, opened: &OpenSession) {
        let is_old = self.read_at.is_none_or(|at| at.elapsed() >= CACHE_LIFETIME);
        if self.stamp != Some(stamp) || is_old || self.by_session.len() >= MAX_CACHED_STATES {
            *self = Self { stamp: Some(stamp), read_at: Some(Instant::now()), by_session: HashMap::new() };
        }
        self.by_session.insert(opened.of.clone(), opened.state.clone());
        self.by_session.insert(ALL_SESSIONS.to_owned(), opened.shared.clone());
    }
}

// === impl DirectoryStamp ===

impl DirectoryStamp {
    /// Returns the stamp of a directory; `None` if the directory could change again without a new stamp.
    fn of(dir: &Path) -> Option<Self> {
        let found = match std::fs::metadata(dir) {
            Ok(found) => found,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Some(Self::Missing),
            Err(_) => return None,
        };
        let (seconds, nanoseconds) =
            (u64::try_from(found.ctime()).ok()?, u64::try_from(found.ctime_nsec()).ok()?);
        let at = SystemTime::UNIX_EPOCH + Duration::from_secs(seconds) + Duration::from_nanos(nanoseconds);
        let is_settled = SystemTime::now().duration_since(at).is_ok_and(|age| age > STAMP_SETTLE_TIME);
        is_settled.then_some(Self::Changed { inode: found.ino(), at })
    }
}

// === impl OpenSession ===

impl OpenSession {
    /// Returns the session's state, including the counts that all sessions share.
    fn combined_state(&self, rules: &RuleSet) -> SessionState {
        let mut whole = SessionState { today: self.shared.today, ..self.state.clone() };
        whole.matched.retain(|rule, _| !rules.counts_all_sessions(rule));
        let shared = self.shared.matched.iter().filter(|(rule, _)| rules.counts_all_sessions(rule));
        whole.matched.extend(shared.map(|(rule, stamps)| (rule.clone(), stamps.clone())));
        whole
    }

    fn store(&mut self, delta: &StateDelta, rules: &RuleSet, sessions: &SessionStateDir) {
        let (shared, own): (Vec<_>, Vec<_>) =
            delta.matched.iter().cloned().partition(|(rule, _)| rules.counts_all_sessions(rule));
        let own = StateDelta { matched: own, ..delta.clone() };
        let (needed, spent) = (delta.needed.clone(), delta.spent);
        let shared = StateDelta { matched: shared, needed, spent, ..StateDelta::default() };
        for (of, state, delta) in
            [(self.of.as_str(), &mut self.state, own), (ALL_SESSIONS, &mut self.shared, shared)]
        {
            if delta.is_empty() {
                continue;
            }
            state.apply(&delta);
            if let Err(why) = sessions.write(of, state.clone()) {
                self.notes.push(format!("session state cannot be stored: {why}"));
            }
        }
    }
}

/// Adds to the reasons of findings that apply only because a part of the state was lost.
fn explain_incomplete(judgement: &mut PolicyJudgement, complete: &PolicyJudgement) {
    let is_extra = |finding: &&mut Finding| {
        let is_same = |other: &Finding| other.by == finding.by && other.decision == finding.decision;
        finding.decision >= Decision::Ask && !complete.findings.iter().any(is_same)
    };
    for finding in judgement.findings.iter_mut().filter(is_extra) {
        let reason = finding.reason.take().unwrap_or_default();
        finding.reason = Some(format!("{reason} ({INCOMPLETE_STATE_REASON})").trim_start().to_owned());
    }
}

fn failure_step(note: String) -> TraceEntry {
    TraceEntry {
        by: Origin::Engine,
        status: TraceStatus::Failed,
        decision: Decision::None,
        took_us: 0,
        note: Some(note),
    }
}

#[cfg(test)]
mod tests;
