// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Parses times as users write them.

use tenterhook_event::Timestamp;

/// The text is not a valid time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("invalid time; use 15m, 24h, 7d, 2026-11-15 or 2026-11-15T08:00:00Z")]
pub struct TimeSpecError;

/// Parses a duration before `now` (in milliseconds), a day in UTC, or an exact time.
pub fn parse_time_spec(text: &str, now: u64) -> Result<Timestamp, TimeSpecError> {
    let units = [('s', 1), ('m', 60), ('h', 3600), ('d', 86_400), ('w', 604_800)];
    for (unit, seconds) in units {
        if let Some(number) = text.strip_suffix(unit).and_then(|number| number.parse::<u64>().ok()) {
            let ago = number.saturating_mul(seconds).saturating_mul(1000);
            return Ok(Timestamp::from_unix_ms(now.saturating_sub(ago)));
        }
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
        assert!(parsed("yesterday").is_err() && parsed("h").is_err() && parsed("-3h").is_err());
    }
}
