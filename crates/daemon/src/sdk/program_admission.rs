// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Checks who may register hooks, remove them, and use the daemon's own agent. No confirmation by a user is
//! needed: a hook can deny a call or change it (the changed call is evaluated too), but never allow it. A
//! guarded agent is refused, because it must not choose the hooks that guard it.

use serde_json::Value;
use tenterhook_authority::{Action, Agent, Ancestry, Authority, AuthorityRefusal, Caller};

use super::{ProgramRefusal, RefusalCode};
use crate::daemon::Daemon;
use crate::listen::Peer;

/// Prefix of the harness name under which programs that fire events are remembered as agents. Such a program may
/// register hooks; its child processes may not.
const FIRING_PROGRAM_PREFIX: &str = "sdk ";

impl Daemon {
    /// Remembers a program that fires events as an agent: its child processes are guarded from now on.
    pub(crate) fn remember_firing_program(&self, peer: Peer, source: &str) {
        self.register_agent(peer, &format!("{FIRING_PROGRAM_PREFIX}{source}"), 0);
    }

    /// Returns the guarded agent that a caller belongs to, if any.
    fn guarding_agent(&self, peer: Peer) -> Option<Agent> {
        let Peer::Local { pid: Some(pid), start: Some(start), .. } = peer else { return None };
        let ancestry = Ancestry::of(pid, start);
        let processes = ancestry.processes();
        let (own, above) = processes.split_at(processes.len().min(1));
        let agents = &self.authority.agents;
        agents.find_among(above).or_else(|| {
            agents.find_among(own).filter(|agent| !agent.harness.starts_with(FIRING_PROGRAM_PREFIX))
        })
    }

    /// Checks that a caller may register or remove hooks, or own a session. A refusal is recorded.
    pub(crate) async fn admit_program(
        &self,
        action: Action,
        peer: Peer,
        detail: Value,
    ) -> Result<Caller, ProgramRefusal> {
        let (caller, guarded) =
            tokio::task::block_in_place(|| (self.caller(peer), self.guarding_agent(peer)));
        let (why, hint) = match (guarded, caller.unverified_reason()) {
            (Some(agent), _) => (
                format!("guarded agents may not use `{action}` ({agent})"),
                "start the program outside of the agent",
            ),
            (None, Some(doubt)) => (
                format!("`{action}` needs a caller that can be identified: {doubt}"),
                "the process that connects must send the request itself and keep running",
            ),
            (None, None) if !self.is_own_account(caller.uid) => (
                format!("`{action}` is not available to other accounts"),
                "ask the owner of this state directory",
            ),
            (None, None) => return Ok(caller),
        };
        let refused = Err(AuthorityRefusal { why: why.clone(), hint: hint.to_owned() });
        let (what, detail) = Authority::change_record(action, &caller, &refused, detail);
        tracing::warn!(action = action.name(), why, "a program was refused");
        if let Err(error) = self.record_change(what, caller.uid, detail, Vec::new()).await {
            tracing::warn!(%error, "a refusal could not be recorded");
        }
        Err(ProgramRefusal::new(RefusalCode::Refused, why, hint))
    }
}
