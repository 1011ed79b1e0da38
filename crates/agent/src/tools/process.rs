// SPDX-License-Identifier: Apache-2.0 OR MIT

//! A program and everything it starts, ended together.
//!
//! It gets a process group of its own. Whatever is left of the group when the call is over, was
//! cancelled or ran out of time is killed.

use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process_group};
use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::process::{Child, Command};

use crate::provider::MAKERS;

/// The most bytes kept of what a program prints.
const MOST: usize = 1 << 20;
/// How long its outputs may stay open after the program itself has ended.
const DRAIN: Duration = Duration::from_millis(50);

/// What a program printed, and how it ended.
pub(super) struct Ran {
    pub(super) printed: String,
    /// `None`: a signal ended it.
    pub(super) code: Option<i32>,
}

/// Runs a program to its end. `None`: its time was over.
pub(super) async fn run(argv: &[&str], cwd: &Path, limit: Duration) -> Result<Option<Ran>, std::io::Error> {
    let mut words = argv.iter();
    let mut command = Command::new(words.next().copied().unwrap_or_default());
    for maker in MAKERS {
        // The keys to models are no tool's business.
        command.env_remove(maker.key_variable);
    }
    let mut child = command
        .args(words)
        .current_dir(cwd)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .process_group(0)
        .kill_on_drop(true)
        .spawn()?;
    let _group = Group::of(&child);
    match tokio::time::timeout(limit, listen(&mut child)).await {
        Ok(ran) => ran.map(Some),
        Err(_) => Ok(None),
    }
}

async fn listen(child: &mut Child) -> Result<Ran, std::io::Error> {
    let (mut out, mut err) = (Vec::new(), Vec::new());
    let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
    let status = {
        let read = async { tokio::join!(drain(stdout, &mut out), drain(stderr, &mut err)) };
        tokio::pin!(read);
        let mut closed = false;
        let status = loop {
            tokio::select! {
                status = child.wait() => break status?,
                _ = &mut read, if !closed => closed = true,
            }
        };
        if !closed {
            // A grandchild may hold the pipes; it is not waited for.
            let _ = tokio::time::timeout(DRAIN, read).await;
        }
        status
    };
    let mut printed = String::from_utf8_lossy(&out).into_owned();
    let errors = String::from_utf8_lossy(&err);
    if !printed.is_empty() && !errors.is_empty() && !printed.ends_with('\n') {
        printed.push('\n');
    }
    printed.push_str(&errors);
    Ok(Ran { printed, code: status.code() })
}

/// Reads to the end, keeping the first bytes; the rest is read and dropped so that nobody is held up.
async fn drain(pipe: Option<impl AsyncRead + Unpin>, kept: &mut Vec<u8>) {
    let Some(mut pipe) = pipe else { return };
    let mut buffer = vec![0; 16 * 1024];
    while let Ok(read) = pipe.read(&mut buffer).await {
        if read == 0 {
            return;
        }
        let room = MOST.saturating_sub(kept.len()).min(read);
        kept.extend(buffer.iter().take(room));
    }
}

/// A process group. Dropping it kills what is left of it.
struct Group(Option<Pid>);

impl Group {
    fn of(child: &Child) -> Self {
        Self(child.id().and_then(|id| i32::try_from(id).ok()).and_then(Pid::from_raw))
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        if let Some(group) = self.0 {
            // Nobody left to end is what we want.
            let _ = kill_process_group(group, Signal::KILL);
        }
    }
}
