// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Where decisions go: into the ledger, or, while somebody else writes to it, into the spool.
//!
//! A hook without a daemon only spools. A command that records opens the ledger late and lets go at
//! once, so that others wait as short as can be. Whoever opens the ledger takes in what was spooled;
//! event ids are unique in it, so nothing comes in twice.

mod settings;
mod sink_errors;
mod sinks;
mod spool;

use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use sha2::Digest as _;
use tenterhook_engine::{BlockingRecorder, BoxFuture, RecordError, Recorder};
use tenterhook_event::{DecidedCall, Event, EventId};
use tenterhook_ledger::{
    AppendError, LeafOrigin, Ledger, LedgerEntry, LedgerOptions, OpenError, Reader, RedactionKey,
    SealedEntry, SealingOptions, SignError, SinkReport, SoftwareKey,
};

use crate::state_format::StateFormat;
pub use settings::{Destination, Settings, passphrase};
pub use sink_errors::SinkErrors;
pub use spool::{Spool, TakenIn};
use tenterhook_error::Failure;
use tenterhook_home::Home;
use tenterhook_home::call_meta::{self, now_ms};
use tenterhook_home::env;
use tenterhook_records::{redact_identifiers, secrets};

/// How long another writer may keep us waiting.
const PATIENCE: Duration = Duration::from_secs(2);
/// How many spooled entries one hook call takes in at most: somebody waits for its answer.
const AT_ONCE: usize = 64;

/// The record of a home.
#[derive(Debug)]
pub struct Book {
    /// The state directory.
    state: PathBuf,
    dir: PathBuf,
    /// Where a daemon would answer.
    socket: PathBuf,
    spool: Spool,
    settings: Settings,
    /// What opens a sealed key.
    passphrase: Option<String>,
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
    /// The record of a home, kept as its settings say.
    pub fn of(home: &Home) -> Self {
        Self {
            state: home.state.clone(),
            dir: home.ledger(),
            socket: home.socket(),
            spool: Spool::of(home),
            // `check` says what in them cannot be used.
            settings: Settings::of(home).0,
            passphrase: None,
            notes: Mutex::default(),
        }
    }

    /// How it is kept.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// The file with the key that signs.
    pub fn key_file(&self) -> PathBuf {
        self.dir.join("key")
    }

    /// Whether somebody has to say a passphrase before anything can be written.
    pub fn needs_passphrase(&self) -> bool {
        let sealed = SoftwareKey::is_sealed(&self.key_file());
        let new = self.settings.sealed && !self.key_file().exists();
        (sealed || new) && self.passphrase.is_none() && self.settings.passphrase_file.is_none()
    }

    /// The same, with what opens its sealed key.
    #[must_use]
    pub fn with_passphrase(mut self, passphrase: String) -> Self {
        self.passphrase = Some(passphrase);
        self
    }

    /// Reads what is recorded, with what was spooled, if nobody else writes just now.
    pub fn read(&self) -> Result<Reader, Failure> {
        self.take_in_if_free();
        Reader::open(&self.dir).map_err(|error| {
            let error = Failure::internal(error.to_string());
            if self.dir.join("ledger.db").exists() {
                error.hint("`tenterhook ledger verify` looks at all of it; a copy from before may be needed")
            } else {
                error.hint("nothing was recorded yet; is `--home` the right one? `tenterhook demo` shows a ledger at work")
            }
        })
    }

    /// Opens the ledger for writing, with all that was spooled in it.
    pub fn write(&self) -> Result<Ledger, Failure> {
        let ledger = self.open(LedgerOptions::new, true).map_err(|error| unusable(&error))?;
        self.spool.take_in(&ledger, usize::MAX);
        Ok(ledger)
    }

    /// Brings what was spooled into the ledger, if nobody else writes just now; a daemon does it itself.
    pub fn take_in_if_free(&self) -> TakenIn {
        if self.spool.count().0 == 0 {
            return TakenIn::default();
        }
        let Ok(passphrase) = self.opening() else { return TakenIn::default() };
        let options = self.set(LedgerOptions::new(now_ms), self.is_due(), passphrase);
        let Ok(opened) = StateFormat::open_ledger(&self.state, &self.dir, options) else {
            return TakenIn::default();
        };
        let taken = self.spool.take_in(&opened.ledger, usize::MAX);
        // The leaves are durable; a checkpoint that could not be signed comes with the next one.
        drop(self.close(opened.ledger));
        taken
    }

    /// Lets go of the ledger. What did not reach a sink is noted.
    pub fn close(&self, ledger: Ledger) -> Result<(), AppendError> {
        let reports = ledger.clone();
        let closed = ledger.close();
        for SinkReport { sink, size, error } in reports.sink_reports() {
            if let Some(error) = error {
                self.note(format!("the checkpoint of {size} leaves did not reach the {sink}: {error}"));
            }
        }
        closed
    }

