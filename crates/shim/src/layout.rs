// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Locates the state directory, and the daemon's socket in it.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

/// File in the state directory that marks an installation of Tenterhook.
pub const MARK: &str = "home.json";
/// Path of the socket below the state directory.
const SOCKET: &str = "run/tenterhook.sock";

/// Environment variables that locate the state directory.
#[derive(Debug, Clone, Copy)]
pub enum LocationVariable {
    /// `TENTERHOOK_HOME`
    Home,
    /// `TENTERHOOK_DAEMON_URL`
    Daemon,
    /// `XDG_STATE_HOME`
    State,
    /// `HOME`
    Person,
}

impl LocationVariable {
    /// Name of the variable.
    pub fn name(self) -> &'static str {
        match self {
            Self::Home => "TENTERHOOK_HOME",
            Self::Daemon => "TENTERHOOK_DAEMON_URL",
            Self::State => "XDG_STATE_HOME",
            Self::Person => "HOME",
        }
    }
}

/// Where a hook finds the daemon.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StateLayout {
    /// The state directory, if it is known.
    pub state: Option<PathBuf>,
    /// Whether Tenterhook is known to be installed in the state directory.
    pub is_installed: bool,
    /// Socket of the daemon, if it is outside the state directory.
    socket: Option<PathBuf>,
}

impl StateLayout {
    /// Finds the state directory. A program at `<state>/bin/<program>` uses `<state>` if it contains the marker file.
    /// This takes precedence over the environment, because a project's settings can set variables for hooks. Without a
    /// marker file, the environment decides, and then the platform's default.
    pub fn find(
        program: Option<&Path>,
        variable: impl Fn(LocationVariable) -> Option<std::ffi::OsString>,
    ) -> Self {
        let beside = program.and_then(Path::parent).filter(|dir| dir.file_name() == Some(OsStr::new("bin")));
        if let Some(state) = beside.and_then(Path::parent)
            && state.join(MARK).symlink_metadata().is_ok()
        {
            return Self { state: Some(state.to_owned()), is_installed: true, socket: None };
        }
        let path = |name| variable(name).filter(|value| !value.is_empty()).map(PathBuf::from);
        let state = path(LocationVariable::Home).or_else(|| {
            let person = path(LocationVariable::Person)?;
            if cfg!(target_os = "macos") {
                return Some(person.join("Library/Application Support/Tenterhook"));
            }
            let state = path(LocationVariable::State).filter(|dir| dir.is_absolute());
            Some(state.unwrap_or_else(|| person.join(".local/state")).join("tenterhook"))
        });
        let is_installed = state.as_ref().is_some_and(|state| state.join(MARK).symlink_metadata().is_ok());
        let socket =
            variable(LocationVariable::Daemon).as_deref().and_then(OsStr::to_str).and_then(socket_of);
        Self { state, is_installed, socket }
    }

    /// Path of the daemon's socket.
    pub fn socket(&self) -> Option<PathBuf> {
        self.socket.clone().or_else(|| Some(self.state.as_ref()?.join(SOCKET)))
    }
}

/// Parses `unix:/run/x.sock`, `unix:///run/x.sock` or a plain path. Hooks support no other transport.
fn socket_of(address: &str) -> Option<PathBuf> {
    let path = address.strip_prefix("unix:").unwrap_or(address);
    let path = path.strip_prefix("//").unwrap_or(path);
    path.starts_with('/').then(|| PathBuf::from(path))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn misled(variable: LocationVariable) -> Option<std::ffi::OsString> {
        match variable {
            LocationVariable::Home => Some("/evil".into()),
            LocationVariable::Daemon => Some("unix:/evil/sock".into()),
            LocationVariable::Person => Some("/h".into()),
            LocationVariable::State => None,
        }
    }

    #[test]
    fn an_installed_program_trusts_its_own_place() {
        let dir = std::env::temp_dir().join(format!("tenterhook-place-{}", std::process::id()));
        std::fs::create_dir_all(dir.join("bin")).unwrap();
        let program = dir.join("bin/tenterhook-hook");
        let found = StateLayout::find(Some(&program), misled);
        assert_eq!(found.socket(), Some("/evil/sock".into()), "without a mark it is not installed");
        assert_eq!(found.state.as_deref(), Some(Path::new("/evil")));
        std::fs::write(dir.join(MARK), "{}").unwrap();
        let found = StateLayout::find(Some(&program), misled);
        assert_eq!(found.socket(), Some(dir.join(SOCKET)));
        assert!(found.is_installed);
        std::fs::remove_dir_all(dir).unwrap();
    }

    #[test]
    fn elsewhere_the_platform_decides() {
        let person = |variable| matches!(variable, LocationVariable::Person).then(|| "/h".into());
        let found = StateLayout::find(Some(Path::new("/usr/bin/tenterhook-hook")), person);
        assert_eq!(found.socket(), Some("/h/.local/state/tenterhook/run/tenterhook.sock".into()));
        assert!(!found.is_installed);
        assert_eq!(StateLayout::find(None, |_| None).socket(), None);
    }

    #[test]
    fn an_address_is_that_of_a_socket() {
        for address in ["unix:/a/b", "unix:///a/b", "/a/b"] {
            assert_eq!(socket_of(address), Some("/a/b".into()), "{address}");
        }
        assert_eq!(socket_of("http://127.0.0.1:7878"), None);
    }
}
