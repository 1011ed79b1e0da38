// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Retention of ledger records: reads the setting `ledger.retention` and determines how much of it is authorized.
//!
//! An agent may be able to edit `tenterhook.yaml`, so a change of that file alone removes nothing.
//! `tenterhook ledger retention set` needs authorization and writes the limits to the settings and to a file in the
//! state directory. Of the two values for each limit, the one that keeps more applies. A limit that is missing from
//! either file does not apply.

mod planner;
mod prune_expired;
mod settings_text;

pub use planner::RetentionPlanner;
pub use prune_expired::RetentionError;

use std::fmt;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use tenterhook_api::{RetentionRun, RetentionSetting, RetentionStatus};
use tenterhook_document::{Misfit, Node, Problem, Value, nearest, parse};
use tenterhook_error::Failure;
use tenterhook_event::Timestamp;
use tenterhook_home::{Home, read_file, write_atomic};

const DAY: Duration = Duration::from_hours(24);
const RETENTION_KEYS: [&str; 2] = ["max_age", "max_size"];
/// Units of an age, in days.
const AGE_UNITS: &[(&str, u64)] = &[("d", 1), ("w", 7)];
/// Units of a size, in bytes.
const SIZE_UNITS: &[(&str, u64)] = &[
    ("MB", 1_000_000),
    ("GB", 1_000_000_000),
    ("TB", 1_000_000_000_000),
    ("MiB", 1 << 20),
    ("GiB", 1 << 30),
    ("TiB", 1 << 40),
];

/// Minimum age of records that retention removes. It prevents an agent from removing evidence within a day by writing
/// many records.
pub const MIN_RETENTION_AGE: Duration = DAY;
/// Minimum value of `max_size`. A smaller ledger could hardly contain one day of a busy agent.
pub const MIN_RETENTION_BYTES: u64 = 100_000_000;

/// How long records are kept, and how many bytes of them. If a limit is absent, it removes nothing.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct RetentionLimits {
    /// Records older than this are removed; a whole number of days.
    pub max_age: Option<Duration>,
    /// Maximum size of the content of all records, in bytes. The oldest records are removed when it is exceeded.
    pub max_size: Option<u64>,
}

/// Why a retention limit is invalid.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct RetentionLimitError(String);

/// Retention of one state directory: configured, authorized and applied limits.
#[derive(Debug, Clone, Default)]
pub struct Retention {
    /// The limits in `tenterhook.yaml`.
    pub configured: RetentionLimits,
    /// The limits that were authorized last.
    pub authorized: RetentionLimits,
    /// The limits that apply: for each limit, the value that keeps more.
    pub applied: RetentionLimits,
    /// Why `configured` does not apply unchanged.
    pub problem: Option<Problem>,
}

/// The file of the authorized limits.
#[derive(Serialize, Deserialize)]
struct AuthorizedFile {
    v: u32,
    max_age: Option<String>,
    max_size: Option<String>,
    since: Timestamp,
}

// === impl RetentionLimits ===

impl RetentionLimits {
    /// Parses limits such as `90d` and `2GB`.
    pub fn parse(max_age: Option<&str>, max_size: Option<&str>) -> Result<Self, RetentionLimitError> {
        Ok(Self {
            max_age: max_age.map(parse_age).transpose()?,
            max_size: max_size.map(parse_size).transpose()?,
        })
    }

    /// Returns whether no record is ever removed.
    pub fn keeps_everything(&self) -> bool {
        *self == Self::default()
    }

    /// Returns whether these limits remove records that `other` keeps.
    pub fn is_shorter_than(&self, other: &Self) -> bool {
        is_less(self.max_age, other.max_age) || is_less(self.max_size, other.max_size)
    }

    /// Returns, for each limit, the value that keeps more.
    #[must_use]
    pub fn longer_of(&self, other: &Self) -> Self {
        Self {
            max_age: self.max_age.zip(other.max_age).map(|(one, other)| one.max(other)),
            max_size: self.max_size.zip(other.max_size).map(|(one, other)| one.max(other)),
        }
    }

    /// Returns the age as a string, such as `90d`.
    pub fn age_text(&self) -> Option<String> {
        self.max_age.map(|age| format!("{}d", age.as_secs() / DAY.as_secs()))
    }

    /// Returns the size as a string, in the largest unit that needs no fraction.
    pub fn size_text(&self) -> Option<String> {
        let bytes = self.max_size?;
        let fits =
            SIZE_UNITS.iter().filter(|(_, unit)| bytes.is_multiple_of(*unit)).max_by_key(|(_, unit)| *unit);
        Some(fits.map_or_else(|| bytes.to_string(), |(name, unit)| format!("{}{name}", bytes / unit)))
    }

