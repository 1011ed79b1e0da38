// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Reads the tokens and cost of running sessions from the transcripts that clients write.
//!
//! A hook's payload names the transcript. The reader stores its position in each file, so an unchanged file costs one
//! `stat`, and a file that has grown costs only its new lines. The reader returns totals since the start of the
//! session. Reading a part twice, after a crash or in two processes, therefore changes nothing.
//!
//! - The state is one small file per session in `<state>/usage/`. The daemon writes it outside the call.
//! - A transcript is opened only if it is in one of its client's directories and is a regular file of the caller's
//!   account, not a link. Otherwise the usage is *unknown*, which is not the same as zero.
//! - The agent can write to its transcript. Totals never decrease, even if the file is edited, truncated, replaced
//!   or removed.

mod file_cursor;
mod tracked_usage;

use std::cell::OnceCell;
use std::collections::{BTreeMap, HashMap};
use std::io::Write as _;
use std::path::{Component, Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use tenterhook_event::{EventKind, HookCall, Timestamp, TranscriptUsage};
use tenterhook_harness::{HARNESSES, Harness};
use tenterhook_harness_install::MachineEnvironment;
use tenterhook_harness_install::receipt::{self, FileFingerprint};
use tenterhook_policy::PriceTable;
use tenterhook_transcript::transcripts_of;
use tenterhook_transcript::usage::UsageFormat;

use crate::session_memory::session_key;
use tenterhook_home::Sources;
use tenterhook_home::env::Env;
use tenterhook_home::read_file;
use tenterhook_home::{Home, make_private_dir};
use tracked_usage::{ReadPass, TrackedUsage};

/// Maximum number of bytes that one call reads. If a resumed session has a longer transcript, its usage is known
/// after a few calls.
pub const MAX_READ_BYTES: u64 = 64 << 20;
/// Maximum number of bytes read without a separate thread.
pub const MAX_INLINE_READ_BYTES: u64 = 1 << 20;
/// Maximum number of sessions kept in memory.
const MAX_SESSIONS_IN_MEMORY: usize = 256;
/// State that has not changed for this long is removed.
const STATE_LIFETIME: Duration = Duration::from_hours(7 * 24);
/// Maximum time that a call waits for another call that reads the same transcript.
const LOCK_TIMEOUT: Duration = Duration::from_millis(50);
const LOCK_RETRY_INTERVAL: Duration = Duration::from_micros(200);
/// How long the directories derived from receipts are assumed to be unchanged.
const RECEIPTS_RECHECK_INTERVAL: Duration = Duration::from_millis(500);

/// Reads the usage of sessions.
pub struct UsageReader {
    dir: PathBuf,
    prices_path: PathBuf,
    home: Home,
    prices: Mutex<(Option<SystemTime>, Arc<PriceTable>)>,
    /// Transcript directories of each harness.
    roots: BTreeMap<&'static str, Vec<PathBuf>>,
    /// Directories derived from receipts, as last read.
    installed: Mutex<InstalledRoots>,
    sessions: Mutex<HashMap<String, CachedUsage>>,
}

/// Transcript directories derived from receipts, by harness.
#[derive(Default)]
struct InstalledRoots {
    read_at: Option<Instant>,
    by_harness: HashMap<&'static str, Arc<[PathBuf]>>,
}

struct CachedUsage {
    usage: Arc<Mutex<TrackedUsage>>,
    last_use: Instant,
}

/// The transcript of a call, and when to read it.
#[derive(Debug, Clone)]
pub struct UsageRequest {
    format: UsageFormat,
    is_transcript: fn(&Path) -> bool,
    harness: &'static str,
    session: String,
    path: Option<PathBuf>,
    kind: EventKind,
    ts: Timestamp,
}

/// Why a transcript path is not read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
enum TranscriptPathError {
    #[error("the client does not name a transcript")]
    NotNamed,
    #[error("`{}` is not an absolute path", .0.display())]
    NotAbsolute(PathBuf),
    #[error("`{}` is not a transcript", .0.display())]
    NotTranscript(PathBuf),
    #[error("`{}` is outside the client's directory", .0.display())]
    Outside(PathBuf),
}

/// Owner of a transcript.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TranscriptOwner {
    /// The account that must own the file.
    pub uid: u32,
    /// Whether this is another account than the one of this process. The directories of other accounts are unknown
    /// here.
    pub is_other_account: bool,
}

