// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Keeps an engine: a small process between the server and an engine. It ends the engine in an orderly way when the
//! server ends for any reason, also when the server is killed: then its standard input is closed.

use std::io::{Read as _, Seek as _, SeekFrom};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError, mpsc};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use tenterhook_files::{FileClass, open};

use crate::error::FleetError;

/// How long an engine has to end after it was told to.
const STOP_TIMEOUT: Duration = Duration::from_secs(20);

/// Number of lines of an engine's log that an error quotes.
const MAX_REPORTED_LINES: usize = 5;
/// Number of bytes at the end of an engine's log that are read.
const LOG_END_BYTES: u64 = 16 << 10;

/// The signal that ends an engine in an orderly way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StopSignal {
    /// SIGTERM, for NATS.
    Terminate,
    /// SIGINT, for PostgreSQL: end all sessions and shut down.
    Interrupt,
}

/// Options of the keeper.
#[derive(Debug, Clone)]
pub struct KeeperOptions {
    /// Signal that ends the engine.
    pub signal: StopSignal,
    /// User and group to run the engine as.
    pub user: Option<(u32, u32)>,
    /// File that receives the engine's output.
    pub log: PathBuf,
    /// Program and arguments of the engine.
    pub command: Vec<std::ffi::OsString>,
}

/// Runs an engine until it ends or standard input is closed. Returns the engine's exit code.
pub fn keep_child(options: &KeeperOptions) -> Result<i32, FleetError> {
    let (program, arguments) =
        options.command.split_first().ok_or_else(|| FleetError::invalid("no program to keep"))?;
    let program = Path::new(program);
    let log = std::fs::OpenOptions::new().create(true).append(true).open(&options.log);
    let log = log.map_err(|error| FleetError::file(&options.log, &error))?;
    let errors = log.try_clone().map_err(|error| FleetError::file(&options.log, &error))?;
    let mut command = Command::new(program);
    command.args(arguments).env_clear().stdin(Stdio::null()).stdout(log).stderr(errors).current_dir("/");
    if let Some((user, group)) = options.user {
        command.uid(user).gid(group);
    }
    // A group of its own: Ctrl-C in a terminal reaches the server, which ends the engines in order.
    command.process_group(0);
    let mut child = command.spawn().map_err(|error| FleetError::file(program, &error))?;
    let pid = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
    let signal = match options.signal {
        StopSignal::Terminate => Signal::TERM,
        StopSignal::Interrupt => Signal::INT,
    };
    let (ended, has_ended) = mpsc::channel::<()>();
    std::thread::spawn(move || {
        let mut buffer = [0; 64];
        while std::io::stdin().read(&mut buffer).is_ok_and(|count| count > 0) {}
        let Some(pid) = pid else { return };
        // Fails if the engine has ended already.
        let _ = kill_process(pid, signal);
        if has_ended.recv_timeout(STOP_TIMEOUT).is_err() {
            let _ = kill_process(pid, Signal::KILL);
        }
    });
    let status = child.wait().map_err(|error| FleetError::file(program, &error))?;
    drop(ended);
    Ok(status.code().unwrap_or(1))
}

/// An engine with its keeper. Dropping it ends both.
pub(super) struct KeptChild {
    child: Mutex<Child>,
    keeper: PathBuf,
    name: &'static str,
    options: KeeperOptions,
}

/// Reads the end of a log; empty if there is no log.
fn read_log_end(path: &Path) -> std::io::Result<String> {
    let Some(mut file) = open(path, FileClass::Untrusted)? else { return Ok(String::new()) };
    let start = file.metadata()?.len().saturating_sub(LOG_END_BYTES);
    file.seek(SeekFrom::Start(start))?;
    let mut end = Vec::new();
    file.take(LOG_END_BYTES).read_to_end(&mut end)?;
    Ok(String::from_utf8_lossy(&end).into_owned())
}

impl KeptChild {
    /// Starts the keeper, which starts the engine.
    pub(super) fn spawn(
        keeper: &Path,
        name: &'static str,
        options: KeeperOptions,
    ) -> Result<Self, FleetError> {
        let child = Mutex::new(spawn_keeper(keeper, &options)?);
        Ok(Self { child, keeper: keeper.to_owned(), name, options })
    }

    fn child(&self) -> MutexGuard<'_, Child> {
        self.child.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns an error with the end of the engine's log if the engine has ended.
    pub(super) fn check_running(&self) -> Result<(), FleetError> {
        if matches!(self.child().try_wait(), Ok(None)) {
            return Ok(());
        }
        let log = read_log_end(&self.options.log).unwrap_or_default();
        let lines: Vec<&str> = log.lines().collect();
        let last = lines.get(lines.len().saturating_sub(MAX_REPORTED_LINES)..).unwrap_or_default();
        let error = FleetError::unavailable(format!("{} ended: {}", self.name, last.join("; ")));
        Err(error.with_hint(format!("its log is `{}`", self.options.log.display())))
    }

    /// Starts the engine again if it has ended.
    pub(super) fn restart_if_ended(&self) -> Result<(), FleetError> {
        let mut child = self.child();
        if !matches!(child.try_wait(), Ok(None)) {
            tracing::warn!(engine = self.name, "an engine of the trial ended, starting it again");
            *child = spawn_keeper(&self.keeper, &self.options)?;
        }
        Ok(())
    }
}

impl Drop for KeptChild {
    fn drop(&mut self) {
        let child = self.child.get_mut().unwrap_or_else(PoisonError::into_inner);
        // Closing the pipe is the order to end.
        drop(child.stdin.take());
        drop(child.wait());
    }
}

fn spawn_keeper(keeper: &Path, options: &KeeperOptions) -> Result<Child, FleetError> {
    let mut command = Command::new(keeper);
    command.arg("keep").arg("--log").arg(&options.log);
    command
        .args(["--signal", if options.signal == StopSignal::Interrupt { "interrupt" } else { "terminate" }]);
    if let Some((user, group)) = options.user {
        command.args(["--user", &format!("{user}:{group}")]);
    }
    command.arg("--").args(&options.command);
    command.stdin(Stdio::piped()).stdout(Stdio::null()).process_group(0);
    command.spawn().map_err(|error| FleetError::file(keeper, &error))
}
