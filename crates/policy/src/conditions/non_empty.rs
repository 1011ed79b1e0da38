// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Refuses empty condition groups such as `url: {}`.

use serde::de::{Deserialize, Deserializer, Error};

/// A group of conditions, all of them optional.
pub(super) trait MayBeEmpty {
    /// Whether no condition is given.
    fn is_empty(&self) -> bool;
}

/// Reads a group in which at least one condition must be given.
pub(super) fn deserialize_non_empty<'de, D, T>(deserializer: D) -> Result<Option<T>, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de> + MayBeEmpty,
{
    match Option::<T>::deserialize(deserializer)? {
        Some(value) if value.is_empty() => Err(Error::custom("no condition is given")),
        value => Ok(value),
    }
}
