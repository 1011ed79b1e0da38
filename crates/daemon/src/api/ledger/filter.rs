// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Which leaves are meant, as a query says it.

use axum::http::StatusCode;
use axum::response::Response;
use serde::Deserialize;
use tenterhook_event::Timestamp;
use tenterhook_home::{door, moment};
use tenterhook_ledger::{Filter, Kind, Record};

use crate::api::refuse;

const VERDICTS: &[&str] = &["none", "allow", "defer", "ask", "deny"];
const KINDS: &[Kind] =
    &[Kind::Start, Kind::Decision, Kind::Seen, Kind::Change, Kind::Erase, Kind::Rotate, Kind::Prune];

/// What was asked for.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Asked {
    session: Option<String>,
    harness: Option<String>,
    tool: Option<String>,
    verdict: Option<String>,
    rule: Option<String>,
    kind: Option<String>,
    since: Option<String>,
    until: Option<String>,
    text: Option<String>,
    pub(super) limit: Option<u64>,
    pub(super) before: Option<u64>,
    pub(super) from: Option<u64>,
}

impl Asked {
    /// The filter, if every word is one.
    pub(super) fn filter(self) -> Result<Filter, Box<Response>> {
        let wrong =
            |message: String, hint: &str| Box::new(refuse(StatusCode::BAD_REQUEST, &message, Some(hint)));
        let when = |text: Option<String>| {
            let read = |text: String| {
                moment::read(&text, door::now_ms())
                    .map_err(|hint| wrong(format!("`{text}` is no moment"), &hint))
            };
            text.map(read).transpose().map(|at| at.map(Timestamp::unix_ms))
        };
        if let Some(verdict) = self.verdict.as_deref().filter(|verdict| !VERDICTS.contains(verdict)) {
            return Err(wrong(format!("`{verdict}` is no verdict"), "say none, allow, defer, ask or deny"));
        }
        let kind = match self.kind.as_deref() {
            None => None,
            Some(word) => Some(*KINDS.iter().find(|kind| kind.word() == word).ok_or_else(|| {
                let known: Vec<_> = KINDS.iter().map(|kind| kind.word()).collect();
                wrong(format!("`{word}` is no kind of leaf"), &format!("known: {}", known.join(", ")))
            })?),
        };
        Ok(Filter {
            session: self.session,
            harness: self.harness,
            tool: self.tool,
            verdict: self.verdict,
            rule: self.rule,
            kind,
            from_ms: when(self.since)?,
            until_ms: when(self.until)?,
            text: self.text,
            before: self.before,
        })
    }
}

/// Whether a leaf fits, for whoever has it in hand. The same as the ledger's own search.
pub(super) fn fits(filter: &Filter, record: &Record) -> bool {
    if *filter == Filter::default() {
        return true;
    }
    let Some(Ok(leaf)) = record.envelope() else { return false };
    let is = |said: &Option<String>, found: Option<&str>| said.is_none() || said.as_deref() == found;
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

/// Whether JSON holds a text, as it stands in JSON, whatever the case of its ASCII letters.
fn contains(json: &[u8], text: &str) -> bool {
    let quoted = serde_json::Value::String(text.to_owned()).to_string();
    let sought = quoted.get(1..quoted.len().saturating_sub(1)).unwrap_or_default().as_bytes();
    sought.is_empty() || json.windows(sought.len()).any(|part| part.eq_ignore_ascii_case(sought))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_filter_is_said_to_be_none() {
        for query in ["verdict=no", "kind=x", "since=yesterday", "until=-"] {
            let (key, value) = query.split_once('=').unwrap();
            let asked: Asked = serde_json::from_value(serde_json::json!({key: value})).unwrap();
            assert!(asked.filter().is_err(), "{query}");
        }
        assert!(serde_json::from_value::<Asked>(serde_json::json!({"sesion": "x"})).is_err());
    }

    #[test]
    fn a_text_is_found_as_it_stands_in_json() {
        let json = r#"{"command":"echo \"Hi\" ümlaut"}"#.as_bytes();
        assert!(contains(json, "echo \"hi\"") && contains(json, "ümlaut") && !contains(json, "nope"));
    }
}