/// Usage of a session that a call has not reported before.
#[derive(Debug, Clone, Default)]
pub struct UsageUpdate {
    /// The totals, if they are unknown or have changed since they were last recorded.
    pub usage: Option<TranscriptUsage>,
    /// Whether there is more of the transcript to read.
    pub is_behind: bool,
    unrecorded: Option<(String, u64)>,
}

impl TranscriptOwner {
    /// Returns the account of this process.
    pub fn current() -> Self {
        Self { uid: rustix::process::geteuid().as_raw(), is_other_account: false }
    }

    /// Returns another account with this uid.
    pub fn other(uid: u32) -> Self {
        Self { uid, is_other_account: true }
    }
}

impl UsageUpdate {
    /// Creates an update for usage that could not be read at all.
    pub fn unknown(why: &str) -> Self {
        let usage = TranscriptUsage { unknown: Some(why.to_owned()), ..TranscriptUsage::default() };
        Self { usage: Some(usage), ..Self::default() }
    }
}

impl UsageReader {
    /// Creates a reader for the transcripts of this user.
    pub fn new(home: &Home, env: &Env) -> Self {
        let machine = env.machine();
        let roots = HARNESSES.iter().filter_map(|harness| {
            let transcripts = transcripts_of(harness).filter(|transcripts| transcripts.usage.is_some())?;
            Some((harness.id, (transcripts.directories)(&machine)))
        });
        Self {
            dir: home.usage(),
            prices_path: home.prices(),
            home: home.clone(),
            prices: Mutex::new((None, Arc::new(PriceTable::default()))),
            roots: roots.collect(),
            installed: Mutex::default(),
            sessions: Mutex::default(),
        }
    }

    /// Returns what to read for a call; `None` if its harness reports no usage or nothing can have changed.
    pub fn request(harness: &'static Harness, call: &HookCall) -> Option<UsageRequest> {
        let transcripts = transcripts_of(harness)?;
        let format = transcripts.usage?;
        let (event, native) = (&call.event, call.native.as_ref()?);
        if event.harness_session_id.is_none() || !reads_usage(event.event) {
            return None;
        }
        Some(UsageRequest {
            format,
            is_transcript: transcripts.is_transcript,
            harness: harness.id,
            session: session_key(event),
            path: harness.transcript_path(&native.fields).map(PathBuf::from),
            kind: event.event,
            ts: event.ts,
        })
    }

    /// Reads new lines from a session's transcripts, at most `max_bytes`.
    pub fn read(&self, request: &UsageRequest, owner: TranscriptOwner, max_bytes: u64) -> UsageUpdate {
        let checked = self.check_path(request, owner);
        let usage = self.session_usage(&request.session);
        let Some(mut usage) = lock_with_timeout(&usage) else {
            return UsageUpdate::unknown("the transcript is being read by another call");
        };
        let path = match checked {
            Ok(path) => path,
            Err(error) => return usage.update(&request.session, Some(error.to_string()), false),
        };
        // Most calls find no new response and need no prices.
        let table = OnceCell::new();
        let prices = || -> &PriceTable { table.get_or_init(|| self.prices()) };
        let mut pass =
            ReadPass { request, owner: owner.uid, prices: &prices, left: max_bytes, is_behind: false };
        let why = usage.read(path, &mut pass);
        usage.update(&request.session, why, pass.is_behind)
    }

    /// Records that a call was recorded with these totals, so that they are not reported again.
    pub fn mark_recorded(&self, found: &UsageUpdate) {
        let Some((session, version)) = &found.unrecorded else { return };
        let usage = self.session_usage(session);
        if let Some(mut usage) = lock_with_timeout(&usage) {
            usage.mark_recorded(*version);
        }
    }

