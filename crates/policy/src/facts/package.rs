// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Packages a command would install or run.

use serde::{Deserialize, Serialize};

use super::ShellCommand;

/// Where a package comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum From {
    /// The registry the package manager uses by itself.
    Registry,
    /// Another registry, named on the command line.
    Index,
    /// A repository.
    Git,
    /// An archive on the network.
    Url,
    /// A directory or file on this machine.
    Path,
}

/// One package.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PackageFact {
    /// The package manager: `npm`, `pip`, `cargo`, …
    pub manager: String,
    /// Its name, without version and extras; the address when it has none.
    pub name: String,
    /// Where it comes from.
    pub from: From,
    /// Whether it is run at once (`npx`, `uvx`), not only installed.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub runs: bool,
    /// Whether its name is only known when it runs.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub dynamic: bool,
}

/// The packages a command would install or run.
pub(crate) fn packages(command: &ShellCommand) -> Vec<PackageFact> {
    let _ = command;
    Vec::new()
}
