// SPDX-License-Identifier: Apache-2.0 OR MIT

use serde_json::Value;
use tenterhook_event::{Decision, EventKind};

use super::decision_row::parse_verdict;
use super::{field, number_field, optional_text, sorted_counts, text_field, time_ms};

/// Maximum number of kinds of events that a folded row names.
const MAX_FOLDED_KINDS: usize = 3;

/// A call with its decision and its result as a row, or a row of folded events.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct CallRow {
    /// Number of the decision's record; of the newest record if the row is folded.
    pub(crate) seq: u64,
    pub(crate) ts: u64,
    pub(crate) harness: String,
    pub(crate) session: String,
    /// Kind of the event.
    pub(crate) event: String,
    pub(crate) tool: String,
    /// Short form of the call or message.
    pub(crate) gist: String,
    pub(crate) verdict: Decision,
    /// Whether the decision changed the call's arguments.
    pub(crate) rewritten: bool,
    /// Rule or hook that decided.
    pub(crate) by: String,
    /// Result of the call; `None` if the call did not run or has not ended.
    pub(crate) result: Option<CallRunResult>,
    pub(crate) folded: Option<FoldedEvents>,
    /// The harness's id for the call.
    tool_use_id: String,
    kind: Option<EventKind>,
    /// Lower-case text that the filter searches.
    search_text: String,
}

/// Result of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct CallRunResult {
    pub(crate) failed: bool,
    pub(crate) ran_ms: Option<u64>,
}

/// Consecutive events that are not calls.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FoldedEvents {
    /// Number of the oldest record.
    pub(crate) first: u64,
    pub(crate) count: u64,
    /// Numbers by kind of event, largest first.
    pub(crate) kinds: Vec<(String, u64)>,
}

/// A live event as a part of the list of calls.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum LiveCallPart {
    /// A call or prompt, or an event that was stopped: a row of its own.
    Row(CallRow),
    /// The result of a call.
    Result(CallRow),
    /// An event that is not about a call.
    Other(CallRow),
}

impl CallRow {
    /// Parses a page of rows, newest first.
    pub(crate) fn parse_page(page: &Value) -> Vec<Self> {
        super::array_field(page, "rows").iter().filter_map(Self::parse).collect()
    }

    /// Parses a row of the API, or a live event.
    fn parse(value: &Value) -> Option<Self> {
        let tool = field(value, "tool");
        let texts = || ["prompt", "said", "what"].iter().find_map(|key| optional_text(value, key));
        let result = field(value, "result");
        let result = result.is_object().then(|| CallRunResult {
            failed: field(result, "failed") == true,
            ran_ms: field(result, "ran_ms").as_u64(),
        });
        let folded = field(value, "folded");
        let folded = folded.is_object().then(|| FoldedEvents {
            first: number_field(folded, "first"),
            count: number_field(folded, "count"),
            kinds: sorted_counts(field(folded, "events")),
        });
        let row = Self {
            seq: field(value, "seq").as_u64()?,
            ts: time_ms(value, "ts"),
            harness: text_field(value, "harness"),
            session: text_field(value, "session"),
            event: text_field(value, "event"),
            tool: text_field(tool, "name"),
            gist: optional_text(tool, "gist").or_else(texts).unwrap_or_default(),
            verdict: parse_verdict(value),
            rewritten: field(value, "rewritten") == true,
            by: optional_text(value, "by").unwrap_or_else(|| text_field(value, "rule")),
            result,
            folded,
            tool_use_id: text_field(value, "tool_use_id"),
            kind: field(value, "event").as_str().and_then(|kind| kind.parse().ok()),
            search_text: String::new(),
        };
        Some(row.searchable(&text_field(value, "reason")))
    }

    fn searchable(mut self, reason: &str) -> Self {
        let (verdict, label) = (self.verdict.as_str(), self.decision_label());
        let parts = [
            verdict,
            label,
            &self.harness,
            &self.session,
            &self.event,
            &self.tool,
            &self.by,
            &self.gist,
            reason,
        ];
        self.search_text = parts.join(" ").to_lowercase();
        self
    }

    /// Number of the oldest record of the row.
    pub(crate) fn oldest(&self) -> u64 {
        self.folded.as_ref().map_or(self.seq, |folded| folded.first)
    }

