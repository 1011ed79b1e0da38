// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Conditions that must say something: `url: {}` is refused.

use serde::de::{Deserialize, Deserializer, Error};

/// A group of conditions of which none may be given.
pub(super) trait MayBeEmpty {
    /// Whether none is given.
    fn is_empty(&self) -> bool;
}

/// Reads a group of conditions of which at least one must be given.
pub(super) fn not_empty<'de, D, T>(deserializer: D) -> Result<Option<T>, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de> + MayBeEmpty,
{
    match Option::<T>::deserialize(deserializer)? {
        Some(value) if value.is_empty() => Err(Error::custom("it has no condition")),
        value => Ok(value),
    }
}
