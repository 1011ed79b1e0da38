// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Lists the files in a directory tree, up to a limit.

use std::path::{Path, PathBuf};
use std::time::SystemTime;

use super::{ToolContext, ToolFailure};

/// Maximum number of directory entries visited by one search.
const MAX_WALK_ENTRIES: usize = 200_000;
/// Directories of generated or vendored files, which are skipped.
const EXCLUDED_DIRS: &[&str] = &[".git", "node_modules", "target"];

/// A file found by [`list_files`].
pub(super) struct FoundFile {
    pub(super) path: PathBuf,
    /// Path relative to the searched directory.
    pub(super) relative: String,
    pub(super) changed: SystemTime,
}

/// Runs a search on a blocking thread, because a large tree would block the async runtime.
pub(super) async fn run_blocking<T: Send + 'static>(
    look: impl FnOnce() -> Result<T, ToolFailure> + Send + 'static,
) -> Result<T, ToolFailure> {
    match tokio::task::spawn_blocking(look).await {
        Ok(found) => found,
        Err(error) => Err(ToolFailure::new(format!("search failed: {error}"))),
    }
}

/// Lists every file in a directory tree. If `root` is a file, returns only that file. Symlinks are not followed.
pub(super) fn list_files(root: &Path, context: &ToolContext) -> Result<Vec<FoundFile>, ToolFailure> {
    let meta = std::fs::metadata(root).map_err(|error| ToolFailure::file(root, &error))?;
    if meta.is_file() {
        let relative = root.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let changed = meta.modified().unwrap_or(SystemTime::UNIX_EPOCH);
        return Ok(vec![FoundFile { path: root.to_owned(), relative, changed }]);
    }
    let (mut found, mut left, mut looked) = (Vec::new(), vec![root.to_owned()], 0);
    while let Some(dir) = left.pop() {
        // Unreadable directories are skipped.
        let Ok(entries) = std::fs::read_dir(&dir) else { continue };
        for entry in entries.flatten() {
            looked += 1;
            if looked > MAX_WALK_ENTRIES {
                return Err(ToolFailure::new(format!(
                    "more than {MAX_WALK_ENTRIES} files; set a narrower `path`"
                )));
            }
            if context.cancel.is_cancelled() {
                return Err(ToolFailure::new("cancelled"));
            }
            let path = entry.path();
            match entry.metadata() {
                Ok(meta) if meta.is_dir() && !is_excluded(&entry.file_name()) => left.push(path),
                Ok(meta) if meta.is_file() => {
                    let relative = path.strip_prefix(root).unwrap_or(&path).to_string_lossy().into_owned();
                    let changed = meta.modified().unwrap_or(SystemTime::UNIX_EPOCH);
                    found.push(FoundFile { path, relative, changed });
                }
                _ => {}
            }
        }
    }
    found.sort_by(|one, other| one.relative.cmp(&other.relative));
    Ok(found)
}

fn is_excluded(name: &std::ffi::OsStr) -> bool {
    EXCLUDED_DIRS.iter().any(|known| name == *known)
}
