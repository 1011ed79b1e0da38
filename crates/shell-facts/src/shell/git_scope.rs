// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Recognises git commands that can only lose work in directories for temporary files.

use tenterhook_paths::{PathLocation, PathRoots};

use super::command::{ShellCommand, path_fact};
use super::environment::{GIT_PREFIX, is_redirecting_variable};
use super::scope::ShellScope;
use super::word::ShellWord;

/// Act of a git command in a directory for temporary files. It is removed if a link leads elsewhere.
pub const SCRATCH_ACT: &str = "scratch";

/// Records whether a git command works in a directory for temporary files.
pub(super) fn mark_scratch_work(command: &mut ShellCommand, scope: &ShellScope) {
    if command.program != "git" || scope.variable_names().any(names_git_variable) {
        return;
    }
    let is_here = has_only_plain_options(&command.words);
    let directory = command.directory.as_deref().filter(|_| is_here);
    if directory.is_some_and(|directory| is_temporary(directory, &scope.site.roots)) {
        command.acts.push(SCRATCH_ACT);
    }
}

/// Whether a variable may direct git to another repository.
pub(super) fn names_git_variable(name: &str) -> bool {
    name.starts_with(GIT_PREFIX) && is_redirecting_variable(name)
}

/// Whether the options before the sub-command leave git in the repository of its directory: not `--work-tree=…` or
/// `-c core.worktree=…`.
fn has_only_plain_options(words: &[ShellWord]) -> bool {
    let mut words = words.iter();
    while let Some(word) = words.next() {
        match word.text.as_str() {
            _ if word.dynamic => return false,
            "-C" => _ = words.next(),
            "--no-pager" | "-P" | "-p" | "--paginate" | "--no-optional-locks" => {}
            option if option.starts_with('-') => return false,
            _ => return true,
        }
    }
    false
}

/// Whether git works on the files of a directory for temporary files. Branches and stashes may still belong to a
/// repository elsewhere, because the directory may be a worktree.
fn is_temporary(directory: &str, roots: &PathRoots) -> bool {
    path_fact(&ShellWord::literal(directory), roots, None).places == [PathLocation::Temp]
}
