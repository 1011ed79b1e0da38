// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Text that a task runner runs: shell commands, or code in another language.

use super::CommandText;

/// Text that a task of a project runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TaskText {
    /// The commands or the code.
    pub text: String,
    /// Name of the language; `None` for shell commands.
    pub language: Option<&'static str>,
}

// === impl TaskText ===

impl TaskText {
    /// Returns text that a shell runs.
    pub fn shell(text: impl Into<String>) -> Self {
        Self { text: text.into(), language: None }
    }

    /// Returns code in another language.
    pub fn code(language: &'static str, text: impl Into<String>) -> Self {
        Self { text: text.into(), language: Some(language) }
    }
}

impl From<CommandText> for TaskText {
    fn from(command: CommandText) -> Self {
        Self::shell(command.text)
    }
}
