// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Admits privileged actions in the daemon: the kernel identifies the caller, and the ledger records the result.

use serde_json::{Value, json};
use tenterhook_authority::{Action, Authority, AuthorityRefusal, Caller, GrantedAction, Proof};
use tenterhook_engine::RecordError;
use tenterhook_error::Failure;
use tenterhook_event::EventId;
use tenterhook_home::call_meta;
use tenterhook_ledger::LedgerEntry;
use tenterhook_records::secrets;

use crate::daemon::Daemon;
use crate::listen::Peer;

/// Logs that an agent could not be stored as guarded, so a daemon started later will not know it.
pub(crate) fn warn_about_unwritten_mark(remembered: Result<(), Failure>) {
    if let Err(Failure { message, .. }) = remembered {
        tracing::warn!(message, "the mark of a guarded agent could not be written");
    }
}

impl Daemon {
    /// Identifies the caller.
    pub(crate) fn caller(&self, peer: Peer) -> Caller {
        match peer {
            Peer::Local { uid, pid, start } => Caller::from_socket(uid, pid, start, &self.authority.agents),
            Peer::Token => Caller::with_token(self.uid),
            Peer::Browser => Caller::in_browser(self.uid),
        }
    }

    /// Marks the agent that called a hook as guarded. `parent` is the parent process that the caller reports, or 0.
    pub(crate) fn register_agent(&self, peer: Peer, harness: &str, parent: u32) {
        let agents = &self.authority.agents;
        let remembered = match peer {
            Peer::Local { pid: Some(pid), .. } => {
                if agents.is_recently_seen(parent) || agents.is_recently_seen(pid.unsigned_abs()) {
                    return;
                }
                agents.remember(pid, harness)
            }
            Peer::Local { pid: None, .. } if cfg!(target_os = "linux") => agents.remember_invisible(harness),
            Peer::Local { .. } | Peer::Token | Peer::Browser => return,
        };
        warn_about_unwritten_mark(remembered);
    }

    /// Checks that a caller may weaken protection, and records the answer. If recording fails, the action is refused.
    pub(crate) async fn admit(
        &self,
        action: Action,
        peer: Peer,
        proof: &Proof,
        detail: Value,
        links: Vec<EventId>,
    ) -> Result<GrantedAction, AuthorityRefusal> {
        // Checking a code locks the file of codes for a moment; other tasks of this thread must not wait for that.
        let (caller, result) = tokio::task::block_in_place(|| {
            let caller = self.caller(peer);
            let result = self.authority.admit(action, &caller, proof, call_meta::now_ms());
            (caller, result)
        });
        let (what, detail) = Authority::change_record(action, &caller, &result, detail);
        if let Err(refused) = &result {
            tracing::warn!(action = action.name(), why = refused.why, "a privileged action was refused");
        }
        self.record_change(what, caller.uid, detail, links).await.map_err(|why| AuthorityRefusal {
            why: format!("`{action}` was not done, because it could not be recorded: {why}"),
            hint: "free disk space for the ledger".to_owned(),
        })?;
        if matches!((action, &result), (Action::Stop | Action::Restart, Ok(_))) {
            self.stop_requested.store(true, std::sync::atomic::Ordering::Release);
        }
        result
    }

    /// Records a change to the protection settings.
    pub(crate) async fn record_change(
        &self,
        what: &str,
        uid: u32,
        detail: Value,
        links: Vec<EventId>,
    ) -> Result<(), RecordError> {
        let meta = call_meta::mint().map_err(|failure| RecordError(failure.message))?;
        let entry = LedgerEntry::change(meta.id, meta.ts, what, &self.account_name(uid), detail, &secrets);
        self.recorder.append(entry.with_links(links)).await.map(drop)
    }

    /// Records that a signal stops the daemon. The sender is unknown and cannot be asked for proof.
    pub(crate) async fn record_signal_stop(&self) {
        if !self.stop_requested.load(std::sync::atomic::Ordering::Acquire) {
            let detail = json!({"authority": {"via": "signal", "proof": "none"}});
            if let Err(why) = self.record_change("stop", self.uid, detail, Vec::new()).await {
                tracing::warn!(%why, "the stop could not be recorded");
            }
        }
    }
}
