// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Tracks which hooks caused a call. When the handler of a hook runs a tool, that hook is not asked about the
//! tool call, because it would wait for itself. Hooks that caused the event being handled are skipped too, so
//! a chain of hooks always ends.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use tenterhook_engine::HookId;
use tenterhook_event::EventId;
use tokio::task::futures::TaskLocalFuture;

use crate::sdk::ClientHook;

/// Maximum number of events whose hook chain is remembered; the oldest are dropped first.
const MAX_REMEMBERED_EVENTS: usize = 1024;

tokio::task_local! {
    static CURRENT_CHAIN: HookChain;
}

/// The hooks that caused a call, outermost first.
pub(super) type HookChain = Arc<[HookId]>;

/// An event that a hook of a connected program is handling, as the program reports it.
#[derive(Debug, Clone)]
pub(crate) struct HandledEvent {
    pub(crate) event_id: String,
    pub(crate) hook_id: String,
}

/// The latest events fired by hooks, each with the hooks that caused it.
#[derive(Default)]
pub(super) struct HookChains {
    remembered: Mutex<VecDeque<(EventId, HookChain)>>,
}

/// Runs a future whose calls are attributed to these hooks.
pub(super) fn run_caused_by<F: Future>(chain: HookChain, work: F) -> TaskLocalFuture<HookChain, F> {
    CURRENT_CHAIN.scope(chain, work)
}

/// Returns the hooks that caused the current task.
pub(super) fn current_chain() -> HookChain {
    CURRENT_CHAIN.try_with(Arc::clone).unwrap_or_default()
}

impl HookChains {
    /// Returns the hooks that caused a program's work. The result contains only hooks of this program
    /// (`own`), so a program cannot cause another program's hooks to be skipped.
    pub(super) fn chain_of(&self, handling: Option<&HandledEvent>, own: &[ClientHook]) -> HookChain {
        let Some(handling) = handling else { return HookChain::default() };
        let before = handling.event_id.parse().ok().and_then(|id| self.find(id)).unwrap_or_default();
        let all = before.iter().map(AsRef::as_ref).chain([handling.hook_id.as_str()]);
        let mut chain: Vec<HookId> = Vec::new();
        for id in all {
            let known = own.iter().find(|known| *known.hook.id == *id);
            chain.extend(known.map(|known| Arc::clone(&known.hook.id)).filter(|id| !chain.contains(id)));
        }
        chain.into()
    }

    /// Remembers which hooks caused an event.
    pub(super) fn remember(&self, event: EventId, chain: &HookChain) {
        if chain.is_empty() {
            return;
        }
        let mut remembered = self.remembered.lock().unwrap_or_else(PoisonError::into_inner);
        if remembered.len() >= MAX_REMEMBERED_EVENTS {
            remembered.pop_front();
        }
        remembered.push_back((event, Arc::clone(chain)));
    }

    fn find(&self, event: EventId) -> Option<HookChain> {
        let remembered = self.remembered.lock().unwrap_or_else(PoisonError::into_inner);
        remembered.iter().rev().find(|(id, _)| *id == event).map(|(_, chain)| Arc::clone(chain))
    }
}
