// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Event ids: ULIDs that are generated once, when a call is received.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// Crockford's base 32 alphabet.
const ULID_ALPHABET: &[u8; 32] = b"0123456789ABCDEFGHJKMNPQRSTVWXYZ";
/// Length of a ULID in text form, in characters.
const ULID_CHARS: usize = 26;

/// Letters and digits of short names, without those that look alike.
const NAME_LETTERS: &[u8; 20] = b"bcdfghjkmnpqrstvwxyz";
const NAME_DIGITS: &[u8; 8] = b"23456789";

/// The id of an event: a ULID with 48 bits of time in milliseconds and 80 random bits. The text form has 26
/// characters and sorts by time.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(with = "String"))]
pub struct EventId(u128);

/// The error for a string that is not a valid event id.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("invalid event id `{0}` (expected 26 characters of Crockford base 32)")]
pub struct ParseEventIdError(String);

impl EventId {
    /// Creates an id from a time and 80 random bits; higher bits of `random` are ignored.
    pub fn from_parts(unix_ms: u64, random: u128) -> Self {
        let time = u128::from(unix_ms & 0xFFFF_FFFF_FFFF) << 80;
        Self(time | (random & ((1 << 80) - 1)))
    }

    /// Returns all 128 bits, for other text forms such as a trace id.
    pub fn bits(self) -> u128 {
        self.0
    }

    /// Returns a short name for users, such as `k7f2m`: three letters and two digits, derived from the id. About one pair
    /// in 500,000 ids has the same name. Text for a model never contains it, so that a model cannot quote it.
    pub fn short_name(self) -> String {
        // FNV-1a mixes all bits of the id into the name.
        let mix = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        let mut hash = self.0.to_be_bytes().iter().fold(0xcbf2_9ce4_8422_2325, mix);
        hash = (hash ^ (hash >> 33)).wrapping_mul(0xff51_afd7_ed55_8ccd);
        hash ^= hash >> 33;
        let alphabets: [&[u8]; 5] = [NAME_LETTERS, NAME_DIGITS, NAME_LETTERS, NAME_DIGITS, NAME_LETTERS];
        let mut name = String::new();
        for alphabet in alphabets {
            let count = u64::try_from(alphabet.len()).unwrap_or(1);
            let letter = usize::try_from(hash % count).ok().and_then(|at| alphabet.get(at));
            name.extend(letter.copied().map(char::from));
            hash /= count;
        }
        name
    }

    /// Returns when the id was generated, in milliseconds since the Unix epoch.
    pub fn unix_ms(self) -> u64 {
        u64::try_from(self.0 >> 80).unwrap_or(u64::MAX)
    }
}

impl fmt::Display for EventId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (mut text, mut rest) = ([b'0'; ULID_CHARS], self.0);
        for byte in text.iter_mut().rev() {
            let digit = usize::try_from(rest & 31).unwrap_or(0);
            *byte = ULID_ALPHABET.get(digit).copied().unwrap_or(b'0');
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
    type Err = ParseEventIdError;

    fn from_str(text: &str) -> Result<Self, ParseEventIdError> {
        let refuse = || ParseEventIdError(text.chars().take(64).collect());
        // The first character carries three bits. A character above `7` would not fit into 128 bits.
        if text.len() != ULID_CHARS || !text.starts_with(|c: char| ('0'..='7').contains(&c)) {
            return Err(refuse());
        }
        text.bytes()
            .try_fold(0u128, |value, byte| {
                let upper = byte.to_ascii_uppercase();
                let digit = ULID_ALPHABET.iter().position(|known| *known == upper)?;
                Some((value << 5) | u128::try_from(digit).ok()?)
            })
            .map(Self)
            .ok_or_else(refuse)
    }
}

impl TryFrom<String> for EventId {
    type Error = ParseEventIdError;

    fn try_from(text: String) -> Result<Self, ParseEventIdError> {
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

    #[test]
    fn short_names_of_many_ids_differ_and_never_change() {
        let names: std::collections::BTreeSet<_> = (0..2_000)
            .map(|at| EventId::from_parts(1_800_000_000_000 + at, u128::from(at)).short_name())
            .collect();
        assert!(names.len() >= 1_990, "{}", names.len());
        let is_name = |name: &String| {
            name.chars().enumerate().all(|(at, letter)| letter.is_ascii_lowercase() == (at % 2 == 0))
                && name.len() == 5
        };
        assert!(names.iter().all(is_name), "{names:?}");
        // Commands find records by their names, so the names of old records must stay the same.
        assert_eq!(EventId::from_parts(1, 2).short_name(), "k7q6k");
    }
}
