// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Every environment variable we read, read once.

use std::path::PathBuf;

use rustix::process::getuid;

/// What the environment says. Nothing else in the program asks it.
#[derive(Debug, Clone, Default)]
pub(crate) struct Env {
    /// `HOME`: the person's home.
    pub(crate) home: Option<PathBuf>,
    /// `TENTERHOOK_HOME`: where our state and settings are.
    pub(crate) tenterhook_home: Option<PathBuf>,
    /// `XDG_STATE_HOME`: where programs keep state.
    pub(crate) xdg_state_home: Option<PathBuf>,
    /// `XDG_CONFIG_HOME`: where programs keep settings.
    pub(crate) xdg_config_home: Option<PathBuf>,
    /// `CLAUDE_CONFIG_DIR`: where Claude Code keeps its settings.
    pub(crate) claude_config_dir: Option<PathBuf>,
    /// `CLAUDE_PROJECT_DIR`: the project, as Claude Code tells its hooks.
    pub(crate) claude_project_dir: Option<String>,
}

impl Env {
    #[expect(clippy::disallowed_methods, reason = "this is the one place")]
    pub(crate) fn read() -> Self {
        let path = |name| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
        Self {
            home: path("HOME"),
            tenterhook_home: path("TENTERHOOK_HOME"),
            xdg_state_home: path("XDG_STATE_HOME"),
            xdg_config_home: path("XDG_CONFIG_HOME"),
            claude_config_dir: path("CLAUDE_CONFIG_DIR"),
            claude_project_dir: std::env::var("CLAUDE_PROJECT_DIR").ok().filter(|dir| !dir.is_empty()),
        }
    }
}

/// The name of the account we run under; `$USER` could say anything.
pub(crate) fn user() -> String {
    let uid = getuid().as_raw().to_string();
    let accounts = fs_err::read_to_string("/etc/passwd").unwrap_or_default();
    let name = accounts.lines().find_map(|line| {
        let mut fields = line.split(':');
        let (name, _, id) = (fields.next()?, fields.next()?, fields.next()?);
        (id == uid).then(|| name.to_owned())
    });
    name.unwrap_or_else(|| format!("uid:{uid}"))
}
