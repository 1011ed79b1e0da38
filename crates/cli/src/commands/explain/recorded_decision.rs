// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Finds a recorded decision by its number, its id, the beginning or end of its id, or `last`.

use tenterhook_guard::LedgerHandle;
use tenterhook_ledger::{Filter, Reader, StoredRecord};
use tenterhook_records::recorded::RecordedDecision;

use crate::context::Context;
use crate::error::CommandError;

/// Length of an event id.
const ID_LETTERS: usize = 26;
/// Minimum length of a part of an id; shorter parts match too many decisions.
const MIN_ID_LETTERS: usize = 4;
/// Maximum number of recent records that are searched for a part of an id.
const MAX_SEARCHED_RECORDS: u64 = 10_000;

pub(super) fn find_recorded_decision(
    context: &Context,
    reference: &str,
) -> Result<RecordedDecision, CommandError> {
    let reader = LedgerHandle::of(context.home()?).reader()?;
    let unknown = || {
        CommandError::user(format!("no decision `{reference}` in the ledger"))
            .hint("`tenterhook ledger query` lists decisions with their numbers; `last` is the latest")
    };
    let record = find_record(&reader, reference)?.ok_or_else(unknown)?;
    RecordedDecision::from_record(&record)
}

fn find_record(reader: &Reader, reference: &str) -> Result<Option<StoredRecord>, CommandError> {
    let failed = |error: tenterhook_ledger::ReadError| CommandError::internal(error.to_string());
    if reference == "last" || reference == "latest" {
        let decisions = Filter { kind: Some(tenterhook_ledger::LeafKind::Decision), ..Filter::default() };
        return Ok(reader.query(&decisions, 1).map_err(failed)?.records.pop());
    }
    if let Ok(seq) = reference.trim_start_matches('#').parse::<u64>() {
        return reader.get(seq).map_err(failed);
    }
    let wanted = reference.to_ascii_uppercase();
    if wanted.len() == ID_LETTERS {
        let seq = reader.find(&wanted).map_err(failed)?;
        return Ok(seq.map(|seq| reader.get(seq)).transpose().map_err(failed)?.flatten());
    }
    if wanted.len() < MIN_ID_LETTERS {
        return Ok(None);
    }
    let recent = reader.query(&Filter::default(), MAX_SEARCHED_RECORDS).map_err(failed)?.records;
    let matches_id = |record: &StoredRecord| {
        let leaf = tenterhook_records::recorded::envelope(record);
        let id = leaf.get("id").and_then(serde_json::Value::as_str).unwrap_or_default();
        id.starts_with(&wanted) || id.ends_with(&wanted)
    };
    let mut matches = recent.into_iter().filter(matches_id);
    match (matches.next(), matches.next()) {
        (found, None) => Ok(found),
        _ => Err(CommandError::user(format!("more than one decision matches `{reference}`"))
            .hint("use more characters of the id, or the record number")),
    }
}
