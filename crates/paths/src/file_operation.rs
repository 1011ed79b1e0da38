// SPDX-License-Identifier: Apache-2.0 OR MIT

//! What is done to a path.

use serde::{Deserialize, Serialize};

/// What is done to a file or directory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Does {
    /// Its content is read.
    Read,
    /// It is made anew, overwritten, truncated or edited in place.
    Write,
    /// Something is added to its end.
    Append,
    /// It is removed.
    Delete,
    /// It is moved or renamed: what was there is gone.
    Move,
    /// Its permissions, owner or attributes change.
    Permit,
    /// It is run as a program or script.
    Run,
}
