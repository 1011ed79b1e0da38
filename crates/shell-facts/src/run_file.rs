// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Files that a call runs, and their contents.
//!
//! This crate reads no file. [`read_commands`](crate::read_commands) lists the files that the call would run; a caller
//! that can read them passes their commands in as [`RunTexts`] and derives the facts again.

use std::collections::BTreeMap;

use serde::Serialize;
use tenterhook_programs::FileRunner;

/// A file that a call would run.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct RunFile {
    /// Absolute path of the file. For a task runner that was not given a file: the directory in which it looks.
    pub path: String,
    /// Program that runs the file.
    pub runner: FileRunner,
    /// Tasks that the runner was asked for: targets, scripts or recipes. If there are none, the default task runs.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tasks: Vec<String>,
}

/// The commands in files that a call runs.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RunTexts(BTreeMap<RunFile, RunText>);

/// The commands of one file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RunText {
    /// Directory in which the commands run, if the runner changes to another one.
    pub directory: Option<String>,
    /// The texts, in execution order; each is run by a separate shell or interpreter. The first text of a script is the
    /// script itself. Texts that it imports follow, and all of them joined.
    pub texts: Vec<RunPiece>,
    /// Whether the session downloaded the file.
    pub is_downloaded: bool,
    /// Whether the kernel runs the file if it is started directly. An interpreter that is given the file reads its text.
    pub is_machine_code: bool,
}

/// One text in a file that is run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunPiece {
    /// The commands or the code.
    pub text: String,
    /// Name of the language in which a task is written; `None` for shell commands. For a script it is also `None`,
    /// because the program that runs the script determines its language.
    pub language: Option<&'static str>,
}

// === impl RunPiece ===

impl From<String> for RunPiece {
    fn from(text: String) -> Self {
        Self { text, language: None }
    }
}

// === impl RunFile ===

impl RunFile {
    /// Returns a file that is run as a whole.
    pub fn script(path: String) -> Self {
        Self { path, runner: FileRunner::Script, tasks: Vec::new() }
    }
}

// === impl RunTexts ===

impl RunTexts {
    /// Adds the commands of a file.
    pub fn insert(&mut self, file: RunFile, text: RunText) {
        self.0.insert(file, text);
    }

    /// Returns the commands of a file, if they are known.
    pub fn get(&self, file: &RunFile) -> Option<&RunText> {
        self.0.get(file)
    }

    /// Whether no file is known.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns only the texts of files that meet a condition.
    #[must_use]
    pub fn filtered(&self, keep: impl Fn(&RunFile) -> bool) -> Self {
        let kept = self.0.iter().filter(|(file, _)| keep(file));
        Self(kept.map(|(file, text)| (file.clone(), text.clone())).collect())
    }
}
