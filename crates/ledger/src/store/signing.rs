// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Signing: the head of every commit, checkpoints, changes of keys, and what is due by the clock.

use std::sync::Arc;
use std::time::{Duration, Instant};

use rusqlite::Connection;
use rusqlite::config::DbConfig;
use serde_json::Value;

use super::append::Writer;
use super::error::AppendError;
use super::options::{Every, Options};
use super::pending::PendingSeal;
use super::tidy::SHORT_JOURNAL;
use super::{CHECKPOINT, DATABASE, keys, rows};
use crate::chain::rotation;
use crate::checkpoint::Checkpoint;
use crate::entry::Body;
use crate::note::{Line, Note};
use crate::record::Kind;
use crate::sign::{Signer, replace_copy};

/// The change that says how the ledger is kept.
pub const SETTINGS: &str = "ledger settings";
/// The word under which the store remembers it.
const KEPT: &str = "kept";
/// How often an otherwise idle writer looks for what witnesses answered.
const LISTEN: Duration = Duration::from_millis(250);

/// Who signs, and what is signed.
pub(crate) struct Signing {
    signer: Arc<dyn Signer>,
    id: String,
    /// Leaves up to here are in a checkpoint, and who wants to know was told.
    signed: u64,
    every: Every,
    /// When the next checkpoint must be signed.
    due: Option<Instant>,
}

/// Whether the ledger was last kept as a relaxed one: only then there are lines in its pending file.
pub(super) fn was_relaxed(connection: &Connection) -> rusqlite::Result<bool> {
    let Some(kept) = rows::meta(connection, KEPT)? else { return Ok(false) };
    // A wrong guess would refuse valid lines of the pending file.
    let kept: Value = serde_json::from_str(&kept).map_err(|error| {
        rusqlite::Error::FromSqlConversionFailure(0, rusqlite::types::Type::Text, error.into())
    })?;
    Ok(kept.get("durability").and_then(Value::as_str) == Some("relaxed"))
}

// === impl Signing ===

impl Signing {
    pub(crate) fn new(signer: Arc<dyn Signer>, signed: u64, size: u64, every: Every) -> Self {
        let mut this = Self { id: signer.key().id(), signer, signed, every, due: None };
        this.grown(size);
        this
    }

    /// The signer's id, as leaves name it.
    pub(crate) fn id(&self) -> &str {
        &self.id
    }

    /// The tree has this size now.
    pub(crate) fn grown(&mut self, size: u64) {
        if self.due.is_none() && size > self.signed {
            self.due = Instant::now().checked_add(self.every.age);
        }
    }

    /// Whether so many leaves are in no checkpoint that it is time.
    pub(crate) fn is_full(&self, size: u64) -> bool {
        size - self.signed >= self.every.leaves
    }
}

// === impl Writer ===

impl Writer {
    /// The first leaf of a log says which log it is and who signs it.
    pub(crate) fn start(&mut self) -> Result<(), AppendError> {
        let key = self.signing.signer.key().to_string();
        let body = Body {
            log: Some(self.signing.signer.key().name().to_owned()),
            key: Some(key.clone()),
            ..Body::default()
        };
        // The first checkpoint is in the same commit, so a log without any has lost them.
        self.own(Kind::Start, body, move |this, _| {
            rows::set_meta(&this.connection, "key", &key)?;
            this.sign().map(drop)
        })?;
        self.checkpoint().map(drop)
    }

    /// How a ledger is kept is a matter of protection, so a change of that is a leaf. One that is kept
    /// as usual says nothing.
    pub(crate) fn say_how_it_is_kept(&mut self, options: &Options) -> Result<(), AppendError> {
        let kept = options.kept();
        let before = match rows::meta(&self.connection, KEPT)? {
            Some(before) => before,
            None => Options::new(self.clock).kept().to_string(),
        };
        let text = kept.to_string();
        if before == text {
            return Ok(());
        }
        let body = Body {
            what: Some(SETTINGS.to_owned()),
            who: Some(options.who.clone()),
            detail: Some(kept),
            ..Body::default()
        };
        self.own(Kind::Change, body, move |this, _| Ok(rows::set_meta(&this.connection, KEPT, &text)?))
            .map(drop)
    }

