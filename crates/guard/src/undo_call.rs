// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Takes a snapshot instead of asking the user, if the rules that ask permit it (`on_match: snapshot`).
//!
//! A snapshot replaces the question only if it covers everything that the rules ask about. To check this, the parts
//! of the call that the snapshot covers are removed from the facts, and the rules are evaluated on the rest. If a rule
//! still asks, the question stays. A rule with `verdict: none` asks nothing: its call is saved if that is possible.

mod call_parts;
mod file_effects;
mod git_commands;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;
use tenterhook_api::SessionSnapshot;
use tenterhook_event::{Decision, Event, EventKind, Finding, Origin, Timestamp};
use tenterhook_facts::{Facts, ShellCommand};
use tenterhook_home::Home;
use tenterhook_policy::{PolicyJudgement, SHELL_ENVIRONMENT_LABEL, SessionState};
use tenterhook_undo::{
    CallReference, FileTarget, SnapshotError, SnapshotErrorKind, SnapshotFilter, SnapshotRequest,
    TargetChange, TargetExtent, UndoError, UndoLimits, UndoStore,
};

pub(crate) use call_parts::RestJudgement;
use call_parts::{CoverableCall, CoverablePart};

/// Programs that start another command without changing its account, machine or directory.
const PLAIN_LAUNCHERS: &[&str] = &["bash", "sh", "zsh", "dash", "env", "command", "time", "timeout", "nice"];

/// Directories with the programs of the system. A program of the same name elsewhere may do anything.
const PROGRAM_DIRECTORIES: &[&str] = &["/bin", "/usr/bin", "/usr/local/bin", "/opt/homebrew/bin"];

/// Beginning of the names of variables that may direct git to another repository.
const GIT_VARIABLE_PREFIX: &str = "GIT_";

/// Time limit of a snapshot that replaces no question. The call runs without a snapshot if it takes longer.
const UNASKED_SNAPSHOT_TIME: Duration = Duration::from_millis(300);
/// Maximum number of files of such a snapshot, and of bytes that are copied for it. More would take longer than the time
/// limit, and would be copied without effect.
const UNASKED_SNAPSHOT_FILES: usize = 8_000;
const UNASKED_COPIED_BYTES: u64 = 24 * 1024 * 1024;

/// Part of the names of arguments with which a tool runs in the background: `run_in_background`, `isBackground`.
const BACKGROUND_ARGUMENT_PART: &str = "background";
/// Fields of a tool's output that name a task in the background.
const BACKGROUND_OUTPUTS: &[&str] = &["backgroundTaskId", "background_task_id"];

/// Runs work that may take seconds, so that other tasks of the calling thread can continue elsewhere.
pub type BlockingRunner = fn(&mut dyn FnMut());

/// Saves what calls would lose, in the state directory.
#[derive(Debug, Clone)]
pub struct CallSnapshots {
    directory: PathBuf,
    limits: UndoLimits,
    run_blocking: BlockingRunner,
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
    pub fn new(directory: PathBuf, limits: UndoLimits) -> Self {
        Self { directory, limits, run_blocking: |work| work() }
    }

    /// Runs the parts that wait for the disk with this function.
    #[must_use]
    pub fn with_runner(self, run_blocking: BlockingRunner) -> Self {
        Self { run_blocking, ..self }
    }

