// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Records decisions in the ledger, or in the spool while another process writes to the ledger.
//!
//! A hook without a daemon writes only to the spool. A command that records opens the ledger late and closes it at
//! once, so that other processes wait as little as possible. Every process that opens the ledger for writing imports
//! the spool. Event ids are unique in the ledger, so no entry is imported twice.

mod ledger_settings;
mod sink_errors;
mod sink_setup;
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
pub(crate) use ledger_settings::DurabilityWord;
pub use ledger_settings::{LedgerSettings, SinkSetting, read_passphrase};
pub use sink_errors::SinkErrors;
pub use spool::{Spool, SpoolImport};
use tenterhook_error::Failure;
use tenterhook_home::Home;
use tenterhook_home::call_meta::{self, now_ms};
use tenterhook_home::env;
use tenterhook_records::{redact_identifiers, secrets};

/// Maximum time to wait for another process that writes to the ledger.
const LOCK_TIMEOUT: Duration = Duration::from_secs(2);
/// Maximum number of spooled entries that one hook call imports. The number is small because the harness waits for
/// the reply.
const SPOOL_IMPORT_BATCH: usize = 64;

/// Access to the ledger of a home, and to its spool.
#[derive(Debug)]
pub struct LedgerHandle {
    /// The state directory.
    state: PathBuf,
    dir: PathBuf,
    /// Socket of the daemon. While the daemon runs, it has the ledger open.
    socket: PathBuf,
    spool: Spool,
    settings: LedgerSettings,
    /// Passphrase of a sealed key.
    passphrase: Option<String>,
    /// Warnings about how entries were recorded.
    notes: Mutex<Vec<String>>,
}

/// Records decisions in the ledger. A generation is recorded when it decides for the first time.
pub struct DirectRecorder {
    /// Ledger that receives the decisions.
    pub ledger: Arc<LedgerHandle>,
    /// Description of the generation.
    pub detail: Value,
}

/// Writes the decisions of a hook that finds no daemon to the spool. The ledger is not opened.
#[derive(Debug)]
pub struct SpoolRecorder {
    /// Home whose spool is used.
    pub home: Home,
    /// Description of the generation; `None` if the generation has already been recorded.
    pub detail: Option<Value>,
    /// Facts to record: why the hook decides without the daemon, and where its rules come from.
    pub facts: Value,
}

// === impl LedgerHandle ===

impl LedgerHandle {
    /// Returns the ledger of a home, with that home's settings.
    pub fn of(home: &Home) -> Self {
        Self {
            state: home.state.clone(),
            dir: home.ledger(),
            socket: home.socket(),
            spool: Spool::of(home),
            // `tenterhook check` reports invalid settings.
            settings: LedgerSettings::of(home).0,
            passphrase: None,
            notes: Mutex::default(),
        }
    }

    /// Returns the ledger's settings.
    pub fn settings(&self) -> &LedgerSettings {
        &self.settings
    }

    /// Returns the path of the signing key.
    pub fn key_file(&self) -> PathBuf {
        self.dir.join("key")
    }

    /// Returns whether writing needs a passphrase that is neither given nor in a file.
    pub fn needs_passphrase(&self) -> bool {
        let sealed = SoftwareKey::is_sealed(&self.key_file());
        let new = self.settings.sealed && !self.key_file().exists();
        (sealed || new) && self.passphrase.is_none() && self.settings.passphrase_file.is_none()
    }

    /// Sets the passphrase of the sealed key.
    #[must_use]
    pub fn with_passphrase(mut self, passphrase: String) -> Self {
        self.passphrase = Some(passphrase);
        self
    }

    /// Opens the ledger for reading. Imports the spool first if no other process is writing to the ledger.
    pub fn reader(&self) -> Result<Reader, Failure> {
        self.import_spool();
        Reader::open(&self.dir).map_err(|error| {
            let error = Failure::internal(error.to_string());
            if self.dir.join("ledger.db").exists() {
                error.hint("check it with `tenterhook ledger verify`; you may need to restore a backup")
            } else {
                error.hint("nothing was recorded yet; check `--home`, or try `tenterhook demo`")
            }
        })
    }

    /// Opens the ledger for writing and imports the spool.
    pub fn writer(&self) -> Result<Ledger, Failure> {
        let ledger = self.open(LedgerOptions::new, true).map_err(|error| open_failure(&error))?;
        self.spool.import_into(&ledger, usize::MAX);
        Ok(ledger)
    }

