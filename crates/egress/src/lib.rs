// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Judges and records the network connections of a sandboxed run.
//!
//! [`serve_for_run`] runs the proxy in the supervisor of the run. Each connection is an event of the session, a call of
//! the tool `NetworkConnect`, and goes through the same pipeline as every other call: the running daemon evaluates and
//! records it, or this process does if there is no daemon. [`register_run`] tells the daemon which processes the run
//! consists of. [`RefusalRecorder`] records accesses to files that the sandbox refused.

mod connection_event;
mod pipeline_judge;
mod refusal_event;
mod registration;
mod serve;

pub use refusal_event::{FileRefusal, RefusalRecorder};
pub use registration::register_run;
pub use serve::{RunContext, serve_for_run};
