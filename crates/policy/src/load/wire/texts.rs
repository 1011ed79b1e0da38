// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Texts that mean something: globs, patterns, conditions, times. They are read where they stand, so
//! that what is wrong with one is reported at its own place.

use serde::de::{Deserialize, Deserializer, Error};
use tenterhook_event::Timestamp;
use tenterhook_when::When;

use super::many::Many;
use crate::compile::glob::{Hosts, Names, Paths, well_formed};
use crate::compile::pattern;

const LONGEST_LABEL: usize = 64;

/// Globs on names.
#[derive(Debug)]
pub(crate) struct NameList(pub(crate) Names);

/// Globs on words, each by itself.
#[derive(Debug)]
pub(crate) struct WordList(pub(crate) Vec<Names>);

/// Globs on paths.
#[derive(Debug)]
pub(crate) struct PathList(pub(crate) Paths);

/// Globs on hosts.
#[derive(Debug)]
pub(crate) struct HostList(pub(crate) Hosts);

/// A regular expression.
#[derive(Debug)]
pub(crate) struct Pattern(pub(crate) pattern::Pattern);

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

/// A glob that could match something.
struct Glob(String);

impl<'de> Deserialize<'de> for Glob {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        well_formed(&text).map_err(Error::custom)?;
        Ok(Self(text))
    }
}

/// A glob that could match a host.
struct HostGlob(String);

impl<'de> Deserialize<'de> for HostGlob {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let Glob(text) = Glob::deserialize(deserializer)?;
        Hosts::could_match(&text).map_err(Error::custom)?;
        Ok(Self(text))
    }
}

fn globs<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<String>, D::Error> {
    Ok(Many::<Glob>::deserialize(deserializer)?.0.into_iter().map(|glob| glob.0).collect())
}

impl<'de> Deserialize<'de> for NameList {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Names::new(globs(deserializer)?).map(Self).map_err(Error::custom)
    }
}

impl<'de> Deserialize<'de> for WordList {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let words = globs(deserializer)?;
        let words = words.into_iter().map(|word| Names::new(vec![word]));
        words.collect::<Result<_, _>>().map(Self).map_err(Error::custom)
    }
}

impl<'de> Deserialize<'de> for PathList {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Paths::new(&globs(deserializer)?).map(Self).map_err(Error::custom)
    }
}

impl<'de> Deserialize<'de> for HostList {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let texts = Many::<HostGlob>::deserialize(deserializer)?.0.into_iter().map(|host| host.0);
        Hosts::new(&texts.collect::<Vec<_>>()).map(Self).map_err(Error::custom)
    }
}

// Patterns are tried in `load::patterns`, unless somebody is in haste.
impl<'de> Deserialize<'de> for Pattern {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer).map(|text| Self(pattern::Pattern::new(&text)))
    }
}

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
