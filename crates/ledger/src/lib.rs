// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The record of every event and decision.
//!
//! A [`Leaf`] is one event, what was decided about it, and why. [`Log`] appends leaves to a file,
//! one JSON object a line, and returns when the line is durable.

mod append;
mod read;
mod record;

pub use append::{AppendError, Log};
pub use read::{ReadError, Torn, leaves};
pub use record::Leaf;
