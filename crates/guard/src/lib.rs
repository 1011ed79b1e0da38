// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Connects the engine, the policy and the ledger. The pipeline of a hook call is built from the rules and
//! settings in the state directory.
//!
//! [`Configuration`] reads rules and hooks, [`CallPipeline`] evaluates calls with them, and [`LedgerHandle`]
//! records decisions in the ledger. A hook that finds no daemon decides from the [`snapshot`] and writes to the
//! [`Spool`], which the next writer of the ledger imports.

mod allowances;
pub mod backtest;
mod call_changes;
mod daemon_settings;
mod file_access;
mod git_hooks;
mod hook_call;
mod known_hosts;
pub mod mcp_servers;
mod network_connect;
mod pipeline;
mod profile_lines;
mod recorder;
pub mod replay;
mod retention;
pub mod rule_draft;
mod rule_judge;
mod run_files;
mod saved_calls;
mod scratch_repository;
mod session_files;
mod session_memory;
mod session_shell;
mod session_trees;
mod session_worktrees;
mod shell_certainty;
mod shell_definitions;
mod shell_judge;
pub mod snapshot;
mod state_format;
pub mod symlinks;
mod task_files;
mod undo_call;
pub mod usage;
mod written_exceptions;
mod written_files;

pub use allowances::{
    Allowance, AllowanceScope, AllowanceStore, ONCE_LIFETIME, StoppedCall, describe_stopped_call,
};
pub use daemon_settings::{DaemonSettings, ServiceSettings, TelemetrySettings};
pub use file_access::FileRights;
pub use hook_call::{
    BlockingCallEvaluator, CallEvaluator, RefusedCall, answer_call, answer_call_now, refuse_call_now,
};
pub use pipeline::{CallPipeline, Configuration, MAX_HOOK_TIMEOUT, RecordTarget};
pub use recorder::{
    DirectRecorder, LedgerHandle, LedgerSettings, SinkErrors, SinkSetting, Spool, SpoolImport, SpoolRecorder,
    generation_entry, read_passphrase,
};
pub use retention::{
    MIN_RETENTION_AGE, MIN_RETENTION_BYTES, Retention, RetentionError, RetentionLimitError, RetentionLimits,
    RetentionPlanner,
};
pub use saved_calls::{PlannedUndo, SavedCalls};
pub use session_memory::{SessionMemory, SessionStateDir};
pub use state_format::{STATE_FORMAT, StateFormat};
pub use tenterhook_home::SealKey;
pub use tenterhook_undo::UndoError;
pub use undo_call::{BlockingRunner, CallSnapshots, list_session_snapshots};
