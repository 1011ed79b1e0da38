// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Which files a call touches, where nobody judged it just now: it is read as the policy does, with the
//! links that were seen then. The disk of today is not asked.

use tenterhook_event::{Event, Touch};
use tenterhook_facts::{Seen, Surroundings};

use super::happened::DecidedEvent;

/// Longer calls are not looked at, in bytes.
const LONGEST: usize = 64 * 1024;

/// Whether a call is too long to be looked at, now or ever.
pub(super) fn is_long(happened: &DecidedEvent<'_>) -> bool {
    let Some(tool) = happened.tool() else { return false };
    let commands = if tool.paths().is_empty() { tool.gist().len() } else { 0 };
    let patches = tool.patches().iter().map(|text| text.len()).sum::<usize>();
    patches + commands > LONGEST
}

/// What a call does to files.
pub(super) fn touched(happened: &DecidedEvent<'_>, person: Option<&str>) -> Vec<Touch> {
    let Some(tool) = happened.tool() else { return Vec::new() };
    let seen = happened.seen.filter(|seen| **seen != Seen::default());
    let around = Surroundings { home: person, seen, ..Surroundings::default() };
    if happened.input.is_none() {
        return tenterhook_facts::touched(happened.event, &around);
    }
    let changed = Event { tool: Some(tool.into_owned()), ..happened.event.clone() };
    tenterhook_facts::touched(&changed, &around)
}
