// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Limits the cost of one condition.
//!
//! The library does not count steps, so the cost is limited from outside. Reading a value of the event costs its
//! size. A loop costs its length times the cost of its body, charged in advance. `+` costs the size of the copy. When
//! the budget is used up, the result is an error, regardless of the expression's own result.

use std::sync::atomic::{AtomicU8, AtomicU32, Ordering};

use cel::ExecutionError;
use cel::common::types::{self, CelBytes, CelList, CelMap, CelString, Type};
use cel::common::value::{StaticVal, Val};

use crate::WhenError;

/// Maximum length of a condition.
pub const MAX_CONDITION_BYTES: usize = 4096;
/// Maximum nesting depth of an expression.
pub const MAX_DEPTH: usize = 64;
/// Maximum nesting depth of loops (`all`, `exists`, `exists_one`, `map`, `filter`).
pub const MAX_LOOP_DEPTH: usize = 2;
/// Maximum number of elements in a loop.
pub const MAX_LOOP_ITEMS: usize = 1000;
/// Maximum cost of one evaluation. A unit is one evaluated node of an expression, one JSON value read, or 256
/// bytes of text.
pub const BUDGET: u32 = 250_000;
/// Number of bytes of text that cost one unit.
const BYTES_PER_COST_UNIT: usize = 256;

/// The remaining budget of an evaluation. It is also a value of the expression language, so that it can be passed to
/// functions of this crate. No expression written by a user can name it.
#[derive(Debug)]
pub(crate) struct Budget {
    left: AtomicU32,
    exceeded: AtomicU8,
}

const WITHIN_LIMITS: u8 = 0;
const COST_EXCEEDED: u8 = 1;
const ITEMS_EXCEEDED: u8 = 2;

impl Budget {
    pub(crate) fn new() -> Self {
        Self { left: AtomicU32::new(BUDGET), exceeded: AtomicU8::new(WITHIN_LIMITS) }
    }

    /// Spends `cost`. Returns `None` if the budget is not sufficient; the budget is then empty.
    pub(crate) fn spend(&self, cost: usize) -> Option<()> {
        let left = self.left.load(Ordering::Relaxed);
        let rest = u32::try_from(cost).ok().and_then(|cost| left.checked_sub(cost));
        self.left.store(rest.unwrap_or(0), Ordering::Relaxed);
        if rest.is_none() {
            self.fail(COST_EXCEEDED);
        }
        rest.map(|_| ())
    }

    /// Records that a list is too long for a loop.
    pub(crate) fn too_many(&self) {
        self.fail(ITEMS_EXCEEDED);
    }

    /// Returns the limit that was exceeded. The caller must check this, because an expression may have hidden the
    /// error (`… || true`).
    pub(crate) fn exceeded(&self) -> Option<WhenError> {
        match self.exceeded.load(Ordering::Relaxed) {
            WITHIN_LIMITS => None,
            ITEMS_EXCEEDED => Some(WhenError::TooManyItems),
            _ => Some(WhenError::TooExpensive),
        }
    }

    fn fail(&self, why: u8) {
        // Only the first reason is reported.
        let _ = self.exceeded.compare_exchange(WITHIN_LIMITS, why, Ordering::Relaxed, Ordering::Relaxed);
    }
}

impl Val for Budget {
    fn get_type(&self) -> &Type {
        Self::cel_type()
    }

    fn cel_type() -> &'static Type {
        &types::DYN_TYPE
    }

    fn clone_as_boxed<'v>(&self) -> Box<dyn Val + 'v>
    where
        Self: 'v,
    {
        Box::new(Self {
            left: AtomicU32::new(self.left.load(Ordering::Relaxed)),
            exceeded: AtomicU8::new(self.exceeded.load(Ordering::Relaxed)),
        })
    }

    fn as_any(&self) -> Option<&dyn std::any::Any> {
        Some(self)
    }
}

impl StaticVal for Budget {}

/// Returns the error that stops an evaluation. [`Budget::exceeded`] returns the reason.
pub(crate) fn limit_error() -> ExecutionError {
    ExecutionError::function_error("when", "limit")
}

/// Returns the cost of reading a text of this length.
pub(crate) fn text_cost(len: usize) -> usize {
    1 + len / BYTES_PER_COST_UNIT
}

/// Returns the cost of reading or copying a value with everything in it.
pub(crate) fn cost_of(value: &dyn Val) -> usize {
    if let Some(text) = value.downcast_ref::<CelString<'_>>() {
        text_cost(text.inner().len())
    } else if let Some(list) = value.downcast_ref::<CelList<'_>>() {
        list.inner().iter().fold(1, |sum, item| sum.saturating_add(cost_of(item.as_ref())))
    } else if let Some(map) = value.downcast_ref::<CelMap<'_>>() {
        map.inner().values().fold(1, |sum, item| sum.saturating_add(1 + cost_of(item.as_ref())))
    } else if let Some(bytes) = value.downcast_ref::<CelBytes<'_>>() {
        text_cost(bytes.inner().len())
    } else {
        1
    }
}
