// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Event ids: ULIDs, minted once at the door.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

const ALPHABET: &[u8; 32] = b"0123456789ABCDEFGHJKMNPQRSTVWXYZ";
const LENGTH: usize = 26;

/// A ULID: 48 bits of milliseconds, 80 bits of randomness, 26 characters that sort by time.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(with = "String"))]
pub struct EventId(u128);

/// The text is not a ULID.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not an event id (26 characters of Crockford base 32)")]
pub struct ParseIdError(String);

impl EventId {
    /// Builds an id from the clock and 80 random bits; higher bits of `random` are ignored.
    pub fn from_parts(unix_ms: u64, random: u128) -> Self {
        let time = u128::from(unix_ms & 0xFFFF_FFFF_FFFF) << 80;
        Self(time | (random & ((1 << 80) - 1)))
    }

    /// All 128 bits, for whoever writes ids another way.
    pub fn bits(self) -> u128 {
        self.0
    }

    /// Milliseconds since the Unix epoch at which the id was minted.
    pub fn unix_ms(self) -> u64 {
        u64::try_from(self.0 >> 80).unwrap_or(u64::MAX)
    }
}

impl fmt::Display for EventId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (mut text, mut rest) = ([b'0'; LENGTH], self.0);
        for byte in text.iter_mut().rev() {
            let digit = usize::try_from(rest & 31).unwrap_or(0);
            *byte = ALPHABET.get(digit).copied().unwrap_or(b'0');
            rest >>= 5;
        }
        f.write_str(str::from_utf8(&text).unwrap_or_default())
    }
}

impl fmt::Debug for EventId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "EventId({self})")
    }
}

impl FromStr for EventId {
    type Err = ParseIdError;

    fn from_str(text: &str) -> Result<Self, ParseIdError> {
        let refuse = || ParseIdError(text.chars().take(64).collect());
        // The first character carries three bits, so anything above `7` would not fit 128.
        if text.len() != LENGTH || !text.starts_with(|c: char| ('0'..='7').contains(&c)) {
            return Err(refuse());
        }
        text.bytes()
            .try_fold(0u128, |value, byte| {
                let upper = byte.to_ascii_uppercase();
                let digit = ALPHABET.iter().position(|known| *known == upper)?;
                Some((value << 5) | u128::try_from(digit).ok()?)
            })
            .map(Self)
            .ok_or_else(refuse)
    }
}

impl TryFrom<String> for EventId {
    type Error = ParseIdError;

    fn try_from(text: String) -> Result<Self, ParseIdError> {
        text.parse()
    }
}

impl From<EventId> for String {
    fn from(id: EventId) -> Self {
        id.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_survives_its_text_form_and_sorts_by_time() {
        let early = EventId::from_parts(1_700_000_000_000, u128::MAX);
        let late = EventId::from_parts(1_700_000_000_001, 0);
        assert_eq!(early.to_string().parse(), Ok(early));
        assert!(early < late);
        assert!(early.to_string() < late.to_string());
        assert_eq!(late.unix_ms(), 1_700_000_000_001);
    }

    #[test]
    fn the_published_ulid_example_is_read() {
        let id: EventId = "01ARZ3NDEKTSV4RRFFQ69G5FAV".parse().unwrap();
        assert_eq!(id.unix_ms(), 1_469_922_850_259);
        assert_eq!(id.to_string(), "01ARZ3NDEKTSV4RRFFQ69G5FAV");
    }

    #[test]
    fn what_is_not_a_ulid_is_refused() {
        for text in
            ["", "01ARZ3NDEKTSV4RRFFQ69G5FA", "81ARZ3NDEKTSV4RRFFQ69G5FAV", "01ARZ3NDEKTSV4RRFFQ69G5FAU"]
        {
            assert!(text.parse::<EventId>().is_err(), "{text}");
        }
    }
}