    /// Reads the value of the key `retention`.
    pub(crate) fn read(node: &Node) -> Result<Self, Misfit> {
        let mut limits = Self::default();
        let entries = match &node.value {
            Value::Null => return Ok(limits),
            Value::Map(entries) => entries,
            _ => {
                let message = "`retention` is a map: `{max_age: 90d, max_size: 2GB}`".to_owned();
                return Err(Misfit { spot: node.spot, message });
            }
        };
        for (at, (key, value)) in entries.iter().enumerate() {
            let name = key.text().unwrap_or_default();
            let refuse = |message: String| Misfit { spot: key.spot, message };
            if entries.iter().take(at).any(|(other, _)| other.text() == Some(name)) {
                return Err(refuse(format!("`{name}` is set twice")));
            }
            let text = match &value.value {
                Value::Text(text) => text.clone(),
                Value::Whole(number) => number.to_string(),
                Value::Null => continue,
                _ => {
                    return Err(Misfit {
                        spot: value.spot,
                        message: format!("`{name}` is a text such as {}", example_value(name)),
                    });
                }
            };
            let misfit = |error: RetentionLimitError| Misfit { spot: value.spot, message: error.0 };
            match name {
                "max_age" => limits.max_age = Some(parse_age(&text).map_err(misfit)?),
                "max_size" => limits.max_size = Some(parse_size(&text).map_err(misfit)?),
                _ => {
                    let hint = nearest(name, RETENTION_KEYS).map_or_else(
                        || format!("known: {}", RETENTION_KEYS.join(", ")),
                        |near| format!("did you mean `{near}`?"),
                    );
                    return Err(refuse(format!("unknown key `{name}`; {hint}")));
                }
            }
        }
        Ok(limits)
    }
}

impl fmt::Display for RetentionLimits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.age_text(), self.size_text()) {
            (None, None) => f.write_str("keep everything"),
            (Some(age), None) => write!(f, "max_age {age}"),
            (None, Some(size)) => write!(f, "max_size {size}"),
            (Some(age), Some(size)) => write!(f, "max_age {age}, max_size {size}"),
        }
    }
}

fn is_less<T: PartialOrd>(one: Option<T>, other: Option<T>) -> bool {
    match (one, other) {
        (Some(one), Some(other)) => one < other,
        (one, _) => one.is_some(),
    }
}

fn example_value(name: &str) -> &'static str {
    if name == "max_size" { "`2GB`" } else { "`90d`" }
}

/// Parses a whole number with a unit and returns it multiplied by the unit's factor.
fn parse_units(text: &str, units: &[(&str, u64)]) -> Option<u64> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let unit = text.get(digits.len()..)?.trim();
    let (_, factor) = units.iter().find(|(name, _)| *name == unit)?;
    digits.trim().parse::<u64>().ok()?.checked_mul(*factor)
}

fn parse_age(text: &str) -> Result<Duration, RetentionLimitError> {
    let days = parse_units(text, AGE_UNITS);
    let age = days.and_then(|days| days.checked_mul(DAY.as_secs())).map(Duration::from_secs);
    let Some(age) = age else {
        return Err(RetentionLimitError(format!(
            "invalid age `{text}`: use days or weeks, such as `90d` or `12w`"
        )));
    };
    if age < MIN_RETENTION_AGE {
        return Err(RetentionLimitError(format!(
            "`{text}` is too short: records are kept for at least `1d`"
        )));
    }
    Ok(age)
}

fn parse_size(text: &str) -> Result<u64, RetentionLimitError> {
    let Some(bytes) = parse_units(text, SIZE_UNITS) else {
        let units: Vec<_> = SIZE_UNITS.iter().map(|(name, _)| *name).collect();
        let units = units.join(", ");
        return Err(RetentionLimitError(format!(
            "invalid size `{text}`: use a whole number of {units}, such as `2GB`"
        )));
    };
    if bytes < MIN_RETENTION_BYTES {
        return Err(RetentionLimitError(format!("`{text}` is too small: the smallest size is `100MB`")));
    }
    Ok(bytes)
}

// === impl Retention ===

