// SPDX-License-Identifier: Apache-2.0 OR MIT

//! What one condition may cost.
//!
//! The library counts no steps, so the cost is bounded from outside: every read of the event is
//! paid for by its size, every loop in advance by its length times its body, every `+` by what it
//! copies. When the budget is gone the answer is an error, whatever the expression made of it.

use std::sync::atomic::{AtomicU8, AtomicU32, Ordering};

use cel::ExecutionError;
use cel::common::types::{self, CelBytes, CelList, CelMap, CelString, Type};
use cel::common::value::{StaticVal, Val};

use crate::WhenError;

/// Longest condition, in bytes.
pub const MAX_TEXT: usize = 4096;
/// Deepest nesting of an expression.
pub const MAX_DEPTH: usize = 64;
/// Deepest nesting of loops (`all`, `exists`, `exists_one`, `map`, `filter`).
pub const MAX_LOOPS: usize = 2;
/// Most elements a loop runs over.
pub const MAX_ITEMS: usize = 1000;
/// What one evaluation may cost: a unit is one node of an expression evaluated once, one JSON
/// value read, or 256 bytes of text.
pub const BUDGET: u32 = 250_000;
/// Bytes of text that cost as much as one step.
const BYTES_PER_UNIT: usize = 256;

/// What is left to spend. Also a value of the expression language, so that our functions can be
/// handed it; no expression can name it.
#[derive(Debug)]
pub(crate) struct Budget {
    left: AtomicU32,
    broken: AtomicU8,
}

const NOTHING: u8 = 0;
const COST: u8 = 1;
const ITEMS: u8 = 2;

impl Budget {
    pub(crate) fn new() -> Self {
        Self { left: AtomicU32::new(BUDGET), broken: AtomicU8::new(NOTHING) }
    }

    /// Takes `cost`, or nothing more is ever given.
    pub(crate) fn spend(&self, cost: usize) -> Option<()> {
        let left = self.left.load(Ordering::Relaxed);
        let rest = u32::try_from(cost).ok().and_then(|cost| left.checked_sub(cost));
        self.left.store(rest.unwrap_or(0), Ordering::Relaxed);
        if rest.is_none() {
            self.fail(COST);
        }
        rest.map(|_| ())
    }

    /// Records a list that is too long for a loop.
    pub(crate) fn too_many(&self) {
        self.fail(ITEMS);
    }

    /// The limit that was broken. An expression may have swallowed the error (`… || true`); the
    /// caller asks here.
    pub(crate) fn broken(&self) -> Option<WhenError> {
        match self.broken.load(Ordering::Relaxed) {
            NOTHING => None,
            ITEMS => Some(WhenError::TooManyItems),
            _ => Some(WhenError::TooExpensive),
        }
    }

    fn fail(&self, why: u8) {
        // The first reason is the one to report.
        let _ = self.broken.compare_exchange(NOTHING, why, Ordering::Relaxed, Ordering::Relaxed);
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
            broken: AtomicU8::new(self.broken.load(Ordering::Relaxed)),
        })
    }

    fn as_any(&self) -> Option<&dyn std::any::Any> {
        Some(self)
    }
}

impl StaticVal for Budget {}

/// The error that stops an evaluation; [`Budget::broken`] says why.
pub(crate) fn stop() -> ExecutionError {
    ExecutionError::function_error("when", "limit")
}

/// What reading a text of this length costs.
pub(crate) fn text_cost(len: usize) -> usize {
    1 + len / BYTES_PER_UNIT
}

/// What reading or copying this value costs, everything in it included.
pub(crate) fn weigh(value: &dyn Val) -> usize {
    if let Some(text) = value.downcast_ref::<CelString<'_>>() {
        text_cost(text.inner().len())
    } else if let Some(list) = value.downcast_ref::<CelList<'_>>() {
        list.inner().iter().fold(1, |sum, item| sum.saturating_add(weigh(item.as_ref())))
    } else if let Some(map) = value.downcast_ref::<CelMap<'_>>() {
        map.inner().values().fold(1, |sum, item| sum.saturating_add(1 + weigh(item.as_ref())))
    } else if let Some(bytes) = value.downcast_ref::<CelBytes<'_>>() {
        text_cost(bytes.inner().len())
    } else {
        1
    }
}
