// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Plans and supervises a sandboxed run: collects rules, profile and paths of this machine, starts the sandbox, and
//! checks settings after the run. `tenterhook-sandbox` implements the sandbox itself. This crate prints nothing.

mod interrupted_runs;
mod leftover_processes;
mod open_files;
mod placeholder_list;
mod plan;
mod project;
mod refusal_watch;
mod started_run;

pub use interrupted_runs::repair_interrupted_runs;
pub use plan::{LevelChoice, SandboxPlan, SandboxRequest};
pub use refusal_watch::{RefusalReport, RefusalRuleText};
pub use started_run::{PreparedRun, RunServer, SandboxedRunEnd, StartWait};
