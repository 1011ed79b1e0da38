// SPDX-License-Identifier: Apache-2.0 OR MIT

//! What the road hands to the ledger when a call has been decided.

use serde_json::Value;

use crate::{Call, Outcome, Touch};

/// One event, what it was decided, and by which configuration.
#[derive(Debug)]
pub struct Decided<'a> {
    /// The event and its native payload.
    pub call: &'a Call,
    /// What came out.
    pub outcome: &'a Outcome,
    /// The configuration that decided, by its generation.
    pub generation: &'a str,
    /// From the door to the fold, in microseconds.
    pub took_us: u64,
    /// What was observed of the machine and mattered, if anything.
    pub facts: Option<Value>,
    /// What the call does to files, as its judge read it; absent if nobody did.
    pub touched: Option<Vec<Touch>>,
}
