// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Signs commits and checkpoints, rotates keys, and runs maintenance.

use std::sync::Arc;
use std::time::{Duration, Instant};

use rusqlite::Connection;
use rusqlite::config::DbConfig;
use serde_json::Value;

use super::error::AppendError;
use super::options::{CheckpointInterval, LedgerOptions};
use super::pending_entries::PendingSeal;
use super::wal_checkpoint::SHORT_JOURNAL_BYTES;
use super::writer::Writer;
use super::{CHECKPOINT_FILE, DATABASE_FILE, keys, rows};
use crate::checkpoint::Checkpoint;
use crate::entry::EntryBody;
use crate::envelope::LeafKind;
use crate::key_chain::sign_rotation;
use crate::note::{Note, SignatureLine};
use crate::sign::{Signer, replace_copy};

/// Name of the change that records the ledger's settings.
pub const SETTINGS_CHANGE: &str = "ledger settings";
/// Key of the recorded settings in the `meta` table. The name is part of the format.
const SETTINGS_KEY: &str = "kept";
/// How often an idle writer checks for witness cosignatures.
const WITNESS_POLL_INTERVAL: Duration = Duration::from_millis(250);

/// The signer, and the number of leaves covered by a checkpoint.
pub(crate) struct SigningState {
    signer: Arc<dyn Signer>,
    id: String,
    /// Number of leaves in the last published checkpoint.
    signed: u64,
    every: CheckpointInterval,
    /// When the next checkpoint must be signed.
    due: Option<Instant>,
}

/// Whether the ledger was last opened with relaxed durability, so that it may have pending lines.
pub(super) fn was_relaxed(connection: &Connection) -> rusqlite::Result<bool> {
    let Some(settings) = rows::get_meta(connection, SETTINGS_KEY)? else { return Ok(false) };
    // If the settings cannot be parsed, opening fails. With a wrong guess, valid lines in the pending file
    // would be refused.
    let settings: Value = serde_json::from_str(&settings).map_err(|error| {
        rusqlite::Error::FromSqlConversionFailure(0, rusqlite::types::Type::Text, error.into())
    })?;
    Ok(settings.get("durability").and_then(Value::as_str) == Some("relaxed"))
}

impl SigningState {
    pub(crate) fn new(signer: Arc<dyn Signer>, signed: u64, size: u64, every: CheckpointInterval) -> Self {
        let mut this = Self { id: signer.key().id(), signer, signed, every, due: None };
        this.set_size(size);
        this
    }

    /// Returns the key's id in the form used in leaves.
    pub(crate) fn id(&self) -> &str {
        &self.id
    }

    /// Sets the tree's size, which may make a checkpoint due.
    pub(crate) fn set_size(&mut self, size: u64) {
        if self.due.is_none() && size > self.signed {
            self.due = Instant::now().checked_add(self.every.age);
        }
    }

    /// Whether a checkpoint is due because of the number of leaves.
    pub(crate) fn is_checkpoint_due(&self, size: u64) -> bool {
        size - self.signed >= self.every.leaves
    }
}

impl Writer {
    /// Appends the `start` leaf with the log's origin and key.
    pub(crate) fn append_start(&mut self) -> Result<(), AppendError> {
        let key = self.signing.signer.key().to_string();
        let body = EntryBody {
            log: Some(self.signing.signer.key().name().to_owned()),
            key: Some(key.clone()),
            ..EntryBody::default()
        };
        // The same commit contains the first checkpoint, so a log without checkpoints was tampered with.
        self.append_internal(LeafKind::Start, body, move |this, _| {
            rows::set_meta(&this.connection, "key", &key)?;
            this.sign().map(drop)
        })?;
        self.checkpoint().map(drop)
    }

    /// Appends a leaf if the settings differ from the recorded ones, because settings affect protection. Default
    /// settings are not recorded.
    pub(crate) fn record_settings(&mut self, options: &LedgerOptions) -> Result<(), AppendError> {
        let settings = options.recorded_settings();
        let before = match rows::get_meta(&self.connection, SETTINGS_KEY)? {
            Some(before) => before,
            None => LedgerOptions::new(self.clock).recorded_settings().to_string(),
        };
        let text = settings.to_string();
        if before == text {
            return Ok(());
        }
        let body = EntryBody {
            what: Some(SETTINGS_CHANGE.to_owned()),
            who: Some(options.who.clone()),
            detail: Some(settings),
            ..EntryBody::default()
        };
        self.append_internal(LeafKind::Change, body, move |this, _| {
            Ok(rows::set_meta(&this.connection, SETTINGS_KEY, &text)?)
        })
        .map(drop)
    }

