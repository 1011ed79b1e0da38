// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The subjects on which a machine receives messages that are for it alone.
//!
//! A client of the message bus chooses the subject of the answers to its requests, so one machine could send an answer
//! to a subject of another machine. It cannot do that without knowing the subject: a mailbox ends with a secret that
//! only the machine and the server have.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::base32;
use crate::machine_id::MachineId;
use crate::nkey::NkeyPair;

/// Number of bytes of the secret.
const SECRET_BYTES: usize = 20;
/// Length of the secret in base 32.
const SECRET_CHARS: usize = 32;

/// The last two parts of a machine's subjects: its id and a secret, `<machine>.<secret>`.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Mailbox {
    machine: MachineId,
    secret: String,
}

/// Error for a string that is not a mailbox. It does not repeat the string, which has a secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("invalid mailbox of a machine")]
pub struct ParseMailboxError;

impl Mailbox {
    /// Returns the mailbox of a machine. The secret is derived from the key of the machines' account, so that every
    /// copy of the server knows it and none stores it.
    pub fn derive(account: &NkeyPair, machine: &MachineId) -> Self {
        // Ed25519 signatures are deterministic, and this one is never published.
        let signature = account.sign(format!("tenterhook-mailbox/1\n{machine}\n").as_bytes());
        let digest: [u8; 32] = Sha256::digest(signature).into();
        let (head, _) = digest.split_at(SECRET_BYTES);
        Self { machine: machine.clone(), secret: base32::encode(head).to_ascii_lowercase() }
    }

    /// Returns the machine.
    pub fn machine(&self) -> &MachineId {
        &self.machine
    }
}

impl fmt::Display for Mailbox {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { machine, secret } = self;
        write!(f, "{machine}.{secret}")
    }
}

impl fmt::Debug for Mailbox {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Mailbox({})", self.machine)
    }
}

impl FromStr for Mailbox {
    type Err = ParseMailboxError;

    fn from_str(text: &str) -> Result<Self, ParseMailboxError> {
        let (machine, secret) = text.split_once('.').ok_or(ParseMailboxError)?;
        let is_digit = |byte: u8| byte.is_ascii_lowercase() || (b'2'..=b'7').contains(&byte);
        if secret.len() != SECRET_CHARS || !secret.bytes().all(is_digit) {
            return Err(ParseMailboxError);
        }
        let machine = machine.parse().map_err(|_| ParseMailboxError)?;
        Ok(Self { machine, secret: secret.to_owned() })
    }
}

impl TryFrom<String> for Mailbox {
    type Error = ParseMailboxError;

    fn try_from(text: String) -> Result<Self, ParseMailboxError> {
        text.parse()
    }
}

impl From<Mailbox> for String {
    fn from(mailbox: Mailbox) -> Self {
        mailbox.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::nkey::NkeyKind;

    #[test]
    fn a_mailbox_depends_on_the_machine_and_the_account_and_is_two_parts_of_a_subject() {
        let account = |seed| NkeyPair::from_seed(NkeyKind::Account, &[seed; 32]);
        let machine = |seed| MachineId::of_key(&NkeyPair::from_seed(NkeyKind::User, &[seed; 32]).public());
        let mailbox = Mailbox::derive(&account(1), &machine(1));
        assert_eq!(mailbox, Mailbox::derive(&account(1), &machine(1)));
        assert_ne!(mailbox.secret, Mailbox::derive(&account(1), &machine(2)).secret);
        assert_ne!(mailbox.secret, Mailbox::derive(&account(2), &machine(1)).secret);
        assert_eq!(mailbox.to_string().parse(), Ok(mailbox.clone()));
        assert_eq!(mailbox.to_string().split('.').count(), 2);
        assert!(!format!("{mailbox:?}").contains(&mailbox.secret));
        let machine = machine(1);
        for text in ["", "x", &format!("{machine}"), &format!("{machine}.*"), &format!("{mailbox}.x")] {
            assert_eq!(text.parse::<Mailbox>(), Err(ParseMailboxError), "{text}");
        }
    }
}
