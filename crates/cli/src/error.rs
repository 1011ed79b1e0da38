// SPDX-License-Identifier: Apache-2.0 OR MIT

//! What a command can go wrong with, and the exit code it means.

/// A command that could not do its work.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct CommandError {
    pub(crate) exit: u8,
    pub(crate) message: String,
    /// What to do next.
    pub(crate) hints: Vec<String>,
}

impl CommandError {
    /// The work could not be done: exit code 1.
    pub(crate) fn failed(message: impl Into<String>) -> Self {
        Self { exit: 1, message: message.into(), hints: Vec::new() }
    }

    /// What was typed or piped in cannot be used: exit code 2.
    pub(crate) fn unusable(message: impl Into<String>) -> Self {
        Self { exit: 2, ..Self::failed(message) }
    }

    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hints.push(hint.into());
        self
    }
}

impl From<std::io::Error> for CommandError {
    fn from(error: std::io::Error) -> Self {
        Self::failed(error.to_string())
    }
}
