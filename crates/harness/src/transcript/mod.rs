// SPDX-License-Identifier: Apache-2.0 OR MIT

//! What harnesses have written down of past sessions, read as events.
//!
//! Files are only read: nothing in them is run, followed or sent anywhere. To read those of another harness,
//! write `transcript.rs` in its folder (where they are, which files they are, how one is read) and name it in
//! the harness's row; [`Teller`] makes the events.

mod find;
mod lines;
mod teller;
#[cfg(test)]
mod tests;
pub mod usage;

use std::io;
use std::path::{Path, PathBuf};

use crate::install::Ground;

pub use find::{Found, LeftOut, directories, find};
pub(crate) use lines::{json_lines, regular};
pub use teller::{Around, Ended, Teller, Told, Unread};

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
