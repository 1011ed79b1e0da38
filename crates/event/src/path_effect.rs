// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Effects of a tool call on files, as far as the call itself shows them.

/// One file that a tool call would read, change or delete.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PathEffect {
    /// Path of the file.
    pub path: String,
    /// What the call would do to the file.
    pub kind: PathEffectKind,
}

/// What a tool call does to a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PathEffectKind {
    /// The file is read or executed.
    Reads,
    /// The file is created, or its content or permissions are changed.
    Writes,
    /// The file is deleted or moved away.
    Deletes,
}
