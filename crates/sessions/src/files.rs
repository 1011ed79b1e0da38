// SPDX-License-Identifier: Apache-2.0 OR MIT

//! What a session did to which files: every change in order, and each file once.
//!
//! A change is *asked* when its call is let through, *done* when the harness says that the tool ran, and
//! *failed* when it did not. A harness that never tells leaves its changes asked.

use std::collections::{HashMap, VecDeque};

use tenterhook_api::{
    ChangedFile, FileChange, FileChangeKind, FileChangeState, FileCounts, MissingContent, OutsideChange,
    TouchedFile,
};
use tenterhook_event::{Timestamp, ToolClass, Touches};

use super::behind::Content;

/// How many paths a session keeps.
const PATHS: usize = 500;
/// How many changes it keeps; of more the oldest go.
const CHANGES: usize = 1000;

/// What a session did to which files.
#[derive(Debug, Default)]
pub(super) struct Files {
    pub(super) changes: VecDeque<Change>,
    touched: HashMap<String, Touched>,
    /// In which order files were changed first.
    order: usize,
    pub(super) left_out: u64,
}

/// One change of one file.
#[derive(Debug, Clone)]
pub(super) struct Change {
    /// The leaf of the call.
    pub(super) seq: u64,
    /// The leaf of its result.
    pub(super) result: Option<u64>,
    pub(super) ts: Timestamp,
    pub(super) path: String,
    pub(super) tool: String,
    pub(super) how: FileChangeKind,
    pub(super) state: FileChangeState,
    /// Lines added and taken away, where the call tells.
    pub(super) lines: Option<Lines>,
    pub(super) agent: Option<String>,
    pub(super) call: Option<String>,
    /// Whether somebody else had changed the file before.
    pub(super) behind: Option<OutsideChange>,
    pub(super) gone: Option<MissingContent>,
}

/// How many lines a change added and took away.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Lines {
    pub(super) added: u64,
    /// Unknown when nobody says what was there before.
    pub(super) removed: Option<u64>,
}

/// How often one file was touched.
#[derive(Debug, Default)]
pub(super) struct Touched {
    reads: u64,
    writes: u64,
    deletes: u64,
    /// Its place among the changed files.
    first: Option<usize>,
    last: Option<Timestamp>,
    deleted: bool,
    tools: Vec<String>,
    lines: Lines,
    pub(super) content: Content,
    behind: Option<OutsideChange>,
}

/// What a call of this class does to a file.
pub(super) fn change_kind(class: ToolClass, how: Touches) -> FileChangeKind {
    match (how, class) {
        (Touches::Deletes, _) => FileChangeKind::Delete,
        (_, ToolClass::Edit) => FileChangeKind::Edit,
        _ => FileChangeKind::Write,
    }
}

// === impl Files ===

impl Files {
    pub(super) fn read(&mut self, path: &str) {
        if let Some(touched) = self.file(path) {
            touched.reads += 1;
        }
    }

    /// A call that was let through changes a file.
    pub(super) fn changed(&mut self, change: Change) {
        let order = self.order;
        let Some(touched) = self.file(&change.path) else { return };
        touched.count(&change, 1);
        if touched.first.is_none() {
            touched.first = Some(order);
            self.order += 1;
        }
        // Calls at the same time may be heard in another order than they are recorded in.
        let at = self.changes.iter().rposition(|other| other.seq <= change.seq).map_or(0, |at| at + 1);
        self.changes.insert(at, change);
        if self.changes.len() > CHANGES {
            self.changes.pop_front();
            self.left_out += 1;
        }
    }

    /// The changes of one call.
    pub(super) fn of_call(&mut self, seq: u64) -> impl Iterator<Item = &mut Change> {
        self.changes
            .iter_mut()
            .rev()
            .skip_while(move |change| change.seq > seq)
            .take_while(move |change| change.seq == seq)
    }

    /// What the call with this leaf came to. Says which changes are done now.
    pub(super) fn settle(&mut self, seq: u64, state: FileChangeState, result: u64, ts: Timestamp) {
        let mut undone = Vec::new();
        for change in self.of_call(seq) {
            change.result = Some(result);
            if state == FileChangeState::Failed && change.state != FileChangeState::Failed {
                undone.push(change.clone());
            }
            change.state = state;
        }
        for change in undone {
            if let Some(touched) = self.touched.get_mut(&change.path) {
                touched.count(&change, -1);
            }
        }
        if state == FileChangeState::Done {
            let paths: Vec<_> = self.of_call(seq).map(|change| change.path.clone()).collect();
            for path in paths {
                if let Some(touched) = self.touched.get_mut(&path) {
                    touched.last = Some(ts);
                }
            }
        }
    }

