// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Finds what the git commands of a call change.

use std::path::{Path, PathBuf};

use tenterhook_facts::{ExecLocation, ShellCommand};
use tenterhook_undo::{GitCallKind, GitTarget};

use super::{PLAIN_LAUNCHERS, is_system_program};

/// Programs that append words to a command. The words cannot change what the snapshot has to contain.
const WORD_LAUNCHERS: &[&str] = &["xargs"];

/// Global options of git without a value. Options that name another repository or setting are not in this list.
const GLOBAL_OPTIONS: &[&str] = &["--no-pager", "-P", "-p", "--paginate", "--no-optional-locks"];

/// Git commands that leave the working tree, the index, refs and stashes as they are.
const READING_COMMANDS: &[&str] = &[
    "status",
    "log",
    "diff",
    "show",
    "rev-parse",
    "ls-files",
    "blame",
    "describe",
    "remote",
    "cat-file",
    "for-each-ref",
    "rev-list",
    "merge-base",
    "grep",
    "fetch",
    "shortlog",
];

/// Returns what a git command changes, if all of it is known.
pub(super) fn read_target(command: &ShellCommand) -> Option<GitTarget> {
    let is_launcher = |via: &str| PLAIN_LAUNCHERS.contains(&via) || WORD_LAUNCHERS.contains(&via);
    let is_plain = command.program == "git"
        && is_system_program(command)
        && command.on == ExecLocation::Here
        && command.span.is_some()
        && command.via.iter().all(|via| is_launcher(via));
    if !is_plain {
        return None;
    }
    let directory = command.directory.as_deref().filter(|directory| Path::new(directory).is_absolute())?;
    let mut words = command.words.iter();
    let name = loop {
        let word = words.next().filter(|word| !word.dynamic && !word.pattern)?;
        match word.text.as_str() {
            // The directory is part of the facts.
            "-C" => drop(words.next().filter(|word| !word.dynamic)?),
            option if GLOBAL_OPTIONS.contains(&option) => {}
            option if option.starts_with('-') => return None,
            name => break name,
        }
    };
    let is_unknown = words.clone().any(|word| word.dynamic);
    let arguments: Vec<&str> = words.map(|word| word.text.as_str()).collect();
    let kind = classify_command(name, &arguments)?;
    let kind = if is_unknown { widen_kind(kind) } else { kind };
    // The setting `submodule.recurse` has the same effect as `--recurse-submodules`.
    let with_submodules = matches!(
        kind,
        GitCallKind::Reset | GitCallKind::Checkout | GitCallKind::Discard | GitCallKind::Rebase
    );
    Some(GitTarget { directory: PathBuf::from(directory), kind, with_submodules })
}

/// Returns the kind of a git command; `None` for a command that snapshots do not cover.
fn classify_command(name: &str, arguments: &[&str]) -> Option<GitCallKind> {
    let has = |wanted: &[&str]| arguments.iter().any(|argument| wanted.contains(argument));
    let is_whole_tree = |argument: &&&str| matches!(**argument, "." | "./" | ":/" | "--");
    match name {
        "checkout" if arguments.iter().all(|argument| is_whole_tree(&argument)) => Some(GitCallKind::Discard),
        "checkout" | "switch" => Some(GitCallKind::Checkout),
        "restore" if arguments.iter().all(|argument| !argument.starts_with('-')) => {
            Some(GitCallKind::Discard)
        }
        "restore" | "reset" | "read-tree" | "rm" | "checkout-index" => Some(GitCallKind::Reset),
        "clean" => Some(GitCallKind::Clean {
            ignored: count_letter(arguments, 'x') + count_letter(arguments, 'X') > 0,
            repositories: count_letter(arguments, 'f') + count_word(arguments, "--force") > 1,
        }),
        "stash" if has(&["drop", "clear"]) => Some(GitCallKind::DropStash),
        "branch" if has(&["-f", "--force"]) => Some(GitCallKind::UpdateRef),
        "branch" | "tag" => Some(GitCallKind::DeleteBranch),
        "update-ref" | "fetch" => Some(GitCallKind::UpdateRef),
        "gc" | "prune" | "reflog" => Some(GitCallKind::Prune),
        _ => None,
    }
}

/// Returns the kind that includes every effect that unknown options or operands may add.
fn widen_kind(kind: GitCallKind) -> GitCallKind {
    match kind {
        GitCallKind::Clean { .. } => GitCallKind::Clean { ignored: true, repositories: true },
        GitCallKind::Discard => GitCallKind::Reset,
        kind => kind,
    }
}

/// Whether a command may change what a later git command of the same call loses.
pub(super) fn may_change_repository(command: &ShellCommand) -> bool {
    let mut words = command.words.iter().map(|word| word.text.as_str());
    let name = words.find(|word| !word.starts_with('-'));
    command.program == "git" && !name.is_some_and(|name| READING_COMMANDS.contains(&name))
}

fn count_word(arguments: &[&str], word: &str) -> usize {
    arguments.iter().filter(|argument| **argument == word).count()
}

/// Counts a letter in groups of short options, such as `-fdx`.
fn count_letter(arguments: &[&str], letter: char) -> usize {
    let groups = arguments.iter().filter(|argument| argument.starts_with('-') && !argument.starts_with("--"));
    groups.map(|group| group.chars().filter(|found| *found == letter).count()).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn git_commands_are_classified() {
        let kind = |text: &str| {
            let mut words = text.split(' ');
            let name = words.next().unwrap();
            classify_command(name, &words.collect::<Vec<_>>())
        };
        assert_eq!(kind("checkout -- ."), Some(GitCallKind::Discard));
        assert_eq!(kind("checkout HEAD -- src/"), Some(GitCallKind::Checkout));
        assert_eq!(kind("restore ."), Some(GitCallKind::Discard));
        assert_eq!(kind("restore --staged --worktree ."), Some(GitCallKind::Reset));
        assert_eq!(kind("reset --hard HEAD~3"), Some(GitCallKind::Reset));
        let clean = |ignored, repositories| Some(GitCallKind::Clean { ignored, repositories });
        assert_eq!(kind("clean -fd"), clean(false, false));
        assert_eq!(kind("clean -xdff"), clean(true, true));
        assert_eq!(kind("clean --force --force -X"), clean(true, true));
        assert_eq!(kind("stash drop stash@{2}"), Some(GitCallKind::DropStash));
        assert_eq!(kind("branch -D feature"), Some(GitCallKind::DeleteBranch));
        assert_eq!(kind("gc --prune=now"), Some(GitCallKind::Prune));
        assert_eq!(kind("filter-branch -f"), None);
        assert_eq!(kind("worktree remove -f x"), None);
    }
}
