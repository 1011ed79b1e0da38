// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Derives the files that a recorded call touches, in the same way as the judge. The symlinks come from the
//! record; the disk is not read.

use tenterhook_event::{Event, PathEffect};
use tenterhook_facts::{EvalEnvironment, LinkMap};

use super::decided_event::DecidedEvent;

/// Maximum length of a call that is analysed, in bytes.
const MAX_CALL_BYTES: usize = 64 * 1024;

/// Whether a call is too long to be analysed.
pub(super) fn is_too_long(decided: &DecidedEvent<'_>) -> bool {
    let Some(tool) = decided.tool() else { return false };
    let commands = if tool.paths().is_empty() { tool.gist().len() } else { 0 };
    let patches = tool.patches().iter().map(|text| text.len()).sum::<usize>();
    patches + commands > MAX_CALL_BYTES
}

/// Finds the file effects of a call after rewrites.
pub(super) fn find_touched(decided: &DecidedEvent<'_>, person: Option<&str>) -> Vec<PathEffect> {
    let Some(tool) = decided.tool() else { return Vec::new() };
    let seen = decided.seen.filter(|seen| **seen != LinkMap::default());
    let around = EvalEnvironment { home: person, seen, ..EvalEnvironment::default() };
    if decided.input.is_none() {
        return tenterhook_facts::touched_files(decided.event, &around);
    }
    let changed = Event { tool: Some(tool.into_owned()), ..decided.event.clone() };
    tenterhook_facts::touched_files(&changed, &around)
}