impl Retention {
    /// Reads the settings and the authorization. If one of them is unreadable, nothing is removed.
    pub fn read(home: &Home) -> Self {
        let name = home.settings().display().to_string();
        let text = match read_file::regular_file(&home.settings()) {
            Ok(text) => text.unwrap_or_default(),
            Err(error) => {
                let problem = Some(Problem::for_file(&name, error.to_string()));
                return Self { problem, ..Self::default() };
            }
        };
        let document = match parse(&text) {
            Ok(document) => document,
            Err((spot, message)) => {
                return Self { problem: Some(Problem::new(&name, spot, message)), ..Self::default() };
            }
        };
        let authorized = authorized_limits(home);
        let node = document.get("ledger").and_then(|ledger| ledger.get("retention"));
        let mut this =
            Self { authorized: authorized.as_ref().copied().unwrap_or_default(), ..Self::default() };
        let Some(node) = node else { return this };
        match RetentionLimits::read(node) {
            Ok(configured) => this.configured = configured,
            Err(Misfit { spot, message }) => {
                this.problem =
                    Some(Problem::new(&name, spot, message).about("ledger setting", Some("retention")));
                return this;
            }
        }
        this.applied = this.configured.longer_of(&this.authorized);
        if this.configured.is_shorter_than(&this.authorized) {
            let cause = match authorized {
                Ok(_) => "shorter than what was authorized".to_owned(),
                Err(error) => error.message,
            };
            let message = format!("`{}` is not applied: {cause} ({})", this.configured, this.authorized);
            let problem = Problem::new(&name, node.spot, message).about("ledger setting", Some("retention"));
            this.problem = Some(problem.hint(format!(
                "authorize it with `tenterhook ledger retention set{}`",
                limit_flags(&this.configured)
            )));
        }
        this
    }

    /// Returns the status for the API and the command line.
    pub fn status(&self, last_run: Option<RetentionRun>) -> RetentionStatus {
        let setting = |limits: &RetentionLimits| RetentionSetting {
            max_age: limits.age_text(),
            max_size: limits.size_text(),
        };
        RetentionStatus {
            configured: setting(&self.configured),
            authorized: setting(&self.authorized),
            applied: setting(&self.applied),
            problem: self.problem.as_ref().map(ToString::to_string),
            last_run,
        }
    }

    /// Returns the text of the settings file with these limits. Fails if other settings would change.
    pub fn edit_settings(home: &Home, limits: &RetentionLimits) -> Result<String, Failure> {
        let path = home.settings();
        let text = read_file::regular_file(&path)
            .map_err(|error| Failure::user(format!("cannot read `{}`: {error}", path.display())))?;
        settings_text::with_retention(text.as_deref().unwrap_or_default(), limits).ok_or_else(|| {
            Failure::user(format!(
                "cannot change `ledger.retention` in `{}` and leave the rest as it is",
                path.display()
            ))
            .hint(format!(
                "write it yourself and repeat the command: {}",
                settings_text::setting_example(limits)
            ))
        })
    }

    /// Stores authorized limits and the settings text that [`Retention::edit_settings`] returned.
    pub fn write(
        home: &Home,
        limits: &RetentionLimits,
        settings: &str,
        now: Timestamp,
    ) -> Result<(), Failure> {
        home.create()?;
        let file =
            AuthorizedFile { v: 1, max_age: limits.age_text(), max_size: limits.size_text(), since: now };
        let authorized = serde_json::to_vec_pretty(&file).map_err(std::io::Error::from)?;
        write_atomic(&home.retention(), &authorized, 0o600)?;
        let before = read_file::regular_file(&home.settings()).ok().flatten();
        if before.as_deref().unwrap_or_default() != settings {
            write_atomic(&home.settings(), settings.as_bytes(), 0o600)?;
        }
        Ok(())
    }
}

/// Returns the limits as flags of `ledger retention set`.
fn limit_flags(limits: &RetentionLimits) -> String {
    let age = limits.age_text().map(|age| format!(" --max-age {age}"));
    let size = limits.size_text().map(|size| format!(" --max-size {size}"));
    [age, size].into_iter().flatten().collect()
}

/// Returns the limits that were authorized last; no limits if none have been authorized.
fn authorized_limits(home: &Home) -> Result<RetentionLimits, Failure> {
    let path = home.retention();
    let unreadable = |why: String| Failure::internal(format!("cannot read `{}`: {why}", path.display()));
    let Some(text) = read_file::state_file(&path).map_err(|error| unreadable(error.to_string()))? else {
        return Ok(RetentionLimits::default());
    };
    let file: AuthorizedFile = serde_json::from_str(&text).map_err(|error| unreadable(error.to_string()))?;
    RetentionLimits::parse(file.max_age.as_deref(), file.max_size.as_deref())
        .map_err(|error| unreadable(error.to_string()))
}

#[cfg(test)]
mod tests;
