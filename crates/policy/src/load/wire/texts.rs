// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Defines strings in a rule that are validated when they are parsed, so that a mistake is reported at its position.

use serde::de::{Deserialize, Deserializer, Error};
use tenterhook_event::Timestamp;
use tenterhook_when::When;

const MAX_LABEL_CHARS: usize = 64;

/// A condition in CEL.
#[derive(Debug)]
pub(crate) struct WhenExpression(pub(crate) When);

/// A time window in milliseconds.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TimeWindow(pub(crate) u64);

/// The time from which a rule is ignored.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ExpiryTime(pub(crate) Timestamp);

/// A label for sessions.
#[derive(Debug, Clone)]
pub(crate) struct SessionLabel(pub(crate) String);

impl<'de> Deserialize<'de> for WhenExpression {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        When::compile(&text).map(Self).map_err(Error::custom)
    }
}

impl<'de> Deserialize<'de> for TimeWindow {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        window(&text).map(Self).ok_or_else(|| {
            Error::custom(format!("invalid time window `{text}` (use a number and `s`, `m`, `h` or `d`)"))
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

impl<'de> Deserialize<'de> for ExpiryTime {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let day = format!("{text}T00:00:00Z");
        let read = text.parse().or_else(|_| day.parse());
        read.map(Self).map_err(|_| {
            Error::custom(format!(
                "invalid date or time `{text}` (use `2026-12-31` or `2026-12-31T18:00:00Z`)"
            ))
        })
    }
}

impl<'de> Deserialize<'de> for SessionLabel {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let fits =
            |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '-' | '.' | '_' | '/');
        if text.is_empty() || text.len() > MAX_LABEL_CHARS || !text.chars().all(fits) {
            let message = format!(
                "invalid label `{text}` (use lower-case letters, digits, `-`, `.`, `_`, `/`; at most {MAX_LABEL_CHARS})"
            );
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
