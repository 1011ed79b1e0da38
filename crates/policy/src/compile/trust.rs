// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Restricts rule files that are not trusted: their rules may only make the policy stricter.

use tenterhook_event::Decision;

use crate::load::wire;
use crate::rule::{Rule, RuleMode};
use crate::source::SourceLayer;

/// Returns an error message about the first key that an untrusted rule may not have.
pub(super) fn find_forbidden_key(wire: &wire::RuleSpec, why: &str) -> Option<String> {
    let forbidden = [
        ("verdict: allow", wire.verdict == wire::VerdictSpec::Allow),
        ("verdict: none", wire.verdict == wire::VerdictSpec::None),
        ("nudge", wire.nudge.is_some()),
        ("rewrite", wire.rewrite.is_some()),
        ("when", wire.when.is_some()),
        ("overrides", wire.overrides.is_some()),
        ("limit", wire.limit.is_some()),
        ("label", wire.label.is_some()),
        ("on_match", wire.on_match.is_some()),
    ];
    let (what, _) = forbidden.into_iter().find(|(_, forbidden)| *forbidden)?;
    Some(format!("{why}, so its rules cannot have `{what}`"))
}

/// Replaces the reason, because no text from an untrusted file may reach a model. Also ignores monitor mode in an
/// organisation file, because an untrusted file could use it to switch rules off.
pub(super) fn with_fixed_reason(mut rule: Rule) -> Rule {
    let effect = if rule.verdict == Decision::Deny { "denies this" } else { "requires approval" };
    let whose = match rule.layer {
        SourceLayer::Organisation => "the organisation's policy",
        _ => "this project's .tenterhook.yaml",
    };
    rule.reason = Some(format!("a rule of {whose} {effect} (rule {})", rule.id));
    if rule.layer == SourceLayer::Organisation {
        rule.mode = RuleMode::Enforce;
    }
    rule.fixed_reason = true;
    rule
}
