// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Parses times as users write them.

use std::time::Duration;

use tenterhook_event::Timestamp;

/// The text is not a valid time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("invalid time; use 15m, 24h, 7d, 2026-11-15 or 2026-11-15T08:00:00Z")]
pub struct TimeSpecError;

/// The text is not a valid duration.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("invalid duration; use 90s, 15m, 24h or 7d")]
pub struct DurationSpecError;

/// Units of durations, with their seconds.
const DURATION_UNITS: &[(char, u64)] = &[('s', 1), ('m', 60), ('h', 3600), ('d', 86_400), ('w', 604_800)];

/// Parses a duration such as `15m`.
pub fn parse_duration_spec(text: &str) -> Result<Duration, DurationSpecError> {
    let parsed = DURATION_UNITS.iter().find_map(|(unit, seconds)| {
        let number = text.strip_suffix(*unit)?.parse::<u64>().ok()?;
        number.checked_mul(*seconds).map(Duration::from_secs)
    });
    parsed.ok_or(DurationSpecError)
}

/// Parses a duration before `now` (in milliseconds), a day in UTC, or an exact time.
pub fn parse_time_spec(text: &str, now: u64) -> Result<Timestamp, TimeSpecError> {
    if let Ok(ago) = parse_duration_spec(text) {
        return Ok(Timestamp::from_unix_ms(now.saturating_sub(ago.as_secs().saturating_mul(1000))));
    }
    let is_day = text.len() == 10 && !text.contains('T');
    let exact = if is_day { format!("{text}T00:00:00Z") } else { text.to_owned() };
    exact.parse().map_err(|_| TimeSpecError)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_days_and_exact_times_are_parsed() {
        let now = "2026-11-15T12:00:00Z".parse::<Timestamp>().unwrap().unix_ms();
        let parsed = |text: &str| parse_time_spec(text, now).map(|ts| ts.to_string());
        assert_eq!(parsed("90m").unwrap(), "2026-11-15T10:30:00.000Z");
        assert_eq!(parsed("2d").unwrap(), "2026-11-13T12:00:00.000Z");
        assert_eq!(parsed("2026-11-01").unwrap(), "2026-11-01T00:00:00.000Z");
        assert_eq!(parsed("2026-11-01T01:00:00+01:00").unwrap(), "2026-11-01T00:00:00.000Z");
        assert_eq!(parse_duration_spec("15m"), Ok(Duration::from_mins(15)));
        assert!(parse_duration_spec("15").is_err() && parse_duration_spec("m").is_err());
        assert!(parsed("yesterday").is_err() && parsed("h").is_err() && parsed("-3h").is_err());
    }
}
