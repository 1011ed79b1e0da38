// SPDX-License-Identifier: Apache-2.0 OR MIT

#![doc = include_str!("../README.md")]

mod chains;
mod engine;
pub mod flow;
pub mod fold;
mod generation;
mod hook;
#[cfg(feature = "http")]
pub mod http_post;
#[cfg(feature = "load")]
pub mod load;
mod merge;
pub mod needed_files;
pub mod process;
pub mod response;
mod retry;
mod run;
pub mod select;
mod traits;

pub use engine::{Engine, EngineBuilder, HookBuilder};
pub use generation::{Generation, HookLimits, RegisterError};
#[cfg(feature = "http")]
pub use hook::HttpHook;
pub use hook::{
    CommandHook, CommandLine, ConditionError, FailMode, Hook, HookBackend, HookCondition, HookId,
};
pub use run::sdk;
pub use tenterhook_harness::dialect::{EngineControl, EventMatcher, InterpretedOutput};
pub use traits::{
    BlockingRecorder, BoxFuture, Judge, NoJudge, NoRecorder, RecordError, Recorder, RuleJudgement,
};
