// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Runs one program with a time limit.
//!
//! The call returns at the deadline, even if a grandchild process still has a pipe open. The program gets its own
//! process group, and the remaining processes of the group are killed when the call ends.

use std::io::{Seek, Write};
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::Stdio;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process_group};
use tenterhook_harness::dialect::{DetachProbe, HookExit};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};
use tokio::process::{Child, Command};
use tokio::time::{Instant, timeout, timeout_at};

/// How long the outputs are still read after the program has exited.
const OUTPUT_DRAIN_TIMEOUT: Duration = Duration::from_millis(20);
/// Time between SIGTERM and SIGKILL. A hook can clean up during this time.
const TERMINATE_GRACE: Duration = Duration::from_millis(25);
/// Maximum time to wait until a killed program has ended.
const KILL_WAIT_TIMEOUT: Duration = Duration::from_millis(10);

/// Maximum length of the first output line that announces that the program continues in the background.
const MAX_DETACH_LINE_BYTES: usize = 4096;

/// A program to run once.
#[derive(Debug, Clone)]
pub struct ProcessSpec {
    /// The program and its arguments.
    pub argv: Vec<String>,
    /// Environment variables, in addition to those of this process.
    pub env: Vec<(String, String)>,
    /// Working directory of the process.
    pub dir: PathBuf,
    /// Data for standard input, which is closed after the data.
    pub stdin: Vec<u8>,
    /// Time limit of the process.
    pub timeout: Duration,
    /// Maximum number of bytes kept of standard output and of standard error each.
    pub max_output_bytes: usize,
    /// Detects in the output so far that the program continues in the background, and for how long.
    pub detaches: Option<DetachProbe>,
}

/// How a program ended.
#[derive(Debug)]
pub enum ProcessEnd {
    /// The program exited in time.
    Exited(HookExit),
    /// The program was killed at its deadline. Contains the output up to then.
    TimedOut(HookExit),
    /// The program continues in the background for this long. A watch process kills it afterwards.
    Detached(Duration),
    /// The program could not be started, or its output could not be read.
    Failed(String),
}

/// A program or its watch process could not be started.
#[derive(Debug, thiserror::Error)]
pub enum SpawnError {
    /// The program could not be started.
    #[error("`{program}` could not be started: {source}")]
    Start {
        /// Name of the program.
        program: String,
        /// Error reported by the operating system.
        source: std::io::Error,
    },
    /// The watch process that ends a background program could not be started. The program itself runs.
    #[error("the watch process that ends the program in time could not be started: {0}")]
    Watch(#[source] std::io::Error),
}

impl SpawnError {
    fn on_start(program: &str, source: std::io::Error) -> Self {
        Self::Start { program: program.to_owned(), source }
    }
}

/// A running program; [`RunningProcess::wait`] waits for its end.
pub(crate) struct RunningProcess {
    child: Child,
    group: ProcessGroup,
    deadline: Instant,
}

/// Runs a program until it exits or reaches its time limit.
pub async fn run(spec: &ProcessSpec) -> ProcessEnd {
    match RunningProcess::start(spec) {
        Ok(running) => running.wait(spec).await,
        Err(error) => ProcessEnd::Failed(error.to_string()),
    }
}

impl RunningProcess {
    fn start(spec: &ProcessSpec) -> Result<Self, SpawnError> {
        let mut words = spec.argv.iter();
        let program = words.next().map_or("", String::as_str);
        let child = Command::new(program)
            .args(words)
            .current_dir(&spec.dir)
            .envs(spec.env.iter().map(|(name, value)| (name, value)))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0)
            .spawn()
            .map_err(|source| SpawnError::on_start(program, source))?;
        let group = ProcessGroup::from_child(&child);
        Ok(Self { child, group, deadline: Instant::now() + spec.timeout })
    }

    async fn wait(mut self, spec: &ProcessSpec) -> ProcessEnd {
        let mut captured = CapturedOutput::default();
        let exchanged = timeout_at(self.deadline, exchange(&mut self.child, spec, &mut captured)).await;
        match exchanged {
            Ok(Ok(ExchangeEnd::Exited(code))) => ProcessEnd::Exited(captured.into_exited(code)),
            Ok(Ok(ExchangeEnd::Detaches(limit))) => self.detach(limit),
            Ok(Err(error)) => ProcessEnd::Failed(format!("output could not be read: {error}")),
            Err(_) => {
                self.group.terminate(&mut self.child).await;
                ProcessEnd::TimedOut(captured.into_exited(None))
            }
        }
    }

    /// Lets the program continue in the background. Its output is read and discarded for as long as this process
    /// runs.
    fn detach(mut self, limit: Duration) -> ProcessEnd {
        let Some(id) = self.child.id() else { return ProcessEnd::Exited(HookExit::default()) };
        if let Err(error) = start_watch(id, limit) {
            return ProcessEnd::Failed(error.to_string());
        }
        self.group.0 = None;
        tokio::spawn(async move {
            let mut rest = CapturedOutput::default();
            let (mut output, mut errors) = (self.child.stdout.take(), self.child.stderr.take());
            let stdout = drain(&mut output, &mut rest.stdout, 0, None);
            let stderr = drain(&mut errors, &mut rest.stderr, 0, None);
            let _ = tokio::join!(stdout, stderr);
            self.child.wait().await
        });
        ProcessEnd::Detached(limit)
    }
}

/// How the exchange with a program ended.
enum ExchangeEnd {
    Exited(Option<i32>),
    Detaches(Duration),
}

/// The output of a program so far.
#[derive(Default)]
struct CapturedOutput {
    stdout: Vec<u8>,
    stderr: Vec<u8>,
}

