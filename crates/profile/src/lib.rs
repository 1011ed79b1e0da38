// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Profiles. A profile reproduces exactly how a harness plans its hooks and merges their outputs.
//!
//! A dialect is the protocol of *one* hook; a profile describes how a harness handles *all* of its hooks. An event
//! passes these stages, one module each:
//!
//! 1. [`read_settings`] parses the harness's settings files,
//! 2. [`plan_hooks`] selects the hooks that run and their order, with reasons for the others,
//! 3. the caller runs the hooks, sequentially with [`next_input`] or in parallel, and passes each [`HookResult`] to
//!    [`effective_result`],
//! 4. [`aggregate`] merges the outputs, [`process_result`] reads the common fields,
//! 5. [`interpret_output`] turns the result into a decision, and [`format_reply`] turns it into the equivalent output
//!    of a single hook.
//!
//! Every difference between harnesses is a switch in [`PROFILES`]. Two profiles follow documents instead of a
//! program: seed 002 (LLxprt's hook documentation) and seed 003 (the A3S hook design). `docs/seeds.md` lists both.
//!
//! ```
//! use serde_json::json;
//! use tenterhook_event::{Decision, Flow};
//! use tenterhook_profile::{HookResult, aggregate, find_profile, interpret_output};
//!
//! let llxprt = find_profile("llxprt").ok_or("no such profile")?;
//! let outputs = [json!({"decision": "allow", "reason": "fine"}), json!({"decision": "deny", "reason": "no"})];
//! let merged = aggregate(llxprt, "BeforeTool", &outputs.map(HookResult::with_output));
//! assert_eq!(merged.final_output.as_ref().map(|output| &output["reason"]), Some(&json!("fine\nno")));
//! assert_eq!(interpret_output(llxprt, "BeforeTool", &merged), (Decision::Deny, Flow::Go));
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

pub use aggregate::{AggregatedResult, aggregate};
pub use chain::next_input;
pub use plan::{HookPlan, PlannedHook, plan_hooks};
pub use processed::{ProcessedResult, process_result};
pub use reply::{CommandReply, format_reply};
pub use result::{HookResult, effective_result};
pub use settings::{
    ConfiguredHook, ProblemLevel, ProfileLimits, ProfileSettings, SettingsLayer, SettingsProblem,
    SettingsSource, read_settings,
};
pub use switches::{HookKind, PROFILES, Profile, ProfileEvent, find_profile};
pub use verdict::interpret_output;
