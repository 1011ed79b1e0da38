// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Finds what a user refers to: a record, session or approval by its number, its id, the beginning or end of its id,
//! or `last`.

use tenterhook_error::Failure;
use tenterhook_ledger::{Filter, LeafKind, ReadError, Reader, StoredRecord};

use crate::recorded::envelope;

/// Length of an event id.
const ID_LETTERS: usize = 26;
/// Minimum length of a part of an event id; shorter parts match too many records.
const MIN_ID_LETTERS: usize = 4;
/// Maximum number of recent records that are searched for a part of an id.
const MAX_SEARCHED_RECORDS: u64 = 10_000;
/// Maximum number of candidates that an error lists.
const MAX_LISTED_CANDIDATES: usize = 5;

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

/// Finds a record by its number, the id of its event, a part of that id, or `last` (the latest decision).
pub fn find_record(reader: &Reader, reference: &str) -> Result<Option<StoredRecord>, Failure> {
    let failed = |error: ReadError| {
        Failure::internal(error.to_string()).hint("`tenterhook ledger verify` checks the ledger")
    };
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
    let candidates = recent.into_iter().filter_map(|record| {
        let id = envelope(&record).get("id")?.as_str()?.to_owned();
        Some(IdCandidate { label: format!("{} ({id})", record.seq), id, item: record })
    });
    select_by_id(reference, "record", candidates)
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