    /// Returns whether some state is not on disk yet.
    pub fn has_unsaved(&self) -> bool {
        let sessions = lock(&self.sessions);
        sessions.values().any(|known| known.usage.try_lock().is_ok_and(|usage| usage.is_unsaved()))
    }

    /// Writes the state of all changed sessions. If that fails, the transcript is read again after a restart.
    pub fn save(&self) {
        let sessions: Vec<_> =
            lock(&self.sessions).iter().map(|(key, known)| (key.clone(), Arc::clone(&known.usage))).collect();
        for (key, usage) in sessions {
            self.save_one(&key, &usage);
        }
    }

    fn save_one(&self, key: &str, usage: &Mutex<TrackedUsage>) {
        let Ok(mut usage) = usage.try_lock() else { return };
        if !usage.is_unsaved() {
            return;
        }
        let path = self.path(key);
        if !path.exists() {
            self.prune();
        }
        if let Ok(bytes) = serde_json::to_vec(&*usage)
            && write_unsynced(&self.dir, &path, &bytes).is_ok()
        {
            usage.mark_saved();
        }
    }

    /// Returns the path of the transcript, if the client may have written it there.
    fn check_path<'r>(
        &self,
        request: &'r UsageRequest,
        owner: TranscriptOwner,
    ) -> Result<&'r Path, TranscriptPathError> {
        let path = request.path.as_deref().ok_or(TranscriptPathError::NotNamed)?;
        let is_plain =
            path.components().all(|part| matches!(part, Component::RootDir | Component::Normal(_)));
        if !path.is_absolute() || !is_plain {
            return Err(TranscriptPathError::NotAbsolute(path.to_owned()));
        }
        // The directories of another account are unknown; its files are read with its rights.
        let below = if owner.is_other_account {
            Some(path)
        } else {
            let roots = self.roots.get(request.harness).map(Vec::as_slice).unwrap_or_default();
            let below =
                |roots: &[PathBuf]| path.strip_prefix(roots.iter().find(|root| path.starts_with(root))?).ok();
            below(roots).or_else(|| below(&self.installed_roots(request.harness)))
        };
        match below {
            Some(below) if (request.is_transcript)(below) => Ok(path),
            Some(_) => Err(TranscriptPathError::NotTranscript(path.to_owned())),
            None => Err(TranscriptPathError::Outside(path.to_owned())),
        }
    }

    /// Returns the directories next to the settings into which hooks were installed. A client writes its transcripts
    /// there if an environment variable names that directory. Receipts are read at most twice a second.
    fn installed_roots(&self, harness: &'static str) -> Arc<[PathBuf]> {
        let mut installed = lock(&self.installed);
        let is_recent = installed.read_at.is_some_and(|at| at.elapsed() < RECEIPTS_RECHECK_INTERVAL);
        if !is_recent {
            *installed = InstalledRoots { read_at: Some(Instant::now()), by_harness: HashMap::new() };
        }
        let read = || self.read_installed_roots(harness).into();
        Arc::clone(installed.by_harness.entry(harness).or_insert_with(read))
    }

    fn read_installed_roots(&self, harness: &str) -> Vec<PathBuf> {
        let Some(transcripts) = tenterhook_harness::find_harness(harness).and_then(transcripts_of) else {
            return Vec::new();
        };
        // A directory without a receipt is unknown. The usage is then unknown too, and budgets deny.
        let receipts = receipt::every(&self.home.receipts()).readable;
        let installed = receipts.iter().filter(|receipt| receipt.harness == harness);
        let directories = installed.filter_map(|receipt| receipt.settings.parent());
        let places = directories.flat_map(|directory| {
            let named = |variable: &&'static str| (*variable, directory.to_owned());
            let variables = transcripts.variables.iter().map(named).collect();
            (transcripts.directories)(&MachineEnvironment {
                home: None,
                variables: &variables,
                path: "".as_ref(),
            })
        });
        places.collect()
    }

    /// Returns the state of a session, from memory or from disk.
    fn session_usage(&self, key: &str) -> Arc<Mutex<TrackedUsage>> {
        let mut sessions = lock(&self.sessions);
        if let Some(known) = sessions.get_mut(key) {
            known.last_use = Instant::now();
            return Arc::clone(&known.usage);
        }
        if sessions.len() >= MAX_SESSIONS_IN_MEMORY
            && let Some(oldest) =
                sessions.iter().min_by_key(|(_, known)| known.last_use).map(|(key, _)| key.clone())
            && let Some(known) = sessions.remove(&oldest)
        {
            self.save_one(&oldest, &known.usage);
        }
        let usage = Arc::new(Mutex::new(self.load(key)));
        let known = CachedUsage { usage: Arc::clone(&usage), last_use: Instant::now() };
        sessions.insert(key.to_owned(), known);
        usage
    }

    fn load(&self, key: &str) -> TrackedUsage {
        let text = read_file::state_file(&self.path(key)).ok().flatten();
        let known = text.and_then(|text| serde_json::from_str::<TrackedUsage>(&text).ok());
        known.filter(|known| known.is_of(key)).unwrap_or_else(|| TrackedUsage::new(key))
    }

    fn path(&self, key: &str) -> PathBuf {
        self.dir.join(format!("{}.json", FileFingerprint::of(key.as_bytes()).fnv1a))
    }

    /// Returns the price table. It is read again when the user's file has changed.
    fn prices(&self) -> Arc<PriceTable> {
        let modified = std::fs::metadata(&self.prices_path).and_then(|found| found.modified()).ok();
        let mut prices = lock(&self.prices);
        if prices.0 != modified || prices.1.rows().is_empty() {
            *prices = (modified, Arc::new(Sources::load_prices(&self.home)));
        }
        Arc::clone(&prices.1)
    }

    fn prune(&self) {
        let Ok(entries) = std::fs::read_dir(&self.dir) else { return };
        let now = SystemTime::now();
        for path in entries.filter_map(|entry| Some(entry.ok()?.path())) {
            let changed = std::fs::metadata(&path).and_then(|metadata| metadata.modified());
            if changed.is_ok_and(|at| now.duration_since(at).is_ok_and(|age| age > STATE_LIFETIME)) {
                let _ = std::fs::remove_file(&path);
            }
        }
    }
}

