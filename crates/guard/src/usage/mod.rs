// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Tokens and cost of running sessions, read from the transcripts that their clients write.
//!
//! A hook's payload names the transcript. The reader remembers how far it has read every file, so that an unchanged
//! file costs one `stat` and a grown one costs its new lines. What it finds are totals since the session began:
//! reading a part twice, after a crash or in two processes, changes nothing.
//!
//! - The state is one small file per session in `<state>/usage/`. The daemon writes it off the path of the call.
//! - A transcript is only opened below the directories of its client, if it is a regular file of the caller's
//!   account and not a link. Anything else makes the usage *unknown*, which is not zero.
//! - The agent can write to its transcript. Totals never fall: what was counted stays counted when the file is
//!   edited, cut, replaced or removed.

mod cursor;
mod tracked;

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

use crate::sessions::session_key;
use tenterhook_home::Sources;
use tenterhook_home::env::Env;
use tenterhook_home::read_file;
use tenterhook_home::{Home, make_private};
use tracked::{ReadPass, TrackedUsage};

/// How many bytes a call reads at most. A session that was resumed with a longer transcript is known after a few calls.
pub const MAX_READ_BYTES: u64 = 64 << 20;
/// How many bytes are read without asking for a thread of their own.
pub const MAX_INLINE_READ_BYTES: u64 = 1 << 20;
/// How many sessions are kept in memory.
const MAX_SESSIONS_IN_MEMORY: usize = 256;
/// State of a session without a change for this long is removed.
const KEEP_STATE: Duration = Duration::from_hours(7 * 24);
/// How long a call waits for another one that reads the same transcript.
const LOCK_TIMEOUT: Duration = Duration::from_millis(50);
const LOCK_RETRY: Duration = Duration::from_micros(200);
/// How long the directories that follow from receipts are believed to be the same.
const RECEIPTS_RECHECK_INTERVAL: Duration = Duration::from_millis(500);

/// Reads the usage of sessions.
pub struct UsageReader {
    dir: PathBuf,
    prices_path: PathBuf,
    home: Home,
    prices: Mutex<(Option<SystemTime>, Arc<PriceTable>)>,
    /// The directories of each harness's transcripts.
    roots: BTreeMap<&'static str, Vec<PathBuf>>,
    /// Directories that follow from receipts, as they were last read.
    installed: Mutex<InstalledRoots>,
    sessions: Mutex<HashMap<String, InMemory>>,
}

/// The directories of transcripts that follow from receipts, by harness.
#[derive(Default)]
struct InstalledRoots {
    read_at: Option<Instant>,
    by_harness: HashMap<&'static str, Arc<[PathBuf]>>,
}

struct InMemory {
    usage: Arc<Mutex<TrackedUsage>>,
    last_use: Instant,
}

/// The transcript that a call names.
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

/// A transcript that is not read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
enum TranscriptPathError {
    #[error("the client names no transcript")]
    NotNamed,
    #[error("`{}` is not an absolute path", .0.display())]
    NotAbsolute(PathBuf),
    #[error("`{}` is not a transcript", .0.display())]
    NotTranscript(PathBuf),
    #[error("`{}` is outside the client's directory", .0.display())]
    Outside(PathBuf),
}

/// Whose transcript it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TranscriptOwner {
    /// The account that the file must belong to.
    pub uid: u32,
    /// Whether it is another account than this process runs under: its directories are not known here.
    pub is_other_account: bool,
}

/// What a call has to know of its session's usage.
#[derive(Debug, Clone, Default)]
pub struct UsageFound {
    /// The totals, if they changed since a call was recorded with them, or if they are unknown.
    pub usage: Option<TranscriptUsage>,
    /// Whether there is more to read.
    pub is_behind: bool,
    settles: Option<(String, u64)>,
}

impl TranscriptOwner {
    /// The account of this process.
    pub fn current() -> Self {
        Self { uid: rustix::process::geteuid().as_raw(), is_other_account: false }
    }

    /// Another account.
    pub fn other(uid: u32) -> Self {
        Self { uid, is_other_account: true }
    }
}

impl UsageFound {
    /// The usage could not be read at all.
    pub fn unknown(why: &str) -> Self {
        let usage = TranscriptUsage { unknown: Some(why.to_owned()), ..TranscriptUsage::default() };
        Self { usage: Some(usage), ..Self::default() }
    }
}

