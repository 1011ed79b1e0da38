// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Subjects and streams of the message bus.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::machine_id::{MachineId, Partition};
use crate::mailbox::Mailbox;

/// Maximum length of a ring's name.
const MAX_RING_CHARS: usize = 40;

/// A ring: the machines that receive the same policy. The name has lower-case letters, digits, `-` and `_`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Ring(String);

/// A subject that messages are published to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Subject<'a> {
    /// Batches of records from a machine.
    Evidence(&'a MachineId),
    /// Status messages from a machine.
    Status(&'a MachineId),
    /// Approval requests from a machine.
    Ask(&'a MachineId),
    /// Signed answers to a machine's approval requests.
    Answer(&'a Mailbox),
    /// Commands from the server to one machine.
    Command(&'a Mailbox),
    /// Commands from the server to all machines. Any machine can send one, so machines trust nothing in them.
    CommandAll,
    /// The last cosigned checkpoint of a machine.
    Cosign(&'a Mailbox),
    /// The policy pointer of a ring. Any machine can send a message on it, so machines take it as a hint to read the
    /// stored pointer.
    Policy(&'a Ring),
    /// A policy bundle by the SHA-256 of its bytes, in hexadecimal.
    Bundle(&'a str),
}

/// A stream of the message bus.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum StreamName {
    /// Evidence of one partition.
    Evidence(Partition),
    /// The last status of each machine.
    Status,
    /// Waiting approval requests and their answers.
    Approvals,
    /// The last cosigned checkpoint of each machine.
    Cosign,
    /// The policy pointer of each ring.
    Policy,
    /// Policy bundles by their digest.
    Bundle,
}

/// Error for a string that is not the name of a ring.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("invalid ring `{0}`: expected up to 40 lower-case letters, digits, `-` and `_`")]
pub struct ParseRingError(String);

impl fmt::Display for Subject<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Evidence(machine) => write!(f, "th.ev.{}.{machine}", machine.partition()),
            Self::Status(machine) => write!(f, "th.st.{machine}"),
            Self::Ask(machine) => write!(f, "th.ask.{machine}"),
            Self::Answer(mailbox) => write!(f, "th.ans.{mailbox}"),
            Self::Command(mailbox) => write!(f, "th.cmd.{mailbox}"),
            Self::CommandAll => f.write_str("th.cmd.all"),
            Self::Cosign(mailbox) => write!(f, "th.cosign.{mailbox}"),
            Self::Policy(ring) => write!(f, "th.pol.{ring}"),
            Self::Bundle(sha256) => write!(f, "th.bundle.{sha256}"),
        }
    }
}

impl Subject<'_> {
    /// Returns the machine in a subject such as `th.ev.3.<machine>` or `th.st.<machine>`. The partition of an
    /// evidence subject must be the machine's own.
    pub fn machine_of(subject: &str) -> Option<MachineId> {
        let parts: Vec<&str> = subject.split('.').collect();
        match parts.as_slice() {
            ["th", "ev", partition, machine] => {
                let machine: MachineId = machine.parse().ok()?;
                (machine.partition().to_string() == *partition).then_some(machine)
            }
            ["th", "st" | "ask", machine] | ["th", "ans" | "cmd" | "cosign", machine, _] => {
                machine.parse().ok()
            }
            _ => None,
        }
    }

    /// Returns the prefix of the inbox of a machine, without the final dot.
    pub fn inbox_prefix(machine: &MachineId) -> String {
        format!("_INBOX_{machine}")
    }
}

impl StreamName {
    /// Returns the subjects that the stream stores.
    pub fn subjects(self) -> Vec<String> {
        match self {
            Self::Evidence(partition) => vec![format!("th.ev.{partition}.>")],
            Self::Status => vec!["th.st.*".to_owned()],
            Self::Approvals => vec!["th.ask.*".to_owned(), "th.ans.*.*".to_owned()],
            Self::Cosign => vec!["th.cosign.*.*".to_owned()],
            Self::Policy => vec!["th.pol.*".to_owned()],
            Self::Bundle => vec!["th.bundle.*".to_owned()],
        }
    }

    /// Returns the subject for a request of the last message of `subject` in this stream.
    pub fn last_message_request(self, subject: &Subject<'_>) -> String {
        format!("$JS.API.DIRECT.GET.{self}.{subject}")
    }
}

impl fmt::Display for StreamName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Evidence(partition) => write!(f, "EV_{partition}"),
            Self::Status => f.write_str("STATUS"),
            Self::Approvals => f.write_str("APPROVALS"),
            Self::Cosign => f.write_str("COSIGN"),
            Self::Policy => f.write_str("POLICY"),
            Self::Bundle => f.write_str("BUNDLE"),
        }
    }
}

impl Ring {
    /// Returns the ring's name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Ring {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

impl FromStr for Ring {
    type Err = ParseRingError;

    fn from_str(text: &str) -> Result<Self, ParseRingError> {
        let valid =
            |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || matches!(byte, b'-' | b'_');
        if !text.is_empty() && text.len() <= MAX_RING_CHARS && text.bytes().all(valid) {
            Ok(Self(text.to_owned()))
        } else {
            Err(ParseRingError(text.chars().take(64).collect()))
        }
    }
}

impl TryFrom<String> for Ring {
    type Error = ParseRingError;

    fn try_from(text: String) -> Result<Self, ParseRingError> {
        text.parse()
    }
}

impl From<Ring> for String {
    fn from(ring: Ring) -> Self {
        ring.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::nkey::{NkeyKind, NkeyPair};

    #[test]
    fn the_machine_of_a_subject_is_found_and_a_wrong_partition_is_refused() {
        let machine = MachineId::of_key(&NkeyPair::from_seed(NkeyKind::User, &[9; 32]).public());
        let account = NkeyPair::from_seed(NkeyKind::Account, &[1; 32]);
        let mailbox = Mailbox::derive(&account, &machine);
        for subject in [Subject::Evidence(&machine), Subject::Status(&machine), Subject::Cosign(&mailbox)] {
            assert_eq!(Subject::machine_of(&subject.to_string()), Some(machine.clone()));
        }
        let own = machine.partition().number();
        let other = format!("th.ev.{}.{machine}", (own + 1) % 8);
        for text in [other.as_str(), "th.ev.0", "th.cmd.all", "th.st.*", "", &format!("th.cmd.{machine}")] {
            assert_eq!(Subject::machine_of(text), None, "{text}");
        }
    }

    #[test]
    fn a_ring_is_one_token_of_a_subject() {
        assert_eq!("early-1".parse::<Ring>().unwrap().as_str(), "early-1");
        for text in ["", "a.b", "*", ">", "A", "a b", &"a".repeat(41)] {
            assert!(text.parse::<Ring>().is_err(), "{text}");
        }
    }
}
