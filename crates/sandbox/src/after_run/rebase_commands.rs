// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Commands in the list of an unfinished rebase, which `git rebase --continue` runs.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use super::{SettingsBefore, UndoneChange, file_repair::FileRepair, read_settings};
use crate::repositories::Repository;

/// Files with the steps of a rebase, in a git directory.
const STEP_FILES: &[&str] = &["rebase-merge/git-rebase-todo", "rebase-merge/git-rebase-todo.backup"];
/// Words with which a step runs a command.
const COMMAND_WORDS: &[&str] = &["exec", "x"];

/// Returns the files with the steps of a rebase in these repositories.
pub(super) fn step_files(repositories: &[Repository]) -> Vec<PathBuf> {
    let git_dirs = repositories.iter().map(|found| &found.own_git_dir);
    let mut files: Vec<_> =
        git_dirs.flat_map(|git_dir| STEP_FILES.iter().map(|name| git_dir.join(name))).collect();
    files.sort();
    files.dedup();
    files
}

impl SettingsBefore {
    /// Removes steps that run a command and that were added during the run.
    pub(super) fn undo_rebase_commands(
        &self,
        repositories: &[Repository],
        repair: &FileRepair<'_>,
    ) -> Vec<UndoneChange> {
        let files = step_files(repositories);
        let recent = files.iter().filter(|path| self.is_recent(path));
        recent.filter_map(|path| self.undo_steps(path, repair)).collect()
    }

    fn undo_steps(&self, path: &Path, repair: &FileRepair<'_>) -> Option<UndoneChange> {
        let before =
            self.steps.iter().find(|(known, _)| known == path).map(|(_, content)| content.0.as_slice());
        let change = "commands were added to an unfinished rebase";
        match read_settings(path) {
            Ok(Some(now)) => {
                let clean = without_new_commands(before.unwrap_or_default(), &now)?;
                Some(UndoneChange::new(path, change, repair.replace(path, &clean, None)))
            }
            Ok(None) => None,
            Err(_) => Some(UndoneChange::new(path, change, repair.move_aside(path))),
        }
    }
}

/// Returns the steps without commands that were not there before; `None` if there are no such commands.
fn without_new_commands(before: &[u8], now: &[u8]) -> Option<Vec<u8>> {
    let known: HashSet<_> = before.split(|byte| *byte == b'\n').filter(|line| runs_command(line)).collect();
    let lines: Vec<_> = now.split(|byte| *byte == b'\n').collect();
    let kept: Vec<_> =
        lines.iter().copied().filter(|line| !runs_command(line) || known.contains(line)).collect();
    (kept.len() < lines.len()).then(|| kept.join(&b'\n'))
}

fn runs_command(line: &[u8]) -> bool {
    let is_space = |byte: &u8| matches!(byte, b' ' | b'\t' | b'\r');
    let mut words = line.split(is_space).filter(|word| !word.is_empty());
    words.next().is_some_and(|word| COMMAND_WORDS.iter().any(|known| word == known.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_added_commands_are_removed() {
        let before = b"pick a\nexec make test\n";
        assert_eq!(without_new_commands(before, b"exec make test\n"), None);
        let now = b"pick b\n\tx evil\nexec make test\n  exec\tevil\nexecute\n";
        assert_eq!(
            without_new_commands(before, now).as_deref(),
            Some(&b"pick b\nexec make test\nexecute\n"[..])
        );
    }
}