    /// Imports the spool if no other process is writing to the ledger. A running daemon imports the spool by itself.
    pub fn import_spool(&self) -> SpoolImport {
        if self.spool.count().0 == 0 {
            return SpoolImport::default();
        }
        let Ok(passphrase) = self.resolve_passphrase() else { return SpoolImport::default() };
        let options = self.apply_settings(LedgerOptions::new(now_ms), self.is_remote_send_due(), passphrase);
        let Ok(opened) = StateFormat::open_ledger(&self.state, &self.dir, options) else {
            return SpoolImport::default();
        };
        let taken = self.spool.import_into(&opened.ledger, usize::MAX);
        // The records are durable. If a checkpoint cannot be signed now, the next checkpoint covers it.
        drop(self.close(opened.ledger));
        taken
    }

    /// Closes the ledger. Adds a warning for each sink that could not be reached.
    pub fn close(&self, ledger: Ledger) -> Result<(), AppendError> {
        let reports = ledger.clone();
        let closed = ledger.close();
        for SinkReport { sink, size, error } in reports.sink_reports() {
            if let Some(error) = error {
                self.add_note(format!("the checkpoint of {size} records did not reach the {sink}: {error}"));
            }
        }
        closed
    }

    /// Records a change to rules, hooks, mode or retention. Call this before making the change: if the change cannot be
    /// recorded, it must not be made.
    pub fn record_change(&self, what: &str, detail: Value) -> Result<(), Failure> {
        let meta = call_meta::mint()?;
        let entry = LedgerEntry::change(meta.id, meta.ts, what, &env::current_user(), detail, &secrets);
        self.append(vec![entry.with_origin(LeafOrigin::Cli)]).map_err(|why| {
            Failure::internal(format!("`{what}` is not done, because it cannot be recorded: {why}"))
                .hint("free some disk space, or use a writable home (`--home DIR`)")
        })
    }

    /// Appends entries in this order to the ledger or, if that fails, to the spool. The entries are durable when the
    /// function returns.
    pub fn append(&self, entries: Vec<LedgerEntry>) -> Result<(), RecordError> {
        let (sealing, reason) = match sealing_for(&self.dir, &self.settings) {
            Ok(sealing) => (sealing, None),
            Err((sealing, why)) => (sealing, Some(why)),
        };
        let sealed = entries.into_iter().map(|entry| entry.seal(&sealing)).collect::<Result<Vec<_>, _>>();
        let sealed = sealed.map_err(|error| RecordError(error.to_string()))?;
        let opened = if let Some(why) = reason {
            Err((why, false))
        } else {
            self.open(LedgerOptions::brief, self.is_remote_send_due())
                .map_err(|error| (error.to_string(), is_expected_error(&error)))
        };
        let (why, expected) = match opened {
            Ok(ledger) => {
                self.spool.import_into(&ledger, SPOOL_IMPORT_BATCH);
                let appended = ledger.append(sealed.clone());
                // The records are durable. If a checkpoint cannot be signed now, the next checkpoint covers it.
                drop(self.close(ledger));
                match appended {
                    Ok(_) => return Ok(()),
                    Err(error) => (error.to_string(), false),
                }
            }
            Err(why) => why,
        };
        let spooled: Result<(), std::io::Error> =
            sealed.iter().try_for_each(|one: &SealedEntry| self.spool.write(one));
        spooled.map_err(|error| RecordError(format!("{why}; the spool cannot be written: {error}")))?;
        if !expected {
            self.add_note(format!("the ledger cannot be written, so the decision is in the spool: {why}"));
        }
        Ok(())
    }

    /// Imports the whole spool into a ledger that is already open.
    pub fn import_spool_into(&self, ledger: &Ledger) -> SpoolImport {
        self.spool.import_into(ledger, usize::MAX)
    }