    /// Returns the parts of a call that a snapshot can cover, if only undoable rules ask about the call.
    pub(crate) fn find_parts<'f>(
        event: &Event,
        facts: &'f Facts,
        judged: &PolicyJudgement,
        state: &SessionState,
    ) -> Option<CoverableCall<'f>> {
        let is_undoable = |finding: &&Finding| match &finding.by {
            Origin::Rule(id) => finding.decision == Decision::Ask && judged.undoable.contains(id),
            _ => false,
        };
        let is_objection = |finding: &&Finding| finding.decision >= Decision::Ask;
        let is_asked = judged.findings.iter().any(|finding| is_objection(&finding));
        let mut objections = judged.findings.iter().filter(is_objection);
        if event.event != EventKind::PreTool
            || judged.undoable.is_empty()
            || !objections.all(|finding| is_undoable(&finding))
            || !facts.unread.is_empty()
        {
            return None;
        }
        let now_ms = event.ts.unix_ms();
        let text = event.tool.as_ref()?.args.to_string();
        let may_be_redirected = state.is_incomplete
            || state.labels(now_ms).any(|label| label == SHELL_ENVIRONMENT_LABEL)
            || facts.redirects_commands()
            || text.contains(GIT_VARIABLE_PREFIX);
        // Directories and repositories may be other ones than the command names, so the wrong files would be saved.
        if may_be_redirected && is_asked {
            return None;
        }
        CoverableCall::find(event, facts, may_be_redirected)
    }

    /// Takes the snapshot, and removes the questions that it replaces. Returns the id of the snapshot. If it cannot be
    /// taken, the questions stay, and the trace names the reason.
    pub(crate) fn replace_questions(
        &self,
        event: &Event,
        parts: &[CoverablePart],
        judged: &mut PolicyJudgement,
    ) -> Option<String> {
        let is_asked = judged.findings.iter().any(|finding| finding.decision >= Decision::Ask);
        let mut taken = Ok(None);
        (self.run_blocking)(&mut || taken = self.take(event, parts, &judged.undoable, is_asked));
        let note = match &taken {
            Ok(Some(id)) => format!("saved in snapshot {id}"),
            Ok(None) => return None,
            Err(reason) => {
                judged
                    .findings
                    .extend(unsaved_finding(reason, parts, &judged.undoable).filter(|_| !is_asked));
                format!("no snapshot: {reason}")
            }
        };
        let is_undoable = |by: &Origin| matches!(by, Origin::Rule(id) if judged.undoable.contains(id));
        for step in judged.steps.iter_mut().filter(|step| is_undoable(&step.by)) {
            step.note = Some(step.note.take().map_or(note.clone(), |old| format!("{old}; {note}")));
            if taken.is_ok() {
                step.decision = Decision::None;
            }
        }
        let id = taken.ok().flatten()?;
        if !is_asked {
            return Some(id);
        }
        for finding in judged.findings.iter_mut().filter(|finding| is_undoable(&finding.by)) {
            let message = format!("Tenterhook: what this call discards is saved in snapshot {id}");
            *finding = Finding { message: Some(message), ..Finding::silent(finding.by.clone()) };
        }
        Some(id)
    }

    fn take(
        &self,
        event: &Event,
        parts: &[CoverablePart],
        rules: &[Arc<str>],
        is_asked: bool,
    ) -> Result<Option<String>, SnapshotRefusal> {
        let project = find_project(event).ok_or(SnapshotRefusal::UnknownProject)?;
        let reason = rules.iter().map(AsRef::as_ref).collect::<Vec<_>>().join(", ");
        let call = CallReference {
            reason,
            session: event.harness_session_id.clone(),
            event: Some(event.id.to_string()),
            tool_call: event.tool_use_id.clone(),
            replaces_question: is_asked,
        };
        let request = SnapshotRequest {
            call,
            project: PathBuf::from(project),
            files: parts.iter().flat_map(|part| part.files.iter().cloned()).collect(),
            git: parts.iter().flat_map(|part| part.git.iter().cloned()).collect(),
            now_ms: event.ts.unix_ms(),
        };
        if is_asked {
            let store = UndoStore::open(&self.directory, self.limits)?;
            return Ok(Some(store.take_snapshot(&request)?.id));
        }
        let limits = UndoLimits {
            max_time: self.limits.max_time.min(UNASKED_SNAPSHOT_TIME),
            max_files: self.limits.max_files.min(UNASKED_SNAPSHOT_FILES),
            max_copied_bytes: self.limits.max_copied_bytes.min(UNASKED_COPIED_BYTES),
            ..self.limits
        };
        let store = UndoStore::open(&self.directory, limits)?;
        Ok(store.take_snapshot_of_existing(&request)?.map(|taken| taken.id))
    }

    /// Notes the state of the saved files after a call, so that later changes are recognised as newer work.
    pub(crate) fn note_call_end(&self, event: &Event) {
        let Some(tool_call) = event.tool_use_id.as_deref() else { return };
        // The event of a call in the background arrives before its changes.
        if event.event != EventKind::PostTool || runs_in_background(event) || !self.directory.is_dir() {
            return;
        }
        (self.run_blocking)(&mut || {
            if let Ok(store) = UndoStore::open(&self.directory, self.limits) {
                // Without this note, the time of a change decides whether it is newer work.
                let _ = store.note_call_end(event.harness_session_id.as_deref(), tool_call);
            }
        });
    }
}

