// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Reading what others may have written.

use std::path::Path;

/// The text of a file that may not be there. What is not a regular file is not read: a pipe in its
/// place would wait for ever.
pub fn regular_file(path: &Path) -> std::io::Result<Option<String>> {
    match fs_err::metadata(path) {
        Ok(metadata) if metadata.is_file() => fs_err::read_to_string(path).map(Some),
        Ok(_) => Err(std::io::Error::other(format!("`{}` is not a regular file", path.display()))),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}
