// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Installs hooks that are checked into a repository, for machines on which `install` is not run, such as
//! those of cloud sessions. The version control of the repository is the way to undo it, so there is no receipt.

use std::path::{Path, PathBuf};

use serde_json::json;
use tenterhook_error::Failure;
use tenterhook_harness_install::claude_code::repository::{
    HOOK_SCRIPT, REPOSITORY_SCRIPT, REPOSITORY_SETTINGS, insert_hooks,
};
use tenterhook_home::{read_file, write_atomic};

use crate::Setup;

/// A file of the repository, and the text that it gets.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct RepositoryFile {
    /// Path of the file.
    pub path: PathBuf,
    /// Whether the file has another text now.
    pub is_changed: bool,
    #[serde(skip)]
    text: String,
    #[serde(skip)]
    mode: u32,
}

/// Plans the hooks of a repository for Claude Code. Nothing is changed.
pub fn plan_repository(root: &Path) -> Result<Vec<RepositoryFile>, Failure> {
    let mut files = Vec::new();
    for (name, mode) in [(REPOSITORY_SCRIPT, 0o755), (REPOSITORY_SETTINGS, 0o644)] {
        let path = root.join(name);
        // A link could lead out of the repository.
        let is_link = |path: &Path| path.symlink_metadata().is_ok_and(|found| found.is_symlink());
        if let Some(link) =
            [Some(path.as_path()), path.parent()].into_iter().flatten().find(|path| is_link(path))
        {
            return Err(Failure::user(format!("`{}` is a symbolic link", link.display()))
                .hint("replace it with a file or directory of the repository"));
        }
        let before = read_file::regular_file(&path).map_err(|error| Failure::user(error.to_string()))?;
        let before = before.unwrap_or_default();
        let text = match name {
            REPOSITORY_SCRIPT => HOOK_SCRIPT.to_owned(),
            _ => insert_hooks(&before)
                .map_err(|error| Failure::user(format!("`{}`: {error}", path.display())))?,
        };
        files.push(RepositoryFile { is_changed: text != before, path, text, mode });
    }
    Ok(files)
}

/// Lists the files for a terminal, and what remains to be done.
pub fn describe_repository(files: &[RepositoryFile]) -> String {
    let line = |file: &RepositoryFile| {
        let state = if file.is_changed { "hooks for Claude Code" } else { "unchanged" };
        format!("{}: {state}\n", file.path.display())
    };
    files.iter().map(line).collect::<String>()
        + "commit both files, and install the program in the setup of the session; without it, guarded calls are refused\n"
}

/// Writes the planned files. The change is recorded first.
pub fn apply_repository(setup: &Setup<'_>, files: &[RepositoryFile]) -> Result<(), Failure> {
    setup.host.refuse_guarded_agent("install hooks")?;
    let changed: Vec<_> = files.iter().filter(|file| file.is_changed).collect();
    if changed.is_empty() {
        return Ok(());
    }
    let names: Vec<_> = changed.iter().map(|file| file.path.display().to_string()).collect();
    setup.home.create()?;
    let detail = json!({"harness": "claude-code", "scope": "repository", "files": names});
    setup.host.record_change("install", detail)?;
    for file in changed {
        if let Some(directory) = file.path.parent() {
            fs_err::create_dir_all(directory)?;
        }
        write_atomic(&file.path, file.text.as_bytes(), file.mode)?;
    }
    Ok(())
}
