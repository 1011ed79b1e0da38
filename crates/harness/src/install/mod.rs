// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Putting hooks into a harness's own settings, and taking them out again.
//!
//! The road: [`file`] reads, [`jsonc`] edits text, [`receipt`] remembers what was there, [`plan`] shows and
//! then writes. A harness's own folder (`claude_code/install.rs`) says which entries belong in which file.

mod error;
pub mod file;
pub mod jsonc;
pub mod plan;
pub mod receipt;
mod shell;
#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};

pub use error::InstallError;
pub use plan::{Change, Plan};
pub use shell::quote;

/// How we get into one harness's settings, and out again.
#[derive(Debug)]
pub struct Installer {
    /// The variable with which the harness is told to keep its settings elsewhere.
    pub directory_variable: &'static str,
    /// The settings file: below the directory the variable names, else below the person's home.
    pub settings: fn(directory: Option<&Path>, home: Option<&Path>) -> Option<PathBuf>,
    /// Plans our entries into the settings. `home` is Tenterhook's.
    pub plan_install: fn(settings: &Path, home: &Path, receipts: &Path) -> Result<Plan, InstallError>,
    /// Plans them out again.
    pub plan_uninstall: fn(settings: &Path, receipts: &Path) -> Result<Plan, InstallError>,
}