/// Returns the snapshots of a session's calls, newest first.
pub fn list_session_snapshots(home: &Home, session: &str) -> Result<Vec<SessionSnapshot>, UndoError> {
    // Opening the store would create its directory.
    if !home.undo().is_dir() {
        return Ok(Vec::new());
    }
    let store = UndoStore::open(&home.undo(), UndoLimits::default())?;
    let filter = SnapshotFilter { session: Some(session.to_owned()), ..SnapshotFilter::default() };
    let snapshots = store.list(&filter)?.into_iter().map(|found| SessionSnapshot {
        id: found.id,
        taken: Timestamp::from_unix_ms(found.taken_ms),
        reason: found.reason,
        entries: u64::try_from(found.entries).unwrap_or(u64::MAX),
        bytes: found.bytes,
        event: found.event,
    });
    Ok(snapshots.collect())
}

/// Returns a message about a deleted directory tree that is too large to save.
fn unsaved_finding(reason: &SnapshotRefusal, parts: &[CoverablePart], rules: &[Arc<str>]) -> Option<Finding> {
    let is_deleted_tree =
        |file: &FileTarget| file.change == TargetChange::Delete && file.extent != TargetExtent::Path;
    let SnapshotRefusal::Snapshot(error) = reason else { return None };
    let is_limit = matches!(error.kind(), SnapshotErrorKind::LimitExceeded | SnapshotErrorKind::StorageFull);
    if !is_limit || !parts.iter().flat_map(|part| &part.files).any(is_deleted_tree) {
        return None;
    }
    let message = format!("Tenterhook: not saved, so it cannot be undone: {error}");
    Some(Finding { message: Some(message), ..Finding::silent(Origin::Rule(rules.first()?.clone())) })
}

/// Whether the tool call continues after its event: it was started in the background, or the harness moved it there.
pub(crate) fn runs_in_background(event: &Event) -> bool {
    let Some(tool) = &event.tool else { return false };
    let mut args = tool.args.as_object().into_iter().flatten();
    let output = event.detail.tool_output.as_ref();
    args.any(|(key, value)| is_background_argument(key) && value.as_bool() != Some(false))
        || output.is_some_and(|output| {
            BACKGROUND_OUTPUTS.iter().any(|key| output.get(key).is_some_and(Value::is_string))
        })
}

fn is_background_argument(key: &str) -> bool {
    key.to_ascii_lowercase().contains(BACKGROUND_ARGUMENT_PART)
}

/// Returns the directory that snapshots of a call are limited to.
fn find_project(event: &Event) -> Option<&str> {
    event.project.as_deref().or(event.cwd.as_deref())
}

/// Whether a command is started directly, from a directory of system programs.
fn is_system_program(command: &ShellCommand) -> bool {
    command.raw == command.program
        || command.raw.rsplit_once('/').is_some_and(|(directory, name)| {
            name == command.program && PROGRAM_DIRECTORIES.contains(&directory)
        })
}
