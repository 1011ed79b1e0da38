// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Ledger records, read back: a record as an event and an outcome ([`recorded`]), ranges of records ([`record_range`]),
//! and text without the secrets that the policy detects ([`sanitize`]).
//!
//! The ledger knows nothing of rules and the policy knows nothing of records; this crate is where both are needed to
//! show or select what was recorded. It reads no settings and writes nothing.

mod identifiers;
pub mod record_range;
pub mod recorded;
mod sanitize;
pub mod time_spec;

pub use identifiers::{has_secret_identifier, is_secret_identifier, redact_identifier, redact_identifiers};
pub use sanitize::{sanitize, secrets};
