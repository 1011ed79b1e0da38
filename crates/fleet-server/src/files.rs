// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Files of the server: secrets that only their owner may read.

use std::io::Write as _;
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::Path;

use tenterhook_files::{FileClass, open, read_text};

use crate::error::FleetError;

/// Maximum length of a file with a secret, a certificate authority or a setting.
pub(crate) const MAX_SMALL_FILE_BYTES: u64 = 256 << 10;

/// Returns cryptographically secure random bytes.
pub(crate) fn random_bytes<const N: usize>() -> Result<[u8; N], FleetError> {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes).map_err(|error| FleetError::internal(format!("no random bytes: {error}")))?;
    Ok(bytes)
}

/// Writes bytes in lower-case hexadecimal.
pub(crate) fn encode_hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(bytes.len().saturating_mul(2)), |mut text, byte| {
        for digit in [byte >> 4, byte & 15] {
            text.extend(char::from_digit(u32::from(digit), 16));
        }
        text
    })
}

/// Reads hexadecimal; `None` if the text is not hexadecimal.
pub(crate) fn decode_hex(text: &str) -> Option<Vec<u8>> {
    let digits = text.as_bytes().chunks(2);
    digits
        .map(|pair| u8::from_str_radix(str::from_utf8(pair).ok()?, 16).ok().filter(|_| pair.len() == 2))
        .collect()
}

/// Creates a directory and its parents with this mode, if it does not exist.
pub(crate) fn create_dir(path: &Path, mode: u32) -> Result<(), FleetError> {
    std::fs::DirBuilder::new()
        .recursive(true)
        .mode(mode)
        .create(path)
        .map_err(|error| FleetError::file(path, &error))
}

/// Replaces a file atomically. Only its owner may read it.
pub fn write_private(path: &Path, bytes: &[u8]) -> Result<(), FleetError> {
    let fail = |error: std::io::Error| FleetError::file(path, &error);
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{}", encode_hex(&random_bytes::<6>()?)));
    let temporary = path.with_file_name(name);
    let mut options = std::fs::OpenOptions::new();
    let mut file = options.write(true).create_new(true).mode(0o600).open(&temporary).map_err(fail)?;
    file.write_all(bytes).and_then(|()| file.sync_all()).map_err(fail)?;
    std::fs::rename(&temporary, path).map_err(fail)?;
    match path.parent() {
        Some(dir) if !dir.as_os_str().is_empty() => {
            std::fs::File::open(dir).and_then(|dir| dir.sync_all()).map_err(fail)
        }
        _ => Ok(()),
    }
}

/// Reads a file with a secret. Fails if other users can read it. Returns `None` if the file does not exist.
pub fn read_private(path: &Path) -> Result<Option<String>, FleetError> {
    use std::io::Read as _;
    let fail = |error: std::io::Error| FleetError::file(path, &error);
    let Some(file) = open(path, FileClass::Named).map_err(fail)? else { return Ok(None) };
    let mode = file.metadata().map_err(fail)?.permissions().mode() & 0o777;
    if mode & 0o077 != 0 {
        let error = FleetError::invalid(format!("`{}` is readable by other users", path.display()));
        return Err(error.with_hint(format!("run `chmod 600 {}`", path.display())));
    }
    let mut text = String::new();
    let read = file.take(MAX_SMALL_FILE_BYTES + 1).read_to_string(&mut text).map_err(fail)?;
    if u64::try_from(read).unwrap_or(u64::MAX) > MAX_SMALL_FILE_BYTES {
        let limit = MAX_SMALL_FILE_BYTES / 1024;
        return Err(FleetError::invalid(format!("`{}` is larger than {limit} KiB", path.display())));
    }
    Ok(Some(text))
}

/// Reads a text file that the operator or the system names, and that must exist.
pub(crate) fn read_named(path: &Path, max_bytes: u64) -> Result<String, FleetError> {
    let text =
        read_text(path, FileClass::Named, max_bytes).map_err(|error| FleetError::file(path, &error))?;
    text.ok_or_else(|| FleetError::invalid(format!("`{}` does not exist", path.display())))
}

/// Reads a file with a secret that must exist.
pub fn read_secret(path: &Path) -> Result<String, FleetError> {
    let text = read_private(path)?;
    let text = text.ok_or_else(|| FleetError::invalid(format!("`{}` does not exist", path.display())))?;
    Ok(text.trim_end().to_owned())
}
