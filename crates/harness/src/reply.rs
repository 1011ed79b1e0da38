// SPDX-License-Identifier: Apache-2.0 OR MIT

//! What a harness is told, exactly as it reads it.

/// A native reply.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Reply {
    /// Standard output, to the byte.
    pub stdout: String,
    /// Standard error, to the byte.
    pub stderr: String,
    /// The exit code.
    pub exit: u8,
    /// What the outcome said that this harness cannot be told here, in plain words.
    pub lost: Vec<String>,
}

impl Reply {
    /// Nothing to say.
    pub fn silent() -> Self {
        Self::default()
    }
}
