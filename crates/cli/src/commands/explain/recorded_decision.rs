// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Which recorded decision is meant: by its number, its id, the beginning or end of it, or `last`.

use tenterhook_guard::Book;
use tenterhook_ledger::{Filter, Reader, StoredRecord};
use tenterhook_records::recorded::RecordedDecision;

use crate::context::Context;
use crate::error::CommandError;

/// An event id has so many letters.
const ID_LETTERS: usize = 26;
/// Fewer letters of an id are not enough to tell decisions apart.
const MIN_ID_LETTERS: usize = 4;
/// How many of the latest records are searched for a part of an id.
const MAX_SEARCHED_RECORDS: u64 = 10_000;

pub(super) fn find_recorded_decision(
    context: &Context,
    said: &str,
) -> Result<RecordedDecision, CommandError> {
    let reader = Book::of(context.home()?).read()?;
    let unknown = || {
        CommandError::user(format!("no decision `{said}` in the ledger"))
            .hint("`tenterhook ledger query` lists decisions with their numbers; `last` is the latest")
    };
    let record = find_record(&reader, said)?.ok_or_else(unknown)?;
    RecordedDecision::from_record(&record)
}

fn find_record(reader: &Reader, said: &str) -> Result<Option<StoredRecord>, CommandError> {
    let failed = |error: tenterhook_ledger::ReadError| CommandError::internal(error.to_string());
    if said == "last" || said == "latest" {
        let decisions = Filter { kind: Some(tenterhook_ledger::LeafKind::Decision), ..Filter::default() };
        return Ok(reader.query(&decisions, 1).map_err(failed)?.records.pop());
    }
    if let Ok(seq) = said.trim_start_matches('#').parse::<u64>() {
        return reader.get(seq).map_err(failed);
    }
    let wanted = said.to_ascii_uppercase();
    if wanted.len() == ID_LETTERS {
        let seq = reader.find(&wanted).map_err(failed)?;
        return Ok(seq.map(|seq| reader.get(seq)).transpose().map_err(failed)?.flatten());
    }
    if wanted.len() < MIN_ID_LETTERS {
        return Ok(None);
    }
    let recent = reader.query(&Filter::default(), MAX_SEARCHED_RECORDS).map_err(failed)?.records;
    let fits = |record: &StoredRecord| {
        let leaf = tenterhook_records::recorded::envelope(record);
        let id = leaf.get("id").and_then(serde_json::Value::as_str).unwrap_or_default();
        id.starts_with(&wanted) || id.ends_with(&wanted)
    };
    let mut fitting = recent.into_iter().filter(fits);
    match (fitting.next(), fitting.next()) {
        (found, None) => Ok(found),
        _ => Err(CommandError::user(format!("more than one decision fits `{said}`"))
            .hint("give more of its id, or the number of its record")),
    }
}
