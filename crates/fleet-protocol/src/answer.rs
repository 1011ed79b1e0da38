// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Signed answers to approval requests. An answer is bound to the machine, the approval, the call and an expiry.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ed25519_dalek::{Signer, SigningKey};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use tenterhook_ledger::VerifierKey;
use tenterhook_ledger::note::NoteError;

use crate::machine_id::MachineId;
use crate::messages::{ApprovalRequest, FleetMessage};

/// Maximum time between an answer's signature and its expiry, in seconds.
const MAX_ANSWER_LIFE: u64 = 3600;

/// The key of an approver.
#[derive(Clone)]
pub struct ApproverKey {
    secret: SigningKey,
    public: VerifierKey,
}

/// The decision of an approver.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum AnswerDecision {
    /// The call may run.
    Allow,
    /// The call may not run.
    Deny,
}

/// An answer to an approval request, signed by an approver.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SignedAnswer {
    /// The machine that asked.
    pub machine: MachineId,
    /// Id of the approval on this machine.
    pub approval: String,
    /// Digest of the call, in hexadecimal: see [`call_digest`].
    pub digest: String,
    /// Whether the call may run.
    pub decision: AnswerDecision,
    /// Time after which the answer is not valid, in Unix seconds.
    pub not_after: u64,
    /// Name of the approver's key.
    pub approver: String,
    /// Signature of the approver's key, in base 64.
    pub signature: String,
}

/// Error for an answer that is not valid.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AnswerError {
    /// The answer is for another machine, approval or call.
    #[error("the answer is for another {0}")]
    Other(&'static str),
    /// The answer has expired, or is valid for too long.
    #[error("the answer has expired, or is valid for longer than {MAX_ANSWER_LIFE} seconds")]
    Expired,
    /// The policy in force does not have this approver.
    #[error("`{0}` is not an approver in the policy in force")]
    UnknownApprover(String),
    /// The signature is not valid.
    #[error("the signature of `{0}` is not valid")]
    Signature(String),
}

/// Returns the digest of a call, in hexadecimal. `call` is the exact JSON text of the request.
pub fn call_digest(call: &str) -> String {
    let digest: [u8; 32] =
        Sha256::new().chain_update("tenterhook-call/1\n").chain_update(call).finalize().into();
    digest.iter().fold(String::with_capacity(64), |mut text, byte| {
        let digits =
            [byte >> 4, byte & 15].map(|digit| char::from_digit(u32::from(digit), 16).unwrap_or('0'));
        text.extend(digits);
        text
    })
}

impl ApproverKey {
    /// Creates the approver's key from a secret seed.
    pub fn from_seed(name: &str, seed: &[u8; 32]) -> Result<Self, NoteError> {
        let secret = SigningKey::from_bytes(seed);
        let public = VerifierKey::ed25519(name, secret.verifying_key())?;
        Ok(Self { secret, public })
    }

    /// Returns the public key, which the policy names.
    pub fn public(&self) -> &VerifierKey {
        &self.public
    }

    /// Answers a request. The answer is valid until `not_after`.
    pub fn answer(
        &self,
        request: &ApprovalRequest,
        decision: AnswerDecision,
        not_after: u64,
    ) -> SignedAnswer {
        let mut answer = SignedAnswer {
            machine: request.machine.clone(),
            approval: request.approval.clone(),
            digest: call_digest(&request.call),
            decision,
            not_after,
            approver: self.public.name().to_owned(),
            signature: String::new(),
        };
        answer.signature = STANDARD.encode(self.secret.sign(&answer.signed_bytes()).to_bytes());
        answer
    }
}

impl std::fmt::Debug for ApproverKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "ApproverKey({})", self.public)
    }
}

impl SignedAnswer {
    /// Returns the text that is signed.
    fn signed_bytes(&self) -> Vec<u8> {
        let decision = match self.decision {
            AnswerDecision::Allow => "allow",
            AnswerDecision::Deny => "deny",
        };
        let Self { machine, approval, digest, not_after, approver, .. } = self;
        // The id of an approval is the only free text; its length makes the end of the field unambiguous.
        let length = approval.len();
        format!("tenterhook-answer/1\n{machine}\n{length}:{approval}\n{digest}\n{decision}\n{not_after}\n{approver}\n")
            .into_bytes()
    }

