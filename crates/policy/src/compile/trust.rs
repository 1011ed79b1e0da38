// SPDX-License-Identifier: Apache-2.0 OR MIT

//! What a file that nobody has read may say: it may be stricter, and nothing else.

use tenterhook_event::Decision;

use crate::load::wire;
use crate::rule::Rule;

/// What a rule of such a file says that it may not.
pub(super) fn refused(wire: &wire::Rule) -> Option<String> {
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
    Some(format!("this project is not trusted, so its rules cannot have `{what}`"))
}

/// Nothing that the file says reaches a model.
pub(super) fn with_fixed_words(mut rule: Rule) -> Rule {
    let says = if rule.verdict == Decision::Deny { "says no" } else { "asks" };
    rule.reason = Some(format!("a rule of this project's .tenterhook.yaml {says} (rule {})", rule.id));
    rule.fixed_words = true;
    rule
}
