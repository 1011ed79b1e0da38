// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Levels of protection: how much the rules ask. `rules/levels.yaml` lists how each level differs from `standard`.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;
use std::sync::LazyLock;

use serde::{Deserialize, Serialize};
use tenterhook_document::{parse, read};

const LEVELS_TEXT: &str = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../rules/levels.yaml"));

/// A test checks that the table can be read.
static LEVELS: LazyLock<BTreeMap<String, LevelRules>> =
    LazyLock::new(|| parse(LEVELS_TEXT).ok().and_then(|tree| read(&tree).ok()).unwrap_or_default());

static UNCHANGED: LevelRules = LevelRules { about: String::new(), packs: Vec::new(), never_ask: Vec::new() };

/// A level of protection, from the fewest questions to the most.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ProtectionLevel {
    /// Does not ask about changes that can usually be undone.
    Relaxed,
    /// The packs that are on by default.
    #[default]
    Standard,
    /// With the packs for cloud accounts, packages and secrets.
    Strict,
    /// Asks about everything that is not known to be harmless.
    Paranoid,
}

/// The text is not the name of a level.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("unknown level; use relaxed, standard, strict or paranoid")]
pub struct UnknownLevelError;

/// How a level differs from `standard`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LevelRules {
    /// Description in one line.
    pub about: String,
    /// Packs that are on in addition.
    #[serde(default)]
    pub packs: Vec<String>,
    /// Rules that save what a call would lose if possible, and never ask.
    #[serde(default)]
    pub never_ask: Vec<String>,
}

impl ProtectionLevel {
    /// All levels, from the fewest questions to the most.
    pub const ALL: &[Self] = &[Self::Relaxed, Self::Standard, Self::Strict, Self::Paranoid];

    /// Name of the level.
    pub fn name(self) -> &'static str {
        match self {
            Self::Relaxed => "relaxed",
            Self::Standard => "standard",
            Self::Strict => "strict",
            Self::Paranoid => "paranoid",
        }
    }

    /// Returns how the level differs from `standard`.
    pub fn rules(self) -> &'static LevelRules {
        LEVELS.get(self.name()).unwrap_or(&UNCHANGED)
    }

    /// Whether a pack that is off by default is on in this level.
    pub fn enables(self, pack: &str) -> bool {
        self != Self::Standard && self.rules().packs.iter().any(|name| name == pack)
    }
}

impl fmt::Display for ProtectionLevel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for ProtectionLevel {
    type Err = UnknownLevelError;

    fn from_str(text: &str) -> Result<Self, UnknownLevelError> {
        Self::ALL.iter().copied().find(|level| level.name() == text).ok_or(UnknownLevelError)
    }
}

#[cfg(test)]
mod tests {
    use tenterhook_policy::RuleSet;

    use super::*;
    use crate::packs::{PackList, built_in};

    #[test]
    fn the_table_lists_every_level_with_existing_packs_and_rules() {
        let tree = parse(LEVELS_TEXT).unwrap();
        let levels: BTreeMap<String, LevelRules> = read(&tree).unwrap();
        assert_eq!(levels.len(), ProtectionLevel::ALL.len());
        let rules = RuleSet::baseline().rules;
        for level in ProtectionLevel::ALL {
            assert_eq!(level.name().parse(), Ok(*level));
            let row = levels.get(level.name()).unwrap();
            assert!(!row.about.is_empty());
            for pack in &row.packs {
                assert!(built_in(pack).is_some_and(|pack| !pack.on_by_default), "{level}: {pack}");
            }
            for rule in &row.never_ask {
                assert!(rules.rule(rule).is_some_and(|rule| !rule.locked()), "{level}: {rule}");
            }
        }
        assert_eq!(
            LevelRules { about: String::new(), ..ProtectionLevel::Standard.rules().clone() },
            UNCHANGED,
            "`standard` changes nothing"
        );
    }

    #[test]
    fn a_higher_level_has_every_pack_of_the_lower_ones() {
        for pair in ProtectionLevel::ALL.windows(2) {
            let (lower, higher) = (pair.first().unwrap(), pair.last().unwrap());
            assert!(lower < higher);
            assert!(lower.rules().packs.iter().all(|pack| higher.enables(pack)), "{lower} and {higher}");
        }
    }

    #[test]
    fn a_pack_that_the_level_enables_can_be_disabled() {
        let mut list = PackList { level: ProtectionLevel::Strict, ..PackList::default() };
        let secrets = built_in("secrets").unwrap();
        assert!(list.is_on(secrets) && !PackList::default().is_on(secrets));
        list.disable("secrets");
        assert!(!list.is_on(secrets));
        list.enable("secrets");
        assert!(list.is_on(secrets));
    }
}
