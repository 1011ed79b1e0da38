// SPDX-License-Identifier: Apache-2.0 OR MIT

//! A process of the cluster, which can be killed and started again.

use std::ffi::{OsStr, OsString};
use std::fs::OpenOptions;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

use crate::error::ClusterError;

/// How long a process has to end after it was told to.
const PROCESS_STOP_TIMEOUT: Duration = Duration::from_secs(20);
/// Number of lines of a log that an error quotes.
const QUOTED_LOG_LINES: usize = 6;

/// How a process is started.
#[derive(Debug, Clone)]
pub struct ProcessCommand {
    program: PathBuf,
    arguments: Vec<OsString>,
    env: Vec<(OsString, OsString)>,
    dir: PathBuf,
    user: Option<(u32, u32)>,
    namespace: Option<String>,
    stop_signal: Signal,
}

/// A process of the cluster. Dropping it kills the process.
#[derive(Debug)]
pub struct ClusterProcess {
    name: String,
    command: ProcessCommand,
    log: PathBuf,
    child: Option<Child>,
}

impl ProcessCommand {
    /// Starts a program in a directory, without the environment of this process.
    pub fn new(program: &Path, dir: &Path) -> Self {
        Self {
            program: program.to_owned(),
            arguments: Vec::new(),
            env: vec![("PATH".into(), "/usr/bin:/bin".into()), ("HOME".into(), dir.into())],
            dir: dir.to_owned(),
            user: None,
            namespace: None,
            stop_signal: Signal::TERM,
        }
    }

    /// Adds arguments of the program.
    #[must_use]
    pub fn args<S: AsRef<OsStr>>(mut self, arguments: impl IntoIterator<Item = S>) -> Self {
        self.arguments.extend(arguments.into_iter().map(|argument| argument.as_ref().to_owned()));
        self
    }

    /// Sets a variable.
    #[must_use]
    pub fn env(mut self, name: &str, value: impl AsRef<OsStr>) -> Self {
        self.env.push((name.into(), value.as_ref().to_owned()));
        self
    }

    /// Runs the program as another user and group.
    #[must_use]
    pub fn user(mut self, user: Option<(u32, u32)>) -> Self {
        self.user = user;
        self
    }

    /// Runs the program in a network namespace.
    #[must_use]
    pub fn namespace(mut self, namespace: Option<String>) -> Self {
        self.namespace = namespace;
        self
    }

    /// Sets the signal that ends the program in an orderly way.
    #[must_use]
    pub fn stop_signal(mut self, signal: Signal) -> Self {
        self.stop_signal = signal;
        self
    }

    /// Builds the command. The kernel kills the process when the thread that started it ends, because `setpriv` sets
    /// the signal for that and then runs the program under the same process id.
    fn build(&self, bound_to_parent: bool) -> Command {
        let mut words: Vec<OsString> = Vec::new();
        if let Some(namespace) = &self.namespace {
            words.extend(["ip", "netns", "exec", namespace].map(OsString::from));
        }
        if bound_to_parent || self.user.is_some() {
            words.push("setpriv".into());
            if let Some((user, group)) = self.user {
                words.push(format!("--reuid={user}").into());
                words.push(format!("--regid={group}").into());
                words.push("--clear-groups".into());
            }
            if bound_to_parent {
                words.push("--pdeathsig=KILL".into());
            }
            words.push("--".into());
        }
        words.push(self.program.clone().into());
        words.extend(self.arguments.iter().cloned());
        let mut words = words.into_iter();
        let mut command = Command::new(words.next().unwrap_or_default());
        command.args(words).env_clear().envs(self.env.iter().map(|(name, value)| (name, value)));
        // `ip` and `setpriv` are searched with this process's path, the program is absolute.
        command.env("PATH", "/usr/sbin:/usr/bin:/sbin:/bin").current_dir(&self.dir).stdin(Stdio::null());
        // A group of its own: Ctrl-C reaches this process, which ends the others in order.
        command.process_group(0);
        command
    }

    /// Runs the command to its end and returns its standard output.
    pub fn run(&self, name: &str) -> Result<String, ClusterError> {
        let output = self.build(false).output().map_err(|error| ClusterError::file(&self.program, error))?;
        if output.status.success() {
            return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
        }
        let text = String::from_utf8_lossy(&output.stderr);
        Err(ClusterError::process(name, format!("{}: {}", output.status, text.trim())))
    }
}

impl ClusterProcess {
    /// Describes a process. It is not started.
    pub fn new(name: &str, command: ProcessCommand, log: &Path) -> Self {
        Self { name: name.to_owned(), command, log: log.to_owned(), child: None }
    }

    /// Returns the name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Starts the process. The thread that calls this must live as long as the process.
    pub fn start(&mut self) -> Result<(), ClusterError> {
        let file = |error| ClusterError::file(&self.log, error);
        let log = OpenOptions::new().create(true).append(true).open(&self.log).map_err(file)?;
        let errors = log.try_clone().map_err(file)?;
        let child = self.command.build(true).stdout(log).stderr(errors).spawn();
        self.child = Some(child.map_err(|error| ClusterError::file(&self.command.program, error))?);
        Ok(())
    }

    /// Returns the process id while the process runs.
    pub fn pid(&self) -> Option<u32> {
        self.child.as_ref().map(Child::id)
    }

    /// Returns an error with the end of the log if the process has ended.
    pub fn check_running(&mut self) -> Result<(), ClusterError> {
        let is_running = self.child.as_mut().is_some_and(|child| matches!(child.try_wait(), Ok(None)));
        if is_running { Ok(()) } else { Err(ClusterError::process(&self.name, self.log_end())) }
    }

    /// Returns the last lines of the log.
    pub fn log_end(&self) -> String {
        let text = std::fs::read(&self.log).unwrap_or_default();
        let text = String::from_utf8_lossy(&text);
        let lines: Vec<&str> = text.lines().rev().take(QUOTED_LOG_LINES).collect();
        let lines: Vec<&str> = lines.into_iter().rev().collect();
        format!("its log `{}` ends with: {}", self.log.display(), lines.join("; "))
    }

    /// Sends a signal to the process.
    pub fn signal(&self, signal: Signal) {
        let pid = self.pid().and_then(|pid| i32::try_from(pid).ok()).and_then(Pid::from_raw);
        if let Some(pid) = pid {
            // Fails if the process has ended already.
            let _ = kill_process(pid, signal);
        }
    }

    /// Kills the process with SIGKILL and waits for its end.
    pub fn kill(&mut self) {
        if let Some(mut child) = self.child.take() {
            drop(child.kill());
            drop(child.wait());
        }
    }

    /// Ends the process in an orderly way.
    pub fn stop(&mut self) {
        self.signal(self.command.stop_signal);
        let began = Instant::now();
        while self.child.as_mut().is_some_and(|child| matches!(child.try_wait(), Ok(None))) {
            if began.elapsed() > PROCESS_STOP_TIMEOUT {
                break;
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        self.kill();
    }
}

impl Drop for ClusterProcess {
    fn drop(&mut self) {
        self.kill();
    }
}
