// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Runs a program in its own process group. When the call ends, is cancelled or times out, the remaining
//! processes of the group are killed.

use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process_group};
use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::process::{Child, Command};

use crate::provider::PROVIDERS;

/// Maximum number of bytes kept from each output stream.
const MAX_OUTPUT_BYTES: usize = 1 << 20;
/// How long to read from the output pipes after the program has exited.
const DRAIN_TIMEOUT: Duration = Duration::from_millis(50);

/// Output and exit code of a program.
pub(super) struct CommandOutput {
    pub(super) output: String,
    /// Exit code; `None` if a signal killed the program.
    pub(super) code: Option<i32>,
}

/// Runs a program until it exits. Returns `None` if the time limit is reached.
pub(super) async fn run_command(
    argv: &[&str],
    cwd: &Path,
    limit: Duration,
) -> Result<Option<CommandOutput>, std::io::Error> {
    let mut argv = argv.iter();
    let mut command = Command::new(argv.next().copied().unwrap_or_default());
    for provider in PROVIDERS {
        // Tools must not see the API keys of models.
        command.env_remove(provider.key_variable);
    }
    let mut child = command
        .args(argv)
        .current_dir(cwd)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .process_group(0)
        .kill_on_drop(true)
        .spawn()?;
    let _group = CommandProcessGroup::new(&child);
    match tokio::time::timeout(limit, collect_output(&mut child)).await {
        Ok(ran) => ran.map(Some),
        Err(_) => Ok(None),
    }
}

async fn collect_output(child: &mut Child) -> Result<CommandOutput, std::io::Error> {
    let (mut out, mut err) = (Vec::new(), Vec::new());
    let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
    let status = {
        let read = async { tokio::join!(read_bounded(stdout, &mut out), read_bounded(stderr, &mut err)) };
        tokio::pin!(read);
        let mut closed = false;
        let status = loop {
            tokio::select! {
                status = child.wait() => break status?,
                _ = &mut read, if !closed => closed = true,
            }
        };
        if !closed {
            // A background process may keep the pipes open; do not wait for it.
            let _ = tokio::time::timeout(DRAIN_TIMEOUT, read).await;
        }
        status
    };
    let mut output = String::from_utf8_lossy(&out).into_owned();
    let errors = String::from_utf8_lossy(&err);
    if !output.is_empty() && !errors.is_empty() && !output.ends_with('\n') {
        output.push('\n');
    }
    output.push_str(&errors);
    Ok(CommandOutput { output, code: status.code() })
}

/// Reads a pipe to its end and keeps the first bytes, up to the limit. The rest is discarded, so that the program
/// does not block on a full pipe.
async fn read_bounded(pipe: Option<impl AsyncRead + Unpin>, kept: &mut Vec<u8>) {
    let Some(mut pipe) = pipe else { return };
    let mut buffer = vec![0; 16 * 1024];
    while let Ok(read) = pipe.read(&mut buffer).await {
        if read == 0 {
            return;
        }
        let room = MAX_OUTPUT_BYTES.saturating_sub(kept.len()).min(read);
        kept.extend(buffer.iter().take(room));
    }
}

/// A process group. Dropping it kills its remaining processes.
struct CommandProcessGroup(Option<Pid>);

impl CommandProcessGroup {
    fn new(child: &Child) -> Self {
        Self(child.id().and_then(|id| i32::try_from(id).ok()).and_then(Pid::from_raw))
    }
}

impl Drop for CommandProcessGroup {
    fn drop(&mut self) {
        if let Some(group) = self.0 {
            // The call fails if no process is left, which is the goal.
            let _ = kill_process_group(group, Signal::KILL);
        }
    }
}