impl UsageReader {
    /// A reader of the transcripts of this user.
    pub fn new(home: &Home, env: &Env) -> Self {
        let ground = env.ground();
        let roots = HARNESSES.iter().filter_map(|harness| {
            let transcripts = transcripts_of(harness).filter(|transcripts| transcripts.usage.is_some())?;
            Some((harness.id, (transcripts.directories)(&ground)))
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

    /// What is to be read for a call; nothing if its harness writes no usage, or nothing can have changed.
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

    /// Reads what is new in a session's transcripts, at most so many bytes.
    pub fn read(&self, request: &UsageRequest, owner: TranscriptOwner, max_bytes: u64) -> UsageFound {
        let checked = self.check_path(request, owner);
        let usage = self.session(&request.session);
        let Some(mut usage) = lock_with_timeout(&usage) else {
            return UsageFound::unknown("the transcript is being read by another call");
        };
        let path = match checked {
            Ok(path) => path,
            Err(error) => return usage.found(&request.session, Some(error.to_string()), false),
        };
        // Most calls find no new answer, and need no price.
        let table = OnceCell::new();
        let prices = || -> &PriceTable { table.get_or_init(|| self.prices()) };
        let mut pass =
            ReadPass { request, owner: owner.uid, prices: &prices, left: max_bytes, is_behind: false };
        let why = usage.read(path, &mut pass);
        usage.found(&request.session, why, pass.is_behind)
    }

    /// The call is recorded: these totals need not be told again.
    pub fn settle(&self, found: &UsageFound) {
        let Some((session, version)) = &found.settles else { return };
        let usage = self.session(session);
        if let Some(mut usage) = lock_with_timeout(&usage) {
            usage.settle(*version);
        }
    }

    /// Whether some state is not on disk yet.
    pub fn has_unsaved(&self) -> bool {
        let sessions = lock(&self.sessions);
        sessions.values().any(|known| known.usage.try_lock().is_ok_and(|usage| usage.is_unsaved()))
    }

    /// Writes the state of all sessions that changed. What cannot be written is read again after a restart.
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

    /// The path of the transcript, if this client may have written it there.
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
        // The directories of another account are not known; its files are read with its own rights.
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

    /// The directories beside the settings that our hooks were installed into. A client whose directory is named by a
    /// variable of its own environment writes there. Receipts are read twice a second at most.
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
        // Without its receipt, a directory is outside the known ones: its usage is unknown, which budgets deny by.
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

    /// What is known of a session, from memory or from the disk.
    fn session(&self, key: &str) -> Arc<Mutex<TrackedUsage>> {
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
        let known = InMemory { usage: Arc::clone(&usage), last_use: Instant::now() };
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

    /// The price table, read again when the user's own has changed.
    fn prices(&self) -> Arc<PriceTable> {
        let modified = std::fs::metadata(&self.prices_path).and_then(|found| found.modified()).ok();
        let mut prices = lock(&self.prices);
        if prices.0 != modified || prices.1.rows().is_empty() {
            *prices = (modified, Arc::new(Sources::prices_of(&self.home)));
        }
        Arc::clone(&prices.1)
    }

    fn prune(&self) {
        let Ok(entries) = std::fs::read_dir(&self.dir) else { return };
        let now = SystemTime::now();
        for path in entries.filter_map(|entry| Some(entry.ok()?.path())) {
            let changed = std::fs::metadata(&path).and_then(|metadata| metadata.modified());
            if changed.is_ok_and(|at| now.duration_since(at).is_ok_and(|age| age > KEEP_STATE)) {
                let _ = std::fs::remove_file(&path);
            }
        }
    }
}

/// Events whose records sessions are put together from, and at which a budget can be checked.
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

/// A file that is lost in a crash of the machine is made again from the transcript, so nothing waits for the disk.
fn write_unsynced(dir: &Path, path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    make_private(dir).map_err(|error| std::io::Error::other(error.message))?;
    let mut file = tempfile::NamedTempFile::new_in(dir)?;
    file.write_all(bytes)?;
    file.persist(path)?;
    Ok(())
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A transcript on a file system that does not answer keeps only the call that reads it waiting.
fn lock_with_timeout<T>(mutex: &Mutex<T>) -> Option<MutexGuard<'_, T>> {
    let until = Instant::now() + LOCK_TIMEOUT;
    loop {
        match mutex.try_lock() {
            Ok(guard) => return Some(guard),
            Err(std::sync::TryLockError::Poisoned(poisoned)) => return Some(poisoned.into_inner()),
            Err(std::sync::TryLockError::WouldBlock) if Instant::now() < until => {
                std::thread::sleep(LOCK_RETRY);
            }
            Err(std::sync::TryLockError::WouldBlock) => return None,
        }
    }
}

#[cfg(test)]
mod tests;
