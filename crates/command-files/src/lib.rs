// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Extracts the shell commands from files that contain commands: scripts, makefiles, Dockerfiles, package scripts and
//! pipelines. Each kind of file has one table row and one module. Nothing is executed and no file is read.
//!
//! [`FileKind::read`] returns all commands of a file. Functions such as [`make_tasks`] and [`rake_tasks`] return only
//! those that a task runner would run, and [`autorun_commands`] those that run automatically.

mod autorun;
mod code_tasks;
mod docker;
mod infrastructure;
mod just;
mod later_files;
mod literal_calls;
mod local_imports;
mod make;
mod package;
mod pipeline;
mod project_code;
mod project_tasks;
mod script;
mod task_text;
mod toml_tasks;

use std::path::Path;

use tenterhook_document::Spot;

pub use autorun::autorun_commands;
pub use code_tasks::{
    PythonDefault, go_code, gradle_tasks, python_function, python_script, python_tasks, rake_tasks, rust_code,
};
pub use infrastructure::{compose_services, dockerfile_steps, playbook_commands, terraform_commands};
pub use just::read_tasks as just_tasks;
pub use later_files::{
    LaterFile, automatic_scripts, fragment_texts, is_loaded_script, later_file, python_task_file,
};
pub use local_imports::local_imports;
pub use make::{read_dry_run_tasks as make_dry_run_tasks, read_tasks as make_tasks};
pub use package::read_tasks as package_tasks;
pub use project_code::{bazel_targets, go_generate_commands, makefile_includes, project_code};
pub use project_tasks::{
    composer_tasks, deno_tasks, git_alias, install_tasks, notebook_cells, taskfile_tasks, tox_tasks,
};
pub use script::is_shell_shebang;
pub use task_text::TaskText;
pub use toml_tasks::{mise_tasks, named_scripts};

/// A kind of file that contains commands.
pub struct FileKind {
    /// Whether a file with this name is of this kind.
    matches_name: fn(&FileName<'_>) -> bool,
    reader: CommandReader,
    location: RunLocation,
}

/// Extracts the commands of a file.
enum CommandReader {
    /// Reads text in which every line is valid.
    Any(fn(&str) -> Vec<CommandText>),
    /// Reads text that may contain syntax errors; an error has a position.
    Formed(fn(&str) -> ReadResult),
}

/// The commands of a file, or the position and description of a syntax error.
pub type ReadResult = Result<Vec<CommandText>, (Spot, String)>;

/// Parts of a file's path.
struct FileName<'a> {
    /// The file name.
    file: &'a str,
    /// The file name extension.
    ending: &'a str,
    /// The names of the parent directory and of its parent.
    within: [&'a str; 2],
}

/// Shell text in a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandText {
    /// Text of the commands.
    pub text: String,
    /// The line of the file for each line of the text.
    pub lines: Vec<usize>,
    /// Where the commands would run.
    pub location: RunLocation,
}

/// Where commands would run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RunLocation {
    /// On this machine.
    Here,
    /// In an image that is being built.
    Container,
    /// On a machine of a build service.
    BuildMachine,
    /// On this machine, if an agent follows the instructions in the file.
    Instructed,
}

/// The kind of shell scripts.
pub const SCRIPT: FileKind = FileKind {
    matches_name: script::matches_name,
    reader: CommandReader::Any(script::read),
    location: RunLocation::Here,
};

