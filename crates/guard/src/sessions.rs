// SPDX-License-Identifier: Apache-2.0 OR MIT

//! What rules remember of sessions, from one call to the next.
//!
//! A rule with a `limit`, a budget or a `label` depends on what happened before, and every call is a
//! process of its own where no daemon runs. So what is remembered lies in `<state>/sessions/`: one small
//! file for each session, named by a hash of the harness and its session id, and `all.json` for limits
//! that count all sessions together and for what was spent today.
//!
//! - Files are for their owner only, replaced as wholes, and changed under a lock under which the rules
//!   judge once more: two calls at the same time cannot both be the last that a limit lets pass.
//! - Nothing is read where no rule needs it, and nothing is written where nothing changed.
//! - Events without a session id share one memory per harness: what is remembered can only make rules
//!   stricter, and must not be lost by leaving out the id.
//! - A file that cannot be read counts as empty, which is said in the trace. So is a file that cannot
//!   be written.
//! - What nobody has touched for a week is removed.

use std::collections::{HashMap, VecDeque};
use std::fs::File;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use rustix::fs::{FlockOperation, flock};
use serde::{Deserialize, Serialize};
use tenterhook_error::Failure;
use tenterhook_event::{Decision, Event, EventId, Origin, SessionCheck, TraceEntry, TraceStatus};
use tenterhook_harness_install::receipt::FileFingerprint;
use tenterhook_policy::{PolicyJudgement, RuleSet, SessionState, SpendTotals, StateDelta};

use tenterhook_home::read_file;
use tenterhook_home::{make_private, write_whole};

const FORMAT: u32 = 1;
/// Counts of all sessions together.
const TOGETHER: &str = "all";
const LOCK: &str = "lock";
/// Forgotten after this time without a change.
const KEPT: Duration = Duration::from_hours(7 * 24);
/// How long to wait for others; they hold the lock for less than a millisecond.
const PATIENCE: u32 = 50;
/// How many calls may be judged at the same time and still be known when they are judged again.
const AT_ONCE: usize = 64;
const PAUSE: Duration = Duration::from_millis(10);
/// A directory that changed less than this ago may change again without looking different: the clock of file systems is
/// coarse.
const STAMP_SETTLE_TIME: Duration = Duration::from_millis(50);
/// Cached states are read again after this time, even if the directory looks the same.
const CACHE_LIFETIME: Duration = Duration::from_secs(1);
const MAX_CACHED_STATES: usize = 256;

/// The directory of what is remembered.
#[derive(Debug, Clone)]
pub struct Sessions {
    dir: PathBuf,
}

/// What is remembered, as one process uses it.
pub struct SessionMemory {
    sessions: Option<Sessions>,
    keeps: bool,
    /// The latest events, what was remembered before each, and what it added. A call that was changed
    /// is judged twice, but it is one call.
    last: Mutex<VecDeque<(EventId, SessionState, StateDelta)>>,
    cache: Mutex<StateCache>,
}

/// States as they were read. They are valid while the directory looks the same: files are replaced by renaming, which
/// changes the directory.
#[derive(Default)]
struct StateCache {
    stamp: Option<DirectoryStamp>,
    read_at: Option<Instant>,
    by_session: HashMap<String, SessionState>,
}

/// The state of the directory when it was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum DirectoryStamp {
    Missing,
    Changed { inode: u64, at: SystemTime },
}

#[derive(Debug, Serialize, Deserialize)]
struct Kept {
    v: u32,
    /// Whose it is, so that two sessions with the same hash do not share it.
    of: String,
    #[serde(flatten)]
    state: SessionState,
}

