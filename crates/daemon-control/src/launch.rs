// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Starts a daemon in the background, and stops a running one.

use std::collections::BTreeMap;
use std::fs::OpenOptions;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use tenterhook_error::Failure;
use tenterhook_files::FileClass;
use tenterhook_home::{Home, make_private_dir, write_atomic};

use crate::ask;

/// Maximum size of the log that is read to find out why a daemon did not start.
const MAX_LOG_BYTES: u64 = 1 << 20;
/// Maximum time until a started daemon answers.
const START_TIMEOUT: Duration = Duration::from_secs(10);
/// Number of spool files above which the spool is imported even though no daemon is running.
const LONG_SPOOL_FILES: usize = 256;
/// Minimum interval between two imports of the spool.
const SPOOL_IMPORT_INTERVAL: Duration = Duration::from_mins(1);

/// File in `run` whose modification time is the time at which a hook last started a daemon.
const AUTOSTART_MARK: &str = "starting";
/// Variables that a daemon inherits from the hook that starts it.
const INHERITED_VARIABLES: &[&str] =
    &["HOME", "PATH", "TENTERHOOK_HOME", "TENTERHOOK_SYSTEM_DIR", "XDG_CONFIG_HOME", "XDG_STATE_HOME"];

/// Maximum time for running calls to finish when a daemon is stopped.
const STOP_TIMEOUT: Duration = Duration::from_secs(15);

/// Starts this program for the same state directory.
pub struct Launcher<'a> {
    /// The state directory.
    pub home: &'a Home,
    /// The program to start.
    pub program: PathBuf,
    /// Value of the caller's `--home` option.
    pub explicit_home: Option<&'a Path>,
    /// The caller's environment.
    pub variables: &'a BTreeMap<String, String>,
}

