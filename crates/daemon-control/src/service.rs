// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The daemon as a service of systemd or launchd.

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

/// How long a daemon that systemd restarts may take until it answers.
const RESTART_TIMEOUT: Duration = Duration::from_secs(20);

/// A program that starts services.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ServiceManager {
    /// On Linux.
    Systemd,
    /// On macOS.
    Launchd,
}

/// What the manager is told.
pub struct ServiceDefinition {
    /// The program and its arguments.
    pub words: Vec<String>,
    /// What leads to the same home.
    pub variables: Vec<(&'static str, String)>,
    /// File of the daemon's log.
    pub log: PathBuf,
    /// Whether it is the machine's, and not a user's.
    pub is_system: bool,
}

/// Restarts the daemon through systemd, if systemd runs it: started by hand it would no longer be watched over.
pub fn restart_managed(home: &Home, pid: Pid) -> Result<bool, Failure> {
    let pid = pid.as_raw_nonzero();
    let groups = std::fs::read_to_string(format!("/proc/{pid}/cgroup")).unwrap_or_default();
    if !is_in_unit(&groups, systemd::NAME) {
        return Ok(false);
    }
    tell(&systemd::tell(home.is_machine_wide(), &["restart", systemd::NAME]))?;
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

/// Tells the manager something.
pub fn tell(words: &[String]) -> Result<(), Failure> {
    let typed = words.join(" ");
    let Some((program, arguments)) = words.split_first() else { return Ok(()) };
    let failed = |why: String| {
        Failure::internal(format!("the service is written, but `{typed}` failed: {why}")).hint(format!(
            "see what is wrong and type `{typed}`, or use `tenterhook start` without a service"
        ))
    };
    let ran = Command::new(program).args(arguments).output().map_err(|error| failed(error.to_string()))?;
    if ran.status.success() {
        return Ok(());
    }
    Err(failed(String::from_utf8_lossy(&ran.stderr).trim().to_owned()))
}

// === impl ServiceManager ===

impl ServiceManager {
    /// What this platform has.
    pub fn here() -> Self {
        if cfg!(target_os = "macos") { Self::Launchd } else { Self::Systemd }
    }

    /// The unit or the property list.
    pub fn text(self, service: &ServiceDefinition) -> String {
        match self {
            Self::Systemd => systemd::unit(service),
            Self::Launchd => launchd::list(service),
        }
    }

    /// The file that it is written to.
    pub fn path(self, env: &Env, is_system: bool) -> Result<PathBuf, Failure> {
        let person = || {
            env.home.clone().ok_or_else(|| Failure::internal("`HOME` is not set").hint("set it to your home"))
        };
        Ok(match (self, is_system) {
            (Self::Systemd, true) => Path::new("/etc/systemd/system").join(systemd::NAME),
            (Self::Systemd, false) => {
                let said = env.xdg_config_home.clone().filter(|dir| dir.is_absolute());
                let config = said.map_or_else(|| Ok(person()?.join(".config")), Ok::<_, Failure>)?;
                config.join("systemd/user").join(systemd::NAME)
            }
            (Self::Launchd, true) => Path::new("/Library/LaunchDaemons").join(launchd::FILE),
            (Self::Launchd, false) => person()?.join("Library/LaunchAgents").join(launchd::FILE),
        })
    }

    /// What makes the manager read and start it.
    pub fn starts(self, path: &Path, is_system: bool) -> Vec<Vec<String>> {
        match self {
            Self::Systemd => {
                vec![
                    systemd::tell(is_system, &["daemon-reload"]),
                    systemd::tell(is_system, &["enable", "--now", systemd::NAME]),
                ]
            }
            Self::Launchd => vec![launchd::tell("bootstrap", Some(path), is_system)],
        }
    }

    /// What makes the manager end it.
    pub fn ends(self, path: &Path, is_system: bool) -> Vec<Vec<String>> {
        match self {
            Self::Systemd => vec![systemd::tell(is_system, &["disable", "--now", systemd::NAME])],
            Self::Launchd => vec![launchd::tell("bootout", Some(path), is_system)],
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
