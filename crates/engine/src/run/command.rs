// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Runs hooks that are separate programs.

use std::path::Path;
use std::time::Duration;

use tenterhook_event::{HookCall, Origin};
use tenterhook_harness::dialect::{EngineControl, InterpretedOutput};

use super::RunFailure;
use crate::process::{self, ProcessEnd, ProcessSpec};
use crate::{CommandHook, CommandLine, needed_files};

pub(super) async fn run(
    command: &CommandHook,
    call: &HookCall,
    by: Origin,
    timeout: Duration,
) -> Result<InterpretedOutput, RunFailure> {
    let spec = process_spec(command, call, timeout);
    // An interpreter with a missing script exits with the same code as a hook that denies, so this is checked first.
    if let Some(why) = needed_files::why_not_runnable(command, Some(&spec.dir), None) {
        return Err(RunFailure::Failed(why));
    }
    match process::run(&spec).await {
        ProcessEnd::Exited(exited) => {
            let answer = command.dialect.interpret(&call.event, by, &exited);
            answer.map_err(|error| RunFailure::Failed(error.to_string()))
        }
        ProcessEnd::TimedOut(_) => Err(RunFailure::TimedOut),
        ProcessEnd::Detached(limit) => {
            let silent = tenterhook_event::Finding::silent(by);
            Ok(InterpretedOutput { finding: silent, control: EngineControl::Detach { limit } })
        }
        ProcessEnd::Failed(why) => Err(RunFailure::Failed(why)),
    }
}

/// Starts the program as an observer: the call does not wait for it, and its output is ignored.
pub(super) fn observe(command: &CommandHook, call: &HookCall, timeout: Duration) -> Result<(), RunFailure> {
    let spec = process_spec(command, call, timeout);
    if let Some(why) = needed_files::why_not_runnable(command, Some(&spec.dir), None) {
        return Err(RunFailure::Failed(why));
    }
    process::start_detached(&spec).map_err(|error| RunFailure::Failed(error.to_string()))
}

fn process_spec(command: &CommandHook, call: &HookCall, timeout: Duration) -> ProcessSpec {
    let event = &call.event;
    let argv = match &command.line {
        CommandLine::Shell(text) => {
            let shell = command.dialect.shell().iter().map(|word| (*word).to_owned());
            shell.chain([command.dialect.expand(text, event, command.home.as_deref())]).collect()
        }
        CommandLine::Exec(words) => words.clone(),
    };
    let dialect_env = command.dialect.env(event).into_iter().map(|(name, value)| (name.to_owned(), value));
    let cwd = event.cwd.as_deref().map(Path::new).filter(|dir| dir.is_dir());
    ProcessSpec {
        argv,
        env: dialect_env.chain(command.env.iter().cloned()).collect(),
        dir: cwd.unwrap_or(&command.dir).to_owned(),
        stdin: command.dialect.stdin(call),
        timeout,
        max_output_bytes: command.max_output_bytes,
        detaches: command.dialect.detaches(),
    }
}

#[cfg(test)]
mod tests;
