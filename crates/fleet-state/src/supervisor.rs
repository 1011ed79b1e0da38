// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Runs the connector as a child process while the machine is part of a fleet.
//!
//! The connector is a program of its own, so that nothing that it does can block, slow down or end the daemon. It ends
//! when its standard input is closed, which also happens if the daemon is killed.

use std::ffi::OsString;
use std::fs::{File, OpenOptions};
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use tenterhook_files::open_state_for_writing;

use crate::connector_program::find_beside;
use crate::fleet_dir::{FleetDir, FleetStateError};

/// Interval at which the enrolment and the child are checked.
const SUPERVISION_INTERVAL: Duration = Duration::from_millis(500);
/// Interval at which a machine that is not part of a fleet looks for an enrolment. The daemon watches the file and calls
/// [`ConnectorSupervisor::check_now`]; this is for a change that it missed. Each check wakes an idle daemon up.
const ENROLMENT_INTERVAL: Duration = Duration::from_mins(1);
/// Pause before the first restart; it doubles with each restart.
const MIN_RESTART_PAUSE: Duration = Duration::from_secs(1);
/// Maximum pause before a restart.
const MAX_RESTART_PAUSE: Duration = Duration::from_mins(1);
/// Time after which a connector counts as running well.
const STABLE_RUN_TIME: Duration = Duration::from_mins(1);
/// Time that a connector has to end by itself.
const CONNECTOR_END_TIMEOUT: Duration = Duration::from_secs(1);
/// Length of the log at which it is emptied before a start.
const MAX_LOG_BYTES: u64 = 1 << 20;
/// Variables of the connector. It inherits none of the daemon's, which an agent may have set.
const CONNECTOR_PATH: &str = "/usr/local/bin:/usr/bin:/bin";

/// What to run and where.
#[derive(Debug, Clone)]
pub struct SupervisorOptions {
    /// Directory with the files about the fleet.
    pub fleet: FleetDir,
    /// Arguments of the connector.
    pub args: Vec<OsString>,
    /// The daemon's own program. The connector is searched beside it if the enrolled program is missing.
    pub daemon_program: Option<PathBuf>,
}

/// A change of the connector that the daemon reports.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ConnectorChange {
    /// The connector was started.
    Started {
        /// Its process id.
        pid: u32,
    },
    /// The connector ended by itself and will be restarted.
    Ended {
        /// Its exit status.
        status: ExitStatus,
    },
    /// The connector cannot be started.
    CannotRun {
        /// Cause in words.
        why: String,
    },
}

/// Why the connector did not start.
#[derive(Debug, thiserror::Error)]
enum StartConnectorError {
    #[error(transparent)]
    State(#[from] FleetStateError),
    #[error("`tenterhook-fleet` is not installed, or other accounts can replace it")]
    NotInstalled,
    #[error("the connector's log cannot be opened: {0}")]
    Log(std::io::Error),
    #[error("`{}` cannot be started: {source}", program.display())]
    Start { program: PathBuf, source: std::io::Error },
}

/// The thread that runs the connector.
#[derive(Debug)]
pub struct ConnectorSupervisor {
    /// A message makes the thread check now; the end of the channel ends it.
    check: Sender<()>,
    thread: JoinHandle<()>,
}

/// State of the thread.
struct Supervision<F> {
    options: SupervisorOptions,
    report: F,
    child: Option<(Child, Instant)>,
    next_start: Instant,
    pause: Duration,
    /// The last cause for which the connector did not start, so that it is reported once.
    reported: Option<String>,
}

impl ConnectorSupervisor {
    /// Starts the thread. `report` is called on it for each change.
    pub fn start(
        options: SupervisorOptions,
        report: impl Fn(ConnectorChange) + Send + 'static,
    ) -> std::io::Result<Self> {
        let (check, checks) = channel();
        let supervision = Supervision {
            options,
            report,
            child: None,
            next_start: Instant::now(),
            pause: MIN_RESTART_PAUSE,
            reported: None,
        };
        let thread =
            std::thread::Builder::new().name("connector".into()).spawn(move || supervision.run(&checks))?;
        Ok(Self { check, thread })
    }

