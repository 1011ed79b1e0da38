// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The record of one decision, as the engine passes it to a recorder.

use serde_json::Value;

use crate::{HookCall, Outcome, PathEffect};

/// One hook call, its outcome, and the configuration that decided it.
#[derive(Debug)]
pub struct DecidedCall<'a> {
    /// The event and its native payload.
    pub call: &'a HookCall,
    /// The decision with its reasons, changes and trace.
    pub outcome: &'a Outcome,
    /// Name of the configuration (generation) that decided the call.
    pub generation: &'a str,
    /// Time from receiving the call to the outcome, in microseconds.
    pub took_us: u64,
    /// Facts about the machine that the rules used, such as symlink targets.
    pub facts: Option<Value>,
    /// Effects of the call on files; `None` if the judge did not determine them.
    pub file_effects: Option<Vec<PathEffect>>,
}
