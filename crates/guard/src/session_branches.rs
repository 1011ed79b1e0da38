// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Finds the branches and worktrees that a session creates, so that it may remove them again without a question.
//!
//! A branch is the session's own only if it did not exist before: its file and its line in `packed-refs` are looked up
//! before the call runs.

use std::path::{Path, PathBuf};

use tenterhook_facts::{ExecLocation, Facts, ShellCommand};
use tenterhook_policy::SessionState;

use crate::symlinks::SymlinkProbe;

/// Maximum number of directories above the working directory in which a repository is looked for.
const MAX_LEVELS: usize = 16;
/// Maximum size of a file with packed references that is read.
const MAX_REFS_BYTES: u64 = 4 * 1024 * 1024;
/// Maximum number of branches that one call adds.
const MAX_CALL_BRANCHES: usize = 16;
/// Options of git that take a value and may stand before the subcommand.
const GLOBAL_VALUE_OPTIONS: &[&str] = &["-C", "-c", "--git-dir", "--work-tree", "--namespace"];

/// A subcommand of git with its words, run in a known directory.
struct GitCall<'f> {
    directory: PathBuf,
    words: Vec<&'f str>,
}

impl<'f> GitCall<'f> {
    /// Reads a command; `None` if it is not git, or if a word is known only at run time.
    fn read(command: &'f ShellCommand, cwd: Option<&str>) -> Option<Self> {
        let is_known = command.words.iter().all(|word| !word.dynamic && !word.pattern);
        if command.program != "git" || command.on != ExecLocation::Here || !is_known {
            return None;
        }
        let mut directory = PathBuf::from(command.directory.as_deref().or(cwd)?);
        let mut words = command.words.iter().map(|word| word.text.as_str()).peekable();
        while let Some(option) = words.next_if(|word| word.starts_with('-')) {
            let value = GLOBAL_VALUE_OPTIONS.contains(&option).then(|| words.next()).flatten();
            match (option, value) {
                ("-C", Some(value)) => directory.push(value),
                // Another repository.
                ("--git-dir" | "--work-tree", _) => return None,
                _ => {}
            }
        }
        Some(Self { directory, words: words.collect() })
    }

    /// Returns the names of the branches that the command creates, and the worktree if it creates one.
    fn created(&self) -> (Vec<&'f str>, Option<&'f str>) {
        let plain = |rest: &[&'f str]| rest.iter().copied().find(|word| !word.starts_with('-'));
        let named = |rest: &[&'f str], options: &[&str]| {
            let at = rest.iter().position(|word| options.contains(word))?;
            rest.get(at + 1).copied()
        };
        match self.words.as_slice() {
            ["switch", rest @ ..] => (named(rest, &["-c", "--create"]).into_iter().collect(), None),
            ["checkout", rest @ ..] => (named(rest, &["-b"]).into_iter().collect(), None),
            ["branch", first, ..] if !first.starts_with('-') => (vec![*first], None),
            ["worktree", "add", rest @ ..] => {
                let branch = named(rest, &["-b"]);
                let mut operands = rest.iter().copied().filter(|word| !word.starts_with('-'));
                let path = operands.find(|word| Some(*word) != branch);
                // Without a branch, git creates one with the name of the directory.
                let own = plain(rest).and_then(|path| path.rsplit('/').next());
                let branch = branch.or(own.filter(|_| rest.len() == 1));
                (branch.into_iter().collect(), path)
            }
            _ => (Vec::new(), None),
        }
    }

    /// Returns the branches or the worktree that the command deletes; nothing if it does anything else.
    fn deleted(&self) -> Option<DeletedRefs<'f>> {
        match self.words.as_slice() {
            ["branch", rest @ ..] => {
                let (options, names): (Vec<&str>, Vec<&str>) =
                    rest.iter().partition(|word| word.starts_with('-'));
                let deletes = |option: &&str| {
                    matches!(*option, "-D" | "-d" | "--delete" | "-df" | "-fd" | "-Df" | "-fD")
                };
                let is_known =
                    |option: &&str| deletes(option) || matches!(*option, "-f" | "--force" | "-q" | "--quiet");
                (options.iter().any(deletes) && options.iter().all(is_known) && !names.is_empty())
                    .then_some(DeletedRefs::Branches(names))
            }
            ["worktree", "remove", rest @ ..] => {
                let mut paths = rest.iter().filter(|word| !word.starts_with('-'));
                let path = paths.next()?;
                paths.next().is_none().then_some(DeletedRefs::Worktree(path))
            }
            _ => None,
        }
    }
}

/// What a command of git removes.
enum DeletedRefs<'f> {
    Branches(Vec<&'f str>),
    Worktree(&'f str),
}

/// Returns the branches and worktrees that a call creates and that do not exist yet, as paths.
pub(crate) fn find_created(facts: &Facts, cwd: Option<&str>) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for call in facts.commands.iter().filter_map(|command| GitCall::read(command, cwd)) {
        let (branches, worktree) = call.created();
        if branches.is_empty() && worktree.is_none() {
            continue;
        }
        let mut probe = SymlinkProbe::default();
        if probe.may_block(&call.directory.to_string_lossy()) {
            continue;
        }
        let repository = find_repository(&call.directory);
        let is_new = |name: &&str| is_branch_name(name) && !branch_exists(&repository, name);
        found.extend(branches.into_iter().filter(is_new).map(|name| branch_path(&repository, name)));
        let path = worktree.map(|path| join(&call.directory, path));
        found.extend(path.filter(|path| probe.is_absent(path)));
    }
    found.truncate(MAX_CALL_BRANCHES);
    found
}

