// SPDX-License-Identifier: Apache-2.0 OR MIT

use serde_json::Value;
use tenterhook_event::Decision;

use super::decision_row::parse_verdict;
use super::{array_field, field, number_field, optional_text, pretty_lines, text_field, text_lines};
use crate::message::ShownRule;

/// What the current rules decide about a call.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ExplanationDetail {
    pub(crate) verdict: Decision,
    /// Rule that decides; empty if none does.
    pub(crate) rule: String,
    /// Reason and suggestion, as an agent reads them.
    pub(crate) says: Vec<String>,
    /// Number of evaluated rules.
    pub(crate) considered: u64,
    /// Rules that match.
    pub(crate) rules: Vec<MatchedRule>,
    /// Facts on which the rules were evaluated, as JSON.
    pub(crate) facts: Vec<String>,
}

/// A rule that matches a call.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct MatchedRule {
    pub(crate) rule: String,
    pub(crate) verdict: Decision,
    /// Whether its verdict applies.
    pub(crate) counts: bool,
    pub(crate) why: String,
}

/// A rule drafted from a call.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct RuleDraft {
    pub(crate) id: String,
    /// The rule as YAML.
    pub(crate) yaml: Vec<String>,
    /// Why the rule cannot be added.
    pub(crate) problems: Vec<String>,
    /// The change to the policy; `None` if the rule cannot be added.
    pub(crate) change: Option<ShownRule>,
}

impl ExplanationDetail {
    pub(crate) fn parse(answer: &Value) -> Self {
        let rule = |rule: &Value| MatchedRule {
            rule: text_field(rule, "rule"),
            verdict: parse_verdict(rule),
            counts: field(rule, "counts") == true,
            why: text_field(rule, "why"),
        };
        let is_match = |rule: &&Value| field(rule, "matched") == true;
        Self {
            verdict: parse_verdict(answer),
            rule: text_field(answer, "rule"),
            says: text_lines(answer, "says"),
            considered: number_field(answer, "considered"),
            rules: array_field(answer, "rules").iter().filter(is_match).map(rule).collect(),
            facts: pretty_lines(field(answer, "facts")),
        }
    }
}

impl RuleDraft {
    pub(crate) fn parse(answer: &Value) -> Self {
        let validation = field(answer, "validation");
        let id = array_field(answer, "ids").first().and_then(Value::as_str).unwrap_or_default();
        // The policy is written as it is, so it does not pass through `plain`.
        let raw = |key: &str| field(answer, key).as_str().map(ToOwned::to_owned);
        let change = raw("text").filter(|_| field(validation, "ok") == true).map(|after| ShownRule {
            id: id.to_owned(),
            before: raw("before").unwrap_or_default(),
            after,
        });
        Self {
            id: crate::plain::single_line(id),
            yaml: text_lines(answer, "yaml"),
            problems: array_field(validation, "problems")
                .iter()
                .filter_map(|problem| optional_text(problem, "message"))
                .collect(),
            change,
        }
    }
}
