// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The files that a session touched: every change in order, and statistics per file.
//!
//! A change is *asked* when its call is let through, *done* when the harness reports that the tool ran, and *failed*
//! when the tool failed or did not run. If a harness reports no results, its changes stay *asked*.

use std::collections::{HashMap, VecDeque};

use tenterhook_api::{
    ChangedFile, FileChange, FileChangeKind, FileChangeState, FileCounts, MissingContent, OutsideChange,
    TouchedFile,
};
use tenterhook_event::{PathEffectKind, Timestamp, ToolClass};

use super::outside_change::KnownContent;

/// Maximum number of paths per session.
const MAX_PATHS: usize = 500;
/// Maximum number of changes per session; older ones are dropped.
const MAX_CHANGES: usize = 1000;

/// File changes and statistics of a session.
#[derive(Debug, Default)]
pub(super) struct FileActivity {
    pub(super) changes: VecDeque<TrackedChange>,
    touched: HashMap<String, FileStats>,
    /// Number of files changed so far: the position of the next file in the order of first changes.
    order: usize,
    pub(super) left_out: u64,
}

/// One change to one file.
#[derive(Debug, Clone)]
pub(super) struct TrackedChange {
    /// Sequence number of the call.
    pub(super) seq: u64,
    /// Sequence number of the result.
    pub(super) result: Option<u64>,
    pub(super) ts: Timestamp,
    pub(super) path: String,
    pub(super) tool: String,
    pub(super) how: FileChangeKind,
    pub(super) state: FileChangeState,
    /// Lines added and removed, if known.
    pub(super) lines: Option<LineCounts>,
    pub(super) agent: Option<String>,
    pub(super) call: Option<String>,
    /// Kind of outside change that this call revealed, if any.
    pub(super) behind: Option<OutsideChange>,
    pub(super) gone: Option<MissingContent>,
}

/// Number of lines that a change added and removed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct LineCounts {
    pub(super) added: u64,
    /// `None` if the previous content is unknown.
    pub(super) removed: Option<u64>,
}

/// Statistics of one file.
#[derive(Debug, Default)]
pub(super) struct FileStats {
    reads: u64,
    writes: u64,
    deletes: u64,
    /// Position in the order of the first changes.
    first: Option<usize>,
    last: Option<Timestamp>,
    deleted: bool,
    tools: Vec<String>,
    lines: LineCounts,
    pub(super) content: KnownContent,
    behind: Option<OutsideChange>,
}

/// Returns the API's kind of change for a tool class and a file effect.
pub(super) fn change_kind(class: ToolClass, how: PathEffectKind) -> FileChangeKind {
    match (how, class) {
        (PathEffectKind::Deletes, _) => FileChangeKind::Delete,
        (_, ToolClass::Edit) => FileChangeKind::Edit,
        _ => FileChangeKind::Write,
    }
}

// === impl FileActivity ===

impl FileActivity {
    pub(super) fn record_read(&mut self, path: &str) {
        if let Some(touched) = self.stats_mut(path) {
            touched.reads += 1;
        }
    }

    /// Adds a change by a call that was let through.
    pub(super) fn record_change(&mut self, change: TrackedChange) {
        let order = self.order;
        let Some(touched) = self.stats_mut(&change.path) else { return };
        touched.count(&change, 1);
        if touched.first.is_none() {
            touched.first = Some(order);
            self.order += 1;
        }
        // Concurrent calls may arrive in a different order than they are recorded in.
        let at = self.changes.iter().rposition(|other| other.seq <= change.seq).map_or(0, |at| at + 1);
        self.changes.insert(at, change);
        if self.changes.len() > MAX_CHANGES {
            self.changes.pop_front();
            self.left_out += 1;
        }
    }

    /// Changes of one call.
    pub(super) fn changes_of_call(&mut self, seq: u64) -> impl Iterator<Item = &mut TrackedChange> {
        self.changes
            .iter_mut()
            .rev()
            .skip_while(move |change| change.seq > seq)
            .take_while(move |change| change.seq == seq)
    }

