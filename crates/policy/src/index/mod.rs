// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Which rules could match an event at all, found without evaluating each of them.
//!
//! A rule that looks for `terraform` cannot match a line in which nothing of that name runs. For
//! every rule some such things are found of which at least one must be there (`needs`); the rule
//! is kept under each of them and evaluated only when one turns up. Rules of which nothing is known
//! are always evaluated. A rule with alternatives is kept by each of them, and only those that could hold
//! are looked at.

mod build;
mod keys;
mod lookup;
mod needs;
mod word;

use serde::{Deserialize, Serialize};

pub(crate) use build::build;
pub(crate) use keys::KeyTable;
pub(crate) use lookup::KindIndex;
pub(crate) use needs::{NeedList, Rarity};
pub(crate) use word::Word;

/// A rule, by its number, and one of its alternatives; [`WHOLE_RULE`] is all of it.
pub(crate) type Entry = (u32, u16);

pub(crate) const WHOLE_RULE: u16 = u16::MAX;

/// Found where the index is damaged. No set has so many rules; what stands for this one denies.
const DAMAGED: Entry = (u32::MAX, WHOLE_RULE);

/// The index of one kind of event, as the compiled form has it.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(crate) struct KindForm {
    /// Rules that are always evaluated, and rules that only look for patterns in commands: of these letters one
    /// group must be there. [`lookup::Lists`].
    lists: crate::compiled::Section,
    /// Rules that have a verdict on texts that could not be parsed.
    unread: crate::compiled::Section,
    keys: KeyTable,
    /// The length of the longest start of a path: further down there is nothing to look for.
    longest_path: usize,
    /// The same for the beginnings of programs.
    longest_program: usize,
}

impl KindForm {
    /// Where keys are searched, for tests that damage it.
    #[cfg(test)]
    pub(crate) fn searched(&self) -> [std::ops::Range<usize>; 2] {
        self.keys.searched()
    }
}
