// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Profiles: how each harness plans its hooks and merges their outputs, exactly as the original does.
//!
//! A dialect is the protocol of *one* hook; a profile describes how a harness handles *all* of its hooks. The pipeline of one
//! event, one module per stage:
//!
//! 1. [`read`] parses the harness's settings files,
//! 2. [`plan`] selects the hooks that run and their order, with reasons for the others,
//! 3. the caller runs them, sequentially with [`next_input`] or in parallel, and passes each [`HookResult`] to
//!    [`counted`],
//! 4. [`aggregate`] merges the outputs, [`process`] reads the common fields,
//! 5. [`decision`] interprets the result, and [`reply`] is the output of a single hook that says the same.
//!
//! Every difference between harnesses is a switch in [`PROFILES`].
//!
//! ```
//! use serde_json::json;
//! use tenterhook_event::{Decision, Flow};
//! use tenterhook_profile::{HookResult, aggregate, decision, find};
//!
//! let llxprt = find("llxprt").ok_or("no such profile")?;
//! let said = [json!({"decision": "allow", "reason": "fine"}), json!({"decision": "deny", "reason": "no"})];
//! let together = aggregate(llxprt, "BeforeTool", &said.map(HookResult::said));
//! assert_eq!(together.final_output.as_ref().map(|output| &output["reason"]), Some(&json!("fine\nno")));
//! assert_eq!(decision(llxprt, "BeforeTool", &together), (Decision::Deny, Flow::Go));
//! # Ok::<(), &str>(())
//! ```
//!
//! This crate does no IO, reads no environment variables and starts no processes.

mod aggregate;
pub mod bus;
mod chain;
#[cfg(test)]
mod conformance;
mod js;
pub mod output;
mod plan;
mod processed;
mod reply;
mod result;
mod settings;
pub mod switches;
pub mod translate;
mod verdict;

pub use aggregate::{Aggregated, aggregate};
pub use chain::next_input;
pub use plan::{Plan, Planned, plan};
pub use processed::{Processed, process};
pub use reply::{Reply, reply};
pub use result::{HookResult, counted};
pub use settings::{Entry, Finding, Layer, Level, Limits, Settings, Source, read};
pub use switches::{EventRow, Kind, PROFILES, Profile, find};
pub use verdict::decision;
