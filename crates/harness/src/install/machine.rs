// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Settings of the machine: whether hooks in them hold against the settings of accounts and projects.

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
