// SPDX-License-Identifier: Apache-2.0 OR MIT

//! A rule that is decoded when it is first needed, with only the alternatives that could match.

use std::sync::OnceLock;

use serde::Deserialize;
use tenterhook_event::Decision;

use crate::conditions::{OneOrMore, RuleMatcher};
use crate::rule::{Rule, RuleMode, Severity};
use crate::source::SourceLayer;

/// A rule that may not be decoded yet.
#[derive(Debug, Default)]
pub(super) struct LazyRule {
    whole: OnceLock<Box<Rule>>,
    /// The alternatives that were requested first, and the rule with only those.
    part: OnceLock<Box<(Vec<u16>, Rule)>>,
}

#[derive(Deserialize)]
struct EncodedRuleRecord<'a> {
    rule: Rule,
    #[serde(borrow)]
    alternatives: Vec<&'a [u8]>,
}

impl LazyRule {
    /// Returns the whole rule. With `monitor`, the rule is set to monitor mode unless it is locked.
    pub(super) fn whole<'b>(&self, record: impl FnOnce() -> Option<&'b [u8]>, monitor: bool) -> &Rule {
        self.whole.get_or_init(|| Box::new(decode(record(), None, monitor)))
    }

    /// Returns the rule with some of its alternatives, and which of them to check; `None` means all alternatives of
    /// the returned rule.
    pub(super) fn with_alternatives<'b, 'w>(
        &self,
        record: impl Fn() -> Option<&'b [u8]>,
        wanted: &'w [u16],
        monitor: bool,
    ) -> (&Rule, Option<&'w [u16]>) {
        if self.whole.get().is_none() {
            let part = self.part.get_or_init(|| {
                let rule = decode(record(), Some(wanted), monitor);
                Box::new((wanted.to_vec(), rule))
            });
            // A rule that allows has to be evaluated with all of its alternatives.
            if part.0 == wanted && matches!(part.1.verdict, Decision::Ask | Decision::Deny) {
                return (&part.1, None);
            }
        }
        (self.whole(record, monitor), Some(wanted))
    }

    #[cfg(test)]
    pub(super) fn is_whole(&self) -> bool {
        self.whole.get().is_some()
    }
}

fn decode(record: Option<&[u8]>, wanted: Option<&[u16]>, monitor: bool) -> Rule {
    let mut rule =
        record.and_then(|record| decode_record(record, wanted)).unwrap_or_else(|| undecodable_rule(record));
    if monitor && !rule.locked {
        rule.mode = RuleMode::Monitor;
    }
    rule
}

fn decode_record(record: &[u8], wanted: Option<&[u16]>) -> Option<Rule> {
    let EncodedRuleRecord { mut rule, alternatives } = decode_all(record)?;
    let alternatives = match wanted {
        None => alternatives,
        Some(wanted) => {
            let alternative = |number: &u16| alternatives.get(usize::from(*number)).copied();
            wanted.iter().map(alternative).collect::<Option<_>>()?
        }
    };
    if !alternatives.is_empty() {
        let any: Option<Vec<RuleMatcher>> = alternatives.into_iter().map(decode_all).collect();
        rule.matcher.any = Some(OneOrMore(any?));
    }
    Some(rule)
}

fn decode_all<'a, T: Deserialize<'a>>(bytes: &'a [u8]) -> Option<T> {
    let (value, rest) = postcard::take_from_bytes(bytes).ok()?;
    rest.is_empty().then_some(value)
}

/// Creates a replacement for a rule that cannot be decoded. It denies everything that the rule could have matched.
pub(crate) fn undecodable_rule(record: Option<&[u8]>) -> Rule {
    // The id is the first field of a rule.
    let id = record.and_then(|record| postcard::take_from_bytes::<&str>(record).ok());
    let id = id.map(|(id, _)| id).filter(|id| !id.is_empty()).unwrap_or("unreadable");
    Rule {
        id: id.into(),
        description: String::new(),
        severity: Severity::Critical,
        mode: RuleMode::Enforce,
        layer: SourceLayer::Baseline,
        source: "compiled rules".to_owned(),
        line: 0,
        matcher: RuleMatcher::default(),
        verdict: Decision::Deny,
        unread: None,
        reason: Some("a compiled rule cannot be decoded".to_owned()),
        nudge: None,
        when: None,
        rewrite: None,
        limit: None,
        labels: Vec::new(),
        label_lifetime_ms: None,
        expires: None,
        overrides: Vec::new(),
        locked: true,
        build_machines: true,
        project_scripts: true,
        first_of: None,
        fixed_reason: false,
        takes_snapshot: false,
    }
}
