// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Defines operations on files.

use serde::{Deserialize, Serialize};

/// An operation on a file or directory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "Does"))]
pub enum FileOp {
    /// The content is read.
    Read,
    /// The file is created, overwritten, truncated or edited in place.
    Write,
    /// Content is added at the end.
    Append,
    /// The file or directory is removed.
    Delete,
    /// The file is moved or renamed, so the old path is gone.
    Move,
    /// Permissions, owner or attributes change.
    Permit,
    /// The file is run as a program or script.
    Run,
}