impl Launcher<'_> {
    /// Starts a daemon in the background with these arguments for `serve`, and waits until it answers.
    pub fn launch(&self, arguments: &[String]) -> Result<(), Failure> {
        let home = self.home;
        let log = home.log();
        let from = fs_err::metadata(&log).map_or(0, |found| found.len());
        let mut child = self.command(&["serve", "--log", "json"])?.args(arguments).spawn()?;
        let began = Instant::now();
        while began.elapsed() < START_TIMEOUT {
            // The socket exists before the daemon knows whether it can start, so only an answer shows that it runs.
            if ask::is_up(home) && matches!(ask::get(home, "/v1/health"), Ok(Some(_))) {
                return Ok(());
            }
            if child.try_wait()?.is_some() {
                break;
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        let mut log_text = String::new();
        if let Ok(Some(mut file)) = tenterhook_files::open(&log, FileClass::State) {
            drop(file.seek(SeekFrom::Start(from)));
            drop(file.take(MAX_LOG_BYTES).read_to_string(&mut log_text));
        }
        let failure = child_error(&log_text);
        Err(failure.hint(format!(
            "the log is {}; `tenterhook daemon serve` runs it in the foreground",
            log.display()
        )))
    }

    /// Starts a daemon for future calls, without waiting for it. If the start fails, the next call is evaluated
    /// in-process too.
    pub fn autostart_daemon(&self) {
        if ask::is_up(self.home) || !claim_mark(self.home, AUTOSTART_MARK, START_TIMEOUT) {
            return;
        }
        let Ok(command) = self.command(&["serve", "--log", "json"]) else { return };
        self.spawn_detached(command);
    }

    /// Imports a long spool into the ledger in the background if no daemon is running. If the ledger cannot be
    /// written, the spool stays, and `tenterhook doctor` reports it.
    pub fn import_spool(&self) {
        let home = self.home;
        let waiting =
            std::fs::read_dir(home.spool()).map_or(0, |entries| entries.take(LONG_SPOOL_FILES + 1).count());
        if waiting <= LONG_SPOOL_FILES
            || ask::is_up(home)
            || !claim_mark(home, "taking-in", SPOOL_IMPORT_INTERVAL)
        {
            return;
        }
        // Signing a checkpoint imports the spool first.
        let Ok(command) = self.command(&["ledger", "checkpoint"]) else { return };
        self.spawn_detached(command);
    }

    /// Starts a command without waiting for it.
    fn spawn_detached(&self, mut command: Command) {
        // This process has the agent's environment, which a project can influence, so only some variables are passed
        // on.
        let inherited =
            INHERITED_VARIABLES.iter().filter_map(|name| Some((name, self.variables.get(*name)?)));
        command.env_clear().envs(inherited);
        drop(command.spawn());
    }

    /// Creates a command for the program, with its output written to the log.
    fn command(&self, arguments: &[&str]) -> Result<Command, Failure> {
        self.home.create()?;
        let log = self.home.log();
        if let Some(dir) = log.parent() {
            make_private_dir(dir)?;
        }
        let file = tenterhook_files::open_state_for_writing(&log, OpenOptions::new().append(true))?;
        let mut command = Command::new(&self.program);
        // Variables that select the state directory are inherited; options must be passed again.
        if let Some(path) = self.explicit_home {
            command.arg("--home").arg(std::path::absolute(path)?);
        }
        if self.home.is_machine_wide() {
            command.arg("--system");
        }
        command.args(arguments).stdin(Stdio::null()).stdout(Stdio::null()).stderr(file);
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        Ok(command)
    }
}

/// Keeps hooks from starting a daemon for `START_TIMEOUT`, because the caller is about to start a new daemon
/// itself.
pub fn hold_autostart(home: &Home) {
    let _ = claim_mark(home, AUTOSTART_MARK, Duration::ZERO);
}

/// Extracts the daemon's error and its hints from the log, or else the log's last line.
fn child_error(log_text: &str) -> Failure {
    let plain = |line: &'_ str, label: &str| line.strip_prefix(label).map(|rest| rest.trim().to_owned());
    let error = log_text.lines().rev().find_map(|line| plain(line, "error:"));
    let last = || log_text.lines().last().unwrap_or("no output").to_owned();
    let failure = Failure::internal(format!("the daemon did not start: {}", error.unwrap_or_else(last)));
    log_text.lines().filter_map(|line| plain(line, "hint:")).fold(failure, Failure::hint)
}

/// Touches the mark file `name` and returns true, or returns false if the mark is younger than `within`. This
/// limits how often an action is started.
fn claim_mark(home: &Home, name: &str, within: Duration) -> bool {
    let mark = home.run().join(name);
    let recent = fs_err::metadata(&mark).and_then(|found| found.modified());
    if recent.is_ok_and(|at| at.elapsed().is_ok_and(|age| age < within)) {
        return false;
    }
    make_private_dir(&home.run()).and_then(|()| write_atomic(&mark, b"", 0o600)).is_ok()
}

/// Returns the process id in a health report. The id is taken from the report, which comes over the daemon's socket,
/// and not from a file, which could name any process.
pub fn process_of(health: &Value) -> Option<Pid> {
    let pid = health.get("pid").and_then(Value::as_i64).and_then(|pid| i32::try_from(pid).ok());
    pid.and_then(Pid::from_raw)
}

/// Stops the daemon of a state directory after its running calls are finished. Returns when the process has ended.
pub fn stop_daemon_process(home: &Home, pid: Pid) -> Result<(), Failure> {
    kill_process(pid, Signal::TERM).map_err(|error| {
        Failure::internal(format!("cannot stop the daemon ({}): {error}", pid.as_raw_nonzero()))
    })?;
    let began = Instant::now();
    while rustix::process::test_kill_process(pid).is_ok() {
        if began.elapsed() > STOP_TIMEOUT {
            return Err(
                Failure::internal("the daemon does not stop").hint(format!("see {}", home.log().display()))
            );
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    Ok(())
}
