// SPDX-License-Identifier: Apache-2.0 OR MIT

//! A hook that is a program of its own.
//!
//! The call returns at the deadline, not when a grandchild lets go of a pipe: the program gets a
//! process group of its own, and whatever is left of the group is killed when the call is over.

use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process_group};
use tenterhook_event::{Call, Finding, Origin};
use tenterhook_harness::dialect::Exited;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};
use tokio::process::{Child, Command as Process};
use tokio::time::{Instant, timeout, timeout_at};

use super::Failure;
use crate::{Command, CommandLine};

/// How long the outputs may stay open after the program itself has ended.
const DRAIN: Duration = Duration::from_millis(20);
/// Between asking the group to end and making it.
const GRACE: Duration = Duration::from_millis(10);

pub(super) async fn run(
    command: &Command,
    call: &Call,
    by: Origin,
    limit: Duration,
) -> Result<Finding, Failure> {
    let deadline = Instant::now() + limit;
    let mut child = process(command, call).spawn().map_err(|error| {
        let line = command.line.program();
        Failure::Failed(format!("`{line}` could not be started: {error}"))
    })?;
    let group = Group::of(&child);
    let stdin = command.dialect.stdin(call);
    let talked = timeout_at(deadline, talk(&mut child, &stdin, command.output_limit)).await;
    let Ok(exited) = talked else {
        group.end(&mut child).await;
        return Err(Failure::TimedOut);
    };
    let exited = exited.map_err(|error| Failure::Failed(format!("its output could not be read: {error}")))?;
    command
        .dialect
        .hear(&call.event, by, &exited)
        .map(|heard| heard.finding)
        .map_err(|misheard| Failure::Failed(misheard.to_string()))
}

fn process(command: &Command, call: &Call) -> Process {
    let mut process = match &command.line {
        CommandLine::Shell(text) => {
            let mut process = Process::new("/bin/sh");
            process.arg("-c").arg(text);
            process
        }
        CommandLine::Exec(words) => {
            let mut words = words.iter();
            let mut process = Process::new(words.next().map_or("", String::as_str));
            process.args(words);
            process
        }
    };
    let cwd = call.event.cwd.as_deref().map(Path::new).filter(|dir| dir.is_dir());
    process
        .current_dir(cwd.unwrap_or(&command.dir))
        .envs(command.dialect.env(&call.event))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .process_group(0)
        .kill_on_drop(true);
    process
}

/// Feeds standard input and reads both outputs while the program runs. A hook that never reads its
/// input or closes it early is a hook all the same.
async fn talk(child: &mut Child, stdin: &[u8], limit: usize) -> std::io::Result<Exited> {
    let mut input = child.stdin.take();
    let (mut output, mut errors) = (child.stdout.take(), child.stderr.take());
    let (mut stdout, mut stderr) = (Vec::new(), Vec::new());
    let write = async {
        if let Some(pipe) = &mut input {
            drop(pipe.write_all(stdin).await);
        }
        input = None;
    };
    let read = async {
        let (out, err) =
            tokio::join!(drain(&mut output, &mut stdout, limit), drain(&mut errors, &mut stderr, limit));
        out.and(err)
    };
    let status = {
        tokio::pin!(write, read);
        let wait = child.wait();
        tokio::pin!(wait);
        let (mut written, mut reading) = (false, None);
        let status = loop {
            tokio::select! {
                status = &mut wait => break status?,
                () = &mut write, if !written => written = true,
                result = &mut read, if reading.is_none() => reading = Some(result),
            }
        };
        match reading {
            Some(result) => result?,
            None => timeout(DRAIN, read).await.unwrap_or(Ok(()))?,
        }
        status
    };
    Ok(Exited { code: status.code(), stdout, stderr })
}

/// Reads to the end, keeping the first `limit` bytes; the rest is read and dropped so that the
/// writer is not held up.
async fn drain(
    pipe: &mut Option<impl AsyncRead + Unpin>,
    kept: &mut Vec<u8>,
    limit: usize,
) -> std::io::Result<()> {
    let Some(pipe) = pipe else { return Ok(()) };
    let mut buffer = vec![0; 16 * 1024];
    loop {
        let read = pipe.read(&mut buffer).await?;
        let Some(bytes) = buffer.get(..read).filter(|bytes| !bytes.is_empty()) else { return Ok(()) };
        let room = limit.saturating_sub(kept.len()).min(bytes.len());
        kept.extend(bytes.iter().take(room));
    }
}

/// The hook's process group. Dropping it kills what is left.
struct Group(Option<Pid>);

impl Group {
    fn of(child: &Child) -> Self {
        Self(child.id().and_then(|id| i32::try_from(id).ok()).and_then(Pid::from_raw))
    }

    async fn end(&self, child: &mut Child) {
        self.signal(Signal::TERM);
        if timeout(GRACE, child.wait()).await.is_err() {
            self.signal(Signal::KILL);
            drop(timeout(GRACE, child.wait()).await);
        }
    }

    fn signal(&self, signal: Signal) {
        if let Some(group) = self.0 {
            // Nobody left to signal is what we want.
            let _ = kill_process_group(group, signal);
        }
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        self.signal(Signal::KILL);
    }
}

#[cfg(test)]
mod tests;
