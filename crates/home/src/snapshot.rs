// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The rules of a home in a form that a hook without a daemon can judge by at once.

use std::fmt;

use crate::Home;
use crate::env::Env;
use crate::road::Configuration;
use crate::sources::Place;

/// What a hook without a daemon judges by.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RulesFrom {
    /// The snapshot.
    Snapshot,
    /// The files themselves, because there is no snapshot.
    NoSnapshot,
    /// The files themselves, because they are newer than the snapshot.
    Stale,
    /// The files themselves, because the snapshot cannot be trusted, and why.
    Refused(String),
}

impl fmt::Display for RulesFrom {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Snapshot => f.write_str("the snapshot"),
            Self::NoSnapshot => f.write_str("the files: there is no snapshot"),
            Self::Stale => f.write_str("the files: the snapshot is older"),
            Self::Refused(why) => write!(f, "the files: the snapshot is refused: {why}"),
        }
    }
}

/// The configuration of a home, and what it was read from.
pub fn configuration(home: &Home, env: &Env, place: &Place) -> (Configuration, RulesFrom) {
    (Configuration::read_in_haste(home, env, place), RulesFrom::NoSnapshot)
}
