// SPDX-License-Identifier: Apache-2.0 OR MIT
//! `.env` files, from which some harnesses read variables that disable hooks.

use std::path::{Path, PathBuf};

use super::{InstallRequest, file};

/// The `.env` files that a harness reads: in the project, in each home directory, and in the settings directory below
/// each of these directories.
pub(crate) fn env_files_of(order: &InstallRequest, directory: &str) -> Vec<PathBuf> {
    let homes = order.user_home.iter().chain(&order.account_homes);
    let mut files: Vec<PathBuf> = Vec::new();
    for place in order.project.iter().chain(homes) {
        for file in [place.join(directory).join(".env"), place.join(".env")] {
            if !files.contains(&file) {
                files.push(file);
            }
        }
    }
    files
}

/// The last value that an `.env` file gives a variable.
pub(crate) fn last_value(path: &Path, variable: &str) -> Option<String> {
    let bytes = file::read(path).ok()??;
    let text = String::from_utf8_lossy(&bytes);
    let mut values = text.lines().filter_map(|line| {
        let line = line.trim_start();
        let (name, value) = line.strip_prefix("export ").unwrap_or(line).split_once('=')?;
        (name.trim() == variable).then(|| value.trim().trim_matches(['"', '\'', '`']).to_owned())
    });
    values.next_back()
}

/// Whether a value turns a switch on.
pub(crate) fn is_on(value: &str) -> bool {
    !matches!(value.trim().to_ascii_lowercase().as_str(), "" | "0" | "false" | "no" | "off")
}
