// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Defines the scope of an audit, and reads its transcripts.

use std::path::{Path, PathBuf};

use tenterhook_event::Event;
use tenterhook_harness::Harness;
use tenterhook_transcript::{SkippedFile, TranscriptFile, TranscriptOutput, TranscriptReader};

/// Selects the events of an audit.
#[derive(Debug)]
pub struct AuditScope {
    /// Time of the first event, in milliseconds since the Unix epoch.
    pub from_ms: u64,
    /// Only sessions in this directory or below it.
    pub project: Option<PathBuf>,
}

impl AuditScope {
    /// Whether an event is audited.
    pub fn contains(&self, event: &Event) -> bool {
        let within = |root: &PathBuf| {
            let dir = event.cwd.as_ref().or(event.project.as_ref());
            dir.is_some_and(|dir| Path::new(dir).starts_with(root))
        };
        event.ts.unix_ms() >= self.from_ms && self.project.as_ref().is_none_or(within)
    }
}

/// Reads transcripts one after the other, and returns those that could not be read.
pub fn read_transcripts(
    harness: &'static Harness,
    found: &[TranscriptFile],
    hear: &mut dyn FnMut(TranscriptOutput),
) -> Vec<SkippedFile> {
    let mut reader = TranscriptReader::new(harness, hear);
    let mut failures = Vec::new();
    for one in found {
        if let Err(error) = reader.read(one) {
            failures.push(SkippedFile { path: one.path.clone(), why: error.to_string() });
        }
    }
    failures
}
