// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Which hooks apply to an event.

use std::sync::Arc;

use tenterhook_event::Event;

use crate::Hook;

/// The hooks that apply, in order. `hooks` are those of the event's kind, sorted already.
pub fn select<'a>(hooks: &'a [Arc<Hook>], event: &Event) -> Vec<&'a Arc<Hook>> {
    hooks.iter().filter(|hook| hook.matcher.admits(event).is_ok()).collect()
}

/// Why a hook does not apply; nothing if it does.
pub fn why_not(hook: &Hook, event: &Event) -> Option<String> {
    if !hook.on.contains(&event.event) {
        let kinds: Vec<_> = hook.on.iter().map(|kind| kind.name()).collect();
        return Some(format!("it is for {}, not {}", kinds.join(", "), event.event));
    }
    hook.matcher.admits(event).err()
}
