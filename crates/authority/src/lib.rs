// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The gate for privileged actions. It identifies the caller and checks whether the given proof is sufficient.
//!
//! A user proves their presence with a code from an authenticator app. If codes are not set up, the user types the
//! name of the action on a terminal. A process that descends from a guarded agent, or whose ancestry cannot be
//! verified, needs a code. `docs/threat-model.md` describes the strength of each proof.

mod action;
mod agents;
mod ancestry;
mod caller;
mod enrolment;
mod harness_process;
mod process;
mod sandboxed_runs;
mod signed_answer;
pub mod totp;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

pub use action::Action;
pub use agents::{Agent, Agents, OWN_AGENT};
pub use ancestry::Ancestry;
pub use caller::{Caller, CallerChannel, Identity};
pub use enrolment::{AttemptQuota, CodeResult, Enrolment};
pub use process::Process;
pub use sandboxed_runs::{RunRefusal, RunSession, SandboxedRuns};
pub use signed_answer::{RemoteApprover, UsedAnswers, check_signed_answer};
pub use tenterhook_api::AuthorityProof as Proof;

use tenterhook_error::Failure;
use tenterhook_home::Home;

/// Decides which callers may perform privileged actions on a state directory.
#[derive(Debug)]
pub struct Authority {
    /// Codes of the authenticator app.
    pub codes: Enrolment,
    /// Marks of guarded agents.
    pub agents: Agents,
    /// The account that owns the state directory.
    owner: u32,
    /// Whether the state directory is machine-wide. If it is, root needs no proof.
    system: bool,
}

/// The proof that an action needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ProofRequirement {
    /// A code of the authenticator app.
    Code,
    /// The name of the action, typed on a terminal.
    Tty,
    /// No proof is needed.
    Nothing,
}

/// An authorized action.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GrantedAction {
    /// The proof that was accepted: `code`, `tty` (typed on a terminal that the kernel confirmed), `unverified`
    /// (typed, on a platform that does not confirm terminals), `root` or `none`.
    pub proof: &'static str,
}

/// A refused action.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuthorityRefusal {
    /// Reason for the refusal.
    pub why: String,
    /// Hint on what to do next.
    pub hint: String,
}

// === impl Authority ===

impl Authority {
    /// The gate of a state directory that belongs to the account `owner`.
    pub fn of(home: &Home, owner: u32) -> Self {
        Self { codes: Enrolment::of(home), agents: Agents::of(home), owner, system: home.is_machine_wide() }
    }

    /// The proof that a caller needs for an action.
    pub fn required_proof(&self, action: Action, caller: &Caller) -> ProofRequirement {
        let presence =
            || if self.codes.is_enabled() { ProofRequirement::Code } else { ProofRequirement::Tty };
        // A browser's cookie does not prove that a user is present: an agent may have requested the link.
        if caller.channel == CallerChannel::Browser
            || caller.agent.is_some()
            || caller.unverified_reason().is_some()
        {
            presence()
        } else if caller.identity == Identity::Unsupported {
            if action.is_open_to_owner() { presence() } else { ProofRequirement::Code }
        } else if self.system && caller.uid == 0 {
            ProofRequirement::Nothing
        } else if self.codes.is_enabled() {
            ProofRequirement::Code
        } else if action.needs_confirmation() {
            ProofRequirement::Tty
        } else {
            ProofRequirement::Nothing
        }
    }

    /// Checks whether a caller may perform an action. An accepted code is used up, even if the action itself fails
    /// later.
    pub fn admit(
        &self,
        action: Action,
        caller: &Caller,
        proof: &Proof,
        now_ms: u64,
    ) -> Result<GrantedAction, AuthorityRefusal> {
        let doubt = caller.refusal(action.name());
        // A valid code proves the user's presence regardless of the ancestry: a process may be marked by mistake.
        if let Some(refused) = doubt.as_ref().filter(|_| proof.code.is_none() || !self.codes.is_enabled()) {
            return Err(refused.clone());
        }
        if caller.uid != self.owner && caller.uid != 0 {
            let why = format!("`{action}` was requested by another account");
            return Err(AuthorityRefusal::new(
                why,
                "only the account this home belongs to may weaken its protection",
            ));
        }
        match self.required_proof(action, caller) {
            ProofRequirement::Nothing => {
                Ok(GrantedAction { proof: if caller.uid == 0 && self.system { "root" } else { "none" } })
            }
            ProofRequirement::Code => {
                let from = if doubt.is_some() { AttemptQuota::Suspect } else { AttemptQuota::Ordinary };
                self.check_code(action, proof, from, now_ms)
            }
            ProofRequirement::Tty => check_tty(action, caller, proof),
        }
    }

