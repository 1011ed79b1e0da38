// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The kinds of files that hold commands: one row and one file each.

mod docker;
mod just;
mod make;
mod package;
mod pipeline;
mod script;

use std::path::Path;

use tenterhook_document::Spot;

pub(crate) use script::is_shell_shebang;

/// A kind of file that holds commands.
pub struct FileKind {
    /// Whether a file of this path is of this kind.
    fits: fn(&FileName<'_>) -> bool,
    reader: CommandReader,
}

/// Reads the commands out of a text.
enum CommandReader {
    /// Any text can be read.
    Any(fn(&str) -> Vec<CommandText>),
    /// The text has a form, and an error says where it is not kept.
    Formed(fn(&str) -> ReadResult),
}

/// What was read, or where and why not.
pub type ReadResult = Result<Vec<CommandText>, (Spot, String)>;

/// What can be told of a file by its path.
struct FileName<'a> {
    /// The last part.
    file: &'a str,
    /// What follows its last dot.
    ending: &'a str,
    /// The part before, and the one before that.
    within: [&'a str; 2],
}

/// Shell text in a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandText {
    /// The commands.
    pub text: String,
    /// The line of the file for each line of the text.
    pub lines: Vec<usize>,
    /// Where it would run.
    pub location: RunLocation,
}

/// Where the text would run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RunLocation {
    /// On the machine that has the file.
    Here,
    /// In an image that is being built.
    Container,
}

/// Shell scripts.
pub const SCRIPT: FileKind = FileKind { fits: script::fits, reader: CommandReader::Any(script::read) };

const KINDS: &[FileKind] = &[
    SCRIPT,
    FileKind { fits: make::fits, reader: CommandReader::Any(make::read) },
    FileKind { fits: docker::fits, reader: CommandReader::Any(docker::read) },
    FileKind { fits: just::fits, reader: CommandReader::Any(just::read) },
    FileKind { fits: package::fits, reader: CommandReader::Formed(package::read) },
    FileKind { fits: pipeline::is_github, reader: CommandReader::Formed(pipeline::github) },
    FileKind { fits: pipeline::is_gitlab, reader: CommandReader::Formed(pipeline::gitlab) },
    FileKind { fits: pipeline::is_circle, reader: CommandReader::Formed(pipeline::circle) },
    FileKind { fits: pipeline::is_azure, reader: CommandReader::Formed(pipeline::azure) },
    FileKind { fits: pipeline::is_taskfile, reader: CommandReader::Formed(pipeline::taskfile) },
    FileKind { fits: pipeline::is_pre_commit, reader: CommandReader::Formed(pipeline::pre_commit) },
];

/// The kind of file by its path alone.
pub fn by_name(path: &Path) -> Option<&'static FileKind> {
    // `.github/workflows` may be above the directory that was named.
    let whole = std::path::absolute(path).ok()?;
    let mut parts = whole.iter().rev().map(|part| part.to_str().unwrap_or_default());
    let file = parts.next()?;
    let ending = file.rsplit_once('.').map_or("", |(_, ending)| ending);
    let within = [parts.next().unwrap_or_default(), parts.next().unwrap_or_default()];
    let name = FileName { file, ending, within };
    KINDS.iter().find(|kind| (kind.fits)(&name))
}

// === impl FileKind ===

impl FileKind {
    /// Reads the commands out of a text.
    pub fn read(&self, text: &str) -> ReadResult {
        match self.reader {
            CommandReader::Any(read) => Ok(read(text)),
            CommandReader::Formed(read) => read(text),
        }
    }
}

// === impl CommandText ===

impl CommandText {
    /// Text whose lines follow each other in the file.
    fn at(line: usize, text: String) -> Self {
        let count = text.lines().count().max(1);
        Self { text, lines: (line..line + count).collect(), location: RunLocation::Here }
    }

    /// The line of the file for a line of the text, counted from zero.
    pub fn line(&self, at: usize) -> usize {
        self.lines.get(at).or(self.lines.last()).copied().unwrap_or(1)
    }

    /// Adds what runs after it in the same shell.
    fn then(&mut self, next: &Self) {
        if !self.text.is_empty() {
            self.text.push('\n');
        }
        self.text += &next.text;
        self.lines.extend(&next.lines);
    }
}

/// Replaces every `open…close` by a variable that nobody knows, so that what is put in there counts
/// as unknown.
fn blank_out(text: &str, open: &str, close: &str, what: impl Fn(&str) -> Option<String>) -> String {
    let mut done = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once(open) {
        done += before;
        let inner = after.split_once(close).and_then(|(inner, after)| Some((what(inner)?, after)));
        let (value, after) = inner.unwrap_or_else(|| (open.to_owned(), after));
        done += &value;
        rest = after;
    }
    done + rest
}

/// A variable that is set nowhere.
fn unknown() -> String {
    "${UNKNOWN_TO_TENTERHOOK}".to_owned()
}
