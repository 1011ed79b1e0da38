// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Takes a snapshot instead of asking the user, if the rules that ask permit it (`on_match: snapshot`).
//!
//! A snapshot replaces the question only if it covers everything that the rules ask about. To check this, the commands
//! that the snapshot covers are removed from the facts, and the rules are evaluated on the rest. If a rule still asks,
//! the question stays.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use tenterhook_event::{Decision, Event, EventKind, Finding, Origin};
use tenterhook_facts::{ExecLocation, Facts, ShellCommand};
use tenterhook_policy::PolicyJudgement;
use tenterhook_undo::{
    CallReference, GitCallKind, GitTarget, SnapshotError, SnapshotRequest, UndoError, UndoLimits, UndoStore,
};

/// Paths under which the git program is called. Another program of that name may do anything.
const GIT_PROGRAMS: &[&str] =
    &["git", "/usr/bin/git", "/usr/local/bin/git", "/opt/homebrew/bin/git", "/bin/git"];

/// Programs that start another command without changing its account, machine or directory.
const PLAIN_LAUNCHERS: &[&str] = &["bash", "sh", "zsh", "dash", "env", "command", "time", "timeout", "nice"];

/// Global options of git without a value. Options that name another repository or setting are not in this list.
const GLOBAL_OPTIONS: &[&str] = &["--no-pager", "-P", "-p", "--paginate", "--no-optional-locks"];

/// Maximum number of git commands in a call that is saved.
const MAX_COVERED_COMMANDS: usize = 64;

/// Saves what calls would lose, in the state directory.
#[derive(Debug, Clone)]
pub struct CallSnapshots {
    directory: PathBuf,
}

/// What a call would lose, and the facts about the rest of the call.
pub(crate) struct CoveredCall {
    targets: Vec<GitTarget>,
    /// Facts without the commands that the snapshot covers.
    pub(crate) rest: Facts,
}

