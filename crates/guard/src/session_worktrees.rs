// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Finds the git worktrees that a session creates, so that it may remove them again without a question.
//!
//! A worktree is the session's own only if its directory did not exist before the call that created it.

use std::path::PathBuf;

use tenterhook_facts::{ExecLocation, Facts, ShellCommand, is_redirecting_variable};

use crate::run_files::join_paths as join;
use crate::session_files::OwnPaths;
use crate::symlinks::SymlinkProbe;

/// Maximum number of worktrees that one call adds.
const MAX_CALL_WORKTREES: usize = 16;

/// Returns the words of `git worktree` after the directory options, and the directory; `None` if a word is known only at
/// run time or if git may use another repository.
fn worktree_words<'f>(command: &'f ShellCommand, cwd: Option<&str>) -> Option<(PathBuf, Vec<&'f str>)> {
    let is_known = command.words.iter().all(|word| !word.dynamic && !word.pattern);
    let names = command.env.iter().filter_map(|pair| pair.split('=').next());
    let is_redirected = names.filter(|name| name.starts_with("GIT_")).any(is_redirecting_variable);
    if command.program != "git" || command.on != ExecLocation::Here || !is_known || is_redirected {
        return None;
    }
    // The directory of a command includes `-C`.
    let directory = PathBuf::from(command.directory.as_deref().or(cwd)?);
    let mut words = command.words.iter().map(|word| word.text.as_str()).peekable();
    while words.next_if_eq(&"-C").is_some() {
        words.next();
    }
    (words.next()? == "worktree").then(|| (directory, words.collect()))
}

/// Returns the directory of the worktree that a command creates.
fn created_worktree(command: &ShellCommand, cwd: Option<&str>) -> Option<String> {
    let (directory, words) = worktree_words(command, cwd)?;
    let ["add", rest @ ..] = words.as_slice() else { return None };
    let mut rest = rest.iter();
    while let Some(word) = rest.next() {
        match *word {
            "-b" | "-B" | "--reason" => _ = rest.next(),
            option if option.starts_with('-') => {}
            path => return Some(join(&directory, path)),
        }
    }
    None
}

/// Returns the directory of the worktree that a command removes, if it does nothing else.
fn removed_worktree(command: &ShellCommand, cwd: Option<&str>) -> Option<String> {
    let (directory, words) = worktree_words(command, cwd)?;
    let ["remove", rest @ ..] = words.as_slice() else { return None };
    let mut paths = rest.iter().filter(|word| !word.starts_with('-'));
    let path = paths.next().filter(|_| paths.next().is_none())?;
    Some(join(&directory, path))
}

/// Returns the directories of the worktrees that a call creates and that do not exist yet.
pub(crate) fn find_created(facts: &Facts, cwd: Option<&str>) -> Vec<String> {
    let mut probe = SymlinkProbe::default();
    let created = facts.commands.iter().filter_map(|command| created_worktree(command, cwd));
    created.filter(|path| probe.is_absent(path)).take(MAX_CALL_WORKTREES).collect()
}

/// Removes the commands that only remove worktrees of the session, or that `created` names.
pub(crate) fn remove_own_removals(facts: &mut Facts, cwd: Option<&str>, own: &OwnPaths, created: &[String]) {
    let is_own = |path: &String| own.contains(path) || created.contains(path);
    facts.commands.retain(|command| removed_worktree(command, cwd).is_none_or(|path| !is_own(&path)));
}

/// Whether a call may create or remove worktrees.
pub(crate) fn uses_worktrees(facts: &Facts) -> bool {
    facts
        .commands
        .iter()
        .any(|command| command.program == "git" && command.words.iter().any(|word| word.text == "worktree"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use tenterhook_event::{Event, EventId, EventKind, Timestamp, ToolCall};
    use tenterhook_facts::EvalEnvironment;

    use super::*;

    fn facts(command: &str, cwd: &str) -> Facts {
        let tool = ToolCall::new("Bash", json!({ "command": command }));
        let event = Event::new(
            EventId::from_parts(1, 1),
            Timestamp::from_unix_ms(1),
            "claude-code",
            EventKind::PreTool,
            "PreToolUse",
        );
        let event = Event { tool: Some(tool), cwd: Some(cwd.to_owned()), ..event };
        tenterhook_facts::facts(&event, &EvalEnvironment::default())
    }

    #[test]
    fn only_worktrees_that_did_not_exist_are_found() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir(dir.path().join("old")).unwrap();
        let cwd = dir.path().to_str().unwrap();
        let created = |command: &str| find_created(&facts(command, cwd), Some(cwd));
        let new = format!("{cwd}/new");
        for command in ["git worktree add new", "git worktree add -b x new main", "git -C . worktree add new"]
        {
            assert_eq!(created(command), [new.as_str()], "{command}");
        }
        for command in ["git worktree add old", "git worktree add $X", "GIT_DIR=/x/.git git worktree add new"]
        {
            assert_eq!(created(command), [""; 0], "{command}");
        }
    }

    #[test]
    fn only_removals_of_own_worktrees_are_left_out() {
        let own = ["/w".to_owned()];
        let is_left_out = |command: &str| {
            let mut facts = facts(command, "/r");
            remove_own_removals(&mut facts, Some("/r"), &OwnPaths::default(), &own);
            facts.commands.is_empty()
        };
        for command in ["git worktree remove --force ../w", "git -C /r worktree remove -f ../w"] {
            assert!(is_left_out(command), "{command}");
        }
        for command in [
            "git worktree remove --force ../v",
            "git worktree remove --force $X",
            "git --git-dir=/o/.git worktree remove --force /w",
            "GIT_DIR=/o/.git git worktree remove --force /w",
            "git branch -D w",
        ] {
            assert!(!is_left_out(command), "{command}");
        }
    }
}
