// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Where decisions go: into the ledger, or, while somebody else writes to it, into the spool.
//!
//! A hook without a daemon only spools. A command that records opens the ledger late and lets go at
//! once, so that others wait as short as can be. Whoever opens the ledger takes in what was spooled;
//! event ids are unique in it, so nothing comes in twice.

mod spool;

use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use sha2::Digest as _;
use tenterhook_engine::{BoxFuture, RecordError, Recorder};
use tenterhook_event::{Decided, EventId};
use tenterhook_ledger::{Entry, Ledger, OpenError, Options, Origin, Reader, RedactionKey, Sealed, Sealing};

use crate::Failure;
use crate::Home;
use crate::door::{self, now_ms};
use crate::env;
pub use spool::{Spool, TakenIn};

/// How long another writer may keep us waiting.
const PATIENCE: Duration = Duration::from_secs(2);
/// How many spooled entries one hook call takes in at most: somebody waits for its answer.
const AT_ONCE: usize = 64;

/// The record of a home.
#[derive(Debug)]
pub struct Book {
    dir: PathBuf,
    spool: Spool,
    /// What a person should know about how something was kept.
    notes: Mutex<Vec<String>>,
}

/// Records decisions, and each generation that decides for the first time.
pub struct BookRecorder {
    /// Where they go.
    pub book: Arc<Book>,
    /// What a generation consists of.
    pub detail: Value,
}

/// Spools decisions of a hook that has to decide by itself; the ledger is not opened.
#[derive(Debug)]
pub struct SpoolRecorder {
    /// Whose spool.
    pub home: Home,
    /// What a generation consists of; `None` where that is recorded already.
    pub detail: Option<Value>,
    /// Why the hook decides by itself, and by what.
    pub facts: Value,
}

// === impl Book ===

impl Book {
    /// The record of a home.
    pub fn of(home: &Home) -> Self {
        Self { dir: home.ledger(), spool: Spool::of(home), notes: Mutex::default() }
    }

    /// Reads what is recorded, with what was spooled, if nobody else writes just now.
    pub fn read(&self) -> Result<Reader, Failure> {
        self.take_in_if_free();
        Reader::open(&self.dir).map_err(|error| {
            let error = Failure::failed(error.to_string());
            if self.dir.join("ledger.db").exists() {
                error.hint("`tenterhook ledger verify` looks at all of it; a copy from before may be needed")
            } else {
                error.hint("nothing was recorded yet; is `--home` the right one? `tenterhook demo` shows a ledger at work")
            }
        })
    }

    /// Opens the ledger for writing, with all that was spooled in it.
    pub fn write(&self) -> Result<Ledger, Failure> {
        let ledger = self.open(Options::new).map_err(|error| unusable(&error))?;
        self.spool.take_in(&ledger, usize::MAX);
        Ok(ledger)
    }

    /// Brings what was spooled into the ledger, if nobody else writes just now; a daemon does it itself.
    pub fn take_in_if_free(&self) -> TakenIn {
        if self.spool.count().0 == 0 {
            return TakenIn::default();
        }
        let Ok(opened) = Ledger::open(&self.dir, Options::new(now_ms)) else { return TakenIn::default() };
        let taken = self.spool.take_in(&opened.ledger, usize::MAX);
        // The leaves are durable; a checkpoint that could not be signed comes with the next one.
        drop(opened.ledger.close());
        taken
    }

    /// Records that somebody changes protection. Comes before the change: what cannot be recorded is
    /// not done.
    pub fn change(&self, what: &str, detail: Value) -> Result<(), Failure> {
        let door = door::mint()?;
        let entry = Entry::change(door.id, door.ts, what, &env::user(), detail).from(Origin::Cli);
        self.keep(vec![entry.searched(&secrets)]).map_err(|why| {
            Failure::failed(format!("`{what}` is not done, because it cannot be recorded: {why}"))
                .hint("make room for the ledger, or use a home that can be written (`--home DIR`)")
        })
    }

    /// Keeps entries in this order: in the ledger, else in the spool. When it returns they are durable.
    pub fn keep(&self, entries: Vec<Entry>) -> Result<(), String> {
        let (sealing, reason) = match sealing(&self.dir) {
            Ok(sealing) => (sealing, None),
            Err((sealing, why)) => (sealing, Some(why)),
        };
        let sealed = entries.into_iter().map(|entry| entry.seal(&sealing)).collect::<Result<Vec<_>, _>>();
        let sealed = sealed.map_err(|error| error.to_string())?;
        let opened = match reason {
            Some(why) => Err((why, false)),
            None => self
                .open(Options::brief)
                .map_err(|error| (error.to_string(), matches!(error, OpenError::Locked { .. }))),
        };
        let (why, busy) = match opened {
            Ok(ledger) => {
                self.spool.take_in(&ledger, AT_ONCE);
                let appended = ledger.append_all(sealed.clone());
                // The leaves are durable; a checkpoint that could not be signed comes with the next one.
                drop(ledger.close());
                match appended {
                    Ok(_) => return Ok(()),
                    Err(error) => (error.to_string(), false),
                }
            }
            Err(why) => why,
        };
        let spooled: Result<(), std::io::Error> =
            sealed.iter().try_for_each(|one: &Sealed| self.spool.put(one));
        spooled.map_err(|error| format!("{why}; and the spool cannot be written: {error}"))?;
        if !busy {
            self.note(format!("the ledger cannot be written, the decision is in the spool: {why}"));
        }
        Ok(())
    }

