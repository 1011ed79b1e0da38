// SPDX-License-Identifier: Apache-2.0 OR MIT

//! How strongly a run is confined.

use std::fmt;

use serde::{Deserialize, Serialize};

/// How strongly a run is confined, strongest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SandboxLevel {
    /// Own mount, process and network namespaces, with Landlock rules inside.
    Namespaces,
    /// Landlock rules and a system call filter only.
    Landlock,
    /// No boundary: only hooks guard the run.
    Hooks,
}

impl fmt::Display for SandboxLevel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Namespaces => "namespaces + Landlock",
            Self::Landlock => "Landlock only",
            Self::Hooks => "hooks only",
        })
    }
}
