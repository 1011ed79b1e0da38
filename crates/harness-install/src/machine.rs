// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Settings of the machine, and whether they take precedence over the settings of accounts and projects.

use std::path::{Path, PathBuf};

use super::{Installer, MachineEnvironment, SettingsScope, WarningLevel, planning};

/// Measured precedence of a harness's machine settings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MachineScope {
    /// The hooks run, and settings of accounts and projects cannot disable them, except as listed in `bypasses`.
    Outranks {
        /// Directory of the settings, below the root of the file system.
        directory: &'static str,
        /// Ways in which an account or project can still run the harness without the hooks, one sentence each.
        bypasses: &'static [&'static str],
    },
    /// `install --system` is refused for this reason.
    Cannot(&'static str),
}

impl MachineScope {
    /// Directory of the settings, below the root of the file system.
    pub fn directory(&self) -> Option<&'static str> {
        match self {
            Self::Outranks { directory, .. } => Some(directory),
            Self::Cannot(_) => None,
        }
    }
}

/// Hooks in the machine's settings, as they apply to one account.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MachineHooks {
    /// Path of the settings file.
    pub settings: PathBuf,
    /// Whether the settings have exactly the content that this version installs.
    pub is_current: bool,
    /// Whether the harness runs the hooks for this account; if not, the notes give the reason.
    pub in_force: bool,
    /// Notes for the user, one sentence each.
    pub notes: Vec<String>,
}

impl Installer {
    /// The hooks in the machine's settings below `root`, for an account that works in `project`; `ground` describes
    /// the account. `None` if the settings have none, or if the account cannot read them. `programs` is the directory
    /// of the machine's hook programs.
    pub fn machine_hooks(
        &self,
        ground: &MachineEnvironment<'_>,
        root: &Path,
        programs: &Path,
        project: Option<PathBuf>,
    ) -> Option<MachineHooks> {
        let mut order = self.order(ground, SettingsScope::Machine(root.to_owned()), programs)?;
        order.account_homes.clear();
        order.project = project;
        let pieces = (self.pieces)(&order).ok()?;
        let found = planning::inspect(&pieces).ok().filter(|found| found.is_installed)?;
        Some(MachineHooks {
            settings: pieces.first()?.path.clone(),
            is_current: found.is_current,
            in_force: found.warnings.iter().all(|warning| warning.weight != WarningLevel::Blocks),
            notes: found.warnings.into_iter().map(|warning| warning.message).collect(),
        })
    }
}
