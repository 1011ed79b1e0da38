// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Where the home is, and in it the daemon's socket.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

/// A file in the state directory that says: somebody installed Tenterhook here.
pub const MARK: &str = "home.json";
/// The socket, below the state directory.
const SOCKET: &str = "run/tenterhook.sock";

/// Variables that can say where the home is.
#[derive(Debug, Clone, Copy)]
pub enum Variable {
    /// `TENTERHOOK_HOME`
    Home,
    /// `TENTERHOOK_DAEMON_URL`
    Daemon,
    /// `XDG_STATE_HOME`
    State,
    /// `HOME`
    Person,
}

impl Variable {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Home => "TENTERHOOK_HOME",
            Self::Daemon => "TENTERHOOK_DAEMON_URL",
            Self::State => "XDG_STATE_HOME",
            Self::Person => "HOME",
        }
    }
}

/// Where a call finds the daemon.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// The state directory, if anything says where it is.
    pub state: Option<PathBuf>,
    /// Whether the home is known to be one that Tenterhook was installed in.
    pub is_installed: bool,
    /// Where the daemon listens, if not in the state directory.
    socket: Option<PathBuf>,
}

impl Place {
    /// Finds the home around an installed program: `<state>/bin/<program>` beside a mark. That place is
    /// trusted before the environment, because a project's settings can set variables for hooks.
    /// Elsewhere the environment says where the home is, else the platform.
    pub fn find(program: Option<&Path>, variable: impl Fn(Variable) -> Option<std::ffi::OsString>) -> Self {
        let beside = program.and_then(Path::parent).filter(|dir| dir.file_name() == Some(OsStr::new("bin")));
        if let Some(state) = beside.and_then(Path::parent)
            && state.join(MARK).symlink_metadata().is_ok()
        {
            return Self { state: Some(state.to_owned()), is_installed: true, socket: None };
        }
        let path = |name| variable(name).filter(|value| !value.is_empty()).map(PathBuf::from);
        let state = path(Variable::Home).or_else(|| {
            let person = path(Variable::Person)?;
            if cfg!(target_os = "macos") {
                return Some(person.join("Library/Application Support/Tenterhook"));
            }
            let state = path(Variable::State).filter(|dir| dir.is_absolute());
            Some(state.unwrap_or_else(|| person.join(".local/state")).join("tenterhook"))
        });
        let is_installed = state.as_ref().is_some_and(|state| state.join(MARK).symlink_metadata().is_ok());
        let socket = variable(Variable::Daemon).as_deref().and_then(OsStr::to_str).and_then(socket_of);
        Self { state, is_installed, socket }
    }

    /// Where the daemon listens.
    pub fn socket(&self) -> Option<PathBuf> {
        self.socket.clone().or_else(|| Some(self.state.as_ref()?.join(SOCKET)))
    }
}

/// `unix:/run/x.sock`, `unix:///run/x.sock` or the path alone. Hooks speak over nothing else.
fn socket_of(address: &str) -> Option<PathBuf> {
    let path = address.strip_prefix("unix:").unwrap_or(address);
    let path = path.strip_prefix("//").unwrap_or(path);
    path.starts_with('/').then(|| PathBuf::from(path))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn misled(variable: Variable) -> Option<std::ffi::OsString> {
        match variable {
            Variable::Home => Some("/evil".into()),
            Variable::Daemon => Some("unix:/evil/sock".into()),
            Variable::Person => Some("/h".into()),
            Variable::State => None,
        }
    }

    #[test]
    fn an_installed_program_trusts_its_own_place() {
        let dir = std::env::temp_dir().join(format!("tenterhook-place-{}", std::process::id()));
        std::fs::create_dir_all(dir.join("bin")).unwrap();
        let program = dir.join("bin/tenterhook-hook");
        let found = Place::find(Some(&program), misled);
        assert_eq!(found.socket(), Some("/evil/sock".into()), "without a mark it is not installed");
        assert_eq!(found.state.as_deref(), Some(Path::new("/evil")));
        std::fs::write(dir.join(MARK), "{}").unwrap();
        let found = Place::find(Some(&program), misled);
        assert_eq!(found.socket(), Some(dir.join(SOCKET)));
        assert!(found.is_installed);
        std::fs::remove_dir_all(dir).unwrap();
    }

    #[test]
    fn elsewhere_the_platform_decides() {
        let person = |variable| matches!(variable, Variable::Person).then(|| "/h".into());
        let found = Place::find(Some(Path::new("/usr/bin/tenterhook-hook")), person);
        assert_eq!(found.socket(), Some("/h/.local/state/tenterhook/run/tenterhook.sock".into()));
        assert!(!found.is_installed);
        assert_eq!(Place::find(None, |_| None).socket(), None);
    }

    #[test]
    fn an_address_is_that_of_a_socket() {
        for address in ["unix:/a/b", "unix:///a/b", "/a/b"] {
            assert_eq!(socket_of(address), Some("/a/b".into()), "{address}");
        }
        assert_eq!(socket_of("http://127.0.0.1:7878"), None);
    }
}
