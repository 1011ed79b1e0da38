// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Running one program, bounded.
//!
//! The call returns at the deadline, not when a grandchild lets go of a pipe: the program gets a
//! process group of its own, and whatever is left of the group is killed when the call is over.

use std::io::{Seek, Write};
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::Stdio;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process_group};
use tenterhook_harness::dialect::{Detaches, Exited};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};
use tokio::process::{Child, Command};
use tokio::time::{Instant, timeout, timeout_at};

/// How long the outputs may stay open after the program itself has ended.
const DRAIN: Duration = Duration::from_millis(20);
/// Between asking the group to end and making it: a hook may clean up, but not keep us.
const GRACE: Duration = Duration::from_millis(25);
/// How long a killed program may take to be gone.
const GONE: Duration = Duration::from_millis(10);

/// The longest line in which a program can say that it goes on by itself.
const FIRST_LINE: usize = 4096;

/// A program to run once.
#[derive(Debug, Clone)]
pub struct Spec {
    /// The program and its arguments.
    pub argv: Vec<String>,
    /// Variables on top of ours.
    pub env: Vec<(String, String)>,
    /// Where it runs.
    pub dir: PathBuf,
    /// What it gets on standard input, which is closed then.
    pub stdin: Vec<u8>,
    /// How long it may take.
    pub limit: Duration,
    /// The most bytes kept of each of its outputs.
    pub output_limit: usize,
    /// Reads from what it has printed so far whether it wants to go on by itself, and how long.
    pub detaches: Option<Detaches>,
}

/// How it ended.
#[derive(Debug)]
pub enum Ended {
    /// By itself, in time.
    Exited(Exited),
    /// It was ended at its deadline; this is what it had written by then.
    TimedOut(Exited),
    /// It goes on by itself; something else ends it when its time is over.
    Detached(Duration),
    /// It could not be started, or not be read.
    Failed(String),
}

/// A program that could not be started.
#[derive(Debug, thiserror::Error)]
pub enum SpawnError {
    /// The program itself.
    #[error("`{program}` could not be started: {source}")]
    Start {
        /// The program.
        program: String,
        /// Why.
        source: std::io::Error,
    },
    /// The watch that ends a detached program in time. The program itself runs.
    #[error("nobody could be found to end it in time: {0}")]
    Watch(#[source] std::io::Error),
}

impl SpawnError {
    fn start(program: &str, source: std::io::Error) -> Self {
        Self::Start { program: program.to_owned(), source }
    }
}

/// A program that runs; [`Running::end`] waits for it.
pub(crate) struct Running {
    child: Child,
    group: Group,
    deadline: Instant,
}

/// Runs a program to its end or to its deadline, whichever comes first.
pub async fn run(spec: &Spec) -> Ended {
    match Running::start(spec) {
        Ok(running) => running.end(spec).await,
        Err(error) => Ended::Failed(error.to_string()),
    }
}

impl Running {
    fn start(spec: &Spec) -> Result<Self, SpawnError> {
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
            .map_err(|source| SpawnError::start(program, source))?;
        let group = Group::of(&child);
        Ok(Self { child, group, deadline: Instant::now() + spec.limit })
    }

    async fn end(mut self, spec: &Spec) -> Ended {
        let mut said = Said::default();
        let talked = timeout_at(self.deadline, talk(&mut self.child, spec, &mut said)).await;
        match talked {
            Ok(Ok(Talked::Exited(code))) => Ended::Exited(said.exited(code)),
            Ok(Ok(Talked::Detaches(limit))) => self.detach(limit),
            Ok(Err(error)) => Ended::Failed(format!("its output could not be read: {error}")),
            Err(_) => {
                self.group.end(&mut self.child).await;
                Ended::TimedOut(said.exited(None))
            }
        }
    }

