// SPDX-License-Identifier: Apache-2.0 OR MIT

//! A hook that is a program of its own.

use std::path::Path;
use std::time::Duration;

use tenterhook_event::{Call, Origin};
use tenterhook_harness::dialect::{Control, Heard};

use super::Failure;
use crate::process::{self, Ended, Spec};
use crate::{Command, CommandLine, program};

pub(super) async fn run(
    command: &Command,
    call: &Call,
    by: Origin,
    limit: Duration,
) -> Result<Heard, Failure> {
    let spec = spec(command, call, limit);
    // An exit code does not tell a script that blocks from one that is not there.
    if let Some(why) = program::why_not_runnable(command, Some(&spec.dir), None) {
        return Err(Failure::Failed(why));
    }
    match process::run(&spec).await {
        Ended::Exited(exited) => {
            let heard = command.dialect.hear(&call.event, by, &exited);
            heard.map_err(|misheard| Failure::Failed(misheard.to_string()))
        }
        Ended::TimedOut(_) => Err(Failure::TimedOut),
        Ended::Detached(limit) => {
            let silent = tenterhook_event::Finding::silent(by);
            Ok(Heard { finding: silent, control: Control::Detach { limit } })
        }
        Ended::Failed(why) => Err(Failure::Failed(why)),
    }
}

/// Starts it as an observer: nobody waits, and nothing it says counts.
pub(super) fn observe(command: &Command, call: &Call, limit: Duration) -> Result<(), Failure> {
    let spec = spec(command, call, limit);
    if let Some(why) = program::why_not_runnable(command, Some(&spec.dir), None) {
        return Err(Failure::Failed(why));
    }
    process::start_detached(&spec).map_err(|error| Failure::Failed(error.to_string()))
}

fn spec(command: &Command, call: &Call, limit: Duration) -> Spec {
    let event = &call.event;
    let argv = match &command.line {
        CommandLine::Shell(text) => {
            let shell = command.dialect.shell().iter().map(|word| (*word).to_owned());
            shell.chain([command.dialect.expand(text, event, command.home.as_deref())]).collect()
        }
        CommandLine::Exec(words) => words.clone(),
    };
    let given = command.dialect.env(event).into_iter().map(|(name, value)| (name.to_owned(), value));
    let cwd = event.cwd.as_deref().map(Path::new).filter(|dir| dir.is_dir());
    Spec {
        argv,
        env: given.chain(command.env.iter().cloned()).collect(),
        dir: cwd.unwrap_or(&command.dir).to_owned(),
        stdin: command.dialect.stdin(call),
        limit,
        output_limit: command.output_limit,
        detaches: command.dialect.detaches(),
    }
}

#[cfg(test)]
mod tests;