    /// Signs, stores and publishes a checkpoint over all leaves.
    pub(crate) fn checkpoint(&mut self) -> Result<String, AppendError> {
        let signer = Arc::clone(&self.signing.signer);
        self.checkpoint_with(&[&*signer])
    }

    fn checkpoint_with(&mut self, signers: &[&dyn Signer]) -> Result<String, AppendError> {
        self.flush_pending()?;
        let size = self.tree.size();
        let note = match rows::last_checkpoint(&self.connection)? {
            Some((last, note)) if last == size => note,
            _ => self.run_transaction(|this| this.sign_with(signers))?,
        };
        if self.signing.signed < size {
            self.publish_checkpoint(&note)?;
        } else {
            // An earlier run may have signed the checkpoint without publishing it to all sinks.
            self.publisher.publish(self.current_checkpoint(), note.clone());
        }
        Ok(note)
    }

    /// Signs and stores a checkpoint in the open transaction.
    pub(super) fn sign(&mut self) -> Result<String, AppendError> {
        let signer = Arc::clone(&self.signing.signer);
        self.sign_with(&[&*signer])
    }

    /// Signs the tree in the open transaction. Leaves and signature become durable together, so no leaf is
    /// ever unsigned. The new head replaces the previous one (see [`rows::set_head`]), because an old head
    /// would make a rollback look valid.
    pub(super) fn move_head(&mut self, from: Option<u64>) -> Result<(), AppendError> {
        let last = self.tree.size().checked_sub(1);
        if let (Some(last), true) = (last, self.head != last) {
            rows::set_head(&self.connection, last, &self.sign_tree()?)?;
            self.head = Some(last);
        }
        if let Some(from) = from {
            rows::set_head(&self.connection, from, &rows::NO_HEAD)?;
        }
        Ok(())
    }

    /// Signs the current tree's checkpoint text. The text is not stored, because it can be computed from the leaves.
    pub(super) fn sign_tree(&self) -> Result<Vec<u8>, AppendError> {
        Ok(self.signing.signer.sign(self.current_checkpoint().text().as_bytes())?)
    }

    fn sign_with(&mut self, signers: &[&dyn Signer]) -> Result<String, AppendError> {
        let note = self.current_checkpoint().sign(signers)?.to_string();
        rows::set_checkpoint(&self.connection, self.tree.size(), (self.clock)(), &note)?;
        Ok(note)
    }

    fn current_checkpoint(&self) -> Checkpoint {
        let origin = self.signing.signer.key().name().to_owned();
        Checkpoint { origin, size: self.tree.size(), root: self.tree.root() }
    }

    /// Publishes a stored checkpoint over all leaves.
    pub(super) fn publish_checkpoint(&mut self, note: &str) -> Result<(), AppendError> {
        self.write_checkpoint_file(note)?;
        self.publisher.publish(self.current_checkpoint(), note.to_owned());
        (self.signing.signed, self.signing.due) = (self.tree.size(), None);
        Ok(())
    }

    /// Writes the checkpoint file without syncing it. If a power cut destroys it, opening restores it from the store.
    fn write_checkpoint_file(&self, note: &str) -> Result<(), AppendError> {
        let path = self.dir.join(CHECKPOINT_FILE);
        replace_copy(&path, note.as_bytes(), 0o644)
            .map_err(|error| AppendError::Rejected(format!("`{}`: {error}", path.display())))
    }

