// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Where rules come from.

use std::fmt;

use serde::{Deserialize, Serialize};

/// One rule file: its text, and what to call it in messages.
#[derive(Debug, Clone, Copy)]
pub struct Source<'a> {
    /// The file's name, for messages.
    pub name: &'a str,
    /// Its YAML text.
    pub text: &'a str,
    /// Whose rules these are.
    pub layer: Layer,
    /// Whether somebody has read this text and trusts it, or only who may say so can write it. A project's
    /// file and the organisation's can be without trust.
    pub trusted: bool,
}

/// One of the packs compiled in.
#[derive(Debug, Clone, Copy)]
pub struct Pack {
    /// Its name.
    pub name: &'static str,
    /// What it is for, in a few words.
    pub title: &'static str,
    /// Whether it is in force where nobody says otherwise.
    pub on_by_default: bool,
    /// Its file.
    pub source: Source<'static>,
}

/// What somebody chose about the rules beside writing them.
#[derive(Debug, Clone, Copy, Default)]
pub struct Choices<'a> {
    /// Rules that are not in force, by their ids.
    pub disabled: &'a [&'a str],
    /// All rules only watch.
    pub monitor: bool,
    /// What models cost, where the person knows better: the name of the file, and its text.
    pub prices: Option<(&'a str, &'a str)>,
    /// Files that describe programs. They add to what is known of a program; the organisation's may replace it.
    pub programs: &'a [Source<'a>],
}

/// Whose rules they are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Layer {
    /// The packs compiled in.
    Baseline,
    /// The organisation's.
    Organisation,
    /// The person's.
    User,
    /// The project's own.
    Project,
}

// === impl Source ===

impl Source<'_> {
    /// Whether its rules may only be stricter: nobody has read them.
    pub(crate) fn is_suspect(&self) -> bool {
        self.distrust().is_some()
    }

    /// Why its rules may only be stricter, and what to do about it.
    pub(crate) fn distrust(&self) -> Option<(&'static str, &'static str)> {
        match self.layer {
            _ if self.trusted => None,
            Layer::Project => {
                Some(("this project is not trusted", "read the file, then run `tenterhook policy trust`"))
            }
            Layer::Organisation => Some((
                "others than the organisation can write this file",
                "see that only root can write it and the directories above it",
            )),
            Layer::Baseline | Layer::User => None,
        }
    }
}

// === impl Layer ===

impl Layer {
    /// The name on the wire.
    pub fn name(self) -> &'static str {
        match self {
            Self::Baseline => "baseline",
            Self::Organisation => "organisation",
            Self::User => "user",
            Self::Project => "project",
        }
    }
}

impl fmt::Display for Layer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}
