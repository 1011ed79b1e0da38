// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Reads ledger records: parses a record into an event and an outcome ([`recorded`]), finds ranges of records
//! ([`record_range`]), lists tool calls ([`list_calls`]), summarizes a time range ([`activity()`]), resolves what a user
//! refers to ([`id_reference`]), and removes secrets from text ([`sanitize`]).
//!
//! The ledger does not detect secrets, and `tenterhook-secrets` does not know records. Showing a record needs both
//! crates. This crate reads no settings and writes nothing.

mod activity;
mod call_rows;
pub mod id_reference;
mod identifiers;
mod ledger_line;
pub mod record_range;
pub mod recorded;
mod sanitize;
pub mod time_spec;

pub use activity::activity;
pub use call_rows::list_calls;
pub use identifiers::{has_secret_identifier, is_secret_identifier, redact_identifier, redact_identifiers};
pub use ledger_line::ledger_line;
pub use sanitize::{sanitize, secrets};
