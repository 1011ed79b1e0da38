// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Which files a command or patch touches, where nobody judged it just now: it is read as the policy does.

use tenterhook_event::{Event, ToolClass, Touch};
use tenterhook_policy::Surroundings;

/// Longer calls are not looked at, in bytes.
const LONGEST: usize = 64 * 1024;

/// What a call of the past did to files. `None` if it is too long to be looked at.
pub(super) fn touched(event: &Event, person: Option<&str>) -> Option<Vec<Touch>> {
    let Some(tool) = &event.tool else { return Some(Vec::new()) };
    if !matches!(tool.class, ToolClass::Shell | ToolClass::Patch) {
        return Some(Vec::new());
    }
    let patches = tool.patches().iter().map(|text| text.len()).sum::<usize>();
    if patches + tool.gist().len() > LONGEST {
        return None;
    }
    let around = Surroundings { home: person, ..Surroundings::default() };
    Some(tenterhook_policy::facts(event, &around).touched())
}
