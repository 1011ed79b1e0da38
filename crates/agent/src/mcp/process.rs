// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The program of a server: started in a group of its own, of which nothing is left when it is dropped.

use std::collections::VecDeque;
use std::path::Path;
use std::process::Stdio;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process_group};
use tokio::io::{AsyncRead, AsyncReadExt as _};
use tokio::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command};
use tokio::time::timeout;

use super::config::ServerSpec;
use super::error::Why;

/// How much of what it says beside the protocol is kept: the end of it.
const LAST_WORDS: usize = 4 * 1024;
/// How long it may take to end by itself, once its input is closed.
const LEAVE: Duration = Duration::from_millis(500);
/// How long it may take to end once it was told to.
const GRACE: Duration = Duration::from_millis(200);

/// A running program. Dropping it kills its whole group.
#[derive(Debug)]
pub(super) struct Process {
    child: Mutex<Child>,
    group: Option<Pid>,
}

/// Its three streams.
pub(super) struct Streams {
    pub(super) input: ChildStdin,
    pub(super) output: ChildStdout,
    pub(super) errors: ChildStderr,
}

/// The end of what a program said beside the protocol.
#[derive(Debug, Clone, Default)]
pub(super) struct LastWords(Arc<Mutex<VecDeque<u8>>>);

// === impl Process ===

impl Process {
    pub(super) fn start(spec: &ServerSpec, dir: &Path) -> Result<(Self, Streams), Why> {
        let failed =
            |error: &dyn ToString| Why::Start { command: spec.command.clone(), error: error.to_string() };
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
            (Some(input), Some(output), Some(errors)) => Ok((process, Streams { input, output, errors })),
            _ => Err(failed(&"it has no streams")),
        }
    }

    /// How it ended, if it did.
    pub(super) fn ended(&self) -> Option<String> {
        let status = self.child().try_wait().ok()??;
        Some(status.to_string())
    }

    /// Waits for it to end, its input being closed; then tells it to; then makes it.
    pub(super) async fn close(&self) {
        if self.gone_within(LEAVE).await {
            return;
        }
        self.signal(Signal::TERM);
        self.gone_within(GRACE).await;
    }

    async fn gone_within(&self, limit: Duration) -> bool {
        let gone = async {
            while self.ended().is_none() {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        };
        timeout(limit, gone).await.is_ok()
    }

    fn signal(&self, signal: Signal) {
        if let Some(group) = self.group {
            // Nobody left to signal is what we want.
            let _ = kill_process_group(group, signal);
        }
    }

    fn child(&self) -> MutexGuard<'_, Child> {
        self.child.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.signal(Signal::KILL);
    }
}

// === impl LastWords ===

impl LastWords {
    /// Listens to the end.
    pub(super) async fn listen(self, mut pipe: impl AsyncRead + Unpin) {
        let mut buffer = vec![0; 4096];
        while let Ok(read) = pipe.read(&mut buffer).await {
            let Some(bytes) = buffer.get(..read).filter(|bytes| !bytes.is_empty()) else { break };
            self.add(bytes);
        }
    }

    pub(super) fn add(&self, bytes: &[u8]) {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.extend(bytes);
        let surplus = kept.len().saturating_sub(LAST_WORDS);
        kept.drain(..surplus);
    }

    /// To be added to a sentence; nothing if it said nothing.
    pub(super) fn said(&self) -> String {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let words = String::from_utf8_lossy(kept.make_contiguous()).trim().to_owned();
        if words.is_empty() { words } else { format!("; its last words: {words}") }
    }
}
