// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Every environment variable we read, read once.

use std::collections::BTreeMap;
use std::path::PathBuf;

use rustix::process::getuid;
use tenterhook_harness::{HARNESSES, Harness};

/// What the environment says. Nothing else in the program asks it.
#[derive(Debug, Clone, Default)]
pub(crate) struct Env {
    /// `HOME`: the person's home.
    pub(crate) home: Option<PathBuf>,
    /// `TENTERHOOK_HOME`: where our state and settings are.
    pub(crate) tenterhook_home: Option<PathBuf>,
    /// `TENTERHOOK_SYSTEM_DIR`: where the organisation's rules are, for a program that is not installed.
    pub(crate) tenterhook_system_dir: Option<PathBuf>,
    /// `XDG_STATE_HOME`: where programs keep state.
    pub(crate) xdg_state_home: Option<PathBuf>,
    /// `XDG_CONFIG_HOME`: where programs keep settings.
    pub(crate) xdg_config_home: Option<PathBuf>,
    /// Every variable: headers of HTTP hooks may name one.
    pub(crate) all: BTreeMap<String, String>,
    /// What harnesses say through variables of their own, by the variables' names.
    pub(crate) of_harnesses: BTreeMap<&'static str, PathBuf>,
}

impl Env {
    #[expect(clippy::disallowed_methods, reason = "this is the one place")]
    pub(crate) fn read() -> Self {
        let path = |name| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
        let of_harnesses = HARNESSES
            .iter()
            .flat_map(|harness| [Some(harness.installer.directory_variable), harness.project_variable])
            .flatten()
            .filter_map(|name| Some((name, path(name)?)))
            .collect();
        Self {
            home: path("HOME"),
            tenterhook_home: path("TENTERHOOK_HOME"),
            tenterhook_system_dir: path("TENTERHOOK_SYSTEM_DIR"),
            xdg_state_home: path("XDG_STATE_HOME"),
            xdg_config_home: path("XDG_CONFIG_HOME"),
            all: std::env::vars_os()
                .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
                .collect(),
            of_harnesses,
        }
    }

    /// Where the harness keeps its settings.
    pub(crate) fn settings_of(&self, harness: &Harness) -> Option<PathBuf> {
        let directory = self.of_harnesses.get(harness.installer.directory_variable);
        (harness.installer.settings)(directory.map(PathBuf::as_path), self.home.as_deref())
    }

    /// The project's root, as the harness tells its hooks.
    pub(crate) fn project_of(&self, harness: &Harness) -> Option<String> {
        self.of_harnesses.get(harness.project_variable?)?.to_str().map(ToOwned::to_owned)
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

/// The names of the groups we run in; a group without a name by its number.
pub(crate) fn groups() -> Vec<String> {
    let own = rustix::process::getgid();
    let all = rustix::process::getgroups().unwrap_or_default();
    let numbers: std::collections::BTreeSet<u32> =
        std::iter::once(own).chain(all).map(rustix::process::Gid::as_raw).collect();
    let names = fs_err::read_to_string("/etc/group").unwrap_or_default();
    let name = |number: &u32| {
        let found = names.lines().find_map(|line| {
            let mut fields = line.split(':');
            let (name, _, id) = (fields.next()?, fields.next()?, fields.next()?);
            (id.parse() == Ok(*number)).then(|| name.to_owned())
        });
        found.unwrap_or_else(|| format!("gid:{number}"))
    };
    numbers.iter().map(name).collect()
}
