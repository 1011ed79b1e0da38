// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The environment, read once at the start, and the account of this process.

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
    /// `TENTERHOOK_HOME`: directory of Tenterhook's state and settings.
    pub tenterhook_home: Option<PathBuf>,
    /// `TENTERHOOK_SYSTEM_DIR`: directory of the organisation's rules, for a program that is not installed.
    pub tenterhook_system_dir: Option<PathBuf>,
    /// `TENTERHOOK_LISTEN`: TCP address of the daemon.
    pub tenterhook_listen: Option<String>,
    /// `XDG_STATE_HOME`: base directory for state.
    pub xdg_state_home: Option<PathBuf>,
    /// `XDG_CONFIG_HOME`: base directory for settings.
    pub xdg_config_home: Option<PathBuf>,
    /// All variables, because headers of HTTP hooks may name one.
    pub all: BTreeMap<String, String>,
    /// Variables of harnesses that name directories.
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

    /// Root of the project, from the harness's variable.
    pub fn project_of(&self, harness: &Harness) -> Option<String> {
        self.harness_variables.get(harness.project_variable?)?.to_str().map(ToOwned::to_owned)
    }
}

/// Name of the account of this process. `$USER` is not reliable.
pub fn current_user() -> String {
    account_name(getuid().as_raw())
}

/// Name of an account, or its number if it has no name.
pub fn account_name(uid: u32) -> String {
    let directory = || uzers::get_user_by_uid(uid).map(|user| user.name().to_string_lossy().into_owned());
    find_name("/etc/passwd", uid).or_else(directory).unwrap_or_else(|| format!("uid:{uid}"))
}

/// Names of this process's groups; a group without a name is given by its number.
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

/// Looks up a number in the machine's table of accounts or groups. The system's directory service (LDAP, Open
/// Directory) is only used for numbers that are not in the table, because it may load libraries and use the
/// network.
fn find_name(table: &str, number: u32) -> Option<String> {
    let table = fs_err::read_to_string(table).ok()?;
    table.lines().find_map(|line| {
        let mut fields = line.split(':');
        let (name, _, id) = (fields.next()?, fields.next()?, fields.next()?);
        (id.parse() == Ok(number)).then(|| name.to_owned())
    })
}