    /// Records that somebody changes protection. Comes before the change: what cannot be recorded is
    /// not done.
    pub fn change(&self, what: &str, detail: Value) -> Result<(), Failure> {
        let door = call_meta::mint()?;
        let entry = LedgerEntry::change(door.id, door.ts, what, &env::user(), detail, &secrets);
        self.keep(vec![entry.with_origin(LeafOrigin::Cli)]).map_err(|why| {
            Failure::internal(format!("`{what}` is not done, because it cannot be recorded: {why}"))
                .hint("make room for the ledger, or use a home that can be written (`--home DIR`)")
        })
    }

    /// Keeps entries in this order: in the ledger, else in the spool. When it returns they are durable.
    pub fn keep(&self, entries: Vec<LedgerEntry>) -> Result<(), RecordError> {
        let (sealing, reason) = match sealing(&self.dir, &self.settings) {
            Ok(sealing) => (sealing, None),
            Err((sealing, why)) => (sealing, Some(why)),
        };
        let sealed = entries.into_iter().map(|entry| entry.seal(&sealing)).collect::<Result<Vec<_>, _>>();
        let sealed = sealed.map_err(|error| RecordError(error.to_string()))?;
        let opened = if let Some(why) = reason {
            Err((why, false))
        } else {
            self.open(LedgerOptions::brief, self.is_due())
                .map_err(|error| (error.to_string(), is_expected(&error)))
        };
        let (why, expected) = match opened {
            Ok(ledger) => {
                self.spool.take_in(&ledger, AT_ONCE);
                let appended = ledger.append(sealed.clone());
                // The leaves are durable; a checkpoint that could not be signed comes with the next one.
                drop(self.close(ledger));
                match appended {
                    Ok(_) => return Ok(()),
                    Err(error) => (error.to_string(), false),
                }
            }
            Err(why) => why,
        };
        let spooled: Result<(), std::io::Error> =
            sealed.iter().try_for_each(|one: &SealedEntry| self.spool.put(one));
        spooled.map_err(|error| RecordError(format!("{why}; and the spool cannot be written: {error}")))?;
        if !expected {
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

    /// Whether the spool can be listed.
    pub fn check_spool(&self) -> std::io::Result<()> {
        self.spool.check()
    }

    /// How many entries wait in the spool, and how many there cannot be read.
    pub fn spooled(&self) -> (usize, usize) {
        self.spool.count()
    }

    fn note(&self, text: String) {
        self.notes.lock().unwrap_or_else(PoisonError::into_inner).push(text);
    }

    /// Opens the ledger; its checkpoints go to servers too if `far`.
    fn open(&self, begin: fn(fn() -> u64) -> LedgerOptions, far: bool) -> Result<Ledger, OpenError> {
        let passphrase = self.opening()?;
        let started = Instant::now();
        let mut pause = Duration::from_millis(1);
        loop {
            let options = self.set(begin(now_ms), far, passphrase.clone());
            match StateFormat::open_ledger(&self.state, &self.dir, options) {
                Err(OpenError::Locked { .. }) if started.elapsed() < PATIENCE && !self.has_daemon() => {
                    std::thread::sleep(pause);
                    pause = (pause * 2).min(Duration::from_millis(8));
                }
                // What a run that was cut short left to do is nothing to worry about.
                opened => return opened.map(|opened| opened.ledger),
            }
        }
    }
}

impl Book {
    /// Whether a daemon holds the ledger: it will not let go, but it takes in what is spooled.
    fn has_daemon(&self) -> bool {
        tenterhook_home::socket::is_listening(&self.socket)
    }
}

/// How entries are sealed for the ledger in this directory. Without a place for the ledger's own key the
/// marks of secrets get one that is forgotten: they correlate with nothing, but nothing is readable either.
fn sealing(dir: &Path, settings: &Settings) -> Result<SealingOptions, (SealingOptions, String)> {
    let Settings { keep_raw, keep_model_text, max_payload, .. } = *settings;
    let sealing = |key| SealingOptions { key, keep_raw, max_payload, keep_model_text };
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

impl Book {
    /// How somebody opens the ledger who keeps it, such as the daemon.
    pub fn options(&self) -> Result<LedgerOptions, Failure> {
        let passphrase = self.opening().map_err(|error| unusable(&error))?;
        Ok(self.set(LedgerOptions::new(now_ms), true, passphrase))
    }

    /// Replaces the secrets in the identifiers of an event that is decided without a daemon.
    pub fn redact_identifiers(&self, event: &mut Event) {
        if !self.settings.keep_raw {
            let (Ok(sealing) | Err((sealing, _))) = sealing(&self.dir, &self.settings);
            redact_identifiers(event, &sealing.key);
        }
    }

    /// Whether servers get the checkpoint too: somebody waits, so they are asked now and then only.
    fn is_due(&self) -> bool {
        self.settings.sinks.iter().any(Destination::is_far) && sinks::due(&self.dir)
    }

    /// The same options, as the settings have them.
    fn set(&self, mut options: LedgerOptions, far: bool, passphrase: Option<String>) -> LedgerOptions {
        options.durability = self.settings.durability;
        options.max_payload = self.settings.max_payload;
        options.keep_raw = self.settings.keep_raw;
        options.keep_model_text = self.settings.keep_model_text;
        options.sinks = sinks::sinks(self.settings.sinks.iter().filter(|sink| far || !sink.is_far()));
        options.passphrase = passphrase;
        options.who = env::user();
        options.settings = self.settings.detail();
        options
    }

    /// What opens or seals the key, if anything has to.
    fn opening(&self) -> Result<Option<String>, OpenError> {
        if let Some(passphrase) = &self.passphrase {
            return Ok(Some(passphrase.clone()));
        }
        let sealed = SoftwareKey::is_sealed(&self.key_file());
        let new = self.settings.sealed && !self.key_file().exists();
        match &self.settings.passphrase_file {
            _ if !sealed && !new => Ok(None),
            Some(path) => passphrase(path).map(Some).map_err(|error| OpenError::Store(error.message)),
            None => Err(SignError::Sealed(self.key_file()).into()),
        }
    }
}

/// Whether the spool is just the place to go: somebody writes, or whoever has the passphrase will.
fn is_expected(error: &OpenError) -> bool {
    matches!(error, OpenError::Locked { .. } | OpenError::Key(SignError::Sealed(_)))
}

/// The ledger cannot be written, in words, and what to do about it.
fn unusable(error: &OpenError) -> Failure {
    let hint = match error {
        OpenError::Locked { .. } => "wait until it is done, then try again",
        OpenError::Permissions { .. } => "take the right to write away from others: `chmod go-w DIR`",
        OpenError::Key(SignError::Sealed(_)) => {
            "run it where it can ask for the passphrase, or use `--passphrase-file FILE`"
        }
        OpenError::Key(SignError::Passphrase(_)) => "try again with the right passphrase",
        OpenError::RolledBack { .. } | OpenError::Damaged(_) | OpenError::Unsigned { .. } => {
            "`tenterhook ledger verify` says what is wrong; keep the directory as evidence and begin a new one by moving it away"
        }
        OpenError::Newer { .. } => "use the newer program",
        _ => "see that the directory and its disk can be written",
    };
    Failure::internal(error.to_string()).hint(hint)
}

// === impl BookRecorder ===

impl Recorder for BookRecorder {
    fn record<'a>(&'a self, decided: DecidedCall<'a>) -> BoxFuture<'a, Result<(), RecordError>> {
        Box::pin(std::future::ready(self.record_now(&decided)))
    }

    fn blocking(&self) -> Option<&dyn BlockingRecorder> {
        Some(self)
    }
}

impl BlockingRecorder for BookRecorder {
    fn record_now(&self, decided: &DecidedCall<'_>) -> Result<(), RecordError> {
        let mut entries = Vec::with_capacity(2);
        entries.extend(generation_entry(decided, &self.detail));
        entries.push(LedgerEntry::decision(decided, &secrets));
        self.book.keep(entries)
    }
}

/// The leaf of the generation that decides. Its id is the generation's own, so that the ledger keeps
/// it only the first time.
pub fn generation_entry(decided: &DecidedCall<'_>, made_of: &Value) -> Option<LedgerEntry> {
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
    Some(LedgerEntry::change(EventId::from_parts(0, number), event.ts, "generation", who, detail, &secrets))
}

// === impl SpoolRecorder ===

impl SpoolRecorder {
    /// Spools one decision.
    pub fn keep(&self, decided: &DecidedCall<'_>) -> Result<(), RecordError> {
        let sealing = match sealing(&self.home.ledger(), &Settings::of(&self.home).0) {
            Ok(sealing) | Err((sealing, _)) => sealing,
        };
        let spool = Spool::of(&self.home);
        let put = |entry: LedgerEntry, always: bool| {
            let sealed = entry.seal(&sealing).map_err(|error| RecordError(error.to_string()))?;
            if !always && spool.has(&sealed) {
                return Ok(());
            }
            let put = spool.put(&sealed);
            put.map_err(|error| RecordError(format!("the spool cannot be written: {error}")))
        };
        if let Some(generation) = self.detail.as_ref().and_then(|detail| generation_entry(decided, detail)) {
            put(generation, false)?;
        }
        // Searched once, with the facts.
        let entry = LedgerEntry::decision(decided, &|_| Vec::new());
        let mut facts = decided.facts.clone().unwrap_or_else(|| json!({}));
        if let (Some(facts), Some(more)) = (facts.as_object_mut(), self.facts.as_object()) {
            facts.extend(more.clone());
        }
        put(entry.with_facts(facts, &secrets), true)
    }
}

impl Recorder for SpoolRecorder {
    fn record<'a>(&'a self, decided: DecidedCall<'a>) -> BoxFuture<'a, Result<(), RecordError>> {
        Box::pin(std::future::ready(self.keep(&decided)))
    }

    fn blocking(&self) -> Option<&dyn BlockingRecorder> {
        Some(self)
    }
}

impl BlockingRecorder for SpoolRecorder {
    fn record_now(&self, decided: &DecidedCall<'_>) -> Result<(), RecordError> {
        self.keep(decided)
    }
}