/// A file of a session, or the lock of all of them, that cannot be used.
#[derive(Debug, thiserror::Error)]
enum SessionFileError {
    #[error("somebody else holds the lock")]
    Locked,
    #[error("it belongs to another session")]
    OtherSession,
    #[error("its format is {0}, not {FORMAT}")]
    OtherFormat(u32),
    #[error(transparent)]
    Json(#[from] serde_json::Error),
    #[error(transparent)]
    Io(#[from] std::io::Error),
    #[error(transparent)]
    Home(#[from] Failure),
}

/// One session's memory, read.
struct Opened {
    of: String,
    state: SessionState,
    together: SessionState,
    notes: Vec<String>,
    /// Held until the end of the judgement.
    _lock: Option<File>,
}

// === impl Sessions ===

impl Sessions {
    /// What is remembered in this directory.
    pub fn new(dir: PathBuf) -> Self {
        Self { dir }
    }

    /// The labels that rules gave a session.
    pub fn labels(&self, harness: &str, session: &str) -> Result<Vec<String>, Failure> {
        let of = format!("{harness}\n{session}");
        let path = self.path(&of);
        let state = self.read(&path, &of).map_err(|error| {
            Failure::internal(format!(
                "the labels of the session cannot be read: `{}`: {error}",
                path.display()
            ))
        })?;
        Ok(state.labels.into_iter().collect())
    }

    /// What is remembered of an event's session; locked, if it is going to change.
    fn open(&self, event: &Event, changes: bool) -> Opened {
        let of = session_key(event);
        let mut notes = Vec::new();
        let lock = if changes {
            self.lock().map_err(|why| notes.push(format!("sessions are not locked: {why}"))).ok()
        } else {
            None
        };
        let mut read = |of: &str| {
            let path = self.path(of);
            self.read(&path, of).unwrap_or_else(|why| {
                notes.push(format!("`{}` cannot be read and counts as empty: {why}", path.display()));
                SessionState::default()
            })
        };
        let (state, together) = (read(&of), read(TOGETHER));
        Opened { of, state, together, notes, _lock: lock }
    }

    /// Like [`Sessions::open`] without a lock. Uses cached states while the directory looks the same.
    fn open_cached(&self, event: &Event, cache: &Mutex<StateCache>) -> Opened {
        let Some(stamp) = DirectoryStamp::of(&self.dir) else { return self.open(event, false) };
        let of = session_key(event);
        if let Some((state, together)) = cache_of(cache).get(stamp, &of) {
            return Opened { of, state, together, notes: Vec::new(), _lock: None };
        }
        let opened = self.open(event, false);
        if opened.notes.is_empty() {
            cache_of(cache).insert(stamp, &opened);
        }
        opened
    }

    fn path(&self, of: &str) -> PathBuf {
        let name =
            if of == TOGETHER { TOGETHER.to_owned() } else { FileFingerprint::of(of.as_bytes()).fnv1a };
        self.dir.join(format!("{name}.json"))
    }

    fn lock(&self) -> Result<File, SessionFileError> {
        make_private(&self.dir)?;
        let path = self.dir.join(LOCK);
        let file = tenterhook_files::open_state_for_writing(&path, File::options().write(true))?;
        for _ in 0..PATIENCE {
            if flock(&file, FlockOperation::NonBlockingLockExclusive).is_ok() {
                return Ok(file);
            }
            std::thread::sleep(PAUSE);
        }
        Err(SessionFileError::Locked)
    }

    fn read(&self, path: &Path, of: &str) -> Result<SessionState, SessionFileError> {
        let Some(text) = read_file::state_file(path)? else {
            return Ok(SessionState::default());
        };
        match serde_json::from_str(&text)? {
            Kept { v: FORMAT, of: whose, state } if whose == of => Ok(state),
            Kept { v: FORMAT, .. } => Err(SessionFileError::OtherSession),
            Kept { v, .. } => Err(SessionFileError::OtherFormat(v)),
        }
    }

    fn write(&self, of: &str, state: SessionState) -> Result<(), SessionFileError> {
        let path = self.path(of);
        if !path.exists() {
            self.prune();
        }
        let kept = Kept { v: FORMAT, of: of.to_owned(), state };
        let bytes = serde_json::to_vec(&kept)?;
        Ok(write_whole(&path, &bytes, 0o600)?)
    }

    /// Removes what has not been touched for a week. What cannot be removed stays.
    fn prune(&self) {
        let Ok(entries) = std::fs::read_dir(&self.dir) else { return };
        let now = SystemTime::now();
        for path in entries.filter_map(|entry| Some(entry.ok()?.path())) {
            let age = std::fs::metadata(&path).and_then(|metadata| metadata.modified());
            let old = age.is_ok_and(|at| now.duration_since(at).is_ok_and(|age| age > KEPT));
            if old && path.extension().is_some_and(|extension| extension == "json") {
                let _ = std::fs::remove_file(&path);
            }
        }
    }
}

// === impl SessionMemory ===

impl SessionMemory {
    /// What happens is remembered.
    pub fn keeping(sessions: Option<Sessions>) -> Self {
        Self { sessions, keeps: true, last: Mutex::default(), cache: Mutex::default() }
    }

    /// What happened counts; what is asked leaves nothing behind.
    pub fn looking(sessions: Option<Sessions>) -> Self {
        Self { keeps: false, ..Self::keeping(sessions) }
    }

    /// What is remembered of an event's session, for these rules.
    pub fn look(&self, event: &Event, rules: &RuleSet) -> SessionState {
        match &self.sessions {
            Some(sessions) if is_stateful(event, rules) => sessions.open(event, false).whole(rules),
            _ => SessionState::default(),
        }
    }

    /// Judges with what is remembered, and remembers what comes of it.
    pub fn judge(
        &self,
        event: &Event,
        rules: &RuleSet,
        judge: impl Fn(&SessionState) -> PolicyJudgement,
    ) -> PolicyJudgement {
        let Some(sessions) = self.sessions.as_ref().filter(|_| is_stateful(event, rules)) else {
            return judge(&SessionState::default());
        };
        let earlier = self.earlier(event.id);
        // Most calls change nothing: they are not worth a lock.
        let mut opened = sessions.open_cached(event, &self.cache);
        let (mut before, mut both) = match earlier {
            Some((_, before, delta)) => (before, delta),
            None => (opened.whole(rules), StateDelta::default()),
        };
        let mut judgement = judge(&before);
        if self.keeps && !unknown(&judgement.delta, &both).is_empty() {
            // Somebody else may have changed it meanwhile.
            opened = sessions.open(event, true);
            if both.is_empty() {
                before = opened.whole(rules);
                judgement = judge(&before);
            }
            let new = unknown(&judgement.delta, &both);
            opened.keep(&new, rules, sessions);
            both.labels.extend(new.labels);
            both.matched.extend(new.matched);
            both.warned.extend(new.warned);
            both.spent = both.spent.or(new.spent);
            both.earlier = both.earlier.saturating_add(new.earlier);
            both.reported = both.reported.or(new.reported);
        }
        self.remember(event.id, before, both);
        judgement.steps.extend(opened.notes.into_iter().map(noted));
        judgement
    }
}

impl SessionMemory {
    fn earlier(&self, id: EventId) -> Option<(EventId, SessionState, StateDelta)> {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        let at = last.iter().position(|(other, ..)| *other == id)?;
        last.remove(at)
    }

    fn remember(&self, id: EventId, before: SessionState, added: StateDelta) {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        if last.len() >= AT_ONCE {
            last.pop_front();
        }
        last.push_back((id, before, added));
    }
}

/// The session of an event. A caller that the session does not belong to changes nothing that is remembered of it.
pub(crate) fn session_key(event: &Event) -> String {
    let apart = if event.session_check == Some(SessionCheck::Unverified) { "unverified\n" } else { "" };
    let id = event.harness_session_id.as_deref().unwrap_or_default();
    format!("{apart}{}\n{id}", event.source)
}

fn is_stateful(event: &Event, rules: &RuleSet) -> bool {
    rules.is_stateful(event.event) || rules.counts_usage_of(event)
}

/// What an event adds that it has not added already.
fn unknown(delta: &StateDelta, known: &StateDelta) -> StateDelta {
    let mut new = delta.clone();
    new.labels.retain(|label| !known.labels.contains(label));
    new.matched.retain(|(rule, _)| !known.matched.iter().any(|(other, _)| other == rule));
    new.warned.retain(|warning| !known.warned.contains(warning));
    if known.adds_spending() {
        (new.spent, new.earlier, new.reported) = (None, SpendTotals::default(), None);
    }
    new
}

fn cache_of(cache: &Mutex<StateCache>) -> MutexGuard<'_, StateCache> {
    cache.lock().unwrap_or_else(PoisonError::into_inner)
}

// === impl StateCache ===

impl StateCache {
    /// The cached states of a session and of all sessions together, if the directory has not changed since.
    fn get(&self, stamp: DirectoryStamp, of: &str) -> Option<(SessionState, SessionState)> {
        let is_valid =
            self.stamp == Some(stamp) && self.read_at.is_some_and(|at| at.elapsed() < CACHE_LIFETIME);
        let read = |of: &str| self.by_session.get(of).filter(|_| is_valid).cloned();
        Some((read(of)?, read(TOGETHER)?))
    }

    /// Caches states that were read after this stamp was taken.
    fn insert(&mut self, stamp: DirectoryStamp, opened: &Opened) {
        let is_old = self.read_at.is_none_or(|at| at.elapsed() >= CACHE_LIFETIME);
        if self.stamp != Some(stamp) || is_old || self.by_session.len() >= MAX_CACHED_STATES {
            *self = Self { stamp: Some(stamp), read_at: Some(Instant::now()), by_session: HashMap::new() };
        }
        self.by_session.insert(opened.of.clone(), opened.state.clone());
        self.by_session.insert(TOGETHER.to_owned(), opened.together.clone());
    }
}

// === impl DirectoryStamp ===

impl DirectoryStamp {
    /// The stamp of a directory; `None` if it could change again without a different stamp.
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

// === impl Opened ===

impl Opened {
    /// The session's own memory, with the counts that all sessions share.
    fn whole(&self, rules: &RuleSet) -> SessionState {
        let mut whole = SessionState { today: self.together.today, ..self.state.clone() };
        whole.matched.retain(|rule, _| !rules.counts_all_sessions(rule));
        let shared = self.together.matched.iter().filter(|(rule, _)| rules.counts_all_sessions(rule));
        whole.matched.extend(shared.map(|(rule, stamps)| (rule.clone(), stamps.clone())));
        whole
    }

    fn keep(&mut self, delta: &StateDelta, rules: &RuleSet, sessions: &Sessions) {
        let (shared, own): (Vec<_>, Vec<_>) =
            delta.matched.iter().cloned().partition(|(rule, _)| rules.counts_all_sessions(rule));
        let own = StateDelta { matched: own, ..delta.clone() };
        let (needed, spent) = (delta.needed.clone(), delta.spent);
        let shared = StateDelta { matched: shared, needed, spent, ..StateDelta::default() };
        for (of, state, delta) in
            [(self.of.as_str(), &mut self.state, own), (TOGETHER, &mut self.together, shared)]
        {
            if delta.is_empty() {
                continue;
            }
            state.apply(&delta);
            if let Err(why) = sessions.write(of, state.clone()) {
                self.notes.push(format!("what the rules are to remember cannot be kept: {why}"));
            }
        }
    }
}

fn noted(note: String) -> TraceEntry {
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
