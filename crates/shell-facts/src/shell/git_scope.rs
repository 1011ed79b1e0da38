// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Recognises git commands that can only lose work of the script itself: in directories for temporary files, and on
//! branches that the script has just created.

use std::sync::Arc;

use tenterhook_paths::{PathLocation, PathRoots};

use super::command::{ShellCommand, path_fact};
use super::scope::ShellScope;
use super::word::ShellWord;

/// Maximum number of branches of a script that are remembered.
const MAX_OWN_BRANCHES: usize = 16;

/// Records what is known about a git command, and remembers the branches that it creates.
pub(super) fn mark_own_work(command: &mut ShellCommand, scope: &mut ShellScope) {
    if command.program != "git" {
        return;
    }
    let Some(directory) = command.directory.clone() else { return };
    if is_temporary(&directory, &scope.site.roots) {
        command.acts.push("scratch");
    }
    let Some((verb, words)) = subcommand(&command.words) else { return };
    let is_own = |word: &&ShellWord| {
        !word.dynamic && scope.own_branches.contains(&(directory.clone(), word.text.clone()))
    };
    let mut deleted = deleted_branches(verb, words).peekable();
    if deleted.peek().is_some() && deleted.all(|word| is_own(&word)) {
        command.acts.push("own-branch");
    }
    if let Some(name) = created_branch(verb, words).filter(|name| !name.dynamic)
        && scope.own_branches.len() < MAX_OWN_BRANCHES
    {
        Arc::make_mut(&mut scope.own_branches).push((directory, name.text.clone()));
    }
}

/// Whether git works on the files of a directory for temporary files. Branches and stashes may still belong to a
/// repository elsewhere, because the directory may be a worktree.
fn is_temporary(directory: &str, roots: &PathRoots) -> bool {
    path_fact(&ShellWord::literal(directory), roots, None).places == [PathLocation::Temp]
}

/// Returns the sub-command and the words after it.
fn subcommand(words: &[ShellWord]) -> Option<(&str, &[ShellWord])> {
    let mut rest = words;
    loop {
        let (word, after) = rest.split_first()?;
        rest = match word.text.as_str() {
            "-C" | "-c" => after.get(1..)?,
            option if option.starts_with('-') => after,
            verb => return Some((verb, after)),
        };
    }
}

/// Returns the branch that a command creates. The command fails if the branch exists.
fn created_branch<'a>(verb: &str, words: &'a [ShellWord]) -> Option<&'a ShellWord> {
    let after = |options: &[&str]| {
        let at = words.iter().position(|word| options.contains(&word.text.as_str()))?;
        words.get(at + 1)
    };
    match (verb, words) {
        ("branch", [name] | [name, _]) if words.iter().all(|word| !word.text.starts_with('-')) => Some(name),
        ("checkout", _) => after(&["-b"]),
        ("switch", _) => after(&["-c", "--create"]),
        ("worktree", [add, ..]) if add.is("add") => after(&["-b"]),
        _ => None,
    }
}

/// Returns the branches that a command deletes without a check.
fn deleted_branches<'a>(verb: &str, words: &'a [ShellWord]) -> impl Iterator<Item = &'a ShellWord> {
    let is_delete =
        verb == "branch" && words.iter().any(|word| word.is("-D") || word.is("-d") || word.is("--delete"));
    words.iter().filter(move |word| is_delete && !word.text.starts_with('-'))
}
