// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The one gate for everything that loosens protection: who asks, what they show for it, and whether
//! that is enough.
//!
//! A person shows that they are there by a code of their authenticator app, or, in a home without
//! codes, by typing the name of what they do on a terminal. A process that comes from a guarded agent, or
//! whose ancestry cannot be established, passes with a code only. What each of these is worth is in
//! `docs/threat-model.md`.

mod action;
mod agents;
mod ancestry;
mod caller;
mod enrolment;
mod harness_process;
mod process;
pub mod totp;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

pub use action::Action;
pub use agents::{Agent, Agents, OWN_AGENT};
pub use ancestry::Ancestry;
pub use caller::{Caller, Identity, Way};
pub use enrolment::{CodeTries, Enrolment, Tried};
pub use process::Process;
pub use tenterhook_api::AuthorityProof as Proof;

use tenterhook_error::Failure;
use tenterhook_home::Home;

/// Decides who may loosen the protection of a home.
#[derive(Debug)]
pub struct Authority {
    /// The codes.
    pub codes: Enrolment,
    /// Who is guarded.
    pub agents: Agents,
    /// Whom the home belongs to.
    owner: u32,
    /// Whether the home belongs to the machine: then its administrator needs to show nothing.
    system: bool,
}

/// What has to be shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Needs {
    /// A code.
    Code,
    /// The name of the action, typed on a terminal.
    Tty,
    /// Nothing.
    Nothing,
}

/// Somebody may.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Granted {
    /// By what they have shown: `code`, `tty` (a terminal that the kernel confirmed), `unverified` (typed,
    /// where the platform confirms no terminals), `root` or `none`.
    pub proof: &'static str,
}

/// Somebody may not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refused {
    /// Why.
    pub why: String,
    /// What to do.
    pub hint: String,
}

// === impl Authority ===

impl Authority {
    /// The gate of a home that belongs to an account.
    pub fn of(home: &Home, owner: u32) -> Self {
        Self { codes: Enrolment::of(home), agents: Agents::of(home), owner, system: home.public.is_some() }
    }

    /// What a caller would have to show.
    pub fn needs(&self, action: Action, caller: &Caller) -> Needs {
        let person = || if self.codes.is_on() { Needs::Code } else { Needs::Tty };
        // A cookie is no proof, whoever it says it is: an agent may have asked for the link.
        if caller.way == Way::Browser || caller.agent.is_some() || caller.doubt().is_some() {
            person()
        } else if caller.identity == Identity::Unsupported {
            if action.is_always_for_the_owner() { person() } else { Needs::Code }
        } else if self.system && caller.uid == 0 {
            Needs::Nothing
        } else if self.codes.is_on() {
            Needs::Code
        } else if action.needs_a_person() {
            Needs::Tty
        } else {
            Needs::Nothing
        }
    }

    /// Whether a caller may do it. A code that is shown is used up, whatever comes of it.
    pub fn admit(
        &self,
        action: Action,
        caller: &Caller,
        proof: &Proof,
        now_ms: u64,
    ) -> Result<Granted, Refused> {
        let doubt = caller.refusal(action.name());
        // A code proves a person whatever the ancestry says: marks can be wrong, a code cannot.
        if let Some(refused) = doubt.as_ref().filter(|_| proof.code.is_none() || !self.codes.is_on()) {
            return Err(refused.clone());
        }
        if caller.uid != self.owner && caller.uid != 0 {
            let why = format!("`{action}` was asked for by another account");
            return Err(Refused::new(why, "only the account this home belongs to may weaken its protection"));
        }
        match self.needs(action, caller) {
            Needs::Nothing => {
                Ok(Granted { proof: if caller.uid == 0 && self.system { "root" } else { "none" } })
            }
            Needs::Code => {
                let from = if doubt.is_some() { CodeTries::Doubtful } else { CodeTries::Ordinary };
                self.check_code(action, proof, from, now_ms)
            }
            Needs::Tty => check_tty(action, caller, proof),
        }
    }

    fn check_code(
        &self,
        action: Action,
        proof: &Proof,
        from: CodeTries,
        now_ms: u64,
    ) -> Result<Granted, Refused> {
        if !self.codes.is_on() {
            let hint = "set up codes with `tenterhook totp enroll` and give one with `--code CODE`";
            return Err(Refused::new(format!("`{action}` needs a code here, and none are set up"), hint));
        }
        let Some(code) = &proof.code else {
            let hint = "give the code of your authenticator app with `--code CODE` or `--code-file FILE`";
            return Err(Refused::new(format!("`{action}` needs a code"), hint));
        };
        let (why, hint) = match self.codes.attempt_from(from, code, now_ms) {
            Ok(Tried::Right) => return Ok(Granted { proof: "code" }),
            Ok(Tried::Wrong) => ("the code is wrong", "is the clock of this machine right?"),
            Ok(Tried::Used) => ("the code was used already", "wait for the next one"),
            Ok(Tried::TooMany) if from == CodeTries::Doubtful => (
                "too many codes were tried",
                "from here five are taken in an hour; use a terminal that no agent started",
            ),
            Ok(Tried::TooMany) => ("too many codes were tried", "wait a minute"),
            Err(Failure { message, hints, .. }) => {
                return Err(Refused { why: message, hint: hints.into_iter().next().unwrap_or_default() });
            }
        };
        Err(Refused::new(format!("`{action}` is not done: {why}"), hint))
    }

    /// What the record says about who asked and what came of it, beside what they asked for.
    pub fn leaf(
        action: Action,
        caller: &Caller,
        result: &Result<Granted, Refused>,
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
            Err(Refused { why, .. }) => {
                ("refused", json!({"action": action.name(), "why": why, "asked": detail, "authority": by}))
            }
        }
    }
}

fn check_tty(action: Action, caller: &Caller, proof: &Proof) -> Result<Granted, Refused> {
    if caller.way == Way::Browser {
        let hint = "do it in a terminal, or set up codes with `tenterhook totp enroll`";
        let why = format!("`{action}` needs more than a browser, and no codes are set up here");
        return Err(Refused::new(why, hint));
    }
    if caller.way == Way::Tcp {
        let hint = "use the command line, or set up codes with `tenterhook totp enroll`";
        return Err(Refused::new(
            format!("`{action}` over TCP needs a code, and none are set up here"),
            hint,
        ));
    }
    match caller.terminal {
        Some(true) if proof.tty => return Ok(Granted { proof: "tty" }),
        // The kernel confirms nothing here; the record says so.
        None if proof.tty && caller.identity == Identity::Unsupported => {
            return Ok(Granted { proof: "unverified" });
        }
        _ => {}
    }
    let hint = "run it in a terminal; for scripts set up codes with `tenterhook totp enroll` and give one with `--code-file FILE`";
    Err(Refused::new(format!("`{action}` needs a person who confirms it on a terminal"), hint))
}

// === impl Refused ===

impl Refused {
    fn new(why: impl Into<String>, hint: &str) -> Self {
        Self { why: why.into(), hint: hint.to_owned() }
    }
}

impl From<Refused> for Failure {
    fn from(refused: Refused) -> Self {
        Self::denied(refused.why).hint(refused.hint)
    }
}

#[cfg(test)]
mod tests;