    /// Sets the state of a call's changes when its result is known.
    pub(super) fn finish_call(&mut self, seq: u64, state: FileChangeState, result: u64, ts: Timestamp) {
        let mut undone = Vec::new();
        for change in self.changes_of_call(seq) {
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
            let paths: Vec<_> = self.changes_of_call(seq).map(|change| change.path.clone()).collect();
            for path in paths {
                if let Some(touched) = self.touched.get_mut(&path) {
                    touched.last = Some(ts);
                }
            }
        }
    }

    /// Sets the line counts of a change from its result.
    pub(super) fn set_lines(&mut self, seq: u64, path: &str, lines: LineCounts) {
        let Some(change) = self.changes_of_call(seq).find(|change| change.path == path) else { return };
        let before = change.lines.replace(lines).unwrap_or_default();
        if let Some(touched) = self.touched.get_mut(path) {
            touched.lines.add(before, -1);
            touched.lines.add(lines, 1);
        }
    }

    /// Marks a file as changed outside the session.
    pub(super) fn mark_outside_change(&mut self, path: &str, seq: Option<u64>, behind: OutsideChange) {
        if let Some(seq) = seq
            && let Some(change) = self.changes_of_call(seq).find(|change| change.path == path)
        {
            change.behind = Some(behind);
        }
        if let Some(touched) = self.touched.get_mut(path) {
            touched.behind = touched.behind.max(Some(behind));
        }
    }

    /// Known content of a file that the agent touched.
    pub(super) fn content_mut(&mut self, path: &str) -> Option<&mut KnownContent> {
        self.touched.get_mut(path).map(|touched| &mut touched.content)
    }

    fn stats_mut(&mut self, path: &str) -> Option<&mut FileStats> {
        if self.touched.len() >= MAX_PATHS && !self.touched.contains_key(path) {
            self.left_out += 1;
            return None;
        }
        Some(self.touched.entry(path.to_owned()).or_default())
    }

    pub(super) fn counts(&self) -> FileCounts {
        let count =
            |did: fn(&FileStats) -> bool| self.touched.values().filter(|touched| did(touched)).count();
        FileCounts {
            read: count(|touched| touched.reads > 0),
            written: count(|touched| touched.writes > 0),
            deleted: count(|touched| touched.deletes > 0),
            changed: count(FileStats::is_changed),
            behind: count(|touched| touched.behind.is_some()),
            left_out: self.left_out,
        }
    }

    /// All touched files, sorted by path.
    pub(super) fn touched_files(&self) -> Vec<TouchedFile> {
        let mut files: Vec<_> = self.touched.iter().collect();
        files.sort_unstable_by_key(|(path, _)| *path);
        let entry = |(path, touched): (&String, &FileStats)| TouchedFile {
            path: path.clone(),
            reads: touched.reads,
            writes: touched.writes,
            deletes: touched.deletes,
        };
        files.into_iter().map(entry).collect()
    }

    /// All changed files in the order of the first change.
    pub(super) fn changed_files(&self, display_path: &dyn Fn(&str) -> String) -> Vec<ChangedFile> {
        let mut files: Vec<_> = self.touched.iter().filter(|(_, touched)| touched.is_changed()).collect();
        files.sort_unstable_by_key(|(_, touched)| touched.first);
        let entry = |(path, touched): (&String, &FileStats)| ChangedFile {
            path: path.clone(),
            shown: display_path(path),
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

// === impl FileStats ===

impl FileStats {
    fn is_changed(&self) -> bool {
        self.writes + self.deletes > 0
    }

    /// Adds a change to the statistics (`by` is 1), or subtracts a failed one (`by` is -1).
    fn count(&mut self, change: &TrackedChange, by: i64) {
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

impl LineCounts {
    fn add(&mut self, other: Self, by: i64) {
        let signed = |number: u64| i64::try_from(number).unwrap_or(i64::MAX).saturating_mul(by);
        self.added = self.added.saturating_add_signed(signed(other.added));
        if let Some(removed) = other.removed {
            self.removed = Some(self.removed.unwrap_or(0).saturating_add_signed(signed(removed)));
        }
    }
}

// === impl TrackedChange ===

impl TrackedChange {
    /// Converts the change to the API type.
    pub(super) fn file_change(&self, display_path: &dyn Fn(&str) -> String) -> FileChange {
        FileChange {
            seq: self.seq,
            ts: self.ts,
            path: self.path.clone(),
            shown: display_path(&self.path),
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
