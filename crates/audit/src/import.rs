// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Imports past sessions into the ledger.

use serde::Serialize;
use tenterhook_error::Failure;
use tenterhook_event::Event;
use tenterhook_guard::LedgerHandle;
use tenterhook_home::Home;
use tenterhook_ledger::{Appended, Filter, LeafKind, Ledger, LedgerEntry, Reader};
use tenterhook_records::secrets;

/// Number of records per write.
const IMPORT_BATCH_RECORDS: usize = 500;

/// An import in progress. Sessions that hooks have already recorded are skipped.
pub struct TranscriptImport {
    book: LedgerHandle,
    /// `None` if a daemon holds the ledger. Events then go to the spool, which the daemon imports.
    ledger: Option<Ledger>,
    /// Reads the existing records.
    reader: Option<Reader>,
    /// Id of the last session, and whether hooks have recorded it.
    session: Option<(String, bool)>,
    pending: Vec<LedgerEntry>,
    imported: ImportCounts,
}

/// Result of an import.
#[derive(Debug, Default, Serialize)]
pub struct ImportCounts {
    /// Events that were recorded, or will be when the daemon imports the spool.
    pub events: u64,
    /// Events that were already recorded.
    pub known: u64,
    /// Events of guarded sessions. They are skipped, because hooks have already recorded them with their
    /// decisions.
    pub guarded: u64,
    /// Whether the events are in the spool until the daemon imports them.
    pub spooled: bool,
    /// Error that ended the import.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failed: Option<String>,
}

impl TranscriptImport {
    /// Opens the ledger, or the spool if a daemon holds the ledger.
    pub fn begin(home: &Home) -> Result<Self, Failure> {
        let book = LedgerHandle::of(home);
        let spooled = tenterhook_home::socket::is_listening(&home.socket());
        let ledger = if spooled { None } else { Some(book.writer()?) };
        // Reading fails if no ledger exists yet.
        let reader = book.reader().ok();
        let imported = ImportCounts { spooled, ..ImportCounts::default() };
        Ok(Self { book, ledger, reader, session: None, pending: Vec::new(), imported })
    }

    /// Adds an event. After a failure nothing more is written.
    pub fn add_event(&mut self, event: &Event) {
        if self.imported.failed.is_some() {
            return;
        }
        if self.is_guarded(event) {
            self.imported.guarded += 1;
            return;
        }
        let known = |reader: &Reader| reader.find(&event.id.to_string()).is_ok_and(|seq| seq.is_some());
        if self.reader.as_ref().is_some_and(known) {
            self.imported.known += 1;
            return;
        }
        self.pending.push(LedgerEntry::transcript_event(event, &secrets));
        if self.pending.len() >= IMPORT_BATCH_RECORDS {
            self.write_batch();
        }
    }

    /// Whether hooks have already recorded the session of an event.
    fn is_guarded(&mut self, event: &Event) -> bool {
        let (Some(reader), Some(id)) = (&self.reader, &event.harness_session_id) else { return false };
        if let Some((last, guarded)) = &self.session
            && last == id
        {
            return *guarded;
        }
        let filter = Filter {
            session: Some(id.clone()),
            harness: Some(event.source.clone()),
            kind: Some(LeafKind::Decision),
            ..Filter::default()
        };
        let guarded = reader.query(&filter, 1).is_ok_and(|page| !page.records.is_empty());
        self.session = Some((id.clone(), guarded));
        guarded
    }

    fn write_batch(&mut self) {
        let entries = std::mem::take(&mut self.pending);
        let many = u64::try_from(entries.len()).unwrap_or(0);
        let Some(ledger) = &self.ledger else {
            match self.book.append(entries) {
                Ok(()) => self.imported.events += many,
                Err(error) => self.imported.failed = Some(error.to_string()),
            }
            return;
        };
        let sealed =
            entries.into_iter().map(|entry| entry.seal(ledger.sealing())).collect::<Result<Vec<_>, _>>();
        let appended = match sealed {
            Ok(sealed) => ledger.append(sealed).map_err(|error| error.to_string()),
            Err(error) => Err(error.to_string()),
        };
        match appended {
            Ok(places) => {
                let new = places.iter().filter(|place| matches!(place, Appended::New { .. })).count();
                let new = u64::try_from(new).unwrap_or(0);
                self.imported.events += new;
                self.imported.known += many - new;
            }
            Err(why) => self.imported.failed = Some(why),
        }
    }

    /// Writes the remaining events and closes the ledger.
    pub fn end(mut self) -> ImportCounts {
        if self.imported.failed.is_none() && !self.pending.is_empty() {
            self.write_batch();
        }
        if let Some(ledger) = self.ledger.take()
            && let Err(error) = self.book.close(ledger)
        {
            self.imported.failed.get_or_insert(error.to_string());
        }
        self.imported
    }
}
