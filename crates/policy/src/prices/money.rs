// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Represents exact amounts of money: the sum of millions of small prices must not depend on their order.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Units per dollar. The unit is this small because a token may cost a few billionths of a dollar.
const UNITS_PER_DOLLAR: f64 = 1e12;
/// Units per millionth of a dollar.
const UNITS_PER_MICRODOLLAR: u64 = 1_000_000;
/// Converts dollars per million tokens to units per token.
const TOKEN_UNITS_PER_DOLLAR: f64 = UNITS_PER_DOLLAR / 1e6;

/// An amount of money, in millionths of a millionth of a dollar.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Money(u64);

impl Money {
    /// Creates an amount from dollars; negative amounts become zero.
    pub fn from_dollars(dollars: f64) -> Self {
        Self::from_units(dollars * UNITS_PER_DOLLAR)
    }

    /// Returns the price of one token, given the price of a million tokens in dollars.
    pub fn per_token(dollars_per_million: f64) -> Self {
        Self::from_units(dollars_per_million * TOKEN_UNITS_PER_DOLLAR)
    }

    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "the value is whole and not negative, and the cast saturates"
    )]
    fn from_units(units: f64) -> Self {
        Self(units.round().max(0.0) as u64)
    }

    /// Returns the amount in dollars.
    #[expect(clippy::cast_precision_loss, reason = "fifteen digits are enough for display")]
    pub fn as_dollars(self) -> f64 {
        self.0 as f64 / UNITS_PER_DOLLAR
    }

    /// Returns the amount multiplied by `count`, saturating.
    #[must_use]
    pub fn saturating_mul(self, count: u64) -> Self {
        Self(self.0.saturating_mul(count))
    }

    /// Creates an amount from millionths of a dollar.
    pub fn from_microusd(microusd: u64) -> Self {
        Self(microusd.saturating_mul(UNITS_PER_MICRODOLLAR))
    }

    /// Returns the amount in millionths of a dollar, rounded up: a cheap response must not count as free.
    pub fn as_microusd(self) -> u64 {
        self.0.div_ceil(UNITS_PER_MICRODOLLAR)
    }

    /// Subtracts `other`; the result is zero if `other` is greater.
    #[must_use]
    pub fn saturating_sub(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }

    /// Adds both amounts, saturating.
    #[must_use]
    pub fn saturating_add(self, more: Self) -> Self {
        Self(self.0.saturating_add(more.0))
    }
}

/// Shows cents, and six digits if the amount is less than one cent.
impl fmt::Display for Money {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let dollars = self.as_dollars();
        if *self != Self::default() && dollars < 0.01 {
            return write!(f, "${dollars:.6}");
        }
        write!(f, "${dollars:.2}")
    }
}
