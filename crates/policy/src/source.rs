// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Defines where rules come from and how far each source is trusted.

use std::fmt;

use serde::{Deserialize, Serialize};

/// The text of one rule file, with the name used for it in messages.
#[derive(Debug, Clone, Copy)]
pub struct RuleSource<'a> {
    /// File name for messages.
    pub name: &'a str,
    /// YAML text of the file.
    pub text: &'a str,
    /// Layer that the rules belong to.
    pub layer: SourceLayer,
    /// Whether the text is trusted: the user has reviewed it, or only the owner can write the file. Only files of a
    /// project or of the organisation can be untrusted.
    pub trusted: bool,
}

/// A rule pack that is compiled into the program.
#[derive(Debug, Clone, Copy)]
pub struct BuiltInPack {
    /// Unique name of the pack.
    pub name: &'static str,
    /// What the pack protects, in a few words.
    pub title: &'static str,
    /// Whether the pack is active unless the user turns it off.
    pub on_by_default: bool,
    /// The rule file of the pack.
    pub source: RuleSource<'static>,
}

/// Settings that apply to rules as a whole.
#[derive(Debug, Clone, Copy, Default)]
pub struct RuleSettings<'a> {
    /// Ids of rules that are disabled.
    pub disabled: &'a [&'a str],
    /// Whether all rules are monitored instead of enforced.
    pub monitor: bool,
    /// Name and text of the user's own price file.
    pub prices: Option<(&'a str, &'a str)>,
    /// Files that describe programs. They add to the built-in descriptions; the organisation's files may replace
    /// built-in descriptions.
    pub programs: &'a [RuleSource<'a>],
}

/// The owner of a rule source. Earlier layers take precedence: a later layer cannot weaken their locked rules.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SourceLayer {
    /// Packs that are compiled into the program.
    Baseline,
    /// Rules of the organisation.
    Organisation,
    /// Rules of the user.
    User,
    /// Rules of the project.
    Project,
}

// === impl RuleSource ===

impl RuleSource<'_> {
    /// Whether rules of this source may only make the policy stricter.
    pub(crate) fn is_untrusted(&self) -> bool {
        self.distrust_reason().is_some()
    }

    /// Returns why rules of this source may only make the policy stricter, and how to change that.
    pub(crate) fn distrust_reason(&self) -> Option<(&'static str, &'static str)> {
        match self.layer {
            _ if self.trusted => None,
            SourceLayer::Project => {
                Some(("this project is not trusted", "read the file, then run `tenterhook rules trust`"))
            }
            SourceLayer::Organisation => Some((
                "accounts other than root can write the organisation's policy",
                "let only root write the file and the directories above it",
            )),
            SourceLayer::Baseline | SourceLayer::User => None,
        }
    }
}

// === impl SourceLayer ===

impl SourceLayer {
    /// Returns the layer's name in files, records and the API.
    pub fn name(self) -> &'static str {
        match self {
            Self::Baseline => "baseline",
            Self::Organisation => "organisation",
            Self::User => "user",
            Self::Project => "project",
        }
    }
}

impl fmt::Display for SourceLayer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}