    /// Rotates to a new key. Both keys sign the rotation.
    pub(crate) fn rotate(&mut self, new: Option<Arc<dyn Signer>>) -> Result<String, AppendError> {
        let is_own_key = new.is_none();
        let old = Arc::clone(&self.signing.signer);
        let new: Arc<dyn Signer> = match new {
            Some(new) => new,
            None => Arc::new(keys::prepare_next(&self.dir, old.key().name(), self.passphrase.as_deref())?),
        };
        if new.key().name() != old.key().name() || new.key() == old.key() {
            return Err(AppendError::Rejected(format!("`{}` is not a new key of this log", new.key())));
        }
        let seal = PendingSeal::derive(&*new)?;
        let (old_signature, new_signature) = sign_rotation(&*old, &*new, self.tree.size())?;
        let key = new.key().to_string();
        let body = EntryBody {
            key: Some(old.key().to_string()),
            new_key: Some(key.clone()),
            old_signature: Some(old_signature),
            new_signature: Some(new_signature),
            ..EntryBody::default()
        };
        // The new key signs from this commit on, but the leaf itself names the old key.
        self.signing.signer = Arc::clone(&new);
        let leaf = self.append_internal(LeafKind::Rotate, body, move |this, _| {
            Ok(rows::set_meta(&this.connection, "key", &key)?)
        });
        if let Err(error) = leaf {
            self.signing.signer = old;
            return Err(error);
        }
        self.signing.id = new.key().id();
        // After a crash, the ledger is opened with the new key, so pending lines must be sealed for it.
        if let Some(pending) = &mut self.pending {
            pending.reseal(seal);
        }
        if is_own_key {
            keys::install_next(&self.dir)?;
        }
        keys::write_public_key(&self.dir, new.key())?;
        // Both keys sign, so that a verifier with the old key accepts this checkpoint.
        self.checkpoint_with(&[&*new, &*old])
    }

    /// Returns the time of the next maintenance, if any is planned.
    pub(crate) fn next_due(&self) -> Option<Instant> {
        let poll = self.publisher.is_busy().then(|| Instant::now() + WITNESS_POLL_INTERVAL);
        let pending = self.pending.as_ref().and_then(|pending| pending.due);
        [pending, self.signing.due, poll, self.wal.idle_due()].into_iter().flatten().min()
    }

    pub(crate) fn run_maintenance(&mut self) {
        let now = Instant::now();
        if self.pending.as_ref().and_then(|pending| pending.due).is_some_and(|due| due <= now) {
            // If the flush fails, it is due again later.
            drop(self.flush_pending());
        }
        if self.signing.due.is_some_and(|due| due <= now) && self.checkpoint().is_err() {
            // The next append reports the store's error. The checkpoint is tried again later.
            self.signing.due = now.checked_add(self.signing.every.age);
        }
        while let Some((size, lines)) = self.publisher.next_cosignatures() {
            // The next checkpoint is cosigned again; until then the sink reports contain the error.
            if let Err(error) = self.store_cosignatures(size, &lines) {
                self.publisher.report_lost_cosignature(size, &error);
            }
        }
        self.empty_idle_journal();
    }

    /// Adds cosignatures to the stored checkpoint.
    fn store_cosignatures(&mut self, size: u64, lines: &[SignatureLine]) -> Result<(), AppendError> {
        let Some((last, note)) = rows::last_checkpoint(&self.connection)? else { return Ok(()) };
        let stored = Note::parse(&note);
        let unreadable =
            |error| AppendError::Rejected(format!("stored checkpoint of {last} records: {error}"));
        let existing = stored.map_err(unreadable)?.signatures;
        let new = |line: &&SignatureLine| {
            !existing.iter().any(|other| (&other.name, other.key_id) == (&line.name, line.key_id))
        };
        let lines: Vec<_> = lines.iter().filter(new).collect();
        if last == size && !lines.is_empty() {
            let note = lines.iter().fold(note, |note, line| note + &line.to_string() + "\n");
            self.run_transaction(|this| {
                Ok(rows::set_checkpoint(&this.connection, size, (this.clock)(), &note)?)
            })?;
            self.write_checkpoint_file(&note)?;
        }
        Ok(())
    }

    /// Publishes a checkpoint over all leaves and waits for the sinks.
    pub(crate) fn finish(&mut self) -> Result<(), AppendError> {
        self.checkpoint()?;
        self.publisher.finish();
        while let Some((size, lines)) = self.publisher.next_cosignatures() {
            self.store_cosignatures(size, &lines)?;
        }
        if self.brief {
            // Commits in the journal are durable, so a later writer can checkpoint the journal.
            let journal = std::fs::metadata(self.dir.join(format!("{DATABASE_FILE}-wal")));
            let short = journal.is_ok_and(|journal| journal.len() <= SHORT_JOURNAL_BYTES);
            self.connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, short)?;
        }
        Ok(())
    }
}