/// Why no snapshot was taken. The reason is part of the trace.
#[derive(Debug, thiserror::Error)]
enum SnapshotRefusal {
    #[error("the project is unknown")]
    UnknownProject,
    #[error(transparent)]
    Store(#[from] UndoError),
    #[error(transparent)]
    Snapshot(#[from] SnapshotError),
}

// === impl CallSnapshots ===

impl CallSnapshots {
    /// Saves snapshots in this directory.
    pub fn new(directory: PathBuf) -> Self {
        Self { directory }
    }

    /// Returns the part of a call that a snapshot would cover, if nothing but questions of undoable rules stands
    /// against the call.
    pub(crate) fn cover(event: &Event, facts: &Facts, judged: &PolicyJudgement) -> Option<CoveredCall> {
        let is_undoable = |finding: &&Finding| match &finding.by {
            Origin::Rule(id) => finding.decision == Decision::Ask && judged.undoable.contains(id),
            _ => false,
        };
        let mut objections = judged.findings.iter().filter(|finding| finding.decision >= Decision::Ask);
        if event.event != EventKind::PreTool
            || judged.undoable.is_empty()
            || !objections.all(|finding| is_undoable(&finding))
            || !facts.unread.is_empty()
        {
            return None;
        }
        cover_commands(event, facts)
    }

    /// Takes the snapshot, and removes the questions that it replaces. Returns the id of the snapshot. If it cannot be
    /// taken, the questions stay, and the trace names the reason.
    pub(crate) fn replace_questions(
        &self,
        event: &Event,
        covered: CoveredCall,
        judged: &mut PolicyJudgement,
    ) -> Option<String> {
        let taken = self.take(event, covered, &judged.undoable);
        let is_undoable = |by: &Origin| matches!(by, Origin::Rule(id) if judged.undoable.contains(id));
        match taken {
            Ok(id) => {
                let note = format!("saved in snapshot {id}");
                for finding in judged.findings.iter_mut().filter(|finding| is_undoable(&finding.by)) {
                    let message = format!("Tenterhook: what this call discards is saved in snapshot {id}");
                    *finding = Finding { message: Some(message), ..Finding::silent(finding.by.clone()) };
                }
                for step in judged.steps.iter_mut().filter(|step| is_undoable(&step.by)) {
                    step.decision = Decision::None;
                    step.note = Some(step.note.take().map_or(note.clone(), |old| format!("{old}; {note}")));
                }
                Some(id)
            }
            Err(reason) => {
                let note = format!("no snapshot: {reason}");
                for step in judged.steps.iter_mut().filter(|step| is_undoable(&step.by)) {
                    step.note = Some(step.note.take().map_or(note.clone(), |old| format!("{old}; {note}")));
                }
                None
            }
        }
    }

    fn take(
        &self,
        event: &Event,
        covered: CoveredCall,
        rules: &[Arc<str>],
    ) -> Result<String, SnapshotRefusal> {
        let project =
            event.project.as_deref().or(event.cwd.as_deref()).ok_or(SnapshotRefusal::UnknownProject)?;
        let reason = rules.iter().map(AsRef::as_ref).collect::<Vec<_>>().join(", ");
        let call = CallReference {
            reason,
            session: event.harness_session_id.clone(),
            event: Some(event.id.to_string()),
            tool_call: event.tool_use_id.clone(),
        };
        let request = SnapshotRequest {
            call,
            project: PathBuf::from(project),
            files: Vec::new(),
            git: covered.targets,
            now_ms: event.ts.unix_ms(),
        };
        let store = UndoStore::open(&self.directory, UndoLimits::default())?;
        Ok(store.take_snapshot(&request)?.id)
    }

    /// Notes the state of the saved files after a call, so that later changes are recognised as newer work.
    pub(crate) fn note_call_end(&self, event: &Event) {
        let Some(tool_call) = event.tool_use_id.as_deref() else { return };
        if event.event != EventKind::PostTool || !self.directory.is_dir() {
            return;
        }
        if let Ok(store) = UndoStore::open(&self.directory, UndoLimits::default()) {
            // Without this note, the time of a change decides whether it is newer work.
            let _ = store.note_call_end(event.harness_session_id.as_deref(), tool_call);
        }
    }
}

/// Finds the git commands that a snapshot covers. Returns `None` if there are none.
fn cover_commands(event: &Event, facts: &Facts) -> Option<CoveredCall> {
    // Variables such as `GIT_DIR` let git change another repository.
    let tool = event.tool.as_ref()?;
    let text = tool.args.to_string();
    if text.contains("GIT_") {
        return None;
    }
    let read: Vec<_> = facts.commands.iter().map(|command| (command, read_target(command))).collect();
    let covered: Vec<_> =
        read.iter().filter(|(_, target)| target.is_some()).map(|(command, _)| *command).collect();
    let is_covered = |span, program: &str| {
        covered.iter().any(|command| command.span == span && command.program == program)
    };
    // The text of a loop runs several times. If one of its runs is not known completely, the question stays.
    let mut unknown = read.iter().filter(|(command, target)| target.is_none() && command.program == "git");
    if covered.len() > MAX_COVERED_COMMANDS || unknown.any(|(command, _)| is_covered(command.span, "git")) {
        return None;
    }
    let mut rest = facts.clone();
    rest.commands.retain(|command| !is_covered(command.span, &command.program));
    rest.effects.retain(|effect| !is_covered(effect.span, &effect.by));
    let mut targets = Vec::new();
    for target in read.into_iter().filter_map(|(_, target)| target) {
        if !targets.contains(&target) {
            targets.push(target);
        }
    }
    (!targets.is_empty()).then_some(CoveredCall { targets, rest })
}

/// Returns what a git command changes, if all of it is known.
fn read_target(command: &ShellCommand) -> Option<GitTarget> {
    let is_plain = command.program == "git"
        && GIT_PROGRAMS.contains(&command.raw.as_str())
        && command.on == ExecLocation::Here
        && command.certainty.is_certain()
        && !command.open_options
        && command.span.is_some()
        && command.via.iter().all(|via| PLAIN_LAUNCHERS.contains(&via.as_str()))
        && command.words.iter().all(|word| !word.dynamic);
    if !is_plain {
        return None;
    }
    let directory = command.directory.as_deref().filter(|directory| Path::new(directory).is_absolute())?;
    let mut words = command.words.iter().map(|word| word.text.as_str());
    let name = loop {
        match words.next()? {
            // The directory is part of the facts.
            "-C" => drop(words.next()?),
            option if GLOBAL_OPTIONS.contains(&option) => {}
            option if option.starts_with('-') => return None,
            name => break name,
        }
    };
    let arguments: Vec<&str> = words.collect();
    let kind = classify_command(name, &arguments)?;
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