/// Returns whether events of this kind update sessions or can be checked against a budget.
fn reads_usage(kind: EventKind) -> bool {
    matches!(
        kind,
        EventKind::SessionStart
            | EventKind::Prompt
            | EventKind::PreTool
            | EventKind::PermissionRequest
            | EventKind::PostTool
            | EventKind::ToolError
            | EventKind::Stop
            | EventKind::SubagentStop
            | EventKind::SessionEnd
    )
}

/// Writes a file without `fsync`. A file that is lost in a crash is rebuilt from the transcript.
fn write_unsynced(dir: &Path, path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    make_private_dir(dir).map_err(|error| std::io::Error::other(error.message))?;
    let mut file = tempfile::NamedTempFile::new_in(dir)?;
    file.write_all(bytes)?;
    file.persist(path)?;
    Ok(())
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Takes a lock with a timeout, so that an unresponsive file system blocks only the call that reads it.
fn lock_with_timeout<T>(mutex: &Mutex<T>) -> Option<MutexGuard<'_, T>> {
    let until = Instant::now() + LOCK_TIMEOUT;
    loop {
        match mutex.try_lock() {
            Ok(guard) => return Some(guard),
            Err(std::sync::TryLockError::Poisoned(poisoned)) => return Some(poisoned.into_inner()),
            Err(std::sync::TryLockError::WouldBlock) if Instant::now() < until => {
                std::thread::sleep(LOCK_RETRY_INTERVAL);
            }
            Err(std::sync::TryLockError::WouldBlock) => return None,
        }
    }
}

#[cfg(test)]
mod tests;
