// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Where engine, policy and ledger meet: the pipeline of a hook call, built from the files of a home.
//!
//! [`Configuration`] reads rules and hooks, [`Road`] evaluates calls with them, and [`Book`] records decisions in the
//! ledger. A hook that finds no daemon decides from the [`snapshot`] and writes into the [`Spool`], which the next
//! writer of the ledger imports.

pub mod backtest;
mod daemon_settings;
pub mod draft;
mod hook_call;
mod pipeline;
mod recorder;
pub mod replay;
mod retention;
mod seal;
pub mod servers;
mod sessions;
pub mod snapshot;
mod state_format;
pub mod symlinks;
pub mod usage;

pub use daemon_settings::{DaemonSettings, Settled, Telemetry};
pub use hook_call::{
    BlockingCallEvaluator, CallEvaluator, RefusedCall, answer_call, answer_call_now, refuse_call_now,
};
pub use pipeline::{Configuration, LONGEST_HOOK, Memory, Road};
pub use recorder::{
    Book, BookRecorder, Destination, Settings, SinkErrors, Spool, SpoolRecorder, TakenIn, generation_entry,
    passphrase,
};
pub use retention::{
    MIN_RETENTION_AGE, MIN_RETENTION_BYTES, Retention, RetentionError, RetentionLimitError, RetentionLimits,
    RetentionPlanner,
};
pub use seal::SealKey;
pub use sessions::{SessionMemory, Sessions};
pub use state_format::{STATE_FORMAT, StateFormat};
