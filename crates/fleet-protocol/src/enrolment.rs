// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Requests of a machine to the fleet server over HTTP: enrol, renew the credentials, leave.
//!
//! Each request is signed with the machine's key over the path of the request, a time and the request's fields, so
//! that the server knows that the machine has the key, and a request cannot be used for another purpose.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::machine_id::{InstanceId, MachineId};
use crate::mailbox::Mailbox;
use crate::messages::FleetMessage;
use crate::nkey::{NkeyKind, NkeyPair, NkeyPublic};
use crate::subject::Ring;

/// Version of the requests.
pub const ENROLMENT_VERSION: u32 = 1;
/// Maximum difference between the clocks of a machine and of the server, in seconds.
const MAX_CLOCK_SKEW: u64 = 300;

/// Error for a request that does not prove the possession of its key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum PossessionError {
    /// The version is unknown.
    #[error("unknown version of the request")]
    Version,
    /// The key is not the key of a machine.
    #[error("the key is not the key of a machine")]
    Key,
    /// The request is too old, or its time is in the future.
    #[error("the time of the request differs from the server's by more than {MAX_CLOCK_SKEW} seconds")]
    Time,
    /// The signature is not valid.
    #[error("the request is not signed with its key")]
    Signature,
}

/// Enrols a machine with a token (`POST /v1/enrol`).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct EnrolRequest {
    /// Version of the request.
    pub v: u32,
    /// The enrolment token.
    pub token: String,
    /// Public key of the machine.
    pub machine_key: NkeyPublic,
    /// The copy of the machine.
    pub instance: InstanceId,
    /// Name of the host.
    pub host: String,
    /// Version of Tenterhook.
    pub version: String,
    /// Origin of the ledger.
    pub origin: String,
    /// Verifier key of the ledger.
    pub ledger_key: String,
    /// Signed checkpoint of the ledger, which proves the possession of its key; empty if it has no records.
    pub checkpoint: String,
    /// Time of the request, in Unix seconds.
    pub time: u64,
    /// Signature of the machine's key, in base 64.
    pub proof: String,
}

/// The server's response to an enrolment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct EnrolResponse {
    /// Id of the machine; derived from its key.
    pub machine: MachineId,
    /// Name of the tenant.
    pub tenant: String,
    /// Verifier key of the witness, which cosigns the machine's checkpoints.
    pub witness: String,
    /// Root keys that sign policy bundles, as verifier keys.
    #[serde(default)]
    pub policy_keys: Vec<String>,
    /// Number of root keys that must sign a bundle.
    #[serde(default)]
    pub policy_threshold: u32,
    /// Credentials of the message bus.
    pub credentials: MachineCredentials,
}

/// Credentials of the message bus and other settings that the server may change.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MachineCredentials {
    /// URLs of the message bus.
    pub nats: Vec<String>,
    /// Certificate authority of the message bus, in PEM.
    #[serde(default)]
    pub nats_ca: Option<String>,
    /// Token of the user, for the machine's key.
    pub user_jwt: String,
    /// Time of issue by the server's clock, in Unix seconds.
    pub issued: u64,
    /// Time at which the token expires by the server's clock, in Unix seconds.
    pub expires: u64,
    /// Ring of the machine.
    pub ring: Ring,
    /// Where the machine receives messages that are for it alone. It has a secret.
    pub mailbox: Mailbox,
    /// What the organisation collects beyond the envelopes of records; shown to the user.
    #[serde(default)]
    pub collects: Vec<String>,
}

/// Asks for new credentials (`POST /v1/renew`). The response is [`MachineCredentials`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RenewRequest {
    /// Version of the request.
    pub v: u32,
    /// Public key of the machine.
    pub machine_key: NkeyPublic,
    /// The copy of the machine.
    pub instance: InstanceId,
    /// Time of the request, in Unix seconds.
    pub time: u64,
    /// Signature of the machine's key, in base 64.
    pub proof: String,
}

/// Leaves the fleet (`POST /v1/leave`).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LeaveRequest {
    /// Version of the request.
    pub v: u32,
    /// Public key of the machine.
    pub machine_key: NkeyPublic,
    /// Time of the request, in Unix seconds.
    pub time: u64,
    /// Signature of the machine's key, in base 64.
    pub proof: String,
}

