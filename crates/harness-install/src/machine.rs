// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Settings of the machine: whether hooks in them hold against the settings of accounts and projects.

use std::path::{Path, PathBuf};

use super::{Ground, Installer, Scope, Weight, planning};

/// What was measured about a harness's settings of the machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MachineScope {
    /// Hooks there run, and the settings files of an account or a project do not switch them off, except as listed.
    Outranks {
        /// The directory of the settings, below the root of the file system.
        directory: &'static str,
        /// What an account or a project can still do to run the harness without them, one sentence each.
        bypasses: &'static [&'static str],
    },
    /// `install --system` refuses, for this reason.
    Cannot(&'static str),
}

impl MachineScope {
    /// The directory of the settings, below the root of the file system.
    pub fn directory(&self) -> Option<&'static str> {
        match self {
            Self::Outranks { directory, .. } => Some(directory),
            Self::Cannot(_) => None,
        }
    }
}

/// Our hooks in the settings of the machine, as they affect one account.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MachineHooks {
    /// The settings file.
    pub settings: PathBuf,
    /// Whether the settings hold exactly what this version installs.
    pub is_current: bool,
    /// Whether the harness runs the hooks for this account; the notes say why not.
    pub in_force: bool,
    /// What the user should know, one sentence each.
    pub notes: Vec<String>,
}

impl Installer {
    /// Our hooks in the settings of the machine below `root`, for the account of `ground`, which works in `project`.
    /// `None`: there are none, or the account cannot read them. `programs` is the directory of the machine's hook programs.
    pub fn machine_hooks(
        &self,
        ground: &Ground<'_>,
        root: &Path,
        programs: &Path,
        project: Option<PathBuf>,
    ) -> Option<MachineHooks> {
        let mut order = self.order(ground, Scope::Machine(root.to_owned()), programs)?;
        order.account_homes.clear();
        order.project = project;
        let pieces = (self.pieces)(&order).ok()?;
        let found = planning::inspect(&pieces).ok().filter(|found| found.is_installed)?;
        Some(MachineHooks {
            settings: pieces.first()?.path.clone(),
            is_current: found.is_current,
            in_force: found.warnings.iter().all(|warning| warning.weight != Weight::Blocks),
            notes: found.warnings.into_iter().map(|warning| warning.says).collect(),
        })
    }
}
