// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The reply of a hook process to its harness.

/// The reply of a hook process to its harness.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct HookReply {
    /// Exact content of standard output.
    pub stdout: String,
    /// Exact content of standard error.
    pub stderr: String,
    /// Exit code of the hook process.
    pub exit: u8,
    /// Parts of the outcome that the harness does not support for this event.
    pub lost: Vec<String>,
}

impl HookReply {
    /// Returns an empty reply with exit code 0.
    pub fn silent() -> Self {
        Self::default()
    }
}
