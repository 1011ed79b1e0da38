// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Sessions of the past as leaves of the ledger.

use serde::Serialize;
use tenterhook_event::Event;
use tenterhook_guard::Book;
use tenterhook_home::Home;
use tenterhook_ledger::{Appended, Entry, Filter, Kind, Ledger, Reader};
use tenterhook_records::secrets;

use crate::error::CommandError;
use crate::terminal::{GOOD, WARN, count};

/// How many leaves are written together.
const TOGETHER: usize = 500;

/// An import under way.
pub(super) struct Import {
    book: Book,
    /// Absent where a daemon holds the ledger: it takes in what is spooled.
    ledger: Option<Ledger>,
    /// What is recorded already.
    reader: Option<Reader>,
    /// The session that was looked at last, and whether it was guarded: then all of it is recorded.
    session: Option<(String, bool)>,
    waiting: Vec<Entry>,
    imported: Imported,
}

/// What came of it.
#[derive(Debug, Default, Serialize)]
pub(super) struct Imported {
    /// Events that are leaves now, or will be once the daemon has taken them in.
    events: u64,
    /// Events that were leaves before.
    known: u64,
    /// Events of sessions that were guarded, so that they are recorded as they were decided.
    guarded: u64,
    /// Whether the daemon has to take them in first.
    spooled: bool,
    /// Why it was broken off.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) failed: Option<String>,
}

impl Import {
    pub(super) fn begin(home: &Home) -> Result<Self, CommandError> {
        let book = Book::of(home);
        let spooled = tenterhook_home::socket::is_listening(&home.socket());
        let ledger = if spooled { None } else { Some(book.write()?) };
        // Without a ledger nothing is recorded yet.
        let reader = book.read().ok();
        let imported = Imported { spooled, ..Imported::default() };
        Ok(Self { book, ledger, reader, session: None, waiting: Vec::new(), imported })
    }

    /// One more event. After a failure nothing more is written.
    pub(super) fn event(&mut self, event: &Event) {
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
        self.waiting.push(Entry::seen(event, &secrets));
        if self.waiting.len() >= TOGETHER {
            self.write();
        }
    }

    /// Whether hooks have recorded the session of an event already.
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
            kind: Some(Kind::Decision),
            ..Filter::default()
        };
        let guarded = reader.query(&filter, 1).is_ok_and(|page| !page.records.is_empty());
        self.session = Some((id.clone(), guarded));
        guarded
    }

    fn write(&mut self) {
        let entries = std::mem::take(&mut self.waiting);
        let many = u64::try_from(entries.len()).unwrap_or(0);
        let Some(ledger) = &self.ledger else {
            match self.book.keep(entries) {
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

    pub(super) fn end(mut self) -> Imported {
        if self.imported.failed.is_none() && !self.waiting.is_empty() {
            self.write();
        }
        if let Some(ledger) = self.ledger.take()
            && let Err(error) = self.book.close(ledger)
        {
            self.imported.failed.get_or_insert(error.to_string());
        }
        self.imported
    }
}

impl Imported {
    pub(super) fn words(&self) -> String {
        let events = count(usize::try_from(self.events).unwrap_or(usize::MAX), "event");
        let when = if self.spooled { "; the daemon takes them in" } else { "" };
        let mut text = format!("{GOOD}✓{GOOD:#} {events} imported, {} were there before{when}\n", self.known);
        if self.guarded > 0 {
            text += &format!(
                "  {} are of sessions that were guarded, and are recorded as decided\n",
                self.guarded
            );
        }
        if let Some(why) = &self.failed {
            text += &format!("{WARN}note{WARN:#}: the import was broken off: {why}\n");
        }
        text
    }
}
