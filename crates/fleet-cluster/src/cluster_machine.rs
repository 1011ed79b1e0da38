// SPDX-License-Identifier: Apache-2.0 OR MIT

//! A machine of the cluster: a home directory with a daemon, which runs the connector.

use std::path::{Path, PathBuf};
use std::time::Duration;

use tenterhook_ledger::Reader;
use tenterhook_ledger::checkpoint::Checkpoint;

use crate::cluster_process::{ClusterProcess, ProcessCommand};
use crate::error::ClusterError;
use crate::hook_calls::HookConnection;
use crate::programs::ClusterPrograms;
use crate::wait_for;

/// How long a daemon has to start on a busy computer.
const DAEMON_START_TIMEOUT: Duration = Duration::from_mins(2);
/// Number of attempts to read a signed head while the daemon writes.
const SIGNED_HEAD_ATTEMPTS: u32 = 200;

/// A machine with a real daemon in a home directory of its own.
#[derive(Debug)]
pub struct ClusterMachine {
    /// The process of the daemon.
    pub daemon: ClusterProcess,
    /// The id in the fleet.
    pub id: Option<String>,
    name: String,
    dir: PathBuf,
    fleet: PathBuf,
    tenterhook: PathBuf,
    namespace: Option<String>,
}

impl ClusterMachine {
    /// Creates the home of the machine with this name. `env` is set for the daemon and its connector.
    pub fn create(
        dir: &Path,
        name: &str,
        programs: &ClusterPrograms,
        namespace: Option<String>,
    ) -> Result<Self, ClusterError> {
        let dir = dir.join("machines").join(name);
        std::fs::create_dir_all(dir.join("project")).map_err(|error| ClusterError::file(&dir, error))?;
        let tenterhook = programs.tenterhook()?.to_owned();
        let command = Self::command_in(&dir, &tenterhook)
            .args(["serve", "--listen", "none"])
            .namespace(namespace.clone());
        let daemon = ClusterProcess::new(&format!("the daemon of {name}"), command, &dir.join("daemon.log"));
        let fleet = programs.fleet.clone();
        Ok(Self { daemon, id: None, name: name.to_owned(), dir, fleet, tenterhook, namespace })
    }

    fn command_in(dir: &Path, program: &Path) -> ProcessCommand {
        ProcessCommand::new(program, dir).env("TENTERHOOK_HOME", dir.join("state"))
    }

    /// Returns the machine's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the state directory.
    pub fn state(&self) -> PathBuf {
        self.dir.join("state")
    }

    /// Returns the home directory.
    pub fn home(&self) -> &Path {
        &self.dir
    }

    /// Returns the directory in which the machine's agent works.
    pub fn project(&self) -> PathBuf {
        self.dir.join("project")
    }

    /// Returns the socket of the daemon.
    pub fn socket(&self) -> PathBuf {
        self.state().join("run/tenterhook.sock")
    }

    /// Runs `tenterhook` on this machine and returns its output.
    pub fn run(&self, arguments: &[&str]) -> Result<String, ClusterError> {
        let command = Self::command_in(&self.dir, &self.tenterhook).args(arguments);
        command.namespace(self.namespace.clone()).run(&format!("{} on {}", arguments.join(" "), self.name))
    }

    /// Starts the daemon. It is ready after [`Self::wait_until_ready`].
    pub fn start(&mut self) -> Result<(), ClusterError> {
        self.daemon.start()
    }

    /// Waits until the daemon accepts calls.
    pub fn wait_until_ready(&mut self) -> Result<(), ClusterError> {
        let socket = self.socket();
        wait_for(&format!("the daemon of {} accepts calls", self.name), DAEMON_START_TIMEOUT, || {
            self.daemon.check_running()?;
            Ok(std::os::unix::net::UnixStream::connect(&socket).ok().map(drop))
        })
    }

    /// Enrols the machine, from the network namespace of the server if it has one.
    pub fn join(&mut self, url: &str, token: &str, namespace: Option<String>) -> Result<(), ClusterError> {
        let state = self.state();
        let command = Self::command_in(&self.dir, &self.fleet)
            .args(["join".as_ref(), "--home".as_ref(), state.as_os_str()])
            .args([url, token, "--json"])
            .namespace(namespace);
        let text = command.run(&format!("join of {}", self.name))?;
        let joined: serde_json::Value = serde_json::from_str(&text).unwrap_or_default();
        self.id = joined.get("machine").and_then(|id| id.as_str()).map(ToOwned::to_owned);
        match &self.id {
            Some(_) => Ok(()),
            None => Err(ClusterError::Reply(format!("join of {}: {text}", self.name))),
        }
    }

    /// Opens a connection for hook calls.
    pub fn connect(&self) -> Result<HookConnection, ClusterError> {
        HookConnection::open(&self.socket(), &format!("session-of-{}", self.name), &self.project())
    }

    /// Opens the ledger.
    pub fn ledger(&self) -> Result<Reader, ClusterError> {
        Reader::open(&self.state().join("ledger")).map_err(|error| ClusterError::Ledger(error.to_string()))
    }

    /// Returns the number of records.
    pub fn ledger_size(&self) -> Result<u64, ClusterError> {
        self.ledger()?.size().map_err(|error| ClusterError::Ledger(error.to_string()))
    }

    /// Returns the ledger's head after checking its signature.
    pub fn signed_head(&self) -> Result<Checkpoint, ClusterError> {
        let reader = self.ledger()?;
        let invalid = |error: &dyn std::fmt::Display| ClusterError::Ledger(error.to_string());
        let mut last = "the ledger has no key".to_owned();
        for _ in 0..SIGNED_HEAD_ATTEMPTS {
            let key = reader.key().map_err(|error| invalid(&error))?;
            let note = reader.head().map_err(|error| invalid(&error))?;
            if let (Some(key), Some(note)) = (key, note) {
                // While the daemon writes, the parts of the head may belong to different records.
                match Checkpoint::parse(&note)
                    .and_then(|(checkpoint, note)| note.check(&[&key]).map(|_| checkpoint))
                {
                    Ok(checkpoint) => return Ok(checkpoint),
                    Err(error) => last = error.to_string(),
                }
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        Err(ClusterError::Ledger(format!("{}: {last}", self.name)))
    }
}
