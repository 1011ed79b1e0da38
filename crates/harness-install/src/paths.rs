// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Paths that can be written into settings.

use std::path::Path;

use super::InstallError;

/// Rejects a relative path, which would name a different file in every working directory.
pub(crate) fn require_absolute(path: &Path) -> Result<(), InstallError> {
    if path.is_absolute() {
        return Ok(());
    }
    Err(InstallError::RelativePath { path: path.to_owned() })
}

/// The path as UTF-8 text.
pub(crate) fn utf8(path: &Path) -> Result<&str, InstallError> {
    path.to_str().ok_or_else(|| InstallError::PathNotUtf8 { path: path.to_owned() })
}
