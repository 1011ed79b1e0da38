// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Moments, as people say them.

use tenterhook_event::Timestamp;

/// A text that is not a point in time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("say 15m, 24h, 7d, 2026-11-15 or 2026-11-15T08:00:00Z")]
pub struct TimeSpecError;

/// A moment: so long before `now` (in milliseconds), a day (in UTC), or to the millisecond.
pub fn read(text: &str, now: u64) -> Result<Timestamp, TimeSpecError> {
    let units = [('s', 1), ('m', 60), ('h', 3600), ('d', 86_400), ('w', 604_800)];
    for (unit, seconds) in units {
        if let Some(number) = text.strip_suffix(unit).and_then(|number| number.parse::<u64>().ok()) {
            let ago = number.saturating_mul(seconds).saturating_mul(1000);
            return Ok(Timestamp::from_unix_ms(now.saturating_sub(ago)));
        }
    }
    let day = text.len() == 10 && !text.contains('T');
    let exact = if day { format!("{text}T00:00:00Z") } else { text.to_owned() };
    exact.parse().map_err(|_| TimeSpecError)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_said_as_people_say_them() {
        let now = "2026-11-15T12:00:00Z".parse::<Timestamp>().unwrap().unix_ms();
        let said = |text: &str| read(text, now).map(|ts| ts.to_string());
        assert_eq!(said("90m").unwrap(), "2026-11-15T10:30:00.000Z");
        assert_eq!(said("2d").unwrap(), "2026-11-13T12:00:00.000Z");
        assert_eq!(said("2026-11-01").unwrap(), "2026-11-01T00:00:00.000Z");
        assert_eq!(said("2026-11-01T01:00:00+01:00").unwrap(), "2026-11-01T00:00:00.000Z");
        assert!(said("yesterday").is_err() && said("h").is_err() && said("-3h").is_err());
    }
}
