// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The plain recorder of the first days: one JSON object a line, no tree.
//!
//! It stays until the command line records through the [`crate::Ledger`].

mod append;
mod read;
mod record;

pub use append::{AppendError, Log};
pub use read::{ReadError, Torn, leaves};
pub use record::Leaf;