/// The server's response to a machine that leaves.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LeaveAnswer {}

impl FleetMessage for LeaveAnswer {}
impl FleetMessage for EnrolRequest {}
impl FleetMessage for EnrolResponse {}
impl FleetMessage for MachineCredentials {}
impl FleetMessage for RenewRequest {}
impl FleetMessage for LeaveRequest {}

/// Returns the digest that is signed. Each field has its length, so that no two requests have the same digest.
fn signed_digest(path: &str, fields: &[&str]) -> [u8; 32] {
    let mut digest = Sha256::new().chain_update("tenterhook-fleet-request/1\n");
    for field in std::iter::once(&path).chain(fields) {
        let length = u64::try_from(field.len()).unwrap_or(u64::MAX);
        digest.update(length.to_be_bytes());
        digest.update(field);
    }
    digest.finalize().into()
}

fn check(
    (v, key, time, proof): (u32, &NkeyPublic, u64, &str),
    digest: [u8; 32],
    now: u64,
) -> Result<MachineId, PossessionError> {
    if v != ENROLMENT_VERSION {
        return Err(PossessionError::Version);
    }
    if key.kind() != NkeyKind::User {
        return Err(PossessionError::Key);
    }
    if time.abs_diff(now) > MAX_CLOCK_SKEW {
        return Err(PossessionError::Time);
    }
    let signature = STANDARD.decode(proof).map_err(|_| PossessionError::Signature)?;
    if key.is_valid_signature(&digest, &signature) {
        Ok(MachineId::of_key(key))
    } else {
        Err(PossessionError::Signature)
    }
}

impl EnrolRequest {
    /// Path of the request.
    pub const PATH: &str = "/v1/enrol";

    fn digest(&self) -> [u8; 32] {
        let (key, instance, time) =
            (self.machine_key.to_string(), self.instance.to_string(), self.time.to_string());
        let fields = [
            &self.token,
            &key,
            &instance,
            &self.host,
            &self.version,
            &self.origin,
            &self.ledger_key,
            &self.checkpoint,
            &time,
        ];
        signed_digest(Self::PATH, &fields.map(String::as_str))
    }

    /// Signs the request with the machine's key, whose public key it takes.
    #[must_use]
    pub fn signed(mut self, key: &NkeyPair) -> Self {
        (self.v, self.machine_key) = (ENROLMENT_VERSION, key.public());
        self.proof = STANDARD.encode(key.sign(&self.digest()));
        self
    }

    /// Checks the proof of possession. Returns the id of the machine.
    pub fn check(&self, now: u64) -> Result<MachineId, PossessionError> {
        check((self.v, &self.machine_key, self.time, &self.proof), self.digest(), now)
    }
}

impl RenewRequest {
    /// Path of the request.
    pub const PATH: &str = "/v1/renew";

    fn digest(&self) -> [u8; 32] {
        let (key, instance, time) =
            (self.machine_key.to_string(), self.instance.to_string(), self.time.to_string());
        signed_digest(Self::PATH, &[&key, &instance, &time])
    }

    /// Creates a request signed with the machine's key.
    pub fn new(key: &NkeyPair, instance: InstanceId, time: u64) -> Self {
        let mut request =
            Self { v: ENROLMENT_VERSION, machine_key: key.public(), instance, time, proof: String::new() };
        request.proof = STANDARD.encode(key.sign(&request.digest()));
        request
    }

    /// Checks the proof of possession. Returns the id of the machine.
    pub fn check(&self, now: u64) -> Result<MachineId, PossessionError> {
        check((self.v, &self.machine_key, self.time, &self.proof), self.digest(), now)
    }
}

impl LeaveRequest {
    /// Path of the request.
    pub const PATH: &str = "/v1/leave";

    fn digest(&self) -> [u8; 32] {
        signed_digest(Self::PATH, &[&self.machine_key.to_string(), &self.time.to_string()])
    }

    /// Creates a request signed with the machine's key.
    pub fn new(key: &NkeyPair, time: u64) -> Self {
        let mut request =
            Self { v: ENROLMENT_VERSION, machine_key: key.public(), time, proof: String::new() };
        request.proof = STANDARD.encode(key.sign(&request.digest()));
        request
    }

