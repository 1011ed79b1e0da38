// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The gate, as the daemon keeps it: the kernel says who asks, and the ledger what became of it.

use serde_json::{Value, json};
use tenterhook_authority::{Action, Authority, Caller, Granted, Proof, Refused};
use tenterhook_engine::RecordError;
use tenterhook_error::Failure;
use tenterhook_event::EventId;
use tenterhook_home::call_meta;
use tenterhook_ledger::LedgerEntry;
use tenterhook_records::secrets;

use crate::daemon::Daemon;
use crate::listen::Peer;

/// Logs that the mark of an agent could not be written. The daemon knows the agent all the same; one that is started
/// later does not.
pub(crate) fn warn_of_unwritten_mark(remembered: Result<(), Failure>) {
    if let Err(Failure { message, .. }) = remembered {
        tracing::warn!(message, "the mark of a guarded agent could not be written");
    }
}

impl Daemon {
    /// Who is at the other end.
    pub(crate) fn caller(&self, peer: Peer) -> Caller {
        match peer {
            Peer::Local { uid, pid, start } => Caller::connected(uid, pid, start, &self.authority.agents),
            Peer::Token => Caller::with_token(self.uid),
            Peer::Browser => Caller::in_browser(self.uid),
        }
    }

    /// Remembers the agent that called a hook: its processes are guarded from now on. `parent` is the parent process that
    /// the caller names, or 0.
    pub(crate) fn calls(&self, peer: Peer, harness: &str, parent: u32) {
        let agents = &self.authority.agents;
        let remembered = match peer {
            Peer::Local { pid: Some(pid), .. } => {
                if agents.knows(parent) || agents.knows(pid.unsigned_abs()) {
                    return;
                }
                agents.remember(pid, harness)
            }
            Peer::Local { pid: None, .. } if cfg!(target_os = "linux") => agents.remember_outside(harness),
            Peer::Local { .. } | Peer::Token | Peer::Browser => return,
        };
        warn_of_unwritten_mark(remembered);
    }

    /// Checks that a caller may weaken protection. The answer is recorded; if that fails, the action is refused.
    pub(crate) async fn admit(
        &self,
        action: Action,
        peer: Peer,
        proof: &Proof,
        detail: Value,
        links: Vec<EventId>,
    ) -> Result<Granted, Refused> {
        // The file of codes is locked for a moment; other tasks must not wait for it.
        let (caller, result) = tokio::task::block_in_place(|| {
            let caller = self.caller(peer);
            let result = self.authority.admit(action, &caller, proof, call_meta::now_ms());
            (caller, result)
        });
        let (what, detail) = Authority::leaf(action, &caller, &result, detail);
        if let Err(refused) = &result {
            tracing::warn!(action = action.name(), why = refused.why, "somebody was refused");
        }
        self.change(what, caller.uid, detail, links).await.map_err(|why| Refused {
            why: format!("`{action}` is not done, because it cannot be recorded: {why}"),
            hint: "make room for the ledger".to_owned(),
        })?;
        if matches!((action, &result), (Action::Stop | Action::Restart, Ok(_))) {
            self.told_to_end.store(true, std::sync::atomic::Ordering::Release);
        }
        result
    }

    /// Records that something changes protection.
    pub(crate) async fn change(
        &self,
        what: &str,
        uid: u32,
        detail: Value,
        links: Vec<EventId>,
    ) -> Result<(), RecordError> {
        let door = call_meta::mint().map_err(|failure| RecordError(failure.message))?;
        let entry = LedgerEntry::change(door.id, door.ts, what, &self.account(uid), detail, &secrets);
        self.recorder.keep(entry.with_links(links)).await.map(drop)
    }

    /// Records that a signal ends the daemon. Its sender is unknown and cannot be asked for proof.
    pub(crate) async fn ends(&self) {
        if !self.told_to_end.load(std::sync::atomic::Ordering::Acquire) {
            let detail = json!({"authority": {"via": "signal", "proof": "none"}});
            if let Err(why) = self.change("stop", self.uid, detail, Vec::new()).await {
                tracing::warn!(%why, "the end could not be recorded");
            }
        }
    }
}
