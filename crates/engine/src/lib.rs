// SPDX-License-Identifier: Apache-2.0 OR MIT

#![doc = include_str!("../README.md")]

mod engine;
pub mod flow;
pub mod fold;
mod hook;
#[cfg(feature = "load")]
pub mod load;
mod run;
mod seam;
pub mod select;

pub use engine::{
    Engine, EngineBuilder, Generation, HookBuilder, MAX_HOOKS, MAX_HOOKS_PER_EVENT, RegisterError,
};
pub use hook::{Command, CommandLine, Fail, Hook, HookId, Matcher, Runner};
pub use seam::{BoxFuture, Judge, Judgement, NoJudge, NoRecorder, RecordError, Recorder};
