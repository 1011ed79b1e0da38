// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Ed25519 keys in the text form of NATS (*nkeys*): base 32 of a type byte, the key and a checksum.

use std::fmt;
use std::str::FromStr;

use ed25519_dalek::{Signature, Signer, SigningKey, VerifyingKey};
use serde::{Deserialize, Serialize};

use crate::base32;

/// Type bits of a seed, which precede those of the key.
const SEED_PREFIX: u8 = 18 << 3;
/// Length of a public key in text form, in characters.
const PUBLIC_CHARS: usize = 56;
/// Length of a seed in text form, in characters.
const SEED_CHARS: usize = 58;

/// The role of a key, which is the first letter of its text form.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum NkeyKind {
    /// Signs accounts; the text starts with `O`.
    Operator,
    /// Signs users; the text starts with `A`.
    Account,
    /// Logs in; the text starts with `U`.
    User,
}

/// A public key with its role.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct NkeyPublic {
    kind: NkeyKind,
    key: [u8; 32],
}

/// A secret key with its role.
#[derive(Clone)]
pub struct NkeyPair {
    kind: NkeyKind,
    secret: SigningKey,
}

/// Error for a string that is not a key in the text form of NATS.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ParseNkeyError {
    /// The text has another length, an invalid character or a wrong checksum.
    #[error("not a NATS key")]
    Form,
    /// The key has a role that fleets do not use.
    #[error("a NATS key with an unknown role")]
    Kind,
    /// The bytes are not a point of the curve.
    #[error("a NATS key that is not an Ed25519 key")]
    Key,
}

impl NkeyKind {
    const ALL: [Self; 3] = [Self::Operator, Self::Account, Self::User];

    fn prefix(self) -> u8 {
        match self {
            Self::Operator => 14 << 3,
            Self::Account => 0,
            Self::User => 20 << 3,
        }
    }

    fn from_prefix(prefix: u8) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.prefix() == prefix)
    }
}

/// Returns the CRC-16/XMODEM checksum.
fn crc16(bytes: &[u8]) -> u16 {
    bytes.iter().fold(0, |crc, byte| {
        (0..8).fold(crc ^ (u16::from(*byte) << 8), |crc: u16, _| {
            if crc & 0x8000 == 0 { crc << 1 } else { (crc << 1) ^ 0x1021 }
        })
    })
}

fn encode_checked(mut bytes: Vec<u8>) -> String {
    bytes.extend(crc16(&bytes).to_le_bytes());
    base32::encode(&bytes)
}

/// Decodes base 32 with a checksum. Returns the bytes before the checksum.
fn decode_checked(text: &str, chars: usize) -> Result<Vec<u8>, ParseNkeyError> {
    if text.len() != chars {
        return Err(ParseNkeyError::Form);
    }
    let mut bytes = base32::decode(text).ok_or(ParseNkeyError::Form)?;
    let body = bytes.len().checked_sub(2).ok_or(ParseNkeyError::Form)?;
    let checksum = bytes.split_off(body);
    if checksum == crc16(&bytes).to_le_bytes() { Ok(bytes) } else { Err(ParseNkeyError::Form) }
}

impl NkeyPublic {
    /// Returns the key's role.
    pub fn kind(&self) -> NkeyKind {
        self.kind
    }

    /// Returns the bytes of the public key.
    pub fn as_bytes(&self) -> &[u8; 32] {
        &self.key
    }

    /// Whether `signature` is this key's valid signature of `message`.
    pub fn is_valid_signature(&self, message: &[u8], signature: &[u8]) -> bool {
        let (Ok(key), Ok(signature)) =
            (VerifyingKey::from_bytes(&self.key), Signature::from_slice(signature))
        else {
            return false;
        };
        key.verify_strict(message, &signature).is_ok()
    }
}

impl fmt::Display for NkeyPublic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let bytes = std::iter::once(self.kind.prefix()).chain(self.key).collect();
        f.pad(&encode_checked(bytes))
    }
}

impl fmt::Debug for NkeyPublic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "NkeyPublic({self})")
    }
}

impl FromStr for NkeyPublic {
    type Err = ParseNkeyError;

    fn from_str(text: &str) -> Result<Self, ParseNkeyError> {
        let bytes = decode_checked(text, PUBLIC_CHARS)?;
        let (prefix, key) = bytes.split_first().ok_or(ParseNkeyError::Form)?;
        let kind = NkeyKind::from_prefix(*prefix).ok_or(ParseNkeyError::Kind)?;
        let key: [u8; 32] = key.try_into().map_err(|_| ParseNkeyError::Form)?;
        VerifyingKey::from_bytes(&key).map_err(|_| ParseNkeyError::Key)?;
        Ok(Self { kind, key })
    }
}

