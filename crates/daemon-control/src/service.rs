// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Defines the daemon as a systemd or launchd service.

mod launchd;
mod systemd;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use rustix::process::Pid;
use serde_json::Value;
use tenterhook_error::Failure;
use tenterhook_home::{Env, Home};

use crate::ask;

/// Maximum time until a daemon that systemd restarted answers.
const RESTART_TIMEOUT: Duration = Duration::from_secs(20);

/// The platform's service manager.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InitSystem {
    /// The service manager on Linux.
    Systemd,
    /// The service manager on macOS.
    Launchd,
}

/// Definition of the service.
pub struct ServiceDefinition {
    /// The program and its arguments.
    pub words: Vec<String>,
    /// Environment variables that make the service use the same state directory.
    pub variables: Vec<(&'static str, String)>,
    /// Path of the daemon's log file.
    pub log: PathBuf,
    /// Whether the service is machine-wide, not for one user.
    pub is_system: bool,
}

/// Restarts the daemon through systemd if it is a systemd service. If it were restarted directly, systemd
/// would no longer supervise it.
pub fn restart_managed(home: &Home, pid: Pid) -> Result<bool, Failure> {
    let pid = pid.as_raw_nonzero();
    let groups = std::fs::read_to_string(format!("/proc/{pid}/cgroup")).unwrap_or_default();
    if !is_in_unit(&groups, systemd::NAME) {
        return Ok(false);
    }
    run_command(&systemd::systemctl(home.is_machine_wide(), &["restart", systemd::NAME]))?;
    let began = Instant::now();
    while began.elapsed() < RESTART_TIMEOUT {
        if let Ok(Some(health)) = ask::get(home, "/v1/health")
            && health.get("pid").and_then(Value::as_i64) != Some(i64::from(pid.get()))
        {
            return Ok(true);
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    Err(Failure::internal("systemd restarted the daemon, but it does not answer").hint(format!(
        "see {}, or `journalctl --user -u {}`",
        home.log().display(),
        systemd::NAME
    )))
}

/// Whether `/proc/PID/cgroup` names a unit.
fn is_in_unit(groups: &str, unit: &str) -> bool {
    groups.lines().any(|line| line.rsplit('/').next() == Some(unit))
}

/// Runs a service manager command.
pub fn run_command(words: &[String]) -> Result<(), Failure> {
    let command = words.join(" ");
    let Some((program, arguments)) = words.split_first() else { return Ok(()) };
    let failed = |why: String| {
        Failure::internal(format!("`{command}` failed after the service file was written: {why}")).hint(
            format!("fix the cause and run `{command}` again, or use `tenterhook start` without a service"),
        )
    };
    let output = Command::new(program).args(arguments).output().map_err(|error| failed(error.to_string()))?;
    if output.status.success() {
        return Ok(());
    }
    Err(failed(String::from_utf8_lossy(&output.stderr).trim().to_owned()))
}

// === impl InitSystem ===

impl InitSystem {
    /// Returns the service manager of this platform.
    pub fn of_platform() -> Self {
        if cfg!(target_os = "macos") { Self::Launchd } else { Self::Systemd }
    }

    /// Whether the service manager runs for this account.
    pub fn is_available(self, env: &Env) -> bool {
        match self {
            Self::Launchd => env.home.is_some(),
            // `systemctl --user` connects to this socket.
            Self::Systemd => env
                .all
                .get("XDG_RUNTIME_DIR")
                .is_some_and(|directory| Path::new(directory).join("systemd/private").exists()),
        }
    }

    /// Formats the unit (systemd) or the property list (launchd).
    pub fn to_file_text(self, service: &ServiceDefinition) -> String {
        match self {
            Self::Systemd => systemd::format_unit(service),
            Self::Launchd => launchd::format_property_list(service),
        }
    }

    /// Returns the path of the service file.
    pub fn path(self, env: &Env, is_system: bool) -> Result<PathBuf, Failure> {
        let home = || {
            env.home
                .clone()
                .ok_or_else(|| Failure::internal("`HOME` is not set").hint("set it to your home directory"))
        };
        Ok(match (self, is_system) {
            (Self::Systemd, true) => Path::new("/etc/systemd/system").join(systemd::NAME),
            (Self::Systemd, false) => {
                let config = env.xdg_config_home.clone().filter(|dir| dir.is_absolute());
                let config = config.map_or_else(|| Ok(home()?.join(".config")), Ok::<_, Failure>)?;
                config.join("systemd/user").join(systemd::NAME)
            }
            (Self::Launchd, true) => Path::new("/Library/LaunchDaemons").join(launchd::FILE),
            (Self::Launchd, false) => home()?.join("Library/LaunchAgents").join(launchd::FILE),
        })
    }

    /// Returns the commands that load and start the service.
    pub fn start_commands(self, path: &Path, is_system: bool) -> Vec<Vec<String>> {
        match self {
            Self::Systemd => {
                vec![
                    systemd::systemctl(is_system, &["daemon-reload"]),
                    systemd::systemctl(is_system, &["enable", "--now", systemd::NAME]),
                ]
            }
            Self::Launchd => vec![launchd::launchctl("bootstrap", Some(path), is_system)],
        }
    }

    /// Returns the commands that stop the service.
    pub fn stop_commands(self, path: &Path, is_system: bool) -> Vec<Vec<String>> {
        match self {
            Self::Systemd => vec![systemd::systemctl(is_system, &["disable", "--now", systemd::NAME])],
            Self::Launchd => vec![launchd::launchctl("bootout", Some(path), is_system)],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_daemon_of_the_unit_is_known_by_its_control_group() {
        let groups = "0::/user.slice/user-1000.slice/user@1000.service/app.slice/tenterhook.service\n";
        assert!(is_in_unit(groups, systemd::NAME));
        for other in [
            "",
            "0::/user.slice/session-3.scope\n",
            "0::/x/tenterhook.service/child\n",
            "0::/x/my-tenterhook.service\n",
        ] {
            assert!(!is_in_unit(other, systemd::NAME), "{other}");
        }
    }
}
