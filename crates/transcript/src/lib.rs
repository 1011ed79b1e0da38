// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Reads the transcripts that harnesses wrote about past sessions, and converts them to events.
//!
//! Files are only read: nothing in them is run, followed as a link or sent. To support another harness, add a module
//! that says where its transcripts are and how to read them, and a row in [`TRANSCRIPTS`]. [`TranscriptReader`]
//! creates the events.

mod claude_code;
mod codex;
mod copilot;
mod find_transcripts;
mod gemini;
mod json_lines;
mod opencode;
mod pi;
#[cfg(test)]
mod tests;
mod transcript_reader;
pub mod usage;

use std::io;
use std::path::{Path, PathBuf};

use tenterhook_harness::Harness;
use tenterhook_harness_install::MachineEnvironment;

pub use find_transcripts::{SkippedFile, TranscriptFile, find_transcripts, transcript_directories};
pub(crate) use json_lines::{open_regular_file, read_json_lines};
pub use transcript_reader::{
    EventContext, RecordedToolResult, TranscriptOutput, TranscriptReader, UnreadPart,
};

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
    /// Environment variables that determine the directories.
    pub variables: &'static [&'static str],
    /// Directories that contain the transcripts.
    pub directories: fn(&MachineEnvironment<'_>) -> Vec<PathBuf>,
    /// Whether a path, relative to one of the directories, is a transcript.
    pub is_transcript: fn(&Path) -> bool,
    /// Reads one transcript from beginning to end.
    pub read: fn(&Path, &mut TranscriptReader<'_>) -> io::Result<()>,
    /// How token counts are read while a session runs; `None` if this is not supported.
    pub usage: Option<usage::UsageFormat>,
}