    /// Checks the answer to a request of this machine, at a Unix time, with the approver keys of the policy in force.
    /// Each approval takes only one answer: the caller must close it.
    pub fn check(
        &self,
        request: &ApprovalRequest,
        approvers: &[VerifierKey],
        now: u64,
    ) -> Result<(), AnswerError> {
        if self.machine != request.machine {
            return Err(AnswerError::Other("machine"));
        }
        if self.approval != request.approval {
            return Err(AnswerError::Other("approval"));
        }
        if self.digest != call_digest(&request.call) {
            return Err(AnswerError::Other("call"));
        }
        if self.not_after < now || self.not_after - now > MAX_ANSWER_LIFE {
            return Err(AnswerError::Expired);
        }
        let mut named = approvers.iter().filter(|key| key.name() == self.approver).peekable();
        if named.peek().is_none() {
            return Err(AnswerError::UnknownApprover(self.approver.chars().take(100).collect()));
        }
        let refuse = || AnswerError::Signature(self.approver.clone());
        let signature = STANDARD.decode(&self.signature).map_err(|_| refuse())?;
        let message = self.signed_bytes();
        if named.any(|key| key.is_valid_signature(&message, &signature)) { Ok(()) } else { Err(refuse()) }
    }
}

impl FleetMessage for SignedAnswer {}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::nkey::{NkeyKind, NkeyPair};

    fn request(seed: u8) -> ApprovalRequest {
        let machine = MachineId::of_key(&NkeyPair::from_seed(NkeyKind::User, &[seed; 32]).public());
        let (approval, call) = ("k7f2m".to_owned(), r#"{"command":"rm -r x"}"#.to_owned());
        ApprovalRequest { machine, approval, call, expires: 5000, closed: false }
    }

    #[test]
    fn an_answer_is_valid_for_its_machine_approval_and_call_until_it_expires() {
        let alice = ApproverKey::from_seed("alice", &[1; 32]).unwrap();
        let answer = alice.answer(&request(1), AnswerDecision::Allow, 1600);
        let keys = [alice.public().clone()];
        assert_eq!(answer.check(&request(1), &keys, 1000), Ok(()));
        assert_eq!(answer.check(&request(1), &keys, 1601), Err(AnswerError::Expired));
        assert_eq!(answer.check(&request(2), &keys, 1000), Err(AnswerError::Other("machine")));
        let other = ApprovalRequest { approval: "other".into(), ..request(1) };
        assert_eq!(answer.check(&other, &keys, 1000), Err(AnswerError::Other("approval")));
        let other = ApprovalRequest { call: r#"{"command":"rm -r y"}"#.into(), ..request(1) };
        assert_eq!(answer.check(&other, &keys, 1000), Err(AnswerError::Other("call")));
        let long = alice.answer(&request(1), AnswerDecision::Allow, 1000 + MAX_ANSWER_LIFE + 1);
        assert_eq!(long.check(&request(1), &keys, 1000), Err(AnswerError::Expired));
    }

    #[test]
    fn an_altered_answer_and_an_unknown_approver_are_refused() {
        let alice = ApproverKey::from_seed("alice", &[1; 32]).unwrap();
        let mallory = ApproverKey::from_seed("alice", &[2; 32]).unwrap();
        let keys = [alice.public().clone()];
        let answer = alice.answer(&request(1), AnswerDecision::Deny, 1600);
        let altered = SignedAnswer { decision: AnswerDecision::Allow, ..answer.clone() };
        assert!(matches!(altered.check(&request(1), &keys, 1000), Err(AnswerError::Signature(_))));
        let longer = SignedAnswer { not_after: 1700, ..answer.clone() };
        assert!(matches!(longer.check(&request(1), &keys, 1000), Err(AnswerError::Signature(_))));
        let forged = mallory.answer(&request(1), AnswerDecision::Allow, 1600);
        assert!(matches!(forged.check(&request(1), &keys, 1000), Err(AnswerError::Signature(_))));
        assert!(matches!(answer.check(&request(1), &[], 1000), Err(AnswerError::UnknownApprover(_))));
    }
}