    /// Returns the decision as a word.
    pub(crate) fn decision_label(&self) -> &'static str {
        match self.verdict {
            Decision::Ask | Decision::Deny => self.verdict.label(),
            _ if self.rewritten => "rewritten",
            verdict => verdict.label(),
        }
    }

    /// Whether the row is one of those that are shown by default.
    pub(crate) fn is_notable(&self) -> bool {
        self.folded.is_none() && (self.is_stopped() || self.rewritten || self.has_failed())
    }

    pub(crate) fn has_failed(&self) -> bool {
        self.result.is_some_and(|result| result.failed)
    }

    fn is_stopped(&self) -> bool {
        matches!(self.verdict, Decision::Ask | Decision::Deny)
    }

    /// Whether `result` is the result of this call.
    pub(crate) fn is_call_of(&self, result: &Self) -> bool {
        let is_call = matches!(self.kind, Some(EventKind::PreTool | EventKind::PermissionRequest));
        let same = if self.tool_use_id.is_empty() {
            result.tool_use_id.is_empty() && self.gist == result.gist
        } else {
            self.tool_use_id == result.tool_use_id
        };
        is_call && same && self.seq < result.seq && self.session == result.session && self.tool == result.tool
    }

    /// Adds an event to a row of folded events. Returns false for other rows, and for events that are not newer.
    pub(crate) fn fold(&mut self, other: &Self) -> bool {
        let Some(folded) = self.folded.as_mut().filter(|_| other.seq > self.seq) else { return false };
        folded.count += 1;
        match folded.kinds.iter_mut().find(|(kind, _)| *kind == other.event) {
            Some((_, count)) => *count += 1,
            None => folded.kinds.push((other.event.clone(), 1)),
        }
        folded.kinds.sort_by(|(a, many), (b, more)| more.cmp(many).then(a.cmp(b)));
        (self.seq, self.ts) = (other.seq, other.ts);
        true
    }

    /// Makes a row of folded events of one event.
    pub(crate) fn into_folded(mut self) -> Self {
        let kinds = vec![(self.event.clone(), 1)];
        self.folded = Some(FoldedEvents { first: self.seq, count: 1, kinds });
        self
    }

    /// Whether the row contains every word; words are in lower case.
    pub(crate) fn matches(&self, words: &[String]) -> bool {
        words.iter().all(|word| self.search_text.contains(word))
    }
}

impl LiveCallPart {
    /// Parses a live event `decided`.
    pub(crate) fn parse(event: &Value) -> Option<Self> {
        let mut row = CallRow::parse(event)?;
        let has_tool = !row.tool.is_empty();
        Some(match row.kind {
            Some(EventKind::PostTool | EventKind::ToolError) if has_tool && !row.is_stopped() => {
                let failed = row.kind == Some(EventKind::ToolError);
                row.result = Some(CallRunResult { failed, ran_ms: field(event, "ran_ms").as_u64() });
                Self::Result(row)
            }
            Some(EventKind::PreTool | EventKind::PermissionRequest) if has_tool => Self::Row(row),
            Some(EventKind::Prompt) => Self::Row(row),
            _ if row.is_stopped() => Self::Row(row),
            _ => Self::Other(row),
        })
    }
}

impl FoldedEvents {
    /// Formats the events: `12 events: 8 × notification, 4 × stop`.
    pub(crate) fn text(&self) -> String {
        let kind = |(name, count): &(String, u64)| match count {
            1 => name.clone(),
            count => format!("{count} × {name}"),
        };
        let kinds: Vec<_> = self.kinds.iter().take(MAX_FOLDED_KINDS).map(kind).collect();
        let more = if self.kinds.len() > MAX_FOLDED_KINDS { ", …" } else { "" };
        let events = if self.count == 1 { "event" } else { "events" };
        format!("{} {events}: {}{more}", self.count, kinds.join(", "))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn row(value: &Value) -> CallRow {
        CallRow::parse(value).unwrap()
    }

    #[test]
    fn a_row_has_the_decision_the_result_and_what_decided() {
        let call = row(&json!({
            "seq": 7, "ts": "2026-11-15T20:00:07.000Z", "harness": "codex", "event": "pre-tool", "session": "s",
            "tool": {"name": "Bash", "gist": "make all"}, "verdict": "none", "rewritten": true, "by": "hook:guard",
            "tool_use_id": "t", "result": {"seq": 8, "failed": true, "ran_ms": 1200, "error": "exit 2"},
        }));
        assert_eq!((call.decision_label(), call.by.as_str()), ("rewritten", "hook:guard"));
        assert_eq!(call.result, Some(CallRunResult { failed: true, ran_ms: Some(1200) }));
        assert!(call.is_notable() && call.matches(&["make".to_owned(), "rewritten".to_owned()]));
        let folded = row(&json!({
            "seq": 12, "event": "stop", "folded": {"first": 3, "count": 9, "events": {"stop": 1, "notification": 8}},
        }));
        assert_eq!(folded.folded.as_ref().unwrap().text(), "9 events: 8 × notification, stop");
        assert!(folded.oldest() == 3 && !folded.is_notable());
    }

    #[test]
    fn a_result_belongs_to_the_call_with_the_same_id_or_the_same_arguments() {
        let call = |id: &str| json!({"seq": 1, "event": "pre-tool", "session": "s", "tool_use_id": id, "tool": {"name": "Bash", "gist": "ls"}});
        let ended = |id: &str, gist: &str| {
            let LiveCallPart::Result(row) =
                LiveCallPart::parse(&json!({"seq": 2, "event": "post-tool", "session": "s",
                "tool_use_id": id, "tool": {"name": "Bash", "gist": gist}, "ran_ms": 5}))
                .unwrap()
            else {
                panic!("a result")
            };
            row
        };
        assert!(row(&call("t-1")).is_call_of(&ended("t-1", "ls -la")), "the id counts");
        assert!(!row(&call("t-1")).is_call_of(&ended("t-2", "ls")));
        assert!(row(&call("")).is_call_of(&ended("", "ls")) && !row(&call("")).is_call_of(&ended("", "pwd")));
    }
}