    /// Checks the proof of possession. Returns the id of the machine.
    pub fn check(&self, now: u64) -> Result<MachineId, PossessionError> {
        check((self.v, &self.machine_key, self.time, &self.proof), self.digest(), now)
    }
}

impl MachineCredentials {
    /// Returns the time at which a machine that received the token at `received` by its own clock renews it: after
    /// half of the token's life.
    pub fn renew_at(&self, received: u64) -> u64 {
        received.saturating_add(self.expires.saturating_sub(self.issued) / 2)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(key: &NkeyPair) -> EnrolRequest {
        EnrolRequest {
            v: 0,
            token: "t".into(),
            machine_key: key.public(),
            instance: InstanceId([1; 16]),
            host: "h".into(),
            version: "1".into(),
            origin: "o".into(),
            ledger_key: "k".into(),
            checkpoint: String::new(),
            time: 1000,
            proof: String::new(),
        }
        .signed(key)
    }

    #[test]
    fn a_signed_enrolment_names_the_machine_of_its_key() {
        let key = NkeyPair::from_seed(NkeyKind::User, &[1; 32]);
        let read = EnrolRequest::decode(&request(&key).encode().unwrap()).unwrap();
        assert_eq!(read.check(1299), Ok(MachineId::of_key(&key.public())));
        assert_eq!(read.check(1301), Err(PossessionError::Time));
        assert_eq!(read.check(0), Err(PossessionError::Time));
    }

    #[test]
    fn a_changed_field_or_another_key_is_refused() {
        let (key, other) =
            (NkeyPair::from_seed(NkeyKind::User, &[1; 32]), NkeyPair::from_seed(NkeyKind::User, &[2; 32]));
        let signed = request(&key);
        let changes: [fn(&mut EnrolRequest); 8] = [
            |request| request.token.push('x'),
            |request| request.instance.0[0] ^= 1,
            |request| request.host = "h1".into(),
            |request| request.origin.clear(),
            |request| request.ledger_key.push('x'),
            |request| request.checkpoint.push('x'),
            |request| request.time += 1,
            // The same text in total, with another border between two fields.
            |request| (request.host, request.version) = ("h1".into(), String::new()),
        ];
        for change in changes {
            let mut changed = signed.clone();
            change(&mut changed);
            assert_eq!(changed.check(1000), Err(PossessionError::Signature));
        }
        let stolen = EnrolRequest { machine_key: other.public(), ..signed.clone() };
        assert_eq!(stolen.check(1000), Err(PossessionError::Signature));
        assert_eq!(EnrolRequest { v: 2, ..signed }.check(1000), Err(PossessionError::Version));
        let account = NkeyPair::from_seed(NkeyKind::Account, &[1; 32]);
        assert_eq!(request(&account).check(1000), Err(PossessionError::Key));
    }

    #[test]
    fn a_renewal_is_no_request_to_leave() {
        let key = NkeyPair::from_seed(NkeyKind::User, &[1; 32]);
        let renew = RenewRequest::new(&key, InstanceId([1; 16]), 1000);
        assert!(renew.check(1000).is_ok());
        assert!(LeaveRequest::new(&key, 1000).check(1000).is_ok());
        let leave =
            LeaveRequest { v: renew.v, machine_key: renew.machine_key, time: renew.time, proof: renew.proof };
        assert_eq!(leave.check(1000), Err(PossessionError::Signature));
    }

    #[test]
    fn credentials_are_renewed_after_half_of_their_life_whatever_the_clock_is() {
        let credentials = MachineCredentials {
            nats: vec![],
            nats_ca: None,
            user_jwt: String::new(),
            issued: 1_000_000,
            expires: 1_086_400,
            ring: "all".parse().unwrap(),
            mailbox: Mailbox::derive(
                &NkeyPair::from_seed(NkeyKind::Account, &[1; 32]),
                &MachineId::of_key(&NkeyPair::from_seed(NkeyKind::User, &[1; 32]).public()),
            ),
            collects: vec![],
        };
        assert_eq!(credentials.renew_at(500), 500 + 43_200);
    }
}