    fn check_code(
        &self,
        action: Action,
        proof: &Proof,
        from: AttemptQuota,
        now_ms: u64,
    ) -> Result<GrantedAction, AuthorityRefusal> {
        if !self.codes.is_enabled() {
            let hint = "set up codes with `tenterhook approvals totp enroll` and give one with `--code CODE`";
            return Err(AuthorityRefusal::new(
                format!("`{action}` needs a code here, but codes are not set up"),
                hint,
            ));
        }
        let Some(code) = &proof.code else {
            let hint = "give the code of your authenticator app with `--code CODE` or `--code-file FILE`";
            return Err(AuthorityRefusal::new(format!("`{action}` needs a code"), hint));
        };
        let (why, hint) = match self.codes.attempt_from(from, code, now_ms) {
            Ok(CodeResult::Accepted) => return Ok(GrantedAction { proof: "code" }),
            Ok(CodeResult::Wrong) => ("the code is wrong", "check the clock of this machine"),
            Ok(CodeResult::Used) => ("the code was used already", "wait for the next one"),
            Ok(CodeResult::TooMany) if from == AttemptQuota::Suspect => (
                "too many codes were tried",
                "this process may try five codes per hour; use a terminal that no agent started",
            ),
            Ok(CodeResult::TooMany) => ("too many codes were tried", "wait a minute"),
            Err(Failure { message, hints, .. }) => {
                return Err(AuthorityRefusal {
                    why: message,
                    hint: hints.into_iter().next().unwrap_or_default(),
                });
            }
        };
        Err(AuthorityRefusal::new(format!("`{action}` was refused: {why}"), hint))
    }

    /// Returns the name and the detail of the record about a decision: the action, the caller and the result.
    pub fn change_record(
        action: Action,
        caller: &Caller,
        result: &Result<GrantedAction, AuthorityRefusal>,
        mut detail: Value,
    ) -> (&'static str, Value) {
        let mut by = caller.to_json();
        let proof = result.as_ref().map_or("none", |granted| granted.proof);
        if let Some(by) = by.as_object_mut() {
            by.insert("proof".to_owned(), proof.into());
        }
        match result {
            Ok(_) => {
                if !detail.is_object() {
                    detail = json!({});
                }
                if let Some(detail) = detail.as_object_mut() {
                    detail.insert("authority".to_owned(), by);
                }
                (action.name(), detail)
            }
            Err(AuthorityRefusal { why, .. }) => {
                ("refused", json!({"action": action.name(), "why": why, "asked": detail, "authority": by}))
            }
        }
    }
}

fn check_tty(action: Action, caller: &Caller, proof: &Proof) -> Result<GrantedAction, AuthorityRefusal> {
    if caller.channel == CallerChannel::Browser {
        let hint = "use a terminal, or set up codes with `tenterhook approvals totp enroll`";
        let why = format!("`{action}` needs a code in a browser, but codes are not set up");
        return Err(AuthorityRefusal::new(why, hint));
    }
    if caller.channel == CallerChannel::Tcp {
        let hint = "use the command line, or set up codes with `tenterhook approvals totp enroll`";
        return Err(AuthorityRefusal::new(
            format!("`{action}` needs a code over TCP, but codes are not set up"),
            hint,
        ));
    }
    match caller.terminal {
        Some(true) if proof.tty => return Ok(GrantedAction { proof: "tty" }),
        // On this platform the kernel does not confirm terminals. The record says `unverified`.
        None if proof.tty && caller.identity == Identity::Unsupported => {
            return Ok(GrantedAction { proof: "unverified" });
        }
        _ => {}
    }
    let hint = "run it in a terminal; for scripts, set up codes with `tenterhook approvals totp enroll` and pass one with `--code-file FILE`";
    Err(AuthorityRefusal::new(format!("`{action}` needs confirmation on a terminal"), hint))
}

// === impl AuthorityRefusal ===

impl AuthorityRefusal {
    fn new(why: impl Into<String>, hint: &str) -> Self {
        Self { why: why.into(), hint: hint.to_owned() }
    }
}

impl From<AuthorityRefusal> for Failure {
    fn from(refused: AuthorityRefusal) -> Self {
        Self::denied(refused.why).hint(refused.hint)
    }
}

#[cfg(test)]
mod tests;