    /// Brings all that was spooled into a ledger that somebody holds.
    pub fn take_in(&self, ledger: &Ledger) -> TakenIn {
        self.spool.take_in(ledger, usize::MAX)
    }

    /// What a person should know about how something was kept.
    pub fn notes(&self) -> Vec<String> {
        std::mem::take(&mut self.notes.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// How many entries wait in the spool, and how many there cannot be read.
    pub fn spooled(&self) -> (usize, usize) {
        self.spool.count()
    }

    fn note(&self, text: String) {
        self.notes.lock().unwrap_or_else(PoisonError::into_inner).push(text);
    }

    fn open(&self, options: fn(fn() -> u64) -> Options) -> Result<Ledger, OpenError> {
        let started = Instant::now();
        let mut pause = Duration::from_millis(1);
        loop {
            match Ledger::open(&self.dir, options(now_ms)) {
                Err(OpenError::Locked { .. }) if started.elapsed() < PATIENCE => {
                    std::thread::sleep(pause);
                    pause = (pause * 2).min(Duration::from_millis(8));
                }
                // What a run that was cut short left to do is nothing to worry about.
                opened => return opened.map(|opened| opened.ledger),
            }
        }
    }
}

/// How entries are sealed for the ledger in this directory. Without a place for the ledger's own key the
/// marks of secrets get one that is forgotten: they correlate with nothing, but nothing is readable either.
fn sealing(dir: &Path) -> Result<Sealing, (Sealing, String)> {
    let sealing = |key| Sealing { key, keep_raw: false, max_payload: Options::new(now_ms).max_payload };
    let made = std::fs::DirBuilder::new().recursive(true).mode(0o700).create(dir);
    let key = match made {
        Ok(()) => RedactionKey::open(dir).map_err(|error| error.to_string()),
        Err(error) => Err(format!("`{}`: {error}", dir.display())),
    };
    key.map(sealing).map_err(|why| {
        let mut random = [0; 32];
        // Without randomness the salt of the payload fails, and with it the sealing.
        let _ = getrandom::fill(&mut random);
        (sealing(RedactionKey::new(random)), why)
    })
}

/// The ledger cannot be written, in words, and what to do about it.
fn unusable(error: &OpenError) -> Failure {
    let hint = match error {
        OpenError::Locked { .. } => "wait until it is done, then try again",
        OpenError::Permissions { .. } => "take the right to write away from others: `chmod go-w DIR`",
        OpenError::RolledBack { .. } | OpenError::Damaged(_) => {
            "`tenterhook ledger verify` says what is wrong; keep the directory as evidence and begin a new one by moving it away"
        }
        OpenError::Newer { .. } => "use the newer program",
        _ => "see that the directory and its disk can be written",
    };
    Failure::failed(error.to_string()).hint(hint)
}

// === impl BookRecorder ===

impl Recorder for BookRecorder {
    fn record<'a>(&'a self, decided: Decided<'a>) -> BoxFuture<'a, Result<(), RecordError>> {
        let mut entries = Vec::with_capacity(2);
        entries.extend(generation_entry(&decided, &self.detail));
        entries.push(Entry::decision(&decided, &secrets));
        Box::pin(std::future::ready(self.book.keep(entries).map_err(RecordError)))
    }
}

/// The leaf of the generation that decides. Its id is the generation's own, so that the ledger keeps
/// it only the first time.
pub fn generation_entry(decided: &Decided<'_>, made_of: &Value) -> Option<Entry> {
    if decided.generation.is_empty() {
        return None;
    }
    let event = &decided.call.event;
    let digest = sha2::Sha256::digest(format!("generation/1\n{}", decided.generation));
    let number = digest.iter().take(16).fold(0, |number, byte| number << 8 | u128::from(*byte));
    let mut detail = json!({"generation": decided.generation});
    if let (Some(all), Value::Object(more)) = (detail.as_object_mut(), made_of.clone()) {
        all.extend(more);
    }
    let who = event.agent.user.as_deref().unwrap_or_default();
    Some(Entry::change(EventId::from_parts(0, number), event.ts, "generation", who, detail))
}

// === impl SpoolRecorder ===

impl SpoolRecorder {
    /// Spools one decision.
    pub fn keep(&self, decided: &Decided<'_>) -> Result<(), String> {
        let sealing = match sealing(&self.home.ledger()) {
            Ok(sealing) | Err((sealing, _)) => sealing,
        };
        let spool = Spool::of(&self.home);
        let put = |entry: Entry, always: bool| {
            let sealed = entry.seal(&sealing).map_err(|error| error.to_string())?;
            if !always && spool.has(&sealed) {
                return Ok(());
            }
            spool.put(&sealed).map_err(|error| format!("the spool cannot be written: {error}"))
        };
        if let Some(generation) = self.detail.as_ref().and_then(|detail| generation_entry(decided, detail)) {
            put(generation, false)?;
        }
        // Searched once, with the facts.
        let entry = Entry::decision(decided, &|_| Vec::new());
        put(entry.with_facts(self.facts.clone(), &secrets), true)
    }
}

impl Recorder for SpoolRecorder {
    fn record<'a>(&'a self, decided: Decided<'a>) -> BoxFuture<'a, Result<(), RecordError>> {
        Box::pin(std::future::ready(self.keep(&decided).map_err(RecordError)))
    }
}

/// The policy's detectors, as the ledger asks for them.
pub fn secrets(text: &str) -> Vec<(std::ops::Range<usize>, &str)> {
    tenterhook_policy::secret::secrets(text).into_iter().map(|secret| (secret.span, secret.kind)).collect()
}
