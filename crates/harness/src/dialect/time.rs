// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Times in a hook's settings: every dialect has its own unit, and people mix them up.

use std::time::Duration;

use super::Dialect;
use super::switches::TimeUnit;

/// More seconds than this are milliseconds, more likely than not.
const MANY_SECONDS: f64 = 3600.0;
/// Fewer milliseconds than this are seconds, more likely than not.
const FEW_MILLISECONDS: f64 = 100.0;
/// Longer than any hook may be waited for: a day.
const LONGEST: Duration = Duration::from_hours(24);

/// A number that is not a valid timeout of a hook.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
pub enum HookTimeError {
    /// Zero, negative or not finite.
    #[error("`{0}` is no time: a number above 0 is")]
    NotPositive(f64),
    /// Longer than a hook may run.
    #[error("`{0}` is more than a day")]
    TooLong(f64),
}

impl Dialect {
    /// A bare number in a hook's settings as a time.
    pub fn duration(&self, number: f64) -> Result<Duration, HookTimeError> {
        if !number.is_finite() || number <= 0.0 {
            return Err(HookTimeError::NotPositive(number));
        }
        let seconds = match self.switches.time_unit {
            TimeUnit::Seconds => number,
            TimeUnit::Milliseconds => number / 1000.0,
        };
        match Duration::try_from_secs_f64(seconds) {
            Ok(time) if time <= LONGEST => Ok(time),
            _ => Err(HookTimeError::TooLong(number)),
        }
    }

    /// What is odd about the number, if it looks as if it were meant in another unit.
    pub fn timeout_warning(&self, number: f64) -> Option<String> {
        let name = self.name;
        match self.switches.time_unit {
            TimeUnit::Seconds if number > MANY_SECONDS => Some(format!(
                "`timeout: {number}` is {} hours: `{name}` counts seconds, and these look like milliseconds",
                (number / 360.0).round() / 10.0
            )),
            TimeUnit::Milliseconds if number > 0.0 && number < FEW_MILLISECONDS => Some(format!(
                "`timeout: {number}` is {number} ms: `{name}` counts milliseconds, and these look like seconds"
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
            "`timeout: 60000` is 16.7 hours: `claude` counts seconds, and these look like milliseconds"
        );
        assert_eq!(
            warning("gemini", 60.0).unwrap(),
            "`timeout: 60` is 60 ms: `gemini` counts milliseconds, and these look like seconds"
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
