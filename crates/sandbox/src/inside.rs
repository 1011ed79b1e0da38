// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The stage that runs inside a sandbox before the command: it restricts itself and becomes the command.

use std::ffi::OsString;
use std::io;
use std::net::{Ipv4Addr, TcpListener};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use rustix::fs::{FileType, SeekFrom};
use serde::{Deserialize, Serialize};

use crate::call_observer::{self, ObservedCalls, ObserverError};
use crate::capabilities;
use crate::file_tree::DiskTree;
use crate::landlock_rules;
use crate::listener::{pass_input, pass_observer, report_start};
use crate::profile::NetworkAccess;
use crate::system_call_filter::{FilterSettings, compile};
use crate::typed_signals;
use tenterhook_event::SandboxLevel;

/// Name of the file with the [`InsideSpec`].
pub const SPEC_FILE: &str = "spec.json";
/// Variables that name the proxy of a run.
const PROXY_VARIABLES: &[&str] =
    &["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"];
/// Hosts that programs connect to without a proxy.
const NO_PROXY: &str = "localhost,127.0.0.1,::1";

/// What the inside stage enforces.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct InsideSpec {
    /// Level of the sandbox.
    pub level: SandboxLevel,
    /// Network of the run.
    pub network: NetworkAccess,
    /// Whether hooks run inside, which connect to the daemon.
    pub has_hooks: bool,
    /// Files and directories that are writable.
    pub writable: Vec<PathBuf>,
    /// Directories of which the run has its own version.
    pub private: Vec<PathBuf>,
    /// Paths that are not readable.
    pub unreadable: Vec<PathBuf>,
    /// Readable paths below unreadable ones.
    pub readable: Vec<PathBuf>,
    /// Paths below writable ones that are not writable.
    pub protected: Vec<PathBuf>,
    /// Which calls the supervisor observes.
    pub observed: ObservedCalls,
}

