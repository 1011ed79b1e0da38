// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Finds transcripts on this machine. Symbolic links are not followed, so that only files that the harness wrote are
//! read.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use tenterhook_harness::Harness;
use tenterhook_harness_install::MachineEnvironment;

use crate::transcripts_of;

/// Maximum depth of a transcript below its directory.
const MAX_DIRECTORY_DEPTH: usize = 8;

/// One transcript file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TranscriptFile {
    /// Path of the file.
    pub path: PathBuf,
    /// Size in bytes.
    pub bytes: u64,
    /// Last modification, in milliseconds since the Unix epoch.
    pub modified_ms: u64,
}

/// A file or directory that is not read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SkippedFile {
    /// Path of the file or directory.
    pub path: PathBuf,
    /// Reason why it is not read.
    pub why: String,
}

/// Returns the directories in which a harness stores its transcripts.
pub fn transcript_directories(harness: &Harness, machine: &MachineEnvironment<'_>) -> Vec<PathBuf> {
    transcripts_of(harness).map_or_else(Vec::new, |transcripts| (transcripts.directories)(machine))
}

/// Finds all transcripts of a harness, and the files and directories that are skipped.
pub fn find_transcripts(
    harness: &Harness,
    machine: &MachineEnvironment<'_>,
) -> (Vec<TranscriptFile>, Vec<SkippedFile>) {
    let (mut found, mut left_out) = (Vec::new(), Vec::new());
    let Some(transcripts) = transcripts_of(harness) else { return (found, left_out) };
    for place in transcript_directories(harness, machine) {
        let mut directories = vec![(place.clone(), 0)];
        while let Some((directory, depth)) = directories.pop() {
            let entries = match std::fs::read_dir(&directory) {
                Ok(entries) => entries,
                // A harness that was never used has no directory.
                Err(error) if depth == 0 && error.kind() == std::io::ErrorKind::NotFound => continue,
                Err(error) => {
                    left_out.push(SkippedFile { path: directory, why: error.to_string() });
                    continue;
                }
            };
            for entry in entries.flatten() {
                let path = entry.path();
                let below = path.strip_prefix(&place).unwrap_or(&path);
                let Ok(metadata) = entry.metadata() else { continue };
                if metadata.is_dir() {
                    if depth < MAX_DIRECTORY_DEPTH {
                        directories.push((path, depth + 1));
                    } else {
                        left_out.push(SkippedFile { path, why: "nested too deeply".to_owned() });
                    }
                } else if (transcripts.is_transcript)(below) {
                    if metadata.is_file() {
                        let modified =
                            metadata.modified().ok().and_then(|at| at.duration_since(UNIX_EPOCH).ok());
                        let modified_ms =
                            modified.map_or(u64::MAX, |at| u64::try_from(at.as_millis()).unwrap_or(u64::MAX));
                        found.push(TranscriptFile { path, bytes: metadata.len(), modified_ms });
                    } else {
                        let why = if metadata.is_symlink() { "symbolic link" } else { "not a regular file" };
                        left_out.push(SkippedFile { path, why: why.to_owned() });
                    }
                } else if metadata.is_symlink() && is_directory(&path) {
                    left_out.push(SkippedFile { path, why: "symbolic link".to_owned() });
                }
            }
        }
    }
    found.sort_by_cached_key(|found| sort_key(&found.path));
    left_out.sort_unstable_by(|one, other| one.path.cmp(&other.path));
    (found, left_out)
}

/// Sort key that puts files before directories. So a session's own transcript precedes the transcripts of its
/// subagents.
fn sort_key(path: &Path) -> (Vec<(bool, OsString)>, OsString) {
    let above = path.parent().into_iter().flat_map(Path::iter).map(|name| (true, name.to_owned()));
    let name = path.file_name().unwrap_or_default().to_owned();
    (above.chain([(false, OsString::new())]).collect(), name)
}

fn is_directory(link: &Path) -> bool {
    std::fs::metadata(link).is_ok_and(|behind| behind.is_dir())
}
