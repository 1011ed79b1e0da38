// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Reading what others may have written: every file of a home and of a project, with its limits.

use std::io::{Error, Result};
use std::path::Path;

use tenterhook_files::{FileClass, FileRefused, read_bytes, read_text};

/// No configuration file, and no file of a state directory, is larger.
const MAX_HOME_FILE_BYTES: u64 = 16 << 20;

/// A project's file is read at every call, and any account may have written it.
const MAX_PROJECT_FILE_BYTES: u64 = 256 << 10;

/// The text of a configuration file that may not be there. It may be a link of a dotfile manager, whose
/// target belongs to the user; a pipe, a device or an endless file is refused.
pub fn regular_file(path: &Path) -> Result<Option<String>> {
    read_text(path, FileClass::Configuration, MAX_HOME_FILE_BYTES).map_err(|error| name(path, &error))
}

/// The text of the organisation's file that may not be there. Whose it is decides how much it counts, not
/// whether it is read.
pub(crate) fn organisation_file(path: &Path) -> Result<Option<String>> {
    read_text(path, FileClass::Named, MAX_HOME_FILE_BYTES).map_err(|error| name(path, &error))
}

/// The text of a file in the state directory that may not be there. Tenterhook wrote it, so a link is
/// refused.
pub fn state_file(path: &Path) -> Result<Option<String>> {
    read_text(path, FileClass::State, MAX_HOME_FILE_BYTES).map_err(|error| name(path, &error))
}

/// The bytes of a larger file in the state directory that may not be there.
pub fn state_bytes(path: &Path, max_bytes: u64) -> Result<Option<Vec<u8>>> {
    read_bytes(path, FileClass::State, max_bytes).map_err(|error| name(path, &error))
}

/// The text of a project's file that may not be there. `account` is the caller for whom a process with more
/// rights reads it.
pub(crate) fn project_file(path: &Path, account: Option<u32>) -> Result<Option<String>> {
    let class = account.map_or(FileClass::Untrusted, FileClass::OwnedBy);
    read_text(path, class, MAX_PROJECT_FILE_BYTES).map_err(|error| name(path, &error))
}

/// The error with the file it is about.
fn name(path: &Path, error: &Error) -> Error {
    match FileRefused::reason_of(error) {
        Some(_) => Error::new(error.kind(), error.to_string()),
        None => Error::new(error.kind(), format!("`{}`: {error}", path.display())),
    }
}