/// Removes the commands that delete only branches and worktrees of the session: `own`, and those in its state.
pub(crate) fn remove_own_deletions(
    facts: &mut Facts,
    cwd: Option<&str>,
    state: &SessionState,
    own: &[String],
) -> bool {
    let is_own = |path: &String| state.branches.contains(path) || own.contains(path);
    let before = facts.commands.len();
    facts.commands.retain(|command| {
        let Some(call) = GitCall::read(command, cwd) else { return true };
        match call.deleted() {
            Some(DeletedRefs::Branches(names)) => {
                let repository = find_repository(&call.directory);
                !names.iter().all(|name| is_own(&branch_path(&repository, name)))
            }
            Some(DeletedRefs::Worktree(path)) => !is_own(&join(&call.directory, path)),
            None => true,
        }
    });
    facts.commands.len() < before
}

/// Whether a call may create or delete branches or worktrees.
pub(crate) fn uses_branches(facts: &Facts) -> bool {
    let is_verb = |text: &str| matches!(text, "branch" | "worktree" | "switch" | "checkout");
    let uses = |command: &ShellCommand| {
        command.program == "git" && command.words.iter().any(|word| is_verb(&word.text))
    };
    facts.commands.iter().any(uses)
}

fn is_branch_name(name: &str) -> bool {
    !name.is_empty() && !name.starts_with(['-', '/']) && !name.contains("..") && !name.contains('\0')
}

/// Returns the directory with the references of the repository that a directory belongs to.
fn find_repository(directory: &Path) -> PathBuf {
    let found = directory.ancestors().take(MAX_LEVELS).map(|parent| parent.join(".git")).find_map(|path| {
        if path.is_dir() {
            return Some(path);
        }
        // A worktree has a file that names `<repository>/worktrees/<name>`.
        let bytes = tenterhook_files::read_bytes(&path, tenterhook_files::FileClass::Named, 4096).ok()??;
        let text = String::from_utf8(bytes).ok()?;
        let own = parent_of(&path).join(text.strip_prefix("gitdir:")?.trim());
        own.ancestors().nth(2).map(Path::to_owned)
    });
    found.unwrap_or_else(|| directory.join(".git"))
}

fn parent_of(path: &Path) -> &Path {
    path.parent().unwrap_or(path)
}

fn branch_path(repository: &Path, name: &str) -> String {
    repository.join("refs/heads").join(name).to_string_lossy().into_owned()
}

/// Whether a branch exists. A repository whose references are stored in another format counts as having it.
fn branch_exists(repository: &Path, name: &str) -> bool {
    if repository.join("refs/heads").join(name).symlink_metadata().is_ok()
        || repository.join("reftable").is_dir()
    {
        return true;
    }
    let packed = repository.join("packed-refs");
    match tenterhook_files::read_bytes(&packed, tenterhook_files::FileClass::Named, MAX_REFS_BYTES) {
        Ok(Some(bytes)) => {
            let line = format!("refs/heads/{name}");
            String::from_utf8_lossy(&bytes).lines().any(|own| own.ends_with(&line))
        }
        Ok(None) => false,
        // A file that cannot be read may contain the branch.
        Err(_) => true,
    }
}

/// Joins a directory and a path, without `.` and `..`.
fn join(directory: &Path, path: &str) -> String {
    crate::run_files::normalize_path(&directory.join(path))
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
    fn only_branches_that_did_not_exist_are_the_sessions_own() {
        let dir = tempfile::tempdir().unwrap();
        let heads = dir.path().join(".git/refs/heads");
        std::fs::create_dir_all(&heads).unwrap();
        std::fs::write(heads.join("old"), "1").unwrap();
        std::fs::write(dir.path().join(".git/packed-refs"), "0 refs/heads/packed\n").unwrap();
        let cwd = dir.path().to_str().unwrap();
        let names = |command: &str| -> Vec<String> {
            let found = find_created(&facts(command, cwd), Some(cwd));
            found.iter().map(|path| path.rsplit('/').next().unwrap().to_owned()).collect()
        };
        for command in
            ["git switch -c new", "git checkout -b new", "git branch new", "cd sub; git branch new main"]
        {
            assert_eq!(names(command), ["new"], "{command}");
        }
        assert_eq!(names("git worktree add -b new .trees/x"), ["new", "x"]);
        for command in [
            "git branch old",
            "git branch packed",
            "git branch -D new",
            "git checkout -B old",
            "git branch $X",
        ] {
            assert_eq!(names(command), Vec::<String>::new(), "{command}");
        }
    }

    #[test]
    fn only_deletions_of_own_branches_are_removed() {
        let own = vec!["/r/.git/refs/heads/a".to_owned(), "/r/.git/refs/heads/b".to_owned(), "/w".to_owned()];
        let removes = |command: &str| {
            let mut facts = facts(command, "/r");
            remove_own_deletions(&mut facts, Some("/r"), &SessionState::default(), &own)
        };
        for command in ["git branch -D a", "git branch -d -f a b", "git worktree remove --force ../w"] {
            assert!(removes(command), "{command}");
        }
        for command in
            ["git branch -D a c", "git branch -D $X", "git -C /o branch -D a", "git branch -f a main"]
        {
            assert!(!removes(command), "{command}");
        }
    }
}