const KINDS: &[FileKind] = &[
    SCRIPT,
    FileKind {
        matches_name: make::matches_name,
        reader: CommandReader::Any(make::read),
        location: RunLocation::Here,
    },
    FileKind {
        matches_name: docker::matches_name,
        reader: CommandReader::Any(docker::read),
        location: RunLocation::Container,
    },
    FileKind {
        matches_name: just::matches_name,
        reader: CommandReader::Any(just::read),
        location: RunLocation::Here,
    },
    FileKind {
        matches_name: package::matches_name,
        reader: CommandReader::Formed(package::read),
        location: RunLocation::Here,
    },
    FileKind {
        matches_name: pipeline::is_github,
        reader: CommandReader::Formed(pipeline::read_github),
        location: RunLocation::BuildMachine,
    },
    FileKind {
        matches_name: pipeline::is_gitlab,
        reader: CommandReader::Formed(pipeline::read_gitlab),
        location: RunLocation::BuildMachine,
    },
    FileKind {
        matches_name: pipeline::is_circle,
        reader: CommandReader::Formed(pipeline::read_circle),
        location: RunLocation::BuildMachine,
    },
    FileKind {
        matches_name: pipeline::is_azure,
        reader: CommandReader::Formed(pipeline::read_azure),
        location: RunLocation::BuildMachine,
    },
    FileKind {
        matches_name: pipeline::is_taskfile,
        reader: CommandReader::Formed(pipeline::read_taskfile),
        location: RunLocation::Here,
    },
    FileKind {
        matches_name: pipeline::is_pre_commit,
        reader: CommandReader::Formed(pipeline::read_pre_commit),
        location: RunLocation::Here,
    },
];

/// Returns the kind of a file, based on its path alone.
pub fn kind_by_name(path: &Path) -> Option<&'static FileKind> {
    // `.github/workflows` may be above the given directory.
    let whole = std::path::absolute(path).ok()?;
    let mut parts = whole.iter().rev().map(|part| part.to_str().unwrap_or_default());
    let file = parts.next()?;
    let ending = file.rsplit_once('.').map_or("", |(_, ending)| ending);
    let within = [parts.next().unwrap_or_default(), parts.next().unwrap_or_default()];
    let name = FileName { file, ending, within };
    KINDS.iter().find(|kind| (kind.matches_name)(&name))
}

// === impl FileKind ===

impl FileKind {
    /// Returns where the commands of such a file run.
    pub fn location(&self) -> RunLocation {
        self.location
    }

    /// Extracts the commands of a file.
    pub fn read(&self, text: &str) -> ReadResult {
        let mut commands = match self.reader {
            CommandReader::Any(read) => read(text),
            CommandReader::Formed(read) => read(text)?,
        };
        for command in &mut commands {
            command.location = self.location;
        }
        Ok(commands)
    }
}

// === impl CommandText ===

impl CommandText {
    /// Creates text whose lines are adjacent in the file.
    fn from_line(line: usize, text: String) -> Self {
        let count = text.lines().count().max(1);
        Self { text, lines: (line..line + count).collect(), location: RunLocation::Here }
    }

    /// Returns the line in the file for a line of the text, counted from zero.
    pub fn file_line(&self, at: usize) -> usize {
        self.lines.get(at).or(self.lines.last()).copied().unwrap_or(1)
    }

    /// Appends commands that run next in the same shell.
    fn append(&mut self, next: &Self) {
        if !self.text.is_empty() {
            self.text.push('\n');
        }
        self.text += &next.text;
        self.lines.extend(&next.lines);
    }
}

/// Replaces every `open…close` by an undefined variable, so that the inserted value counts as unknown.
fn replace_expressions(text: &str, open: &str, close: &str, what: impl Fn(&str) -> Option<String>) -> String {
    let mut done = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once(open) {
        // If the closing delimiter is missing here, no later expression is complete either.
        let Some((inner, behind)) = after.split_once(close) else { break };
        done += before;
        let value = what(inner);
        rest = if value.is_some() { behind } else { after };
        done += value.as_deref().unwrap_or(open);
    }
    done + rest
}

/// Returns a reference to a variable that is never set.
fn unknown_variable() -> String {
    "${UNKNOWN_TO_TENTERHOOK}".to_owned()
}

/// Quotes a word for a shell.
fn quote_word(word: &str) -> String {
    format!("'{}'", word.replace('\'', r"'\''"))
}
