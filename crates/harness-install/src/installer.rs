// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Locates the settings of a harness, and lists the content that Tenterhook writes into them.

use std::{
    collections::BTreeMap,
    ffi::OsStr,
    path::{Path, PathBuf},
};

use serde::{Deserialize, Serialize};

use tenterhook_harness::EventRow;

use super::{
    InstallError, InstallPlan, MachineScope, ManagedFile, accounts, paths, plan_install, plan_uninstall,
    quote,
};

/// How hooks are installed in the settings of one harness.
#[derive(Debug)]
pub struct Installer {
    /// Harness id under which the hooks and receipts are written. Programs that read the same configuration share one
    /// id.
    pub wired_as: &'static str,
    /// Environment variables that move the harness's settings.
    pub variables: &'static [&'static str],
    /// Directory of the settings of a user or project; `None` if there is no such scope or no home directory.
    pub directory: fn(&MachineEnvironment<'_>, &SettingsScope) -> Option<PathBuf>,
    /// Whether hooks in the machine's settings take precedence over the settings of accounts and projects.
    pub machine: MachineScope,
    /// Returns the files to write, each with its content. Messages to users name the first file.
    pub pieces: fn(&InstallRequest) -> Result<Vec<ManagedFile>, InstallError>,
}

/// Facts about the user's machine, supplied by the caller because a library does not read the environment.
#[derive(Debug, Clone, Copy)]
pub struct MachineEnvironment<'a> {
    /// Home directory of the user.
    pub home: Option<&'a Path>,
    /// Variables that harnesses read. Contains only those that are set.
    pub variables: &'a BTreeMap<&'static str, PathBuf>,
    /// Search path for programs, in the format of `PATH`.
    pub path: &'a OsStr,
}

/// Scope of settings.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum SettingsScope {
    /// Settings of the user, for every project.
    #[default]
    User,
    /// Settings of the project at this root.
    Project(PathBuf),
    /// Settings of the machine below this root: they apply to every account, and only root can write them.
    Machine(PathBuf),
}

/// How the harness calls Tenterhook.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum HookTransport {
    /// The harness starts the hook program.
    #[default]
    Command,
    /// The harness calls the daemon over HTTP.
    Http {
        /// Address of the daemon, `http://127.0.0.1:7878`.
        url: String,
        /// Bearer token for the daemon.
        token: String,
    },
}

/// What to install, and where.
#[derive(Debug, Clone)]
pub struct InstallRequest {
    /// Directory of the settings to write, for `scope`.
    pub directory: PathBuf,
    /// Directory of the user's settings. Equal to `directory` if the scope is the user.
    pub user_directory: PathBuf,
    /// Scope of the settings.
    pub scope: SettingsScope,
    /// Tenterhook's state directory, which contains the hook programs.
    pub home: PathBuf,
    /// How the harness calls Tenterhook.
    pub transport: HookTransport,
    /// Whether to mark the hooks as trusted, in harnesses that ask the user before they run a hook.
    pub trust: bool,
    /// Directory where the user works. The harness also reads the settings of this directory.
    pub project: Option<PathBuf>,
    /// Home directory of the user.
    pub user_home: Option<PathBuf>,
    /// The variables of [`Installer::variables`] that are set.
    pub variables: BTreeMap<&'static str, PathBuf>,
    /// Home directories of the machine's accounts; empty unless the scope is the machine.
    pub account_homes: Vec<PathBuf>,
}

impl Installer {
    /// A request for the settings of a scope; `None` if the harness has no such scope here.
    pub fn order(
        &self,
        ground: &MachineEnvironment<'_>,
        scope: SettingsScope,
        home: &Path,
    ) -> Option<InstallRequest> {
        let user_directory = (self.directory)(ground, &SettingsScope::User);
        let (directory, account_homes) = match &scope {
            SettingsScope::Machine(root) => {
                (root.join(self.machine.directory()?), accounts::home_directories(root))
            }
            scope => ((self.directory)(ground, scope)?, Vec::new()),
        };
        Some(InstallRequest {
            user_directory: user_directory?,
            directory,
            account_homes,
            scope,
            home: home.to_owned(),
            transport: HookTransport::Command,
            trust: false,
            project: None,
            user_home: ground.home.map(Path::to_owned),
            variables: ground.variables.clone(),
        })
    }

    /// Plans an install of the hooks. Writes nothing.
    pub fn plan_install(&self, order: &InstallRequest, receipts: &Path) -> Result<InstallPlan, InstallError> {
        plan_install(self.wired_as, order, &(self.pieces)(order)?, receipts)
    }

    /// Plans the removal of the hooks. Writes nothing.
    pub fn plan_uninstall(
        &self,
        order: &InstallRequest,
        receipts: &Path,
    ) -> Result<InstallPlan, InstallError> {
        plan_uninstall(self.wired_as, &(self.pieces)(order)?, receipts)
    }
}

impl InstallRequest {
    /// Whether the scope is the machine.
    pub fn is_machine(&self) -> bool {
        matches!(self.scope, SettingsScope::Machine(_))
    }

    /// Path of a hook program.
    pub fn program_path(&self, name: &str) -> Result<String, InstallError> {
        paths::require_absolute(&self.home)?;
        Ok(paths::utf8(&self.home.join("bin").join(name))?.to_owned())
    }

    /// Path of a hook program, quoted for a shell.
    pub fn program(&self, name: &str) -> Result<String, InstallError> {
        Ok(quote(&self.program_path(name)?))
    }

    /// The command that a harness runs for one event.
    pub fn command(&self, harness: &str, event: &str) -> Result<String, InstallError> {
        Ok(format!(
            "{} {harness} {}",
            self.program("tenterhook-hook")?,
            tenterhook_harness::to_kebab_case(event)
        ))
    }

    /// A command for harnesses that continue if a hook command cannot be started, but deny the call if it exits with
    /// 2. For an event that can deny a call, every failure becomes a deny. The syntax works in every shell.
    pub fn strict_command(&self, harness: &str, row: &EventRow) -> Result<String, InstallError> {
        let refuses = if row.is_gate() { OR_REFUSE } else { "" };
        Ok(self.command(harness, row.native)? + refuses)
    }
}

/// Suffix that [`InstallRequest::strict_command`] adds to a command.
pub(super) const OR_REFUSE: &str = " || exit 2";

impl MachineEnvironment<'_> {
    /// The value of a variable, if it is an absolute path.
    pub fn variable(&self, name: &str) -> Option<PathBuf> {
        self.variables.get(name).filter(|path| path.is_absolute()).cloned()
    }

    /// The directory that a variable names. If the variable is not set, a directory below the home directory.
    pub fn variable_or(&self, name: &str, below_home: &str) -> Option<PathBuf> {
        self.variable(name).or_else(|| Some(self.home?.join(below_home)))
    }
}
