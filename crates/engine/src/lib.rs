// SPDX-License-Identifier: Apache-2.0 OR MIT

#![doc = include_str!("../README.md")]

mod chain;
mod engine;
pub mod flow;
pub mod fold;
mod generation;
mod hook;
#[cfg(feature = "load")]
pub mod load;
mod merge;
#[cfg(feature = "http")]
pub mod post;
pub mod process;
pub mod program;
mod retry;
mod run;
pub mod say;
mod seam;
pub mod select;

pub use engine::{Engine, EngineBuilder, HookBuilder};
pub use generation::{Generation, Limits, RegisterError};
#[cfg(feature = "http")]
pub use hook::Http;
pub use hook::{Command, CommandLine, Condition, ConditionError, Fail, Hook, HookId, Runner};
pub use run::sdk;
pub use seam::{BoxFuture, Judge, Judgement, NoJudge, NoRecorder, RecordError, Recorder};
pub use tenterhook_harness::dialect::{Control, Heard, Matcher};