    /// Returns the warnings collected so far and clears them.
    pub fn take_notes(&self) -> Vec<String> {
        std::mem::take(&mut self.notes.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Checks that the spool directory can be listed.
    pub fn check_spool(&self) -> std::io::Result<()> {
        self.spool.check_readable()
    }

    /// Returns the number of entries in the spool and the number of refused files.
    pub fn spool_counts(&self) -> (usize, usize) {
        self.spool.count()
    }

    fn add_note(&self, text: String) {
        self.notes.lock().unwrap_or_else(PoisonError::into_inner).push(text);
    }

    /// Opens the ledger. With `to_remote`, checkpoints are also sent to servers.
    fn open(&self, begin: fn(fn() -> u64) -> LedgerOptions, to_remote: bool) -> Result<Ledger, OpenError> {
        let passphrase = self.resolve_passphrase()?;
        let started = Instant::now();
        let mut pause = Duration::from_millis(1);
        loop {
            let options = self.apply_settings(begin(now_ms), to_remote, passphrase.clone());
            match StateFormat::open_ledger(&self.state, &self.dir, options) {
                Err(OpenError::Locked { .. })
                    if started.elapsed() < LOCK_TIMEOUT && !self.is_daemon_listening() =>
                {
                    std::thread::sleep(pause);
                    pause = (pause * 2).min(Duration::from_millis(8));
                }
                // Repairs after an interrupted run need no report.
                opened => return opened.map(|opened| opened.ledger),
            }
        }
    }
}

impl LedgerHandle {
    /// Returns whether a daemon has the ledger open. A daemon does not release the ledger, but it imports the spool.
    fn is_daemon_listening(&self) -> bool {
        tenterhook_home::socket::is_listening(&self.socket)
    }
}

/// Returns how entries are sealed for the ledger in this directory. If the ledger's key cannot be stored, secrets are
/// replaced using a random key that is not kept. The replacements can then not be correlated, but no secret is
/// readable.
fn sealing_for(dir: &Path, settings: &LedgerSettings) -> Result<SealingOptions, (SealingOptions, String)> {
    let LedgerSettings { keep_raw, keep_model_text, max_payload, .. } = *settings;
    let sealing = |key| SealingOptions { key, keep_raw, max_payload, keep_model_text };
    let made = std::fs::DirBuilder::new().recursive(true).mode(0o700).create(dir);
    let key = match made {
        Ok(()) => RedactionKey::open(dir).map_err(|error| error.to_string()),
        Err(error) => Err(format!("`{}`: {error}", dir.display())),
    };
    key.map(sealing).map_err(|why| {
        let mut random = [0; 32];
        // If this fails, creating the payload's salt fails too, and nothing is sealed.
        let _ = getrandom::fill(&mut random);
        (sealing(RedactionKey::new(random)), why)
    })
}

impl LedgerHandle {
    /// Returns options for a process that keeps the ledger open, such as the daemon.
    pub fn options(&self) -> Result<LedgerOptions, Failure> {
        let passphrase = self.resolve_passphrase().map_err(|error| open_failure(&error))?;
        Ok(self.apply_settings(LedgerOptions::new(now_ms), true, passphrase))
    }

    /// Replaces secrets in the identifiers of an event that is decided without a daemon.
    pub fn redact_identifiers(&self, event: &mut Event) {
        if !self.settings.keep_raw {
            let (Ok(sealing) | Err((sealing, _))) = sealing_for(&self.dir, &self.settings);
            redact_identifiers(event, &sealing.key);
        }
    }

    /// Returns whether the checkpoint is also sent to servers. A caller is waiting, so servers are contacted only at
    /// intervals.
    fn is_remote_send_due(&self) -> bool {
        self.settings.sinks.iter().any(SinkSetting::is_remote) && sink_setup::claim_remote_send(&self.dir)
    }

    /// Applies the settings to these options.
    fn apply_settings(
        &self,
        mut options: LedgerOptions,
        to_remote: bool,
        passphrase: Option<String>,
    ) -> LedgerOptions {
        options.durability = self.settings.durability;
        options.max_payload = self.settings.max_payload;
        options.keep_raw = self.settings.keep_raw;
        options.keep_model_text = self.settings.keep_model_text;
        options.sinks =
            sink_setup::build_sinks(self.settings.sinks.iter().filter(|sink| to_remote || !sink.is_remote()));
        options.passphrase = passphrase;
        options.who = env::current_user();
        options.settings = self.settings.detail();
        options
    }

    /// Returns the passphrase that opens or seals the key, if one is needed.
    fn resolve_passphrase(&self) -> Result<Option<String>, OpenError> {
        if let Some(passphrase) = &self.passphrase {
            return Ok(Some(passphrase.clone()));
        }
        let sealed = SoftwareKey::is_sealed(&self.key_file());
        let new = self.settings.sealed && !self.key_file().exists();
        match &self.settings.passphrase_file {
            _ if !sealed && !new => Ok(None),
            Some(path) => read_passphrase(path).map(Some).map_err(|error| OpenError::Store(error.message)),
            None => Err(SignError::Sealed(self.key_file()).into()),
        }
    }
}

/// Returns whether the error is expected, so that the spool is used without a warning: another process is writing, or
/// this process lacks the passphrase.
fn is_expected_error(error: &OpenError) -> bool {
    matches!(error, OpenError::Locked { .. } | OpenError::Key(SignError::Sealed(_)))
}

/// Returns the failure, with a hint, for a ledger that cannot be written.
fn open_failure(error: &OpenError) -> Failure {
    let hint = match error {
        OpenError::Locked { .. } => "wait until the other process is done, then try again",
        OpenError::Permissions { .. } => "remove write permission for other accounts: `chmod go-w DIR`",
        OpenError::Key(SignError::Sealed(_)) => "run it in a terminal, or use `--passphrase-file FILE`",
        OpenError::Key(SignError::Passphrase(_)) => "try again with the right passphrase",
        OpenError::RolledBack { .. } | OpenError::Damaged(_) | OpenError::Unsigned { .. } => {
            "check it with `tenterhook ledger verify`; to start a new ledger, move the directory away and keep it as evidence"
        }
        OpenError::Newer { .. } => "use the newer version of Tenterhook",
        _ => "check that the directory is writable and the disk is not full",
    };
    Failure::internal(error.to_string()).hint(hint)
}

// === impl DirectRecorder ===

impl Recorder for DirectRecorder {
    fn record<'a>(&'a self, decided: DecidedCall<'a>) -> BoxFuture<'a, Result<(), RecordError>> {
        Box::pin(std::future::ready(self.record_now(&decided)))
    }

    fn blocking(&self) -> Option<&dyn BlockingRecorder> {
        Some(self)
    }
}

impl BlockingRecorder for DirectRecorder {
    fn record_now(&self, decided: &DecidedCall<'_>) -> Result<(), RecordError> {
        let mut entries = Vec::with_capacity(2);
        entries.extend(generation_entry(decided, &self.detail));
        entries.push(LedgerEntry::decision(decided, &secrets));
        self.ledger.append(entries)
    }
}

/// Returns the record of the generation that decides. Its id is derived from the generation, so that the ledger
/// stores it only once.
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
    /// Writes one decision to the spool.
    pub fn spool_decision(&self, decided: &DecidedCall<'_>) -> Result<(), RecordError> {
        let sealing = match sealing_for(&self.home.ledger(), &LedgerSettings::of(&self.home).0) {
            Ok(sealing) | Err((sealing, _)) => sealing,
        };
        let spool = Spool::of(&self.home);
        let write = |entry: LedgerEntry, always: bool| {
            let sealed = entry.seal(&sealing).map_err(|error| RecordError(error.to_string()))?;
            if !always && spool.contains(&sealed) {
                return Ok(());
            }
            let written = spool.write(&sealed);
            written.map_err(|error| RecordError(format!("the spool cannot be written: {error}")))
        };
        if let Some(generation) = self.detail.as_ref().and_then(|detail| generation_entry(decided, detail)) {
            write(generation, false)?;
        }
        // The search for secrets runs once below, when the facts have been added.
        let entry = LedgerEntry::decision(decided, &|_| Vec::new());
        let mut facts = decided.facts.clone().unwrap_or_else(|| json!({}));
        if let (Some(facts), Some(more)) = (facts.as_object_mut(), self.facts.as_object()) {
            facts.extend(more.clone());
        }
        write(entry.with_facts(facts, &secrets), true)
    }
}

impl Recorder for SpoolRecorder {
    fn record<'a>(&'a self, decided: DecidedCall<'a>) -> BoxFuture<'a, Result<(), RecordError>> {
        Box::pin(std::future::ready(self.spool_decision(&decided)))
    }

    fn blocking(&self) -> Option<&dyn BlockingRecorder> {
        Some(self)
    }
}

impl BlockingRecorder for SpoolRecorder {
    fn record_now(&self, decided: &DecidedCall<'_>) -> Result<(), RecordError> {
        self.spool_decision(decided)
    }
}
