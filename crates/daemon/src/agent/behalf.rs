// SPDX-License-Identifier: Apache-2.0 OR MIT

//! On whose behalf something is done. A hook that runs a tool from inside its handler is not asked about that
//! tool: it would wait for itself. Neither are the hooks on whose behalf its own event was fired, so
//! whatever hooks set off comes to an end.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use tenterhook_engine::HookId;
use tenterhook_event::EventId;
use tokio::task::futures::TaskLocalFuture;

use crate::sdk::Registered;

/// How many events are remembered.
const KEPT: usize = 1024;

tokio::task_local! {
    static BEHALF: Chain;
}

/// The hooks on whose behalf something is done.
pub(super) type Chain = Arc<[HookId]>;

/// What a program says it is doing: a hook of its handles an event.
#[derive(Debug, Clone)]
pub(crate) struct Handling {
    pub(crate) event_id: String,
    pub(crate) hook_id: String,
}

/// The latest events that were fired on behalf of hooks.
#[derive(Default)]
pub(super) struct Chains {
    kept: Mutex<VecDeque<(EventId, Chain)>>,
}

/// Does something on behalf of hooks.
pub(super) fn on<F: Future>(chain: Chain, work: F) -> TaskLocalFuture<Chain, F> {
    BEHALF.scope(chain, work)
}

/// On whose behalf this is done.
pub(super) fn now() -> Chain {
    BEHALF.try_with(Arc::clone).unwrap_or_default()
}

impl Chains {
    /// On whose behalf a program works that says so. Only hooks of its own count: nobody keeps out
    /// somebody else's guard.
    pub(super) fn of(&self, handling: Option<&Handling>, own: &[Registered]) -> Chain {
        let Some(handling) = handling else { return Chain::default() };
        let before = handling.event_id.parse().ok().and_then(|id| self.find(id)).unwrap_or_default();
        let all = before.iter().map(AsRef::as_ref).chain([handling.hook_id.as_str()]);
        let mut chain: Vec<HookId> = Vec::new();
        for id in all {
            let known = own.iter().find(|known| *known.hook.id == *id);
            chain.extend(known.map(|known| Arc::clone(&known.hook.id)).filter(|id| !chain.contains(id)));
        }
        chain.into()
    }

    /// Remembers on whose behalf an event is fired.
    pub(super) fn keep(&self, event: EventId, chain: &Chain) {
        if chain.is_empty() {
            return;
        }
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.len() >= KEPT {
            kept.pop_front();
        }
        kept.push_back((event, Arc::clone(chain)));
    }

    fn find(&self, event: EventId) -> Option<Chain> {
        let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.iter().rev().find(|(id, _)| *id == event).map(|(_, chain)| Arc::clone(chain))
    }
}
