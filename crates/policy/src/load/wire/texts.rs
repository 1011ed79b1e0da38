// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Texts of a rule that are checked when they are read, so that a mistake is reported at its own place.

use serde::de::{Deserialize, Deserializer, Error};
use tenterhook_event::Timestamp;
use tenterhook_when::When;

const LONGEST_LABEL: usize = 64;

/// A condition in CEL.
#[derive(Debug)]
pub(crate) struct Condition(pub(crate) When);

/// A length of time, in milliseconds.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Window(pub(crate) u64);

/// A moment from which on a rule is passed over.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Moment(pub(crate) Timestamp);

/// A word that sessions carry.
#[derive(Debug, Clone)]
pub(crate) struct Label(pub(crate) String);

impl<'de> Deserialize<'de> for Condition {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        When::compile(&text).map(Self).map_err(Error::custom)
    }
}

impl<'de> Deserialize<'de> for Window {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        window(&text).map(Self).ok_or_else(|| {
            Error::custom(format!("`{text}` is no length of time (a number and `s`, `m`, `h` or `d`)"))
        })
    }
}

fn window(text: &str) -> Option<u64> {
    let unit = text.chars().next_back()?;
    let number: u64 = text.strip_suffix(unit)?.parse().ok()?;
    let seconds: u64 = match unit {
        's' => 1,
        'm' => 60,
        'h' => 60 * 60,
        'd' => 24 * 60 * 60,
        _ => return None,
    };
    number.checked_mul(seconds)?.checked_mul(1000).filter(|length| *length > 0)
}

impl<'de> Deserialize<'de> for Moment {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let day = format!("{text}T00:00:00Z");
        let read = text.parse().or_else(|_| day.parse());
        read.map(Self).map_err(|_| {
            Error::custom(format!("`{text}` is no day or moment (`2026-12-31`, `2026-12-31T18:00:00Z`)"))
        })
    }
}

impl<'de> Deserialize<'de> for Label {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let fits =
            |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '-' | '.' | '_' | '/');
        if text.is_empty() || text.len() > LONGEST_LABEL || !text.chars().all(fits) {
            let message =
                format!("`{text}` is no label (small letters, digits, `-`, `.`, `_`, `/`; at most 64)");
            return Err(Error::custom(message));
        }
        Ok(Self(text))
    }
}

#[cfg(test)]
mod tests {
    use super::window;

    #[test]
    fn lengths_of_time_are_a_number_and_a_unit() {
        assert_eq!(window("90s"), Some(90_000));
        assert_eq!(window("2h"), Some(7_200_000));
        for text in ["", "h", "0m", "1w", "1.5h", "-1s", "99999999999999999999d", "9999999999999999d", "10"] {
            assert_eq!(window(text), None, "{text}");
        }
    }
}
