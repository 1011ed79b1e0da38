// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Reads the transcripts that harnesses wrote of past sessions, and converts them to events.
//!
//! Files are only read: their content is never run, followed or sent. To support another harness, add a folder (where its
//! transcripts are, and how one is read) and a row of [`TRANSCRIPTS`]; [`Teller`] creates the events.

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
use tenterhook_harness_install::MachineEnvironment;

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

/// The transcripts of a harness; `None` if they are not read.
pub fn transcripts_of(harness: &Harness) -> Option<&'static Transcripts> {
    TRANSCRIPTS.iter().find(|(id, _)| *id == harness.id).map(|(_, transcripts)| transcripts)
}

/// Where a harness stores its transcripts, and how they are read.
#[derive(Debug, Clone, Copy)]
pub struct Transcripts {
    /// Environment variables that locate them.
    pub variables: &'static [&'static str],
    /// Directories that contain them.
    pub places: fn(&MachineEnvironment<'_>) -> Vec<PathBuf>,
    /// Whether a path below such a directory is a transcript.
    pub is_one: fn(&Path) -> bool,
    /// Reads one transcript from beginning to end.
    pub read: fn(&Path, &mut Teller<'_>) -> io::Result<()>,
    /// How token counts are read while a session runs; `None` if they are not.
    pub usage: Option<usage::UsageFormat>,
}
