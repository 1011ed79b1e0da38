// SPDX-License-Identifier: Apache-2.0 OR MIT

//! What harnesses have written down of past sessions, read as events.
//!
//! Files are only read: nothing in them is run, followed or sent anywhere. To read those of another harness, add a
//! folder (where they are, which files they are, how one is read) and a row of [`TRANSCRIPTS`]; [`Teller`] makes the events.

mod claude_code;
mod codex;
mod copilot;
mod find;
mod gemini;
mod lines;
mod opencode;
mod pi;
mod teller;
#[cfg(test)]
mod tests;
pub mod usage;

use std::io;
use std::path::{Path, PathBuf};

use tenterhook_harness::Harness;
use tenterhook_harness_install::Ground;

pub use find::{Found, LeftOut, directories, find};
pub(crate) use lines::{json_lines, regular};
pub use teller::{Around, Ended, Teller, Told, Unread};

/// Every harness whose transcripts are read, by its id.
pub const TRANSCRIPTS: &[(&str, Transcripts)] = &[
    ("claude-code", claude_code::TRANSCRIPTS),
    ("codex", codex::TRANSCRIPTS),
    ("gemini", gemini::TRANSCRIPTS),
    ("opencode", opencode::TRANSCRIPTS),
    ("copilot", copilot::TRANSCRIPTS),
    ("pi", pi::TRANSCRIPTS),
];

/// The transcripts of a harness; `None`: they are not read.
pub fn transcripts_of(harness: &Harness) -> Option<&'static Transcripts> {
    TRANSCRIPTS.iter().find(|(id, _)| *id == harness.id).map(|(_, transcripts)| transcripts)
}

/// Where a harness keeps its transcripts, and how they are read.
#[derive(Debug, Clone, Copy)]
pub struct Transcripts {
    /// The variables that say where they are.
    pub variables: &'static [&'static str],
    /// The directories they are in.
    pub places: fn(&Ground<'_>) -> Vec<PathBuf>,
    /// Whether a file is one, by its path below such a directory.
    pub is_one: fn(&Path) -> bool,
    /// Reads one, from its beginning to its end.
    pub read: fn(&Path, &mut Teller<'_>) -> io::Result<()>,
    /// How token counts are read while a session runs; nothing: they are not.
    pub usage: Option<usage::UsageFormat>,
}