    /// Checks the enrolment and the child at once.
    pub fn check_now(&self) {
        // The thread ends only together with the supervisor.
        let _ = self.check.send(());
    }

    /// Ends the connector and the thread.
    pub fn end(self) {
        drop(self.check);
        // A thread that panicked has no child left to end.
        drop(self.thread.join());
    }
}

impl<F: Fn(ConnectorChange)> Supervision<F> {
    fn run(mut self, checks: &Receiver<()>) {
        loop {
            self.check();
            let is_enrolled = self.options.fleet.is_enrolled();
            let interval = if is_enrolled { SUPERVISION_INTERVAL } else { ENROLMENT_INTERVAL };
            if checks.recv_timeout(interval) == Err(RecvTimeoutError::Disconnected) {
                self.end_child();
                return;
            }
        }
    }

    /// Starts, restarts or ends the connector as the enrolment requires.
    fn check(&mut self) {
        if !self.options.fleet.is_enrolled() {
            self.end_child();
            (self.pause, self.next_start, self.reported) = (MIN_RESTART_PAUSE, Instant::now(), None);
            return;
        }
        if let Some((child, started)) = &mut self.child {
            match child.try_wait() {
                Ok(Some(status)) => {
                    if started.elapsed() >= STABLE_RUN_TIME {
                        self.pause = MIN_RESTART_PAUSE;
                    }
                    self.child = None;
                    self.delay_start();
                    (self.report)(ConnectorChange::Ended { status });
                }
                Ok(None) => return,
                Err(error) => {
                    self.child = None;
                    self.delay_start();
                    self.report_problem(format!("the connector cannot be observed: {error}"));
                }
            }
        }
        if Instant::now() < self.next_start {
            return;
        }
        match self.spawn() {
            Ok(child) => {
                self.reported = None;
                (self.report)(ConnectorChange::Started { pid: child.id() });
                self.child = Some((child, Instant::now()));
            }
            Err(error) => {
                self.delay_start();
                self.report_problem(error.to_string());
            }
        }
    }

    fn delay_start(&mut self) {
        self.next_start = Instant::now() + self.pause;
        self.pause = (self.pause * 2).min(MAX_RESTART_PAUSE);
    }

    fn report_problem(&mut self, why: String) {
        if self.reported.as_ref() != Some(&why) {
            (self.report)(ConnectorChange::CannotRun { why: why.clone() });
            self.reported = Some(why);
        }
    }

    fn spawn(&self) -> Result<Child, StartConnectorError> {
        let fleet = &self.options.fleet;
        let enrolled = fleet.enrolment()?;
        let program = enrolled.map(|enrolment| enrolment.program);
        let program = find_beside(program.as_deref())
            .or_else(|| find_beside(self.options.daemon_program.as_deref()))
            .ok_or(StartConnectorError::NotInstalled)?;
        let log = self.open_log().map_err(StartConnectorError::Log)?;
        let other = log.try_clone().map_err(StartConnectorError::Log)?;
        Command::new(&program)
            .args(&self.options.args)
            .env_clear()
            .env("PATH", CONNECTOR_PATH)
            .current_dir("/")
            .stdin(Stdio::piped())
            .stdout(log)
            .stderr(other)
            // Signals from the daemon's terminal do not reach the connector; the daemon ends it.
            .process_group(0)
            .spawn()
            .map_err(|source| StartConnectorError::Start { program, source })
    }

    fn open_log(&self) -> std::io::Result<File> {
        let path = self.options.fleet.file("connector.log");
        let file = open_state_for_writing(&path, OpenOptions::new().append(true))?;
        if file.metadata()?.len() > MAX_LOG_BYTES {
            file.set_len(0)?;
        }
        Ok(file)
    }

