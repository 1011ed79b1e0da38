// SPDX-License-Identifier: Apache-2.0 OR MIT

//! What a file that nobody has read may say: it may be stricter, and nothing else.

use tenterhook_event::Decision;

use crate::load::wire;
use crate::rule::{Mode, Rule};
use crate::source::Layer;

/// What a rule of such a file says that it may not.
pub(super) fn refused(wire: &wire::Rule, why: &str) -> Option<String> {
    let said = [
        ("verdict: allow", wire.verdict == wire::Verdict::Allow),
        ("verdict: none", wire.verdict == wire::Verdict::None),
        ("nudge", wire.nudge.is_some()),
        ("rewrite", wire.rewrite.is_some()),
        ("when", wire.when.is_some()),
        ("overrides", wire.overrides.is_some()),
        ("limit", wire.limit.is_some()),
        ("label", wire.label.is_some()),
    ];
    let (what, _) = said.into_iter().find(|(_, said)| *said)?;
    Some(format!("{why}, so its rules cannot have `{what}`"))
}

/// Nothing that the file says reaches a model, and that it only watches is not taken for true.
pub(super) fn with_fixed_words(mut rule: Rule) -> Rule {
    let says = if rule.verdict == Decision::Deny { "says no" } else { "asks" };
    let whose = match rule.layer {
        Layer::Organisation => "the organisation's policy",
        _ => "this project's .tenterhook.yaml",
    };
    rule.reason = Some(format!("a rule of {whose} {says} (rule {})", rule.id));
    if rule.layer == Layer::Organisation {
        rule.mode = Mode::Enforce;
    }
    rule.fixed_words = true;
    rule
}
