// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The process of an MCP server. It runs in its own process group, and dropping the value kills the group.

use std::collections::VecDeque;
use std::path::Path;
use std::process::Stdio;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process_group};
use tokio::io::{AsyncRead, AsyncReadExt as _};
use tokio::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command};
use tokio::time::timeout;

use super::config::McpServerSpec;
use super::error::McpErrorKind;

/// How many bytes of the end of the error output are kept for error messages.
const STDERR_TAIL_BYTES: usize = 4 * 1024;
/// How long to wait for the process to exit after its standard input is closed.
const EXIT_TIMEOUT: Duration = Duration::from_millis(500);
/// How long to wait for the process to exit after SIGTERM.
const TERM_TIMEOUT: Duration = Duration::from_millis(200);

/// A running server process. Dropping it kills its process group.
#[derive(Debug)]
pub(super) struct ServerProcess {
    child: Mutex<Child>,
    group: Option<Pid>,
}

/// The standard streams of a server process.
pub(super) struct ServerStreams {
    pub(super) input: ChildStdin,
    pub(super) output: ChildStdout,
    pub(super) errors: ChildStderr,
}

/// The last bytes of a server's error output and of its output lines that are not JSON.
#[derive(Debug, Clone, Default)]
pub(super) struct StderrTail(Arc<Mutex<VecDeque<u8>>>);

// === impl ServerProcess ===

impl ServerProcess {
    pub(super) fn start(spec: &McpServerSpec, dir: &Path) -> Result<(Self, ServerStreams), McpErrorKind> {
        let failed = |error: &dyn ToString| McpErrorKind::Start {
            command: spec.command.clone(),
            error: error.to_string(),
        };
        let mut child = Command::new(&spec.command)
            .args(&spec.args)
            .env_clear()
            .envs(&spec.env)
            .current_dir(spec.cwd.as_deref().map_or_else(|| dir.to_owned(), |cwd| dir.join(cwd)))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0)
            .kill_on_drop(true)
            .spawn()
            .map_err(|error| failed(&error))?;
        let group = child.id().and_then(|id| i32::try_from(id).ok()).and_then(Pid::from_raw);
        let (input, output, errors) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let process = Self { child: Mutex::new(child), group };
        match (input, output, errors) {
            (Some(input), Some(output), Some(errors)) => {
                Ok((process, ServerStreams { input, output, errors }))
            }
            _ => Err(failed(&"the process has no standard streams")),
        }
    }

    /// Returns the exit status if the process has exited.
    pub(super) fn exit_status(&self) -> Option<String> {
        let status = self.child().try_wait().ok()??;
        Some(status.to_string())
    }

    /// Waits for the process to exit after its standard input was closed, then sends SIGTERM. Drop sends SIGKILL.
    pub(super) async fn close(&self) {
        if self.wait_exit(EXIT_TIMEOUT).await {
            return;
        }
        self.signal(Signal::TERM);
        self.wait_exit(TERM_TIMEOUT).await;
    }

    async fn wait_exit(&self, limit: Duration) -> bool {
        let gone = async {
            while self.exit_status().is_none() {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        };
        timeout(limit, gone).await.is_ok()
    }

    fn signal(&self, signal: Signal) {
        if let Some(group) = self.group {
            // The call fails if no process is left, which is the goal.
            let _ = kill_process_group(group, signal);
        }
    }

    fn child(&self) -> MutexGuard<'_, Child> {
        self.child.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for ServerProcess {
    fn drop(&mut self) {
        self.signal(Signal::KILL);
    }
}

// === impl StderrTail ===

impl StderrTail {
    /// Reads a pipe to its end.
    pub(super) async fn collect(self, mut pipe: impl AsyncRead + Unpin) {
        let mut buffer = vec![0; 4096];
        while let Ok(read) = pipe.read(&mut buffer).await {
            let Some(bytes) = buffer.get(..read).filter(|bytes| !bytes.is_empty()) else { break };
            self.push(bytes);
        }
    }

    pub(super) fn push(&self, bytes: &[u8]) {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.extend(bytes);
        let surplus = kept.len().saturating_sub(STDERR_TAIL_BYTES);
        kept.drain(..surplus);
    }

    /// Formats the text as a suffix of an error message; empty if there is no text.
    pub(super) fn as_suffix(&self) -> String {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let text = String::from_utf8_lossy(kept.make_contiguous()).trim().to_owned();
        if text.is_empty() { text } else { format!("; error output: {text}") }
    }
}
