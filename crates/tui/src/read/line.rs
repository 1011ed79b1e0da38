// SPDX-License-Identifier: Apache-2.0 OR MIT

use serde_json::Value;
use tenterhook_event::{Decision, ToolCall, ToolClass};

use super::{at, moment, number, some, text};
use crate::plain;

/// One decision as one line.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Line {
    pub(crate) seq: u64,
    pub(crate) ts: u64,
    pub(crate) harness: String,
    pub(crate) session: String,
    pub(crate) event: String,
    pub(crate) tool: String,
    /// What was to be done, or was said.
    pub(crate) gist: String,
    pub(crate) verdict: Decision,
    pub(crate) rule: String,
    pub(crate) reason: String,
    pub(crate) took_us: u64,
    /// All of it in small letters, to be searched.
    sought: String,
}

impl Line {
    /// A decision that was just told.
    pub(crate) fn told(news: &Value) -> Option<Self> {
        let tool = at(news, "tool");
        Some(
            Self {
                seq: at(news, "seq").as_u64()?,
                ts: moment(news, "ts"),
                harness: text(news, "harness"),
                session: text(news, "session"),
                event: text(news, "event"),
                tool: text(tool, "name"),
                gist: some(tool, "gist").or_else(|| some(news, "prompt")).unwrap_or_default(),
                verdict: verdict(news),
                rule: some(news, "by").unwrap_or_else(|| text(news, "rule")),
                reason: text(news, "reason"),
                took_us: number(news, "took_us"),
                sought: String::new(),
            }
            .searchable(),
        )
    }

    /// A leaf of the ledger.
    pub(crate) fn recorded(record: &Value) -> Option<Self> {
        let (leaf, payload) = (at(record, "leaf"), at(record, "payload"));
        if at(leaf, "kind") != "decision" {
            return None;
        }
        let detail = at(payload, "detail");
        let said = ["prompt", "response", "message", "error", "cause"];
        let said = || said.iter().find_map(|key| some(detail, key));
        let gist = at(leaf, "tool").as_object().map(|_| gist(leaf, payload));
        Some(
            Self {
                seq: at(record, "seq").as_u64()?,
                ts: moment(leaf, "ts"),
                harness: text(leaf, "source"),
                session: text(leaf, "harness_session_id"),
                event: text(leaf, "event"),
                tool: text(at(leaf, "tool"), "name"),
                gist: gist.or_else(said).unwrap_or_default(),
                verdict: verdict(leaf),
                rule: some(leaf, "policy_rule_id").or_else(|| deciding_hook(leaf)).unwrap_or_default(),
                reason: text(leaf, "reason"),
                took_us: number(leaf, "took_us"),
                sought: String::new(),
            }
            .searchable(),
        )
    }

    fn searchable(mut self) -> Self {
        let parts = [
            self.verdict.word(),
            &self.harness,
            &self.session,
            &self.event,
            &self.tool,
            &self.rule,
            &self.gist,
            &self.reason,
        ];
        self.sought = parts.join(" ").to_lowercase();
        self
    }

    /// Whether every word occurs somewhere; the words are in small letters.
    pub(crate) fn fits(&self, words: &[String]) -> bool {
        words.iter().all(|word| self.sought.contains(word))
    }
}

/// The hook that decided, written `hook:<id>`.
fn deciding_hook(leaf: &Value) -> Option<String> {
    let verdict = some(leaf, "verdict").filter(|verdict| verdict != "none")?;
    let steps = at(leaf, "trace").as_array()?;
    let step =
        steps.iter().find(|step| text(step, "decision") == verdict && text(step, "by").starts_with("hook:"));
    step.map(|step| text(step, "by"))
}

pub(super) fn verdict(value: &Value) -> Decision {
    serde_json::from_value(at(value, "verdict").clone()).unwrap_or_default()
}

/// What a tool was called for. What was erased has none.
fn gist(leaf: &Value, payload: &Value) -> String {
    let args = at(payload, "args");
    if args.is_null() {
        return "(its content is gone)".to_owned();
    }
    let tool = at(leaf, "tool");
    let mut call = ToolCall::new(at(tool, "name").as_str().unwrap_or_default(), args.clone());
    if let Some(class) = at(tool, "class").as_str().and_then(ToolClass::from_name) {
        call.class = class;
    }
    plain::line(&call.gist().chars().take(500).collect::<String>())
}
