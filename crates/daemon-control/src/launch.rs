// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Starts a daemon in the background, and ends one.

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

/// No more of the log is read to find out why a daemon did not start.
const MAX_LOG_BYTES: u64 = 1 << 20;
/// How long a daemon may take until it answers.
const START_TIMEOUT: Duration = Duration::from_secs(10);
/// With more files than this the spool is long.
const LONG_SPOOL_FILES: usize = 256;
/// How long the next call waits before it brings the spool in again.
const SPOOL_IMPORT_INTERVAL: Duration = Duration::from_mins(1);

/// The file in `run` that says when a hook last started a daemon.
const AUTOSTART_MARK: &str = "starting";
/// What a daemon that a hook starts is told of the hook's environment.
const KEPT_VARIABLES: &[&str] =
    &["HOME", "PATH", "TENTERHOOK_HOME", "TENTERHOOK_SYSTEM_DIR", "XDG_CONFIG_HOME", "XDG_STATE_HOME"];

/// How long calls that are under way may take when a daemon is ended.
const END_TIMEOUT: Duration = Duration::from_secs(15);

/// Starts this program again, for the same state directory.
pub struct Launcher<'a> {
    /// The state directory.
    pub home: &'a Home,
    /// The program to start.
    pub program: PathBuf,
    /// `--home`, if the caller was given one.
    pub said_home: Option<&'a Path>,
    /// The environment of the caller.
    pub variables: &'a BTreeMap<String, String>,
}

impl Launcher<'_> {
    /// Starts a daemon of its own session with these arguments of `serve`, and waits until it answers.
    pub fn launch(&self, arguments: &[String]) -> Result<(), Failure> {
        let home = self.home;
        let log = home.log();
        let from = fs_err::metadata(&log).map_or(0, |found| found.len());
        let mut child = self.command(&["serve", "--log", "json"])?.args(arguments).spawn()?;
        let began = Instant::now();
        while began.elapsed() < START_TIMEOUT {
            // The socket is there before the daemon knows whether it can start: only an answer counts.
            if ask::is_up(home) && matches!(ask::get(home, "/v1/health"), Ok(Some(_))) {
                return Ok(());
            }
            if child.try_wait()?.is_some() {
                break;
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        let mut said = String::new();
        if let Ok(Some(mut file)) = tenterhook_files::open(&log, FileClass::State) {
            drop(file.seek(SeekFrom::Start(from)));
            drop(file.take(MAX_LOG_BYTES).read_to_string(&mut said));
        }
        let failure = child_error(&said);
        Err(failure.hint(format!("the log is {}; `tenterhook serve` shows it as it happens", log.display())))
    }

    /// Starts a daemon for the calls to come. Nobody waits for it, and if it fails the next call is judged as this one
    /// was.
    pub fn autostart_daemon(&self) {
        if ask::is_up(self.home) || !first_of_many(self.home, AUTOSTART_MARK, START_TIMEOUT) {
            return;
        }
        let Ok(command) = self.command(&["serve", "--log", "json"]) else { return };
        self.spawn_detached(command);
    }

    /// Brings the spool into the ledger when it has grown long and no daemon does. Nobody waits for it; if the ledger
    /// cannot be written, the spool waits on, and `tenterhook doctor` says so.
    pub fn import_spool(&self) {
        let home = self.home;
        let waiting =
            std::fs::read_dir(home.spool()).map_or(0, |entries| entries.take(LONG_SPOOL_FILES + 1).count());
        if waiting <= LONG_SPOOL_FILES
            || ask::is_up(home)
            || !first_of_many(home, "taking-in", SPOOL_IMPORT_INTERVAL)
        {
            return;
        }
        // Whoever signs takes in everything first.
        let Ok(command) = self.command(&["ledger", "checkpoint"]) else { return };
        self.spawn_detached(command);
    }

    /// Starts it without waiting for it.
    fn spawn_detached(&self, mut command: Command) {
        // The caller runs in the agent's environment, and a project can choose what is in it.
        let kept = KEPT_VARIABLES.iter().filter_map(|name| Some((name, self.variables.get(*name)?)));
        command.env_clear().envs(kept);
        drop(command.spawn());
    }

    /// The program with other arguments: what it says goes to the log.
    fn command(&self, arguments: &[&str]) -> Result<Command, Failure> {
        self.home.create()?;
        let log = self.home.log();
        if let Some(dir) = log.parent() {
            make_private_dir(dir)?;
        }
        let file = tenterhook_files::open_state_for_writing(&log, OpenOptions::new().append(true))?;
        let mut command = Command::new(&self.program);
        // Everything else that leads to this home is inherited.
        if let Some(said) = self.said_home {
            command.arg("--home").arg(std::path::absolute(said)?);
        }
        if self.home.is_machine_wide() {
            command.arg("--system");
        }
        command.args(arguments).stdin(Stdio::null()).stdout(Stdio::null()).stderr(file);
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        Ok(command)
    }
}

/// Keeps hooks from starting a daemon for some seconds: one is about to be started in place of another.
pub fn hold_autostart(home: &Home) {
    let _ = first_of_many(home, AUTOSTART_MARK, Duration::ZERO);
}

/// What the daemon said when it gave up: its error with its hints, else its last line.
fn child_error(said: &str) -> Failure {
    let plain = |line: &'_ str, label: &str| line.strip_prefix(label).map(|rest| rest.trim().to_owned());
    let error = said.lines().rev().find_map(|line| plain(line, "error:"));
    let last = || said.lines().last().unwrap_or("it said nothing").to_owned();
    let failure = Failure::internal(format!("the daemon did not start: {}", error.unwrap_or_else(last)));
    said.lines().filter_map(|line| plain(line, "hint:")).fold(failure, Failure::hint)
}

/// Of calls at the same time only one does something, and for a while no other does.
fn first_of_many(home: &Home, what: &str, within: Duration) -> bool {
    let mark = home.run().join(what);
    let recent = fs_err::metadata(&mark).and_then(|found| found.modified());
    if recent.is_ok_and(|at| at.elapsed().is_ok_and(|age| age < within)) {
        return false;
    }
    make_private_dir(&home.run()).and_then(|()| write_atomic(&mark, b"", 0o600)).is_ok()
}

/// The process of a daemon, by its health report: the socket says who answers, and a file could name any process.
pub fn process_of(health: &Value) -> Option<Pid> {
    let pid = health.get("pid").and_then(Value::as_i64).and_then(|pid| i32::try_from(pid).ok());
    pid.and_then(Pid::from_raw)
}

/// Ends the daemon of a home: calls under way are finished. Returns when its process is gone.
pub fn end_daemon(home: &Home, pid: Pid) -> Result<(), Failure> {
    kill_process(pid, Signal::TERM).map_err(|error| {
        Failure::internal(format!("the daemon ({}) cannot be ended: {error}", pid.as_raw_nonzero()))
    })?;
    let began = Instant::now();
    while rustix::process::test_kill_process(pid).is_ok() {
        if began.elapsed() > END_TIMEOUT {
            return Err(
                Failure::internal("the daemon does not end").hint(format!("see {}", home.log().display()))
            );
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    Ok(())
}
