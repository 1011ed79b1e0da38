// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Finds the files that contain commands.

use std::io::Read;
use std::path::{Path, PathBuf};

use tenterhook_error::Failure;
use tenterhook_policy::Problem;

use tenterhook_command_files::{FileKind, SCRIPT, is_shell_shebang, kind_by_name};

/// Directories with third-party or generated files.
const SKIPPED_DIRECTORIES: &[&str] =
    &[".git", ".hg", ".svn", "node_modules", "target", ".venv", "__pycache__"];
/// Maximum size of a scanned file. Larger files are usually not written by hand.
pub(crate) const MAX_FILE_BYTES: u64 = 1024 * 1024;
/// Maximum depth of directories.
const MAX_DIRECTORY_DEPTH: usize = 64;

/// A file that contains commands.
pub(crate) struct CommandFile {
    pub(crate) path: PathBuf,
    pub(crate) kind: &'static FileKind,
}

/// Returns the files at or below a path, sorted by name.
pub(crate) fn find_files(path: &Path, problems: &mut Vec<Problem>) -> Result<Vec<CommandFile>, Failure> {
    let metadata = fs_err::metadata(path).map_err(|error| Failure::user(error.to_string()))?;
    let mut found = Vec::new();
    if metadata.is_dir() {
        walk(path, 0, &mut found, problems);
    } else if !metadata.is_file() {
        return Err(Failure::user(format!("`{}` is neither a file nor a directory", path.display())));
    } else if metadata.len() > MAX_FILE_BYTES {
        problems.push(Problem::for_file(&path.display().to_string(), "larger than 1 MiB, not scanned"));
    } else {
        let kind = kind_of(path).unwrap_or(&SCRIPT);
        found.push(CommandFile { path: path.to_owned(), kind });
    }
    Ok(found)
}

fn walk(dir: &Path, depth: usize, found: &mut Vec<CommandFile>, problems: &mut Vec<Problem>) {
    let mut refuse = |error: &std::io::Error| {
        problems.push(Problem::for_file(&dir.display().to_string(), error.to_string()));
    };
    let entries = match fs_err::read_dir(dir) {
        Ok(entries) => entries,
        Err(error) => return refuse(&error),
    };
    let mut entries: Vec<_> = entries
        .filter_map(|entry| entry.map_err(|error| refuse(&error)).ok())
        .filter_map(|entry| Some((entry.path(), entry.metadata().ok()?)))
        .collect();
    entries.sort_by(|(one, _), (other, _)| one.cmp(other));
    for (path, metadata) in entries {
        // Symbolic links are not followed: the metadata of a directory entry describes the link itself.
        if metadata.is_dir() {
            let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
            if !SKIPPED_DIRECTORIES.contains(&name) && depth < MAX_DIRECTORY_DEPTH {
                walk(&path, depth + 1, found, problems);
            }
        } else if metadata.is_file()
            && metadata.len() <= MAX_FILE_BYTES
            && let Some(kind) = kind_of(&path)
        {
            found.push(CommandFile { path, kind });
        }
    }
}

/// Returns the kind of a file, based on its name or its first line.
fn kind_of(path: &Path) -> Option<&'static FileKind> {
    kind_by_name(path).or_else(|| {
        // A file with another extension is not a script, regardless of its first line.
        let plain = path.extension().is_none();
        (plain && is_shell_shebang(&first_line(path)?)).then_some(&SCRIPT)
    })
}

fn first_line(path: &Path) -> Option<String> {
    let mut start = [0; 128];
    let mut file = tenterhook_files::open(path, tenterhook_files::FileClass::Named).ok()??;
    let read = file.read(&mut start).ok()?;
    let start = String::from_utf8_lossy(start.get(..read)?).into_owned();
    start.lines().next().map(ToOwned::to_owned)
}
