// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Converts a query's filter to the ledger's filter type.

use tenterhook_api::{LedgerFilter, RecordKind};
use tenterhook_event::Timestamp;
use tenterhook_home::call_meta;
use tenterhook_ledger::{Filter, LeafKind, StoredRecord};
use tenterhook_records::time_spec;

use crate::api::error::ApiError;

/// Builds the ledger's filter; fails if a time is invalid.
pub(super) fn ledger_filter(query: LedgerFilter, before: Option<u64>) -> Result<Filter, ApiError> {
    let LedgerFilter { session, harness, tool, verdict, rule, kind, since, until, text } = query;
    Ok(Filter {
        session,
        harness,
        tool,
        verdict: verdict.map(|verdict| verdict.as_str().to_owned()),
        rule,
        kind: kind.map(record_kind),
        from_ms: parse_time(since)?,
        until_ms: parse_time(until)?,
        text,
        before,
    })
}

fn parse_time(text: Option<String>) -> Result<Option<u64>, ApiError> {
    let Some(text) = text else { return Ok(None) };
    let read = time_spec::parse_time_spec(&text, call_meta::now_ms());
    let read = read
        .map_err(|error| ApiError::bad_request(format!("invalid time `{text}`")).hint(error.to_string()))?;
    Ok(Some(read.unix_ms()))
}

fn record_kind(kind: RecordKind) -> LeafKind {
    match kind {
        RecordKind::Start => LeafKind::Start,
        RecordKind::Decision => LeafKind::Decision,
        RecordKind::Seen => LeafKind::Seen,
        RecordKind::Change => LeafKind::Change,
        RecordKind::Erase => LeafKind::Erase,
        RecordKind::Rotate => LeafKind::Rotate,
        RecordKind::Prune => LeafKind::Prune,
    }
}

/// Whether a record matches the filter. Applies the same rules as the ledger's search.
pub(super) fn matches_filter(filter: &Filter, record: &StoredRecord) -> bool {
    if *filter == Filter::default() {
        return true;
    }
    let Some(Ok(leaf)) = record.envelope() else { return false };
    let is = |wanted: &Option<String>, found: Option<&str>| wanted.is_none() || wanted.as_deref() == found;
    let ms = leaf.ts.parse().map(Timestamp::unix_ms).unwrap_or_default();
    let payload = record.payload.as_ref().and_then(|payload| payload.bytes.as_deref());
    let has = |text: &String| {
        [record.bytes.as_deref(), payload].into_iter().flatten().any(|bytes| contains(bytes, text))
    };
    is(&filter.session, leaf.harness_session_id.as_deref())
        && is(&filter.harness, leaf.source.as_deref())
        && is(&filter.tool, leaf.tool.as_ref().map(|tool| &*tool.name))
        && is(&filter.verdict, leaf.verdict.as_deref())
        && is(&filter.rule, leaf.policy_rule_id.as_deref())
        && filter.kind.is_none_or(|kind| kind == leaf.kind)
        && filter.from_ms.is_none_or(|from| ms >= from)
        && filter.until_ms.is_none_or(|until| ms < until)
        && filter.text.as_ref().is_none_or(has)
}

/// Whether JSON contains a string in its JSON form. ASCII letters match in either case.
fn contains(json: &[u8], text: &str) -> bool {
    let quoted = serde_json::Value::String(text.to_owned()).to_string();
    let sought = quoted.get(1..quoted.len().saturating_sub(1)).unwrap_or_default().as_bytes();
    sought.is_empty() || json.windows(sought.len()).any(|part| part.eq_ignore_ascii_case(sought))
}

#[cfg(test)]
mod tests {
    use axum::extract::Query;
    use tenterhook_api::LedgerQuery;

    use super::*;

    #[test]
    fn invalid_filters_are_errors() {
        let read = |query: &str| {
            let uri = format!("/v1/ledger?{query}").parse().unwrap();
            Query::<LedgerQuery>::try_from_uri(&uri).map(|Query(query)| query)
        };
        for query in ["verdict=no", "kind=x", "sesion=x", "limit=-1", "limit=x"] {
            assert!(read(query).is_err(), "{query}");
        }
        for query in ["since=yesterday", "until=-"] {
            assert!(ledger_filter(read(query).unwrap().filter(), None).is_err(), "{query}");
        }
        let filter = ledger_filter(read("verdict=deny&kind=seen&limit=5").unwrap().filter(), None).unwrap();
        assert_eq!((filter.verdict.as_deref(), filter.kind), (Some("deny"), Some(LeafKind::Seen)));
    }

    #[test]
    fn a_text_is_found_as_it_stands_in_json() {
        let json = r#"{"command":"echo \"Hi\" ümlaut"}"#.as_bytes();
        assert!(contains(json, "echo \"hi\"") && contains(json, "ümlaut") && !contains(json, "nope"));
    }
}
