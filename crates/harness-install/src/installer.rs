// SPDX-License-Identifier: Apache-2.0 OR MIT
//! How we get into one harness's settings: where they are, and what of ours belongs in them.

use std::{
    collections::BTreeMap,
    ffi::OsStr,
    path::{Path, PathBuf},
};

use serde::{Deserialize, Serialize};

use tenterhook_harness::EventRow;

use super::{InstallError, MachineScope, Piece, Plan, accounts, paths, plan_install, plan_uninstall, quote};

/// How we get into one harness's settings, and out again.
#[derive(Debug)]
pub struct Installer {
    /// The id under which the hooks are written and their receipts kept. Two programs that read one
    /// configuration have one.
    pub wired_as: &'static str,
    /// The variables with which the harness is told to keep its settings elsewhere.
    pub variables: &'static [&'static str],
    /// The directory that holds the settings of a user or a project; `None`: there is no such scope, or no home.
    pub directory: fn(&Ground<'_>, &Scope) -> Option<PathBuf>,
    /// Whether hooks in the settings of the machine hold against those of accounts and projects.
    pub machine: MachineScope,
    /// The files, and what of ours belongs in each. The first is the one that is named to people.
    pub pieces: fn(&Order) -> Result<Vec<Piece>, InstallError>,
}

/// What is known of the person's machine. A library never asks.
#[derive(Debug, Clone, Copy)]
pub struct Ground<'a> {
    /// The person's home.
    pub home: Option<&'a Path>,
    /// The variables that harnesses read, as far as they are set.
    pub variables: &'a BTreeMap<&'static str, PathBuf>,
    /// Where programs are looked for, as `PATH` has it.
    pub path: &'a OsStr,
}

/// Whose settings.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Scope {
    /// The person's, for every project.
    #[default]
    User,
    /// Those of the project at this root.
    Project(PathBuf),
    /// Those of the machine, below this root: they hold for every account, and only root can write them.
    Machine(PathBuf),
}

/// How the harness reaches us.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Transport {
    /// It starts our small program.
    #[default]
    Command,
    /// It asks the daemon by itself.
    Http {
        /// The daemon's address, `http://127.0.0.1:7878`.
        url: String,
        /// What the daemon wants to see.
        token: String,
    },
}

/// What is to be installed where.
#[derive(Debug, Clone)]
pub struct Order {
    /// The directory with the settings of the scope.
    pub directory: PathBuf,
    /// The directory with the person's own settings, which may be the same.
    pub user_directory: PathBuf,
    /// Whose settings.
    pub scope: Scope,
    /// Tenterhook's home, where the small programs lie.
    pub home: PathBuf,
    /// How the harness reaches us.
    pub transport: Transport,
    /// Whether the harness is told at once that a person trusts our hooks, where it asks.
    pub trust: bool,
    /// Where the person works: settings found there are heeded by the harness as well.
    pub project: Option<PathBuf>,
    /// The user's home directory.
    pub user_home: Option<PathBuf>,
    /// The variables of [`Installer::variables`], as far as they are set.
    pub variables: BTreeMap<&'static str, PathBuf>,
    /// Home directories of the machine's accounts; empty unless the scope is the machine.
    pub account_homes: Vec<PathBuf>,
}

impl Installer {
    /// An order for the settings of a scope; `None` when there is no such scope here.
    pub fn order(&self, ground: &Ground<'_>, scope: Scope, home: &Path) -> Option<Order> {
        let user_directory = (self.directory)(ground, &Scope::User);
        let (directory, account_homes) = match &scope {
            Scope::Machine(root) => (root.join(self.machine.directory()?), accounts::home_directories(root)),
            scope => ((self.directory)(ground, scope)?, Vec::new()),
        };
        Some(Order {
            user_directory: user_directory?,
            directory,
            account_homes,
            scope,
            home: home.to_owned(),
            transport: Transport::Command,
            trust: false,
            project: None,
            user_home: ground.home.map(Path::to_owned),
            variables: ground.variables.clone(),
        })
    }

    /// Plans our hooks into the settings. Writes nothing.
    pub fn plan_install(&self, order: &Order, receipts: &Path) -> Result<Plan, InstallError> {
        plan_install(self.wired_as, order, &(self.pieces)(order)?, receipts)
    }

    /// Plans them out again. Writes nothing.
    pub fn plan_uninstall(&self, order: &Order, receipts: &Path) -> Result<Plan, InstallError> {
        plan_uninstall(self.wired_as, &(self.pieces)(order)?, receipts)
    }
}

impl Order {
    /// Whether the settings are those of the machine.
    pub fn is_machine(&self) -> bool {
        matches!(self.scope, Scope::Machine(_))
    }

    /// Where one of our small programs lies.
    pub fn program_path(&self, name: &str) -> Result<String, InstallError> {
        paths::require_absolute(&self.home)?;
        Ok(paths::utf8(&self.home.join("bin").join(name))?.to_owned())
    }

    /// The same, as one word for a shell.
    pub fn program(&self, name: &str) -> Result<String, InstallError> {
        Ok(quote(&self.program_path(name)?))
    }

    /// The command that a harness runs for one event.
    pub fn command(&self, harness: &str, event: &str) -> Result<String, InstallError> {
        Ok(format!("{} {harness} {}", self.program("tenterhook-hook")?, tenterhook_harness::kebab(event)))
    }

    /// The same, for the harnesses that go on when a command cannot be started and refuse when one ends with 2: at a
    /// gate, whatever goes wrong is a no. Every shell knows these words.
    pub fn strict_command(&self, harness: &str, row: &EventRow) -> Result<String, InstallError> {
        let refuses = if row.is_gate() { OR_REFUSE } else { "" };
        Ok(self.command(harness, row.native)? + refuses)
    }
}

/// What [`Order::strict_command`] puts behind a command.
pub(super) const OR_REFUSE: &str = " || exit 2";

impl Ground<'_> {
    /// What a variable says, if it is an absolute path.
    pub fn variable(&self, name: &str) -> Option<PathBuf> {
        self.variables.get(name).filter(|path| path.is_absolute()).cloned()
    }

    /// The directory a variable names, else one below the person's home.
    pub fn variable_or(&self, name: &str, below_home: &str) -> Option<PathBuf> {
        self.variable(name).or_else(|| Some(self.home?.join(below_home)))
    }
}
