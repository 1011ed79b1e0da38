// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The environment, which is read once at the start, and the names of accounts and groups.

use std::collections::BTreeMap;
use std::path::PathBuf;

use rustix::process::getuid;
use tenterhook_harness::Harness;
use tenterhook_harness_install::MachineEnvironment;

/// The environment of the process. Libraries never read it themselves.
#[derive(Debug, Clone, Default)]
pub struct Env {
    /// `HOME`: the home directory of the user.
    pub home: Option<PathBuf>,
    /// `TENTERHOOK_HOME`: directory for Tenterhook's state and settings.
    pub tenterhook_home: Option<PathBuf>,
    /// `TENTERHOOK_SYSTEM_DIR`: directory of the organisation's rules. Installed programs ignore it.
    pub tenterhook_system_dir: Option<PathBuf>,
    /// `TENTERHOOK_LISTEN`: TCP address of the daemon.
    pub tenterhook_listen: Option<String>,
    /// `XDG_STATE_HOME`: base directory for state.
    pub xdg_state_home: Option<PathBuf>,
    /// `XDG_CONFIG_HOME`: base directory for settings.
    pub xdg_config_home: Option<PathBuf>,
    /// All variables. For example, the headers of HTTP hooks may refer to any variable.
    pub all: BTreeMap<String, String>,
    /// The harnesses' own variables that contain directories.
    pub harness_variables: BTreeMap<&'static str, PathBuf>,
}

impl Env {
    /// The parts of the environment that installers use.
    pub fn machine(&self) -> MachineEnvironment<'_> {
        let path = self.all.get("PATH").map_or("", String::as_str);
        MachineEnvironment {
            home: self.home.as_deref(),
            variables: &self.harness_variables,
            path: path.as_ref(),
        }
    }

    /// Whether the harness that started this process runs without a prompt, according to its variable.
    pub fn is_headless(&self, harness: &Harness) -> bool {
        harness
            .headless_sign
            .is_some_and(|(name, value)| self.all.get(name).is_some_and(|found| found == value))
    }

    /// Root of the project, according to the harness's environment variable.
    pub fn project_of(&self, harness: &Harness) -> Option<String> {
        self.harness_variables.get(harness.project_variable?)?.to_str().map(ToOwned::to_owned)
    }
}

/// Name of the account that runs this process. It is not read from `$USER`, which is not reliable.
pub fn current_user() -> String {
    account_name(getuid().as_raw())
}

/// Name of an account, or `uid:` and its number if it has no name.
pub fn account_name(uid: u32) -> String {
    let directory = || uzers::get_user_by_uid(uid).map(|user| user.name().to_string_lossy().into_owned());
    find_name("/etc/passwd", uid).or_else(directory).unwrap_or_else(|| format!("uid:{uid}"))
}

/// Names of this process's groups. A group without a name is listed as `gid:` and its number.
pub fn current_groups() -> Vec<String> {
    let own = rustix::process::getgid();
    // `getgroups` fails only if the buffer is too small, and rustix sizes it.
    let all = rustix::process::getgroups().unwrap_or_default();
    let numbers: std::collections::BTreeSet<u32> =
        std::iter::once(own).chain(all).map(rustix::process::Gid::as_raw).collect();
    let name = |gid: u32| {
        let directory =
            || uzers::get_group_by_gid(gid).map(|group| group.name().to_string_lossy().into_owned());
        find_name("/etc/group", gid).or_else(directory).unwrap_or_else(|| format!("gid:{gid}"))
    };
    numbers.into_iter().map(name).collect()
}

/// Looks up a number in `/etc/passwd` or `/etc/group`. Callers query the system's directory service (LDAP, Open
/// Directory) only for numbers that are not in these files, because it may load libraries and use the network.
fn find_name(table: &str, number: u32) -> Option<String> {
    let table = fs_err::read_to_string(table).ok()?;
    table.lines().find_map(|line| {
        let mut fields = line.split(':');
        let (name, _, id) = (fields.next()?, fields.next()?, fields.next()?);
        (id.parse() == Ok(number)).then(|| name.to_owned())
    })
}