impl CapturedOutput {
    fn into_exited(self, code: Option<i32>) -> HookExit {
        HookExit { code, stdout: self.stdout, stderr: self.stderr }
    }
}

/// Writes standard input and reads both outputs while the program runs. A program that never reads its input, or
/// closes it early, can still answer.
async fn exchange(
    child: &mut Child,
    spec: &ProcessSpec,
    captured: &mut CapturedOutput,
) -> std::io::Result<ExchangeEnd> {
    let limit = spec.max_output_bytes;
    let mut input = child.stdin.take();
    let (mut output, mut errors) = (child.stdout.take(), child.stderr.take());
    let write = async {
        if let Some(pipe) = &mut input {
            drop(pipe.write_all(&spec.stdin).await);
        }
        input = None;
    };
    let read = async {
        let stderr = async { drain(&mut errors, &mut captured.stderr, limit, None).await.map(drop) };
        let stdout = drain(&mut output, &mut captured.stdout, limit, spec.detaches);
        tokio::pin!(stdout, stderr);
        tokio::select! {
            biased;
            detaches = &mut stdout => match detaches? {
                Some(limit) => Ok(Some(limit)),
                None => stderr.await.map(|()| None),
            },
            result = &mut stderr => {
                result?;
                stdout.await
            }
        }
    };
    tokio::pin!(write, read);
    let (mut written, mut done) = (false, false);
    let status = loop {
        tokio::select! {
            status = child.wait() => break status?,
            () = &mut write, if !written => written = true,
            result = &mut read, if !done => match result? {
                Some(limit) => return Ok(ExchangeEnd::Detaches(limit)),
                None => done = true,
            },
        }
    };
    if !done && let Ok(result) = timeout(OUTPUT_DRAIN_TIMEOUT, read).await {
        result?;
    }
    Ok(ExchangeEnd::Exited(status.code()))
}

/// Reads to the end and keeps the first `limit` bytes. The rest is read and discarded, so that the writer does not
/// block. Returns early if the output announces that the program continues in the background.
async fn drain(
    pipe: &mut Option<impl AsyncRead + Unpin>,
    kept: &mut Vec<u8>,
    limit: usize,
    mut detaches: Option<DetachProbe>,
) -> std::io::Result<Option<Duration>> {
    let Some(pipe) = pipe else { return Ok(None) };
    let mut buffer = vec![0; 16 * 1024];
    loop {
        let read = pipe.read(&mut buffer).await?;
        let Some(bytes) = buffer.get(..read).filter(|bytes| !bytes.is_empty()) else { return Ok(None) };
        let room = limit.saturating_sub(kept.len()).min(bytes.len());
        kept.extend(bytes.iter().take(room));
        if let Some(limit) = detaches.and_then(|detaches| detaches(kept)) {
            return Ok(Some(limit));
        }
        // Only the first line can contain the announcement. This check avoids parsing long output repeatedly.
        if kept.len() > MAX_DETACH_LINE_BYTES || bytes.contains(&b'\n') {
            detaches = None;
        }
    }
}

/// Starts a program in the background. The program reads its input from a file, so that it gets all of it even if
/// this process ends first. A watch process kills the program at its time limit.
pub fn start_detached(spec: &ProcessSpec) -> Result<(), SpawnError> {
    let mut words = spec.argv.iter();
    let program = words.next().map_or("", String::as_str);
    let failed = |source| SpawnError::on_start(program, source);
    let mut input = tempfile::tempfile().map_err(failed)?;
    input.write_all(&spec.stdin).and_then(|()| input.rewind()).map_err(failed)?;
    let child = std::process::Command::new(program)
        .args(words)
        .current_dir(&spec.dir)
        .envs(spec.env.iter().map(|(name, value)| (name, value)))
        .stdin(Stdio::from(input))
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .process_group(0)
        .spawn()
        .map_err(failed)?;
    let id = child.id();
    reap(child);
    start_watch(id, spec.timeout)
}

/// Waits for a background program on a thread, so that the program does not remain as a zombie process.
fn reap(mut child: std::process::Child) {
    std::thread::spawn(move || child.wait());
}

/// Starts a watch process that kills a process group at its time limit, even if this process has ended. The watch
/// process exits as soon as the group is gone, so that it cannot kill a later group with the same id.
fn start_watch(group: u32, limit: Duration) -> Result<(), SpawnError> {
    const WATCH_SCRIPT: &str = "n=0; while [ $n -lt $2 ]; do kill -s 0 -- -$1 || exit; sleep 1; n=$((n+1)); done; kill -s KILL -- -$1";
    let seconds = limit.as_secs().max(1).to_string();
    std::process::Command::new("/bin/sh")
        .args(["-c", WATCH_SCRIPT, "tenterhook-watch", &group.to_string(), &seconds])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .process_group(0)
        .spawn()
        .map(reap)
        .map_err(SpawnError::Watch)
}

/// A process group. Dropping it kills all its processes.
struct ProcessGroup(Option<Pid>);

impl ProcessGroup {
    fn from_child(child: &Child) -> Self {
        Self(child.id().and_then(|id| i32::try_from(id).ok()).and_then(Pid::from_raw))
    }

    async fn terminate(&self, child: &mut Child) {
        self.signal(Signal::TERM);
        if timeout(TERMINATE_GRACE, child.wait()).await.is_err() {
            self.signal(Signal::KILL);
            drop(timeout(KILL_WAIT_TIMEOUT, child.wait()).await);
        }
    }

    fn signal(&self, signal: Signal) {
        if let Some(group) = self.0 {
            // An error means that the group has already ended.
            let _ = kill_process_group(group, signal);
        }
    }
}

impl Drop for ProcessGroup {
    fn drop(&mut self) {
        self.signal(Signal::KILL);
    }
}
