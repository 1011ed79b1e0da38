// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Tree hashes as in RFC 6962, and the payload commitment.

use std::fmt;
use std::str::FromStr;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest, Sha256};

/// Length of a hash in bytes.
pub const HASH_BYTES: usize = 32;

/// A SHA-256 hash, displayed in base64.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Hash(pub [u8; HASH_BYTES]);

/// Error for a string that is not a hash.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("invalid hash `{0}`: expected 32 bytes in base 64")]
pub struct ParseHashError(String);

impl Hash {
    /// Returns the root of a tree without leaves.
    pub fn empty_root() -> Self {
        Self(Sha256::digest([]).into())
    }

    /// Returns the hash of a leaf: `SHA-256(0x00 || bytes)`.
    pub fn of_leaf(bytes: &[u8]) -> Self {
        Self(Sha256::new().chain_update([0]).chain_update(bytes).finalize().into())
    }

    /// Returns the hash of a node: `SHA-256(0x01 || left || right)`.
    pub fn of_node(left: Self, right: Self) -> Self {
        Self(Sha256::new().chain_update([1]).chain_update(left.0).chain_update(right.0).finalize().into())
    }

    /// Returns the commitment to a payload: `SHA-256(0x02 || salt || bytes)`.
    pub fn of_payload(salt: &[u8; 32], bytes: &[u8]) -> Self {
        Self(Sha256::new().chain_update([2]).chain_update(salt).chain_update(bytes).finalize().into())
    }

    /// Creates a hash from 32 bytes; `None` for any other length.
    pub fn from_slice(bytes: &[u8]) -> Option<Self> {
        bytes.try_into().ok().map(Self)
    }
}

impl fmt::Display for Hash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&encode_base64(&self.0))
    }
}

impl fmt::Debug for Hash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Hash({self})")
    }
}

impl FromStr for Hash {
    type Err = ParseHashError;

    fn from_str(text: &str) -> Result<Self, ParseHashError> {
        let bytes = decode_base64(text).and_then(|bytes| Self::from_slice(&bytes));
        bytes.ok_or_else(|| ParseHashError(text.chars().take(64).collect()))
    }
}

/// Encodes bytes in standard base64 with padding.
pub(crate) fn encode_base64(bytes: &[u8]) -> String {
    STANDARD.encode(bytes)
}

/// Decodes standard base64, strictly.
pub(crate) fn decode_base64(text: &str) -> Option<Vec<u8>> {
    STANDARD.decode(text).ok()
}

/// Encodes bytes in lower-case hexadecimal.
pub(crate) fn encode_hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut text, byte| {
        for digit in [byte >> 4, byte & 15] {
            text.push(char::from_digit(u32::from(digit), 16).unwrap_or('0'));
        }
        text
    })
}