    /// Lets the program go on by itself. What it still prints is read as long as we are there.
    fn detach(mut self, limit: Duration) -> Ended {
        let Some(id) = self.child.id() else { return Ended::Exited(Exited::default()) };
        if let Err(error) = watch(id, limit) {
            return Ended::Failed(error.to_string());
        }
        self.group.0 = None;
        tokio::spawn(async move {
            let mut rest = Said::default();
            let (mut output, mut errors) = (self.child.stdout.take(), self.child.stderr.take());
            let stdout = drain(&mut output, &mut rest.stdout, 0, None);
            let stderr = drain(&mut errors, &mut rest.stderr, 0, None);
            let _ = tokio::join!(stdout, stderr);
            self.child.wait().await
        });
        Ended::Detached(limit)
    }
}

/// How the talk with a program ended.
enum Talked {
    Exited(Option<i32>),
    Detaches(Duration),
}

/// What the program has written so far.
#[derive(Default)]
struct Said {
    stdout: Vec<u8>,
    stderr: Vec<u8>,
}

impl Said {
    fn exited(self, code: Option<i32>) -> Exited {
        Exited { code, stdout: self.stdout, stderr: self.stderr }
    }
}

/// Feeds standard input and reads both outputs while the program runs. A program that never reads
/// its input or closes it early is heard all the same.
async fn talk(child: &mut Child, spec: &Spec, said: &mut Said) -> std::io::Result<Talked> {
    let limit = spec.output_limit;
    let mut input = child.stdin.take();
    let (mut output, mut errors) = (child.stdout.take(), child.stderr.take());
    let write = async {
        if let Some(pipe) = &mut input {
            drop(pipe.write_all(&spec.stdin).await);
        }
        input = None;
    };
    let read = async {
        let stderr = async { drain(&mut errors, &mut said.stderr, limit, None).await.map(drop) };
        let stdout = drain(&mut output, &mut said.stdout, limit, spec.detaches);
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
                Some(limit) => return Ok(Talked::Detaches(limit)),
                None => done = true,
            },
        }
    };
    if !done && let Ok(result) = timeout(DRAIN, read).await {
        result?;
    }
    Ok(Talked::Exited(status.code()))
}

/// Reads to the end, keeping the first `limit` bytes; the rest is read and dropped so that the
/// writer is not held up. Ends early when what was read says that the program detaches.
async fn drain(
    pipe: &mut Option<impl AsyncRead + Unpin>,
    kept: &mut Vec<u8>,
    limit: usize,
    mut detaches: Option<Detaches>,
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
        // Only a first line says so; what is longer is not read again and again.
        if kept.len() > FIRST_LINE || bytes.contains(&b'\n') {
            detaches = None;
        }
    }
}

/// Starts a program that nobody waits for. It reads its input from a file, so that it gets all of
/// it even if we end first, and something else ends it when its time is over.
pub fn start_detached(spec: &Spec) -> Result<(), SpawnError> {
    let mut words = spec.argv.iter();
    let program = words.next().map_or("", String::as_str);
    let failed = |source| SpawnError::start(program, source);
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
    watch(id, spec.limit)
}

/// Waits for a program that nobody else waits for, so that nothing of it stays behind.
fn reap(mut child: std::process::Child) {
    std::thread::spawn(move || child.wait());
}

/// Ends a process group when its time is over, whether we are still there or not. It leaves as soon
/// as the group is gone, so that it never meets another group under the same number.
fn watch(group: u32, limit: Duration) -> Result<(), SpawnError> {
    const WATCH: &str = "n=0; while [ $n -lt $2 ]; do kill -s 0 -- -$1 || exit; sleep 1; n=$((n+1)); done; kill -s KILL -- -$1";
    let seconds = limit.as_secs().max(1).to_string();
    std::process::Command::new("/bin/sh")
        .args(["-c", WATCH, "tenterhook-watch", &group.to_string(), &seconds])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .process_group(0)
        .spawn()
        .map(reap)
        .map_err(SpawnError::Watch)
}

/// A process group. Dropping it kills what is left.
struct Group(Option<Pid>);

impl Group {
    fn of(child: &Child) -> Self {
        Self(child.id().and_then(|id| i32::try_from(id).ok()).and_then(Pid::from_raw))
    }

    async fn end(&self, child: &mut Child) {
        self.signal(Signal::TERM);
        if timeout(GRACE, child.wait()).await.is_err() {
            self.signal(Signal::KILL);
            drop(timeout(GONE, child.wait()).await);
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
