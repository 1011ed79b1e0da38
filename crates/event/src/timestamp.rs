// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Timestamps in milliseconds, written as RFC 3339 in UTC.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// A point in time with millisecond precision, written as `2026-11-15T08:00:00.000Z`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(with = "String"))]
pub struct Timestamp(jiff::Timestamp);

impl Timestamp {
    /// Creates a timestamp from milliseconds since the Unix epoch. Values after the year 9999 are clamped.
    pub fn from_unix_ms(ms: u64) -> Self {
        let ms = i64::try_from(ms).unwrap_or(i64::MAX);
        Self(jiff::Timestamp::from_millisecond(ms).unwrap_or(jiff::Timestamp::MAX))
    }

    /// Returns milliseconds since the Unix epoch; 0 for earlier times.
    pub fn unix_ms(self) -> u64 {
        u64::try_from(self.0.as_millisecond()).unwrap_or(0)
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.3}", self.0)
    }
}

impl fmt::Debug for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Timestamp({self})")
    }
}

impl FromStr for Timestamp {
    type Err = jiff::Error;

    fn from_str(text: &str) -> Result<Self, jiff::Error> {
        let exact: jiff::Timestamp = text.parse()?;
        jiff::Timestamp::from_millisecond(exact.as_millisecond()).map(Self)
    }
}

impl TryFrom<String> for Timestamp {
    type Error = jiff::Error;

    fn try_from(text: String) -> Result<Self, jiff::Error> {
        text.parse()
    }
}

impl From<Timestamp> for String {
    fn from(ts: Timestamp) -> Self {
        ts.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_moment_is_written_with_milliseconds_and_read_back() {
        let ts = Timestamp::from_unix_ms(1_763_193_600_000);
        assert_eq!(ts.to_string(), "2025-11-15T08:00:00.000Z");
        assert_eq!(ts.to_string().parse::<Timestamp>().unwrap(), ts);
    }

    #[test]
    fn finer_digits_and_other_zones_are_brought_to_our_form() {
        let ts: Timestamp = "2025-11-15T09:00:00.123999+01:00".parse().unwrap();
        assert_eq!(ts.to_string(), "2025-11-15T08:00:00.123Z");
    }
}
