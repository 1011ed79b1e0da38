// SPDX-License-Identifier: Apache-2.0 OR MIT

//! What the environment says, as the program read it once; and who runs us.

use std::collections::BTreeMap;
use std::path::PathBuf;

use rustix::process::getuid;
use tenterhook_harness::Harness;
use tenterhook_harness_install::MachineEnvironment;

/// What the environment says. A library never asks it.
#[derive(Debug, Clone, Default)]
pub struct Env {
    /// `HOME`: the person's home.
    pub home: Option<PathBuf>,
    /// `TENTERHOOK_HOME`: where our state and settings are.
    pub tenterhook_home: Option<PathBuf>,
    /// `TENTERHOOK_SYSTEM_DIR`: where the organisation's rules are, for a program that is not installed.
    pub tenterhook_system_dir: Option<PathBuf>,
    /// `TENTERHOOK_LISTEN`: where the daemon listens over TCP.
    pub tenterhook_listen: Option<String>,
    /// `XDG_STATE_HOME`: where programs keep state.
    pub xdg_state_home: Option<PathBuf>,
    /// `XDG_CONFIG_HOME`: where programs keep settings.
    pub xdg_config_home: Option<PathBuf>,
    /// Every variable: headers of HTTP hooks may name one.
    pub all: BTreeMap<String, String>,
    /// What harnesses say through variables of their own, by the variables' names.
    pub of_harnesses: BTreeMap<&'static str, PathBuf>,
}

impl Env {
    /// What installers have to know.
    pub fn ground(&self) -> MachineEnvironment<'_> {
        let path = self.all.get("PATH").map_or("", String::as_str);
        MachineEnvironment { home: self.home.as_deref(), variables: &self.of_harnesses, path: path.as_ref() }
    }

    /// The project's root, as the harness tells its hooks.
    pub fn project_of(&self, harness: &Harness) -> Option<String> {
        self.of_harnesses.get(harness.project_variable?)?.to_str().map(ToOwned::to_owned)
    }
}

/// The name of the account we run under; `$USER` could say anything.
pub fn user() -> String {
    account(getuid().as_raw())
}

/// The name of an account; one without a name by its number.
pub fn account(uid: u32) -> String {
    let directory = || uzers::get_user_by_uid(uid).map(|user| user.name().to_string_lossy().into_owned());
    name_in("/etc/passwd", uid).or_else(directory).unwrap_or_else(|| format!("uid:{uid}"))
}

/// The names of the groups we run in; a group without a name by its number.
pub fn groups() -> Vec<String> {
    let own = rustix::process::getgid();
    // `getgroups` fails only if the buffer is too small, and rustix sizes it.
    let all = rustix::process::getgroups().unwrap_or_default();
    let numbers: std::collections::BTreeSet<u32> =
        std::iter::once(own).chain(all).map(rustix::process::Gid::as_raw).collect();
    let name = |gid: u32| {
        let directory =
            || uzers::get_group_by_gid(gid).map(|group| group.name().to_string_lossy().into_owned());
        name_in("/etc/group", gid).or_else(directory).unwrap_or_else(|| format!("gid:{gid}"))
    };
    numbers.into_iter().map(name).collect()
}

/// The name of a number in the machine's own table of accounts or groups. The system's directory service (LDAP, Open
/// Directory) is asked only for numbers that are not in it: that may load libraries and use the network.
fn name_in(table: &str, number: u32) -> Option<String> {
    let table = fs_err::read_to_string(table).ok()?;
    table.lines().find_map(|line| {
        let mut fields = line.split(':');
        let (name, _, id) = (fields.next()?, fields.next()?, fields.next()?);
        (id.parse() == Ok(number)).then(|| name.to_owned())
    })
}
