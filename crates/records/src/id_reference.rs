// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Finds what a user refers to: a record, session or approval by its number, its id, the beginning or end of its id,
//! or `last`.

use serde_json::Value;
use tenterhook_error::Failure;
use tenterhook_event::EventId;
use tenterhook_ledger::{Filter, LeafKind, ReadError, Reader, StoredRecord};

use crate::recorded::{JsonField as _, envelope};

/// Length of an event id.
const ID_LETTERS: usize = 26;
/// Minimum length of a part of an event id; shorter parts match too many records.
const MIN_ID_LETTERS: usize = 4;
/// Maximum number of recent records that are searched for a part of an id.
const MAX_SEARCHED_RECORDS: u64 = 10_000;
/// Maximum number of candidates that an error lists.
const MAX_LISTED_CANDIDATES: usize = 5;

/// Verdicts that stop a call until a user answers or allows it.
const STOPPING_VERDICTS: &[&str] = &["ask", "deny"];

/// Short name of a record about a call that was stopped; `None` for other records.
pub fn short_name(leaf: &Value) -> Option<String> {
    let stopped = leaf.field("verdict").as_str().is_some_and(|verdict| STOPPING_VERDICTS.contains(&verdict));
    let id: EventId = leaf.field("id").as_str().filter(|_| stopped)?.parse().ok()?;
    Some(id.short_name())
}

/// Whether a reference means the newest item.
pub fn is_latest(reference: &str) -> bool {
    matches!(reference, "last" | "latest")
}

/// Something with an id, and how errors name it.
#[derive(Debug, Clone)]
pub struct IdCandidate<T> {
    /// Id of the item.
    pub id: String,
    /// The item itself.
    pub item: T,
    /// Its name in a list of candidates, such as `15 (01M7F3GRZQ0000000000000001)`.
    pub label: String,
}

/// Selects the item that a reference names: `last`, an id, or the beginning or end of exactly one id, ignoring case.
/// The newest candidate comes first. `noun` names the items in the error about an ambiguous reference.
pub fn select_by_id<T>(
    reference: &str,
    noun: &str,
    candidates: impl IntoIterator<Item = IdCandidate<T>>,
) -> Result<Option<T>, Failure> {
    let wanted = reference.to_ascii_lowercase();
    let mut matching = Vec::new();
    for candidate in candidates {
        let id = candidate.id.to_ascii_lowercase();
        if is_latest(reference) || id == wanted {
            return Ok(Some(candidate.item));
        }
        if id.starts_with(&wanted) || id.ends_with(&wanted) {
            matching.push(candidate);
        }
    }
    match matching.len() {
        0 | 1 => Ok(matching.pop().map(|candidate| candidate.item)),
        many => {
            let mut listed: Vec<_> =
                matching.into_iter().take(MAX_LISTED_CANDIDATES).map(|candidate| candidate.label).collect();
            if many > MAX_LISTED_CANDIDATES {
                listed.push(format!("and {} more", many - MAX_LISTED_CANDIDATES));
            }
            Err(Failure::user(format!("more than one {noun} matches `{reference}`"))
                .hint(format!("use more characters of the id: {}", listed.join(", "))))
        }
    }
}

/// Finds the record of a call that was stopped, like [`find_record`]. `last` is the latest stopped call.
pub fn find_stopped_call(reader: &Reader, reference: &str) -> Result<Option<StoredRecord>, Failure> {
    if !is_latest(reference) {
        return find_record(reader, reference);
    }
    let mut latest: Option<StoredRecord> = None;
    for verdict in STOPPING_VERDICTS {
        let filter = Filter {
            kind: Some(LeafKind::Decision),
            verdict: Some((*verdict).to_owned()),
            ..Filter::default()
        };
        let found = reader.query(&filter, 1).map_err(|error| read_failure(&error))?.records.pop();
        latest = latest.into_iter().chain(found).max_by_key(|record| record.seq);
    }
    Ok(latest)
}

fn read_failure(error: &ReadError) -> Failure {
    Failure::internal(error.to_string()).hint("`tenterhook ledger verify` checks the ledger")
}

/// Finds a record by its number, the id of its event, a part of that id, the short name of a stopped call, or `last`
/// (the latest decision).
pub fn find_record(reader: &Reader, reference: &str) -> Result<Option<StoredRecord>, Failure> {
    let failed = |error: ReadError| read_failure(&error);
    if is_latest(reference) {
        let decisions = Filter { kind: Some(LeafKind::Decision), ..Filter::default() };
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
    let wanted_name = reference.to_ascii_lowercase();
    let mut named = Vec::new();
    let mut candidates = Vec::new();
    for record in recent {
        let leaf = envelope(&record);
        let Some(id) = leaf.text("id") else { continue };
        if short_name(&leaf).as_ref() == Some(&wanted_name) {
            named.push(record.clone());
        }
        candidates.push(IdCandidate { label: format!("{} ({id})", record.seq), id, item: record });
    }
    match (named.len(), named.pop()) {
        (1, Some(record)) => Ok(Some(record)),
        (0, _) => select_by_id(reference, "record", candidates),
        _ => Err(Failure::user(format!("more than one record has the name `{reference}`"))
            .hint("use the record number: `tenterhook ledger query` lists it")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn select(reference: &str) -> Result<Option<usize>, Failure> {
        let ids = ["01ABCD-new", "01ABCE-old", "77x", "01ab"];
        let candidates = ids.iter().enumerate().map(|(item, id)| IdCandidate {
            id: (*id).to_owned(),
            item,
            label: (*id).to_owned(),
        });
        select_by_id(reference, "session", candidates)
    }

    #[test]
    fn beginnings_ends_and_last_are_found_ignoring_case() {
        assert_eq!(select("last").unwrap(), Some(0));
        assert_eq!(select("latest").unwrap(), Some(0));
        assert_eq!(select("01abce").unwrap(), Some(1));
        assert_eq!(select("OLD").unwrap(), Some(1));
        assert_eq!(select("77x").unwrap(), Some(2));
        assert_eq!(select("nope").unwrap(), None);
    }

    #[test]
    fn an_exact_id_wins_over_longer_ids() {
        assert_eq!(select("01AB").unwrap(), Some(3));
    }

    #[test]
    fn an_ambiguous_reference_lists_the_candidates() {
        let error = select("01abc").unwrap_err();
        assert_eq!(error.message, "more than one session matches `01abc`");
        assert_eq!(error.hints, ["use more characters of the id: 01ABCD-new, 01ABCE-old"]);
    }
}
