// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Finds the rules that could match an event without evaluating each of them.
//!
//! A rule that looks for `terraform` cannot match a line in which no such program runs. For every rule, the index
//! determines a set of keys, at least one of which must be present (`needs`). The rule is stored under each of these
//! keys and evaluated only when one of them is found. Rules without such keys are always evaluated. A rule with
//! alternatives is stored once per alternative, and only the alternatives that could match are checked.

mod build;
mod keys;
mod lookup;
mod needs;
mod path_lookup;
mod rarity;
mod term;

use serde::{Deserialize, Serialize};

pub(crate) use build::build;
pub(crate) use keys::KeyTable;
pub(crate) use lookup::KindIndex;
pub(crate) use needs::NeedList;
pub(crate) use rarity::Rarity;
pub(crate) use term::IndexTerm;

/// The number of a rule and of one of its alternatives; [`WHOLE_RULE`] means the whole rule.
pub(crate) type IndexEntry = (u32, u16);

pub(crate) const WHOLE_RULE: u16 = u16::MAX;

/// Entry that is returned if the index is damaged. No rule set has this many rules. A lookup of this number returns a
/// rule that denies.
const DAMAGED_INDEX_ENTRY: IndexEntry = (u32::MAX, WHOLE_RULE);

/// The index of one kind of event in the compiled form.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(crate) struct KindForm {
    /// Encoded [`lookup::UnkeyedRules`].
    lists: crate::compiled::BodySection,
    /// Rules that also have a verdict on unparsed text.
    unread: crate::compiled::BodySection,
    keys: KeyTable,
    /// Length of the longest path prefix among the keys: longer prefixes are not looked up.
    longest_path: usize,
    /// Length of the longest program prefix among the keys.
    longest_program: usize,
    /// Length of the longest start or end of a path's last component among the keys.
    longest_name_part: usize,
}

impl KindForm {
    /// Returns the ranges in which keys are searched, for tests that damage them.
    #[cfg(test)]
    pub(crate) fn searched_ranges(&self) -> [std::ops::Range<usize>; 2] {
        self.keys.searched_ranges()
    }
}