    /// Signs what there is, keeps it, and sends it out. Nothing is sent that could still be lost.
    pub(crate) fn checkpoint(&mut self) -> Result<String, AppendError> {
        let signer = Arc::clone(&self.signing.signer);
        self.checkpoint_by(&[&*signer])
    }

    fn checkpoint_by(&mut self, signers: &[&dyn Signer]) -> Result<String, AppendError> {
        self.settle()?;
        let size = self.tree.size();
        let note = match rows::last_checkpoint(&self.connection)? {
            Some((last, note)) if last == size => note,
            _ => self.transact(|this| this.sign_by(signers))?,
        };
        if self.signing.signed < size {
            self.announce(&note)?;
        } else {
            // An earlier run may have signed it and not have reached everybody.
            self.publisher.publish(self.here(), note.clone());
        }
        Ok(note)
    }

    /// Signs the tree as it is, in the transaction that is open.
    pub(super) fn sign(&mut self) -> Result<String, AppendError> {
        let signer = Arc::clone(&self.signing.signer);
        self.sign_by(&[&*signer])
    }

    /// Signs the tree as it will be when the transaction that is open is committed, in that
    /// transaction: leaves and signature become durable together or not at all, so no leaf is ever
    /// unsigned. There is one head, and each takes the place of the one before (see [`rows::set_head`]);
    /// an older one is of use only to whoever wants to roll the log back.
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

    /// The signature over the tree as it is, without the text: that can be written anew from the leaves.
    pub(super) fn sign_tree(&self) -> Result<Vec<u8>, AppendError> {
        Ok(self.signing.signer.sign(self.here().text().as_bytes())?)
    }

    fn sign_by(&mut self, signers: &[&dyn Signer]) -> Result<String, AppendError> {
        let note = self.here().sign(signers)?.to_string();
        rows::set_checkpoint(&self.connection, self.tree.size(), (self.clock)(), &note)?;
        Ok(note)
    }

    fn here(&self) -> Checkpoint {
        let origin = self.signing.signer.key().name().to_owned();
        Checkpoint { origin, size: self.tree.size(), root: self.tree.root() }
    }

    /// Brings out the checkpoint of all leaves, which the store has.
    pub(super) fn announce(&mut self, note: &str) -> Result<(), AppendError> {
        self.write_file(note)?;
        self.publisher.publish(self.here(), note.to_owned());
        (self.signing.signed, self.signing.due) = (self.tree.size(), None);
        Ok(())
    }

    /// The checkpoint as a file. The store has it already, so a power cut may take the file: it is
    /// written anew on opening.
    fn write_file(&self, note: &str) -> Result<(), AppendError> {
        let path = self.dir.join(CHECKPOINT);
        replace_copy(&path, note.as_bytes(), 0o644)
            .map_err(|error| AppendError::Entry(format!("`{}`: {error}", path.display())))
    }

