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

pub(super) use script::is_shell_shebang;

/// One kind of file.
pub(super) struct Kind {
    /// Whether a file of this path is of this kind.
    fits: fn(&Name<'_>) -> bool,
    reader: Reader,
}

/// Reads the commands out of a text.
enum Reader {
    /// Any text can be read.
    Any(fn(&str) -> Vec<Piece>),
    /// The text has a form, and an error says where it is not kept.
    Formed(fn(&str) -> Read),
}

/// What was read, or where and why not.
pub(super) type Read = Result<Vec<Piece>, (Spot, String)>;

/// What can be told of a file by its path.
struct Name<'a> {
    /// The last part.
    file: &'a str,
    /// What follows its last dot.
    ending: &'a str,
    /// The part before, and the one before that.
    within: [&'a str; 2],
}

/// Shell text in a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Piece {
    pub(super) text: String,
    /// The line of the file for each line of the text.
    pub(super) lines: Vec<usize>,
    pub(super) side: Side,
}

/// Where the text would run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Side {
    Here,
    /// In an image that is being built.
    Container,
}

pub(super) const SCRIPT: Kind = Kind { fits: script::fits, reader: Reader::Any(script::read) };

const KINDS: &[Kind] = &[
    SCRIPT,
    Kind { fits: make::fits, reader: Reader::Any(make::read) },
    Kind { fits: docker::fits, reader: Reader::Any(docker::read) },
    Kind { fits: just::fits, reader: Reader::Any(just::read) },
    Kind { fits: package::fits, reader: Reader::Formed(package::read) },
    Kind { fits: pipeline::is_github, reader: Reader::Formed(pipeline::github) },
    Kind { fits: pipeline::is_gitlab, reader: Reader::Formed(pipeline::gitlab) },
    Kind { fits: pipeline::is_circle, reader: Reader::Formed(pipeline::circle) },
    Kind { fits: pipeline::is_azure, reader: Reader::Formed(pipeline::azure) },
    Kind { fits: pipeline::is_taskfile, reader: Reader::Formed(pipeline::taskfile) },
    Kind { fits: pipeline::is_pre_commit, reader: Reader::Formed(pipeline::pre_commit) },
];

/// The kind of file by its path alone.
pub(super) fn by_name(path: &Path) -> Option<&'static Kind> {
    // `.github/workflows` may be above the directory that was named.
    let whole = std::path::absolute(path).ok()?;
    let mut parts = whole.iter().rev().map(|part| part.to_str().unwrap_or_default());
    let file = parts.next()?;
    let ending = file.rsplit_once('.').map_or("", |(_, ending)| ending);
    let within = [parts.next().unwrap_or_default(), parts.next().unwrap_or_default()];
    let name = Name { file, ending, within };
    KINDS.iter().find(|kind| (kind.fits)(&name))
}

// === impl Kind ===

impl Kind {
    /// Reads the commands out of a text.
    pub(super) fn read(&self, text: &str) -> Read {
        match self.reader {
            Reader::Any(read) => Ok(read(text)),
            Reader::Formed(read) => read(text),
        }
    }
}

// === impl Piece ===

impl Piece {
    /// Text whose lines follow each other in the file.
    fn at(line: usize, text: String) -> Self {
        let count = text.lines().count().max(1);
        Self { text, lines: (line..line + count).collect(), side: Side::Here }
    }

    /// The line of the file for a line of the text, counted from zero.
    pub(super) fn line(&self, at: usize) -> usize {
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
