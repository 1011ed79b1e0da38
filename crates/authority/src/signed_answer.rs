// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Answers to approvals that an approver of the fleet signed on another machine.
//!
//! An answer is valid for one machine, one approval, one call and a short time, and can be used once. The keys of the
//! approvers are in the policy bundle in force, so neither the fleet server nor the program that relays an answer can
//! approve a call.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use tenterhook_api::Approval;
use tenterhook_error::Failure;
use tenterhook_fleet_protocol::{AnswerDecision, AnswerError, ApprovalRequest, SignedAnswer};
use tenterhook_home::{FleetPolicy, Home, state_file, write_atomic};

use crate::AuthorityRefusal;

/// Maximum number of used answers that are remembered. They expire within an hour.
const MAX_USED_ANSWERS: usize = 4096;

/// The approver whose answer was accepted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RemoteApprover {
    /// Name of the approver.
    pub name: String,
    /// Version of the bundle that names the approver.
    pub version: u64,
}

/// Approvals that were given by a signed answer, in `<state>/fleet/answers.json`.
#[derive(Debug)]
pub struct UsedAnswers(PathBuf);

#[derive(Debug, Default, Serialize, Deserialize)]
struct UsedAnswersFile {
    v: u32,
    /// Time until which the answer would be valid, by approval and digest of the call.
    used: BTreeMap<String, u64>,
}

/// Checks a signed answer to a waiting call, at a Unix time. `needs_code` says whether a local approval needs a code.
pub fn check_signed_answer(
    answer: &SignedAnswer,
    approval: &Approval,
    policy: Option<&FleetPolicy>,
    needs_code: bool,
    now: u64,
) -> Result<RemoteApprover, AuthorityRefusal> {
    let Some((policy, bundle)) = policy.and_then(|policy| Some((policy, policy.trusted_bundle()?))) else {
        let hint = "only approvers that a policy bundle in force names may answer from another machine";
        return Err(AuthorityRefusal::new("no policy of a fleet is in force on this machine", hint));
    };
    let Ok(machine) = policy.machine.parse() else {
        return Err(AuthorityRefusal::new(
            "the enrolment of this machine cannot be read",
            "join the fleet again",
        ));
    };
    let request = ApprovalRequest {
        machine,
        approval: approval.id.to_string(),
        call: approval.call_text(),
        expires: approval.until.unix_ms() / 1000,
        closed: false,
    };
    answer.check(&request, &bundle.approvers(), now).map_err(|error| {
        let hint = match &error {
            AnswerError::Other(_) => "an answer is valid for one machine, one approval and one call",
            AnswerError::Expired => "sign a new answer, and check the clocks of both machines",
            AnswerError::UnknownApprover(_) => "the keys of approvers are in the policy bundle in force",
            AnswerError::Signature(_) => "the answer was changed, or was signed with another key",
        };
        AuthorityRefusal::new(format!("the signed answer is refused: {error}"), hint)
    })?;
    if answer.decision == AnswerDecision::Allow && needs_code && !bundle.approvals().replaces_code {
        let why = "approvals on this machine need a code, and the fleet's policy does not let a signature replace it";
        return Err(AuthorityRefusal::new(
            why,
            "approve the call on the machine, or set `replaces_code` in the policy",
        ));
    }
    Ok(RemoteApprover { name: answer.approver.clone(), version: bundle.manifest.version })
}

impl UsedAnswers {
    /// The used answers of a home.
    pub fn of(home: &Home) -> Self {
        Self(home.state.join("fleet").join("answers.json"))
    }

    /// Marks an approval as answered. Refuses a second answer to the same call under the same id, also after a restart.
    pub fn claim(&self, answer: &SignedAnswer, now: u64) -> Result<(), AuthorityRefusal> {
        let failed = |why: String| {
            AuthorityRefusal::new(
                format!("`{}` cannot be used: {why}", self.0.display()),
                "no signed answer is accepted until the file can be read and written",
            )
        };
        let text = state_file(&self.0).map_err(|error| failed(error.to_string()))?;
        let stored = text.map(|text| serde_json::from_str::<UsedAnswersFile>(&text)).transpose();
        let mut stored = stored.map_err(|error| failed(error.to_string()))?.unwrap_or_default();
        stored.v = 1;
        stored.used.retain(|_, until| *until >= now);
        let key = format!("{} {}", answer.approval, answer.digest);
        if stored.used.contains_key(&key) {
            let why = "a signed answer to this call was used already";
            return Err(AuthorityRefusal::new(
                why,
                "each approval takes one answer; the call has to ask again",
            ));
        }
        if stored.used.len() >= MAX_USED_ANSWERS {
            return Err(failed("too many answers within an hour".to_owned()));
        }
        stored.used.insert(key, answer.not_after);
        let text = serde_json::to_vec(&stored).map_err(|error| failed(error.to_string()))?;
        write_atomic(&self.0, &text, 0o600).map_err(|Failure { message, .. }| failed(message))
    }
}
