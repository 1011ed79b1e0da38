// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Describes rules in words: what they match, what happens if a match is not certain, and their examples.

use tenterhook_event::Decision;

use crate::compile::{self, usual_events};
use crate::conditions::describe::format_code;
use crate::examples::describe_example;
use crate::load::read_rule_file;
use crate::load::wire::{RuleExample, RuleExamples};
use crate::rule::{Rule, RuleLimit};
use crate::source::RuleSource;

/// A rule in words, as Markdown text.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct RulePage {
    /// Id of the rule.
    pub id: String,
    /// What the rule matches: one line for each alternative.
    pub matches: Vec<String>,
    /// What happens if a match is not certain, or if a part of the call was not understood.
    pub certainty: Vec<String>,
    /// Calls that the rule denies or asks about, as code.
    pub dangerous: Vec<String>,
    /// Calls that the rule does not match, as code.
    pub harmless: Vec<String>,
}

/// Describes the valid rules of a file.
pub fn rule_pages(source: &RuleSource<'_>) -> Vec<RulePage> {
    let Some(file) = read_rule_file(source, &mut Vec::new()) else { return Vec::new() };
    let pages = file.rules.into_iter().filter_map(|(spot, mut spec)| {
        let examples = std::mem::take(&mut spec.examples);
        let rule = compile::compile_rule(spec, &file.header, 0, spot, source).ok()?;
        Some(RulePage::new(&rule, &examples))
    });
    pages.collect()
}

impl RulePage {
    fn new(rule: &Rule, examples: &RuleExamples) -> Self {
        let is_budget = matches!(rule.limit, Some(RuleLimit::Budget(_)));
        let write = |example: &RuleExample| format_code(&describe_example(example));
        Self {
            id: rule.id().to_owned(),
            matches: rule.matcher.describe(usual_events(is_budget)),
            certainty: describe_certainty(rule),
            dangerous: examples.deny.iter().chain(&examples.ask).map(write).collect(),
            harmless: examples.allow.iter().map(write).collect(),
        }
    }

    /// Returns the sections of the page, each with its title and lines. At most `max_examples` of each kind are
    /// listed.
    pub fn sections(&self, max_examples: usize) -> Vec<(&'static str, Vec<String>)> {
        let shorten = |examples: &[String]| {
            let more = examples.len().saturating_sub(max_examples);
            let rest = (more > 0).then(|| format!("and {more} more"));
            examples.iter().take(max_examples).cloned().chain(rest).collect::<Vec<_>>()
        };
        let sections = [
            ("Matches, if one of these is true", self.matches.clone()),
            ("If the match is not certain", self.certainty.clone()),
            ("Dangerous examples", shorten(&self.dangerous)),
            ("Harmless examples", shorten(&self.harmless)),
        ];
        sections.into_iter().filter(|(_, lines)| !lines.is_empty()).collect()
    }
}

fn describe_certainty(rule: &Rule) -> Vec<String> {
    let mut lines = Vec::new();
    let open = rule.matcher.compares_open_values();
    let possible = match rule.verdict {
        Decision::Deny => "A path or host that only possibly matches is asked about instead of denied.",
        Decision::Ask => "A path or host that only possibly matches is asked about too.",
        _ => "A path or host that only possibly matches does not count.",
    };
    lines.extend(open.then(|| possible.to_owned()));
    let objects = matches!(rule.verdict, Decision::Deny | Decision::Ask);
    lines.extend(objects.then(|| match rule.unread {
        Some(decision) => {
            format!(
                "A part of the call that was not understood and mentions what the rule looks for: {decision}."
            )
        }
        None => "A part of the call that was not understood is ignored.".to_owned(),
    }));
    lines
}
