// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Profiles: how each harness plans its hooks and folds what they say, exact to the original.
//!
//! A dialect says how *one* hook is spoken to; a profile is what a harness makes of *all* of them. The
//! road of one event, each stage a module:
//!
//! 1. [`read`] takes the harness's settings files,
//! 2. [`plan`] says which hooks run, in which order, and why not the others,
//! 3. the caller runs them, one after the other with [`next_input`] or side by side, and gives each
//!    [`HookResult`] through [`counted`],
//! 4. [`aggregate`] makes one of what they said, [`process`] reads its common fields,
//! 5. [`decision`] says what it means, [`reply`] what one hook would print that says all of it.
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
//! Nothing here does IO, reads the environment or starts a process.

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