/// Why the command could not be started.
#[derive(Debug, thiserror::Error)]
pub enum InsideError {
    /// The specification cannot be read.
    #[error("specification of the sandbox cannot be read: {0}")]
    Spec(io::Error),
    /// The supervisor does not answer.
    #[error("supervisor of the sandbox does not answer: {0}")]
    Supervisor(io::Error),
    /// Landlock rules cannot be applied.
    #[error("Landlock rules cannot be applied: {0}")]
    Landlock(#[from] landlock::RulesetError),
    /// The kernel enforces no Landlock rules, and the level depends on them.
    #[error("the kernel does not enforce Landlock rules")]
    NotEnforced,
    /// Capabilities cannot be dropped.
    #[error("capabilities cannot be dropped: {0}")]
    Capabilities(io::Error),
    /// The system call filter cannot be applied.
    #[error("system call filter cannot be applied: {0}")]
    Filter(#[from] seccompiler::Error),
    /// The system call filter cannot be compiled.
    #[error("system call filter cannot be compiled: {0}")]
    FilterRules(#[from] seccompiler::BackendError),
    /// The calls of the run cannot be observed.
    #[error("calls cannot be observed: {0}")]
    Observer(#[from] ObserverError),
    /// The command cannot be started.
    #[error("`{}` cannot be started: {error}", program.to_string_lossy())]
    Command {
        /// Program of the command.
        program: OsString,
        /// Error of the system.
        error: io::Error,
    },
}

/// Restricts this process and replaces it with the command. `files` is the directory with the specification. Returns
/// only if this fails.
pub fn enter(files: &Path, program: &OsString, arguments: &[OsString]) -> InsideError {
    match prepare(files) {
        Ok(variables) => {
            // Fails only for an unknown signal.
            let _ = typed_signals::unblock();
            let error = Command::new(program).args(arguments).envs(variables).exec();
            InsideError::Command { program: program.clone(), error }
        }
        Err(error) => error,
    }
}

fn prepare(files: &Path) -> Result<Vec<(&'static str, String)>, InsideError> {
    let spec = std::fs::read(files.join(SPEC_FILE)).map_err(InsideError::Spec)?;
    let spec: InsideSpec = serde_json::from_slice(&spec).map_err(|error| InsideError::Spec(error.into()))?;
    let listener =
        (spec.network == NetworkAccess::Proxy).then(|| TcpListener::bind((Ipv4Addr::LOCALHOST, 0)));
    let listener = listener.transpose().map_err(InsideError::Supervisor)?;
    let port = listener.as_ref().and_then(|listener| Some(listener.local_addr().ok()?.port()));
    let supervisor = report_start(&files.join(crate::listener::SUPERVISOR_SOCKET), listener.as_ref())
        .map_err(InsideError::Supervisor)?;
    drop(listener);

    let filter = compile(FilterSettings {
        level: spec.level,
        has_host_network: spec.network == NetworkAccess::Host,
        has_hooks: spec.has_hooks,
    })?;
    let enforced = landlock_rules::restrict(&spec, port, &DiskTree)?;
    if !enforced && spec.level == SandboxLevel::Landlock {
        return Err(InsideError::NotEnforced);
    }
    if spec.level == SandboxLevel::Landlock {
        capabilities::drop_all().map_err(|error| InsideError::Capabilities(error.into()))?;
    }
    seccompiler::apply_filter(&filter)?;
    match call_observer::install(spec.observed) {
        Ok(observer) => pass_observer(&supervisor, &observer).map_err(InsideError::Supervisor)?,
        // Kernels before Linux 5.5 have no such filter. Refusals are then not reported, but they are the same.
        Err(_) if spec.observed == ObservedCalls::Changes => {}
        Err(error) => return Err(error.into()),
    }
    if spec.level == SandboxLevel::NamespacesLandlock
        && let Some(input) = reopen_input()
    {
        pass_input(&supervisor, &input).map_err(InsideError::Supervisor)?;
    }
    drop(supervisor);
    close_inherited_files().map_err(InsideError::Spec)?;

    let mut variables = Vec::new();
    if let Some(port) = port {
        let address = format!("http://127.0.0.1:{port}");
        variables.extend(PROXY_VARIABLES.iter().map(|name| (*name, address.clone())));
        variables.extend(["NO_PROXY", "no_proxy"].map(|name| (name, NO_PROXY.to_owned())));
        variables.push(("NODE_USE_ENV_PROXY", "1".to_owned()));
    }
    Ok(variables)
}

/// Opens the file that is standard input again, through the mounts of the sandbox: by `/proc/self/fd/0`, the run could
/// otherwise open a read-only file for writing. Returns the file, if there is one.
fn reopen_input() -> Option<std::fs::File> {
    let input = std::io::stdin();
    let reopened = || -> io::Result<Option<std::fs::File>> {
        let found = rustix::fs::fstat(&input)?;
        if !matches!(FileType::from_raw_mode(found.st_mode), FileType::RegularFile | FileType::Directory) {
            return Ok(None);
        }
        let path = std::fs::read_link("/proc/self/fd/0")?;
        let file = std::fs::File::open(path)?;
        let again = rustix::fs::fstat(&file)?;
        // A file that is hidden in the sandbox, or that was removed, has no other way in.
        if (again.st_dev, again.st_ino) != (found.st_dev, found.st_ino) {
            return Ok(None);
        }
        let position = rustix::fs::seek(&input, SeekFrom::Current(0)).unwrap_or_default();
        let _ = rustix::fs::seek(&file, SeekFrom::Start(position));
        rustix::stdio::dup2_stdin(&file)?;
        Ok(Some(file))
    };
    // What cannot be opened by its name cannot be reached by it either.
    reopened().ok().flatten()
}

/// Closes every open file except standard input, output and error when the command starts: a file that was opened
/// outside the sandbox is accessible regardless of its mounts.
fn close_inherited_files() -> io::Result<()> {
    let mut open = Vec::new();
    for entry in std::fs::read_dir("/proc/self/fd")? {
        open.extend(entry?.file_name().to_str().and_then(|name| name.parse::<i32>().ok()));
    }
    for descriptor in open.into_iter().filter(|descriptor| *descriptor > 2) {
        // The directory itself is already closed.
        let _ = nix::unistd::close(descriptor);
    }
    Ok(())
}