    /// The lines of a change, once its result tells them.
    pub(super) fn set_lines(&mut self, seq: u64, path: &str, lines: Lines) {
        let Some(change) = self.of_call(seq).find(|change| change.path == path) else { return };
        let before = change.lines.replace(lines).unwrap_or_default();
        if let Some(touched) = self.touched.get_mut(path) {
            touched.lines.add(before, -1);
            touched.lines.add(lines, 1);
        }
    }

    /// Somebody else changed a file.
    pub(super) fn mark(&mut self, path: &str, seq: Option<u64>, behind: OutsideChange) {
        if let Some(seq) = seq
            && let Some(change) = self.of_call(seq).find(|change| change.path == path)
        {
            change.behind = Some(behind);
        }
        if let Some(touched) = self.touched.get_mut(path) {
            touched.behind = touched.behind.max(Some(behind));
        }
    }

    /// What is known of the content of a file that the agent touched.
    pub(super) fn content(&mut self, path: &str) -> Option<&mut Content> {
        self.touched.get_mut(path).map(|touched| &mut touched.content)
    }

    fn file(&mut self, path: &str) -> Option<&mut Touched> {
        if self.touched.len() >= PATHS && !self.touched.contains_key(path) {
            self.left_out += 1;
            return None;
        }
        Some(self.touched.entry(path.to_owned()).or_default())
    }

    pub(super) fn counts(&self) -> FileCounts {
        let count = |did: fn(&Touched) -> bool| self.touched.values().filter(|touched| did(touched)).count();
        FileCounts {
            read: count(|touched| touched.reads > 0),
            written: count(|touched| touched.writes > 0),
            deleted: count(|touched| touched.deletes > 0),
            changed: count(Touched::is_changed),
            behind: count(|touched| touched.behind.is_some()),
            left_out: self.left_out,
        }
    }

    /// Every file once, by its name.
    pub(super) fn list(&self) -> Vec<TouchedFile> {
        let mut files: Vec<_> = self.touched.iter().collect();
        files.sort_unstable_by_key(|(path, _)| *path);
        let entry = |(path, touched): (&String, &Touched)| TouchedFile {
            path: path.clone(),
            reads: touched.reads,
            writes: touched.writes,
            deletes: touched.deletes,
        };
        files.into_iter().map(entry).collect()
    }

    /// Every file that was changed, in the order of the first change.
    pub(super) fn distinct(&self, shown: &dyn Fn(&str) -> String) -> Vec<ChangedFile> {
        let mut files: Vec<_> = self.touched.iter().filter(|(_, touched)| touched.is_changed()).collect();
        files.sort_unstable_by_key(|(_, touched)| touched.first);
        let entry = |(path, touched): (&String, &Touched)| ChangedFile {
            path: path.clone(),
            shown: shown(path),
            changes: touched.writes + touched.deletes,
            tools: touched.tools.clone(),
            added: touched.lines.added,
            removed: touched.lines.removed.unwrap_or(0),
            deleted: touched.deleted,
            last: touched.last,
            behind: touched.behind,
        };
        files.into_iter().map(entry).collect()
    }
}

// === impl Touched ===

impl Touched {
    fn is_changed(&self) -> bool {
        self.writes + self.deletes > 0
    }

    /// Takes a change in, or out again when it failed.
    fn count(&mut self, change: &Change, by: i64) {
        let number = if change.how == FileChangeKind::Delete { &mut self.deletes } else { &mut self.writes };
        *number = number.saturating_add_signed(by);
        self.lines.add(change.lines.unwrap_or_default(), by);
        if by > 0 {
            self.deleted = change.how == FileChangeKind::Delete;
            self.last = Some(change.ts);
            if !self.tools.contains(&change.tool) {
                self.tools.push(change.tool.clone());
            }
        }
    }
}

impl Lines {
    fn add(&mut self, other: Self, by: i64) {
        let signed = |number: u64| i64::try_from(number).unwrap_or(i64::MAX).saturating_mul(by);
        self.added = self.added.saturating_add_signed(signed(other.added));
        if let Some(removed) = other.removed {
            self.removed = Some(self.removed.unwrap_or(0).saturating_add_signed(signed(removed)));
        }
    }
}

// === impl Change ===

impl Change {
    /// The change, as the API describes it.
    pub(super) fn file_change(&self, shown: &dyn Fn(&str) -> String) -> FileChange {
        FileChange {
            seq: self.seq,
            ts: self.ts,
            path: self.path.clone(),
            shown: shown(&self.path),
            tool: self.tool.clone(),
            how: self.how,
            state: self.state,
            added: self.lines.map(|lines| lines.added),
            removed: self.lines.and_then(|lines| lines.removed),
            tool_use_id: self.call.clone(),
            agent: self.agent.clone(),
            behind: self.behind,
            gone: self.gone,
        }
    }
}
