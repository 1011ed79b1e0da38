// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Names of machines. A machine's id is derived from its key, so no server can give it to another key.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::base32;
use crate::nkey::NkeyPublic;

/// Length of a machine id, in characters.
const MACHINE_ID_CHARS: usize = 27;
/// Number of partitions over which machines are distributed.
const PARTITIONS: u8 = 8;

/// The id of a machine in a fleet: `m` and 26 characters of base 32, derived from the machine's public key.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct MachineId(String);

/// Identifies one copy of a machine: derived from a random number made at enrolment and from the host.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct InstanceId(pub [u8; 16]);

/// One of the eight streams of evidence: a number below eight.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Partition(u8);

/// Error for a string that is not the id of a machine or of an instance.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("invalid machine or instance id `{0}`")]
pub struct ParseMachineIdError(String);

impl MachineId {
    /// Returns the id of the machine with this key.
    pub fn of_key(key: &NkeyPublic) -> Self {
        let digest: [u8; 32] = Sha256::new()
            .chain_update("tenterhook-machine/1\n")
            .chain_update(key.as_bytes())
            .finalize()
            .into();
        let (head, _) = digest.split_at(16);
        Self(format!("m{}", base32::encode(head).to_ascii_lowercase()))
    }

    /// Returns the id as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the partition of the machine's evidence.
    pub fn partition(&self) -> Partition {
        let digest: [u8; 32] = Sha256::digest(self.0.as_bytes()).into();
        let [first, ..] = digest;
        Partition(first % PARTITIONS)
    }
}

impl Partition {
    /// Returns all partitions.
    pub fn all() -> impl Iterator<Item = Self> {
        (0..PARTITIONS).map(Self)
    }

    /// Returns the partition's number.
    pub fn number(self) -> u8 {
        self.0
    }
}

impl fmt::Display for Partition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl fmt::Display for MachineId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

fn refuse(text: &str) -> ParseMachineIdError {
    ParseMachineIdError(text.chars().take(64).collect())
}

impl FromStr for MachineId {
    type Err = ParseMachineIdError;

    fn from_str(text: &str) -> Result<Self, ParseMachineIdError> {
        let base32 = |byte: u8| byte.is_ascii_lowercase() || (b'2'..=b'7').contains(&byte);
        let valid = text.len() == MACHINE_ID_CHARS && text.starts_with('m') && text.bytes().all(base32);
        if valid { Ok(Self(text.to_owned())) } else { Err(refuse(text)) }
    }
}

impl TryFrom<String> for MachineId {
    type Error = ParseMachineIdError;

    fn try_from(text: String) -> Result<Self, ParseMachineIdError> {
        text.parse()
    }
}

impl From<MachineId> for String {
    fn from(id: MachineId) -> Self {
        id.0
    }
}

impl InstanceId {
    /// Returns the id of the copy of a machine on this host. `seed` is made at enrolment; `host` identifies the
    /// host, so a copy of the state directory on another host has another id.
    pub fn derive(seed: &[u8; 16], host: &str) -> Self {
        let digest: [u8; 32] = Sha256::new()
            .chain_update("tenterhook-instance/1\n")
            .chain_update(seed)
            .chain_update(host)
            .finalize()
            .into();
        let mut id = [0; 16];
        id.iter_mut().zip(digest).for_each(|(to, from)| *to = from);
        Self(id)
    }
}

impl fmt::Display for InstanceId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for InstanceId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "InstanceId({self})")
    }
}

impl FromStr for InstanceId {
    type Err = ParseMachineIdError;

    fn from_str(text: &str) -> Result<Self, ParseMachineIdError> {
        let hex = text.bytes().all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte));
        let number = u128::from_str_radix(text, 16).ok().filter(|_| hex && text.len() == 32);
        number.map(|number| Self(number.to_be_bytes())).ok_or_else(|| refuse(text))
    }
}

impl TryFrom<String> for InstanceId {
    type Error = ParseMachineIdError;

    fn try_from(text: String) -> Result<Self, ParseMachineIdError> {
        text.parse()
    }
}

impl From<InstanceId> for String {
    fn from(id: InstanceId) -> Self {
        id.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::nkey::{NkeyKind, NkeyPair};

    fn machine(seed: u8) -> MachineId {
        MachineId::of_key(&NkeyPair::from_seed(NkeyKind::User, &[seed; 32]).public())
    }

    #[test]
    fn ids_are_read_back_and_every_partition_is_used() {
        let partitions: std::collections::BTreeSet<_> =
            (0..=255).map(|seed| machine(seed).partition()).collect();
        assert!(partitions.into_iter().eq(Partition::all()));
        let id = machine(3);
        assert_eq!(id.to_string().parse(), Ok(id));
        let instance = InstanceId::derive(&[1; 16], "host");
        assert_eq!(instance.to_string().parse(), Ok(instance));
    }

    #[test]
    fn an_id_with_characters_of_a_subject_is_refused() {
        let id = machine(3).to_string();
        for text in ["", "m", "*", "m.>", &id.replace('m', "*"), &format!("{id}.x"), &id.to_uppercase()] {
            assert!(text.parse::<MachineId>().is_err(), "{text}");
        }
        for text in ["", "+0000000000000000000000000000000", "0x", &"A".repeat(32)] {
            assert!(text.parse::<InstanceId>().is_err(), "{text}");
        }
    }

    #[test]
    fn a_copy_on_another_host_is_another_instance() {
        assert_ne!(InstanceId::derive(&[1; 16], "a"), InstanceId::derive(&[1; 16], "b"));
        assert_ne!(InstanceId::derive(&[1; 16], "a"), InstanceId::derive(&[2; 16], "a"));
    }
}
