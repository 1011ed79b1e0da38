// SPDX-License-Identifier: Apache-2.0 OR MIT

//! What can go wrong, what to do next, and the exit code it means.

/// Work that could not be done.
#[derive(Debug, PartialEq, Eq)]
pub struct Failure {
    /// The exit code of a command that ends with it.
    pub exit: u8,
    /// What went wrong.
    pub message: String,
    /// What to do next.
    pub hints: Vec<String>,
}

impl Failure {
    /// The work could not be done: exit code 1.
    pub fn failed(message: impl Into<String>) -> Self {
        Self { exit: 1, message: message.into(), hints: Vec::new() }
    }

    /// What was typed or piped in cannot be used: exit code 2.
    pub fn unusable(message: impl Into<String>) -> Self {
        Self { exit: 2, ..Self::failed(message) }
    }

    /// The same, with what to do next.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hints.push(hint.into());
        self
    }
}

impl From<std::io::Error> for Failure {
    fn from(error: std::io::Error) -> Self {
        // An error straight from the system says neither what was done nor with which file.
        match error.raw_os_error() {
            Some(_) => Self::failed(format!("the system refused an operation: {error}"))
                .hint("`tenterhook doctor` looks at files, permissions and the daemon"),
            None => Self::failed(error.to_string()),
        }
    }
}
