// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Dollars, exactly: sums of millions of tiny prices must not depend on their order.

use std::fmt;

use serde::{Deserialize, Serialize};

/// How many of our units make a dollar: a token may cost a few billionths of one.
const DOLLAR: f64 = 1e12;
/// How many of our units make a millionth of a dollar.
const MICRODOLLAR: u64 = 1_000_000;
/// A price for a million tokens, in dollars, becomes one for a token.
const PER_TOKEN: f64 = DOLLAR / 1e6;

/// An amount of money, in millionths of a millionth of a dollar.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Money(u64);

impl Money {
    /// So many dollars; none below zero.
    pub fn dollars(dollars: f64) -> Self {
        Self::units(dollars * DOLLAR)
    }

    /// What one token costs if a million cost so many dollars.
    pub fn per_token(dollars_per_million: f64) -> Self {
        Self::units(dollars_per_million * PER_TOKEN)
    }

    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "it is a whole number from 0 on, and a cast saturates"
    )]
    fn units(units: f64) -> Self {
        Self(units.round().max(0.0) as u64)
    }

    /// In dollars.
    #[expect(clippy::cast_precision_loss, reason = "fifteen digits are enough to show")]
    pub fn as_dollars(self) -> f64 {
        self.0 as f64 / DOLLAR
    }

    /// So many times as much.
    #[must_use]
    pub fn times(self, count: u64) -> Self {
        Self(self.0.saturating_mul(count))
    }

    /// An amount in millionths of a dollar.
    pub fn from_microusd(microusd: u64) -> Self {
        Self(microusd.saturating_mul(MICRODOLLAR))
    }

    /// The amount in millionths of a dollar, rounded up: an answer is never free because it is cheap.
    pub fn as_microusd(self) -> u64 {
        self.0.div_ceil(MICRODOLLAR)
    }

    /// What this amount is above another; nothing if it is below.
    #[must_use]
    pub fn beyond(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }

    /// The sum.
    #[must_use]
    pub fn plus(self, more: Self) -> Self {
        Self(self.0.saturating_add(more.0))
    }
}

/// With cents, and with more where there would be none.
impl fmt::Display for Money {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let dollars = self.as_dollars();
        if *self != Self::default() && dollars < 0.01 {
            return write!(f, "${dollars:.6}");
        }
        write!(f, "${dollars:.2}")
    }
}