    /// Another key signs from here on; both keys say so.
    pub(crate) fn rotate(&mut self, new: Option<Arc<dyn Signer>>) -> Result<String, AppendError> {
        let own = new.is_none();
        let old = Arc::clone(&self.signing.signer);
        let new: Arc<dyn Signer> = match new {
            Some(new) => new,
            None => Arc::new(keys::prepare(&self.dir, old.key().name(), self.passphrase.as_deref())?),
        };
        if new.key().name() != old.key().name() || new.key() == old.key() {
            return Err(AppendError::Entry(format!("`{}` is no new key of this log", new.key())));
        }
        let seal = PendingSeal::of(&*new)?;
        let (old_signature, new_signature) = rotation(&*old, &*new, self.tree.size())?;
        let key = new.key().to_string();
        let body = Body {
            key: Some(old.key().to_string()),
            new_key: Some(key.clone()),
            old_signature: Some(old_signature),
            new_signature: Some(new_signature),
            ..Body::default()
        };
        // The new key signs from this commit on; the leaf itself still names the old one.
        self.signing.signer = Arc::clone(&new);
        let leaf =
            self.own(Kind::Rotate, body, move |this, _| Ok(rows::set_meta(&this.connection, "key", &key)?));
        if let Err(error) = leaf {
            self.signing.signer = old;
            return Err(error);
        }
        self.signing.id = new.key().id();
        // Whoever opens the ledger after a crash has the new key.
        if let Some(pending) = &mut self.pending {
            pending.reseal(seal);
        }
        if own {
            keys::install(&self.dir)?;
        }
        keys::publish(&self.dir, new.key())?;
        // Whoever only knows the old key can still believe this one.
        self.checkpoint_by(&[&*new, &*old])
    }

    /// When there is something to do again, whether or not somebody asks for it.
    pub(crate) fn due(&self) -> Option<Instant> {
        let listen = self.publisher.is_busy().then(|| Instant::now() + LISTEN);
        let pending = self.pending.as_ref().and_then(|pending| pending.due);
        [pending, self.signing.due, listen, self.tidy.idle_due()].into_iter().flatten().min()
    }

    /// Does what is due.
    pub(crate) fn tend(&mut self) {
        let now = Instant::now();
        if self.pending.as_ref().and_then(|pending| pending.due).is_some_and(|due| due <= now) {
            // If it cannot be done now, it is due again.
            drop(self.settle());
        }
        if self.signing.due.is_some_and(|due| due <= now) && self.checkpoint().is_err() {
            // The store refuses; whoever appends next learns it. Try again later.
            self.signing.due = now.checked_add(self.signing.every.age);
        }
        while let Some((size, lines)) = self.publisher.cosigned() {
            // Asked for again with the next checkpoint; until then the sinks' reports have the error.
            if let Err(error) = self.cosign(size, &lines) {
                self.publisher.report_unkept_cosignature(size, &error);
            }
        }
        self.empty_idle_journal();
    }

    /// Adds a witness's lines to the checkpoint they are for.
    fn cosign(&mut self, size: u64, lines: &[Line]) -> Result<(), AppendError> {
        let Some((last, note)) = rows::last_checkpoint(&self.connection)? else { return Ok(()) };
        let stored = Note::parse(&note);
        let unreadable =
            |error| AppendError::Entry(format!("the stored checkpoint of {last} records: {error}"));
        let there = stored.map_err(unreadable)?.signatures;
        let new = |line: &&Line| {
            !there.iter().any(|there| (&there.name, there.key_id) == (&line.name, line.key_id))
        };
        let lines: Vec<_> = lines.iter().filter(new).collect();
        if last == size && !lines.is_empty() {
            let note = lines.iter().fold(note, |note, line| note + &line.to_string() + "\n");
            self.transact(|this| Ok(rows::set_checkpoint(&this.connection, size, (this.clock)(), &note)?))?;
            self.write_file(&note)?;
        }
        Ok(())
    }

    /// Signs everything and waits for the sinks.
    pub(crate) fn finish(&mut self) -> Result<(), AppendError> {
        self.checkpoint()?;
        self.publisher.finish();
        while let Some((size, lines)) = self.publisher.cosigned() {
            self.cosign(size, &lines)?;
        }
        if self.brief {
            // What the journal has is as durable as what the database has; moving it can wait.
            let journal = std::fs::metadata(self.dir.join(format!("{DATABASE}-wal")));
            let short = journal.is_ok_and(|journal| journal.len() <= SHORT_JOURNAL);
            self.connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, short)?;
        }
        Ok(())
    }
}
