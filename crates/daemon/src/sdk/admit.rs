// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Who may bring hooks, take them back, and have the daemon's own agent work for them. No person's proof is needed: a hook of a program can object and
//! change, and what it changes is judged, but it can allow nothing. But an agent must not choose who
//! guards it.

use serde_json::Value;
use tenterhook_authority::{Action, Agent, Ancestry, Authority, Caller, Refused};

use super::{Code, Refusal};
use crate::daemon::Daemon;
use crate::listen::Peer;

/// How agents are remembered that fire events themselves: such a program may bring hooks of its own, and what it
/// starts may not.
const FIRES: &str = "sdk ";

impl Daemon {
    /// Somebody fires events: it is an agent, and what it starts is guarded from here on.
    pub(crate) fn fires(&self, peer: Peer, source: &str) {
        self.calls(peer, &format!("{FIRES}{source}"), 0);
    }

    /// The agent that would choose its own guards, if it is one that asks.
    fn guarded(&self, peer: Peer) -> Option<Agent> {
        let Peer::Local { pid: Some(pid), start: Some(start), .. } = peer else { return None };
        let ancestry = Ancestry::of(pid, start);
        let processes = ancestry.processes();
        let (own, above) = processes.split_at(processes.len().min(1));
        let agents = &self.authority.agents;
        agents.among(above).or_else(|| agents.among(own).filter(|agent| !agent.harness.starts_with(FIRES)))
    }

    /// Whether somebody may bring a hook or take it back, or have a session. That they may not is recorded.
    pub(crate) async fn admit_program(
        &self,
        action: Action,
        peer: Peer,
        detail: Value,
    ) -> Result<Caller, Refusal> {
        let (caller, guarded) = tokio::task::block_in_place(|| (self.caller(peer), self.guarded(peer)));
        let (why, hint) = match (guarded, caller.doubt()) {
            (Some(agent), _) => (
                format!("`{action}` was asked for by an agent that is guarded here ({agent})"),
                "start the program from somewhere else than the agent",
            ),
            (None, Some(doubt)) => (
                format!("`{action}` was asked for by a process that cannot be identified: {doubt}"),
                "the program that connects has to be the one that asks, and has to keep running",
            ),
            (None, None) if !self.is_own(caller.uid) => {
                (format!("`{action}` was asked for by another account"), "ask whoever this home belongs to")
            }
            (None, None) => return Ok(caller),
        };
        let refused = Err(Refused { why: why.clone(), hint: hint.to_owned() });
        let (what, detail) = Authority::leaf(action, &caller, &refused, detail);
        tracing::warn!(action = action.name(), why, "somebody was refused");
        if let Err(error) = self.change(what, caller.uid, detail, Vec::new()).await {
            tracing::warn!(%error, "a refusal could not be recorded");
        }
        Err(Refusal::new(Code::Refused, why, hint))
    }
}