    /// Closes the connector's standard input, and kills it if it does not end.
    fn end_child(&mut self) {
        let Some((mut child, _)) = self.child.take() else { return };
        drop(child.stdin.take());
        let began = Instant::now();
        while began.elapsed() < CONNECTOR_END_TIMEOUT {
            if !matches!(child.try_wait(), Ok(None)) {
                return;
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        // A process that has ended in the meantime cannot be killed.
        drop(child.kill());
        drop(child.wait());
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;
    use std::sync::mpsc::channel;

    use rustix::process::{Pid, Signal, kill_process, test_kill_process};

    use super::*;
    use crate::fleet_dir::tests::enrol;

    const CHANGE_TIMEOUT: Duration = Duration::from_secs(20);

    /// Installs a script as the connector and starts the supervisor.
    fn supervise(state: &std::path::Path, script: &str) -> (ConnectorSupervisor, Receiver<ConnectorChange>) {
        let fleet = FleetDir::of_state(state);
        let bin = state.join("bin");
        std::fs::create_dir_all(&bin).unwrap();
        std::fs::set_permissions(&bin, std::fs::Permissions::from_mode(0o755)).unwrap();
        let program = bin.join("tenterhook-fleet");
        std::fs::write(&program, format!("#!/bin/sh\n{script}\n")).unwrap();
        std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
        let (send, receive) = channel();
        let daemon_program = Some(bin.join("tenterhook"));
        let options = SupervisorOptions { fleet, args: vec!["connect".into()], daemon_program };
        (ConnectorSupervisor::start(options, move |change| drop(send.send(change))).unwrap(), receive)
    }

    fn started(changes: &Receiver<ConnectorChange>) -> Pid {
        match changes.recv_timeout(CHANGE_TIMEOUT).unwrap() {
            ConnectorChange::Started { pid } => Pid::from_raw(i32::try_from(pid).unwrap()).unwrap(),
            change => panic!("{change:?}"),
        }
    }

    #[test]
    fn the_connector_starts_with_the_enrolment_and_ends_with_it() {
        let state = tempfile::tempdir().unwrap();
        let (supervisor, changes) = supervise(state.path(), "exec cat");
        assert!(
            changes.recv_timeout(SUPERVISION_INTERVAL * 3).is_err(),
            "the machine is not part of a fleet"
        );
        let fleet = FleetDir::of_state(state.path());
        enrol(&fleet, "w");
        supervisor.check_now();
        let pid = started(&changes);
        fleet.remove_enrolment().unwrap();
        let began = Instant::now();
        while test_kill_process(pid).is_ok() && began.elapsed() < CHANGE_TIMEOUT {
            std::thread::sleep(Duration::from_millis(20));
        }
        assert!(test_kill_process(pid).is_err());
        supervisor.end();
    }

    #[test]
    fn a_killed_connector_is_restarted_and_a_stopped_one_ends_with_the_daemon() {
        let state = tempfile::tempdir().unwrap();
        enrol(&FleetDir::of_state(state.path()), "w");
        let (supervisor, changes) = supervise(state.path(), "exec cat");
        kill_process(started(&changes), Signal::KILL).unwrap();
        assert!(matches!(changes.recv_timeout(CHANGE_TIMEOUT).unwrap(), ConnectorChange::Ended { .. }));
        let pid = started(&changes);
        kill_process(pid, Signal::STOP).unwrap();
        let began = Instant::now();
        supervisor.end();
        assert!(began.elapsed() < Duration::from_secs(10));
        assert!(test_kill_process(pid).is_err());
    }

    #[test]
    fn the_connector_inherits_no_variables_and_a_missing_program_is_reported_once() {
        let state = tempfile::tempdir().unwrap();
        let fleet = FleetDir::of_state(state.path());
        enrol(&fleet, "w");
        let (supervisor, changes) = supervise(state.path(), "env; pwd; exec cat");
        started(&changes);
        let began = Instant::now();
        let mut log = String::new();
        while !log.contains("/\n") && began.elapsed() < CHANGE_TIMEOUT {
            std::thread::sleep(Duration::from_millis(20));
            log = std::fs::read_to_string(fleet.file("connector.log")).unwrap();
        }
        assert!(log.contains("PATH=/usr/local/bin") && !log.contains("CARGO"), "{log}");
        supervisor.end();

        let (supervisor, changes) = supervise(state.path(), "exit 3");
        std::fs::remove_file(state.path().join("bin/tenterhook-fleet")).unwrap();
        let mut problems = 0;
        while let Ok(change) = changes.recv_timeout(SUPERVISION_INTERVAL * 8) {
            problems += u32::from(matches!(change, ConnectorChange::CannotRun { .. }));
        }
        assert_eq!(problems, 1);
        supervisor.end();
    }
}
