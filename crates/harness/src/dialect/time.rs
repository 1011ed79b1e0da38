// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Parses timeouts in hook settings. Dialects use different units, which users confuse.

use std::time::Duration;

use super::HookDialect;
use super::switches::TimeUnit;

/// Maximum plausible number of seconds. A larger number was probably meant as milliseconds.
const MAX_PLAUSIBLE_SECONDS: f64 = 3600.0;
/// Minimum plausible number of milliseconds. A smaller number was probably meant as seconds.
const MIN_PLAUSIBLE_MILLISECONDS: f64 = 100.0;
/// Maximum timeout of a hook.
const MAX_HOOK_TIMEOUT: Duration = Duration::from_hours(24);

/// Why a timeout in hook settings is invalid.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
pub enum HookTimeError {
    /// The number is zero, negative or not finite.
    #[error("invalid timeout `{0}`: expected a number above 0")]
    NotPositive(f64),
    /// The timeout is longer than a day.
    #[error("timeout `{0}` is longer than a day")]
    TooLong(f64),
}

impl HookDialect {
    /// Converts a plain number in hook settings to a duration, using the dialect's unit.
    pub fn duration(&self, number: f64) -> Result<Duration, HookTimeError> {
        if !number.is_finite() || number <= 0.0 {
            return Err(HookTimeError::NotPositive(number));
        }
        let seconds = match self.switches.time_unit {
            TimeUnit::Seconds => number,
            TimeUnit::Milliseconds => number / 1000.0,
        };
        match Duration::try_from_secs_f64(seconds) {
            Ok(time) if time <= MAX_HOOK_TIMEOUT => Ok(time),
            _ => Err(HookTimeError::TooLong(number)),
        }
    }

    /// Returns a warning if the number was probably meant in another unit.
    pub fn timeout_warning(&self, number: f64) -> Option<String> {
        let name = self.name;
        match self.switches.time_unit {
            TimeUnit::Seconds if number > MAX_PLAUSIBLE_SECONDS => Some(format!(
                "`timeout: {number}` is {} hours: `{name}` uses seconds, and this looks like milliseconds",
                (number / 360.0).round() / 10.0
            )),
            TimeUnit::Milliseconds if number > 0.0 && number < MIN_PLAUSIBLE_MILLISECONDS => Some(format!(
                "`timeout: {number}` is {number} ms: `{name}` uses milliseconds, and this looks like seconds"
            )),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dialect::find;

    #[test]
    fn each_dialect_has_its_own_unit() {
        for (name, expected) in [("claude", 5000), ("llxprt", 5), ("gemini", 5), ("a3s", 5)] {
            let time = find(name).unwrap().duration(5.0).unwrap();
            assert_eq!(time, Duration::from_millis(expected), "{name}");
        }
    }

    #[test]
    fn a_number_in_the_wrong_unit_is_pointed_out() {
        let warning = |name, number| find(name).unwrap().timeout_warning(number);
        assert_eq!(
            warning("claude", 60_000.0).unwrap(),
            "`timeout: 60000` is 16.7 hours: `claude` uses seconds, and this looks like milliseconds"
        );
        assert_eq!(
            warning("gemini", 60.0).unwrap(),
            "`timeout: 60` is 60 ms: `gemini` uses milliseconds, and this looks like seconds"
        );
        assert_eq!((warning("claude", 600.0), warning("llxprt", 5000.0)), (None, None));
    }

    #[test]
    fn what_is_no_time_is_refused() {
        let claude = find("claude").unwrap();
        for number in [0.0, -1.0, f64::NAN, f64::INFINITY, 1e300] {
            assert!(claude.duration(number).is_err(), "{number}");
        }
    }
}
