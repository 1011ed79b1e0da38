// SPDX-License-Identifier: Apache-2.0 OR MIT

//! How strongly the process of an agent is confined.

use std::fmt;

use serde::{Deserialize, Serialize};

/// How strongly a run of an agent is confined by the operating system.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum SandboxLevel {
    /// Only hooks and rules apply.
    Hooks,
    /// The kernel limits the files that the run may use (Landlock).
    Landlock,
    /// The run has namespaces of its own for files, processes and the network, and Landlock applies too.
    NamespacesLandlock,
}

// === impl SandboxLevel ===

impl SandboxLevel {
    /// Returns the name used in JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Hooks => "hooks",
            Self::Landlock => "landlock",
            Self::NamespacesLandlock => "namespaces-landlock",
        }
    }

    /// Returns the name that users read.
    pub fn title(self) -> &'static str {
        match self {
            Self::Hooks => "hooks only",
            Self::Landlock => "Landlock only",
            Self::NamespacesLandlock => "namespaces + Landlock",
        }
    }

    /// Whether the run has a network namespace of its own.
    pub fn has_namespaces(self) -> bool {
        self == Self::NamespacesLandlock
    }
}

impl fmt::Display for SandboxLevel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}
