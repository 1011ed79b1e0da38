// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Reads files of a home and of a project. Other accounts may have written them, so their size and type are limited.

use std::io::{Error, Result};
use std::path::Path;

use tenterhook_files::{FileClass, FileRefused, read_bytes, read_text};

/// Maximum size of a configuration file or a file of the state directory.
const MAX_HOME_FILE_BYTES: u64 = 16 << 20;

/// Maximum size of a project file. The limit is low because the file is read for every call and any account may have
/// written it.
const MAX_PROJECT_FILE_BYTES: u64 = 256 << 10;

/// Reads a configuration file; `None` if it does not exist. Dotfile managers replace configuration files with links, so
/// a link is followed if its target belongs to the user. A pipe, a device or an endless file is refused.
pub fn regular_file(path: &Path) -> Result<Option<String>> {
    read_text(path, FileClass::Configuration, MAX_HOME_FILE_BYTES).map_err(|error| name(path, &error))
}

/// Reads a file of the user that need not be UTF-8; `None` if it does not exist.
pub fn regular_bytes(path: &Path, max_bytes: u64) -> Result<Option<Vec<u8>>> {
    read_bytes(path, FileClass::Configuration, max_bytes).map_err(|error| name(path, &error))
}

/// Reads the organisation's file; `None` if it does not exist. The file is read regardless of its owner. The owner
/// determines which of its rules apply.
pub(crate) fn organisation_file(path: &Path) -> Result<Option<String>> {
    read_text(path, FileClass::Named, MAX_HOME_FILE_BYTES).map_err(|error| name(path, &error))
}

/// Reads a file of the state directory; `None` if it does not exist. Tenterhook wrote it, so a link is refused.
pub fn state_file(path: &Path) -> Result<Option<String>> {
    read_text(path, FileClass::State, MAX_HOME_FILE_BYTES).map_err(|error| name(path, &error))
}

/// Reads a larger file of the state directory; `None` if it does not exist.
pub fn state_bytes(path: &Path, max_bytes: u64) -> Result<Option<Vec<u8>>> {
    read_bytes(path, FileClass::State, max_bytes).map_err(|error| name(path, &error))
}

/// Reads a project file; `None` if it does not exist. If this process has more rights than the caller, `account` is the
/// caller's account, and the file must belong to it.
pub(crate) fn project_file(path: &Path, account: Option<u32>) -> Result<Option<String>> {
    let class = account.map_or(FileClass::Untrusted, FileClass::OwnedBy);
    read_text(path, class, MAX_PROJECT_FILE_BYTES).map_err(|error| name(path, &error))
}

/// Adds the path to an error.
fn name(path: &Path, error: &Error) -> Error {
    match FileRefused::reason_of(error) {
        Some(_) => Error::new(error.kind(), error.to_string()),
        None => Error::new(error.kind(), format!("`{}`: {error}", path.display())),
    }
}
