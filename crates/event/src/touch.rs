// SPDX-License-Identifier: Apache-2.0 OR MIT

//! What a call does to files, as far as it can be read from the call.

/// One file, and what would happen to it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Touch {
    /// Where the file is.
    pub path: String,
    /// What would happen to it.
    pub how: Touches,
}

/// What happens to a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Touches {
    /// It is read or run.
    Reads,
    /// It is made, changed, or its rights are.
    Writes,
    /// It is deleted, or moved away.
    Deletes,
}
