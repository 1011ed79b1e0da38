// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The files under a directory, bounded.

use std::path::{Path, PathBuf};
use std::time::SystemTime;

use super::{Around, ToolFailed};

/// How many entries are looked at.
const MOST: usize = 200_000;
/// Directories full of what nobody wrote.
const LEFT_OUT: &[&str] = &[".git", "node_modules", "target"];

/// One file.
pub(super) struct Found {
    pub(super) path: PathBuf,
    /// From where the walk began.
    pub(super) relative: String,
    pub(super) changed: SystemTime,
}

/// Looks for files off the thread that talks, so that a large tree holds up nobody.
pub(super) async fn off_thread<T: Send + 'static>(
    look: impl FnOnce() -> Result<T, ToolFailed> + Send + 'static,
) -> Result<T, ToolFailed> {
    match tokio::task::spawn_blocking(look).await {
        Ok(found) => found,
        Err(error) => Err(ToolFailed::new(format!("the search broke off: {error}"))),
    }
}

/// Every file under a directory, or the file itself. Links are not followed.
pub(super) fn files(root: &Path, around: &Around) -> Result<Vec<Found>, ToolFailed> {
    let meta = std::fs::metadata(root).map_err(|error| ToolFailed::file(root, &error))?;
    if meta.is_file() {
        let relative = root.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let changed = meta.modified().unwrap_or(SystemTime::UNIX_EPOCH);
        return Ok(vec![Found { path: root.to_owned(), relative, changed }]);
    }
    let (mut found, mut left, mut looked) = (Vec::new(), vec![root.to_owned()], 0);
    while let Some(dir) = left.pop() {
        // A directory that cannot be read has nothing for the agent.
        let Ok(entries) = std::fs::read_dir(&dir) else { continue };
        for entry in entries.flatten() {
            looked += 1;
            if looked > MOST {
                return Err(ToolFailed::new(format!("there are more than {MOST} files; say a `path`")));
            }
            if around.cancel.is_cancelled() {
                return Err(ToolFailed::new("cancelled"));
            }
            let path = entry.path();
            match entry.metadata() {
                Ok(meta) if meta.is_dir() && !is_left_out(&entry.file_name()) => left.push(path),
                Ok(meta) if meta.is_file() => {
                    let relative = path.strip_prefix(root).unwrap_or(&path).to_string_lossy().into_owned();
                    let changed = meta.modified().unwrap_or(SystemTime::UNIX_EPOCH);
                    found.push(Found { path, relative, changed });
                }
                _ => {}
            }
        }
    }
    found.sort_by(|one, other| one.relative.cmp(&other.relative));
    Ok(found)
}

fn is_left_out(name: &std::ffi::OsStr) -> bool {
    LEFT_OUT.iter().any(|known| name == *known)
}