impl TryFrom<String> for NkeyPublic {
    type Error = ParseNkeyError;

    fn try_from(text: String) -> Result<Self, ParseNkeyError> {
        text.parse()
    }
}

impl From<NkeyPublic> for String {
    fn from(key: NkeyPublic) -> Self {
        key.to_string()
    }
}

impl NkeyPair {
    /// Creates the key with this role from a secret seed.
    pub fn from_seed(kind: NkeyKind, seed: &[u8; 32]) -> Self {
        Self { kind, secret: SigningKey::from_bytes(seed) }
    }

    /// Parses a seed in the text form of NATS (`SU…`, `SA…`, `SO…`).
    pub fn parse_seed(text: &str) -> Result<Self, ParseNkeyError> {
        let bytes = decode_checked(text.trim_end(), SEED_CHARS)?;
        let (&[first, second], seed) = bytes.split_first_chunk::<2>().ok_or(ParseNkeyError::Form)?;
        if first & 0b1111_1000 != SEED_PREFIX || second & 0b0000_0111 != 0 {
            return Err(ParseNkeyError::Form);
        }
        let kind = NkeyKind::from_prefix((first << 5) | (second >> 3)).ok_or(ParseNkeyError::Kind)?;
        Ok(Self::from_seed(kind, seed.try_into().map_err(|_| ParseNkeyError::Form)?))
    }

    /// Returns the secret seed in the text form of NATS.
    pub fn seed_text(&self) -> String {
        let prefix = self.kind.prefix();
        let head = [SEED_PREFIX | (prefix >> 5), (prefix & 31) << 3];
        encode_checked(head.into_iter().chain(self.secret.to_bytes()).collect())
    }

    /// Returns the public key.
    pub fn public(&self) -> NkeyPublic {
        NkeyPublic { kind: self.kind, key: self.secret.verifying_key().to_bytes() }
    }

    /// Signs a message.
    pub fn sign(&self, message: &[u8]) -> [u8; 64] {
        self.secret.sign(message).to_bytes()
    }
}

impl fmt::Debug for NkeyPair {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "NkeyPair({})", self.public())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_first_letter_of_a_key_is_its_role() {
        for (kind, public, seed) in
            [(NkeyKind::Operator, 'O', "SO"), (NkeyKind::Account, 'A', "SA"), (NkeyKind::User, 'U', "SU")]
        {
            let pair = NkeyPair::from_seed(kind, &[7; 32]);
            assert!(pair.public().to_string().starts_with(public));
            assert!(pair.seed_text().starts_with(seed));
            assert_eq!((pair.public().to_string().len(), pair.seed_text().len()), (PUBLIC_CHARS, SEED_CHARS));
        }
    }

    #[test]
    fn the_checksum_has_the_published_check_value() {
        assert_eq!(crc16(b"123456789"), 0x31c3);
    }

    #[test]
    fn a_key_with_another_character_is_refused() {
        let text = NkeyPair::from_seed(NkeyKind::User, &[1; 32]).public().to_string();
        for at in 0..text.len() {
            let mut changed = text.clone().into_bytes();
            changed[at] = if changed[at] == b'A' { b'B' } else { b'A' };
            assert!(String::from_utf8(changed).unwrap().parse::<NkeyPublic>().is_err(), "{at}");
        }
        assert!("".parse::<NkeyPublic>().is_err());
        assert!(NkeyPair::parse_seed(&text).is_err());
    }

    proptest! {
        #[test]
        fn keys_are_read_back_and_verify_what_they_signed(seed: [u8; 32], message: Vec<u8>, kind in 0..3usize) {
            let pair = NkeyPair::from_seed(NkeyKind::ALL[kind], &seed);
            let read = NkeyPair::parse_seed(&pair.seed_text()).unwrap();
            let public: NkeyPublic = pair.public().to_string().parse().unwrap();
            prop_assert_eq!((read.public(), public), (pair.public(), pair.public()));
            prop_assert!(public.is_valid_signature(&message, &pair.sign(&message)));
            let mut other = message.clone();
            other.push(0);
            prop_assert!(!public.is_valid_signature(&other, &pair.sign(&message)));
        }

        #[test]
        fn no_text_makes_the_parser_fail(text in ".{0,70}") {
            let _ = text.parse::<NkeyPublic>();
            let _ = NkeyPair::parse_seed(&text);
        }
    }
}
