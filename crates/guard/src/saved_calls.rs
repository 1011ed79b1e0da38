// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Snapshots of calls for the daemon's API: which exist, what a restore would do, and the restore itself.

use std::path::PathBuf;

use tenterhook_api::{
    CallSnapshot, CallSnapshotQuery, RestoreItem, RestoreItemAction, RestorePreview, RestoreRequest,
    RestoreResult,
};
use tenterhook_event::Timestamp;
use tenterhook_home::Home;
use tenterhook_undo::{
    PlannedRestore, RestoreAction, RestorePlan, SnapshotFilter, SnapshotManifest, UndoError, UndoSelection,
    UndoStore,
};

use crate::daemon_settings::ServiceSettings;

/// Numbers of snapshots in a list: default and maximum.
const LIST_LENGTHS: (usize, usize) = (100, 1000);
/// Maximum number of items in a reply.
const MAX_ITEMS: usize = 1000;
/// Name of the newest snapshot of a call.
const LATEST: &str = "last";

/// The snapshots of a state directory.
#[derive(Debug)]
pub struct SavedCalls {
    store: UndoStore,
}

/// A restore that was planned and not yet carried out.
#[derive(Debug)]
pub struct PlannedUndo<'s> {
    saved: &'s SavedCalls,
    plan: RestorePlan,
}

// === impl SavedCalls ===

impl SavedCalls {
    /// Opens the snapshots of a state directory; `None` if no snapshot was ever taken.
    pub fn open(home: &Home) -> Result<Option<Self>, UndoError> {
        // Opening the store would create its directory.
        if !home.undo().is_dir() {
            return Ok(None);
        }
        let store = UndoStore::open(&home.undo(), ServiceSettings::of(home).0.undo)?;
        Ok(Some(Self { store }))
    }

    /// Returns the snapshots, newest first.
    pub fn list(&self, query: &CallSnapshotQuery) -> Result<Vec<CallSnapshot>, UndoError> {
        let (default, maximum) = LIST_LENGTHS;
        let filter = SnapshotFilter { session: query.session.clone(), ..SnapshotFilter::default() };
        let limit = query.limit.unwrap_or(default).min(maximum);
        Ok(self.store.list(&filter)?.into_iter().take(limit).map(to_snapshot).collect())
    }

    /// Returns the snapshot of the call with this event.
    pub fn find(&self, event: &str) -> Result<Option<CallSnapshot>, UndoError> {
        let filter = SnapshotFilter { id_or_event: Some(event.to_owned()), ..SnapshotFilter::default() };
        Ok(self.store.list(&filter)?.into_iter().next().map(to_snapshot))
    }

    /// Plans the restore of a snapshot: `last`, the id of a snapshot, or the id of a call's event. With paths, only
    /// files at or below them are restored.
    pub fn plan(&self, id: &str, paths: &[String]) -> Result<PlannedUndo<'_>, UndoError> {
        let selection = match id {
            LATEST => UndoSelection::Last,
            id => UndoSelection::IdOrEvent(id.to_owned()),
        };
        let selected = self.store.select(&selection)?;
        let snapshot = selected.first().ok_or_else(|| UndoError::UnknownSnapshot(id.to_owned()))?;
        let paths: Vec<PathBuf> = paths.iter().map(PathBuf::from).collect();
        Ok(PlannedUndo { saved: self, plan: self.store.plan_restore(&snapshot.id, &paths)? })
    }
}

// === impl PlannedUndo ===

impl PlannedUndo<'_> {
    /// Returns what the restore would do.
    pub fn preview(&self) -> RestorePreview {
        let (items, more_items) = to_items(&self.plan.items);
        RestorePreview {
            snapshot: to_snapshot(self.plan.snapshot.clone()),
            items,
            more_items,
            restorable: count(self.plan.count_restorable()),
            conflicts: count(self.plan.count_conflicts()),
            unchanged: count(self.plan.unchanged),
        }
    }

    /// Whether the restore replaces newer work, which needs a proof of the user.
    pub fn replaces_newer_work(&self, request: &RestoreRequest) -> bool {
        request.force && self.plan.count_conflicts() > 0
    }

    /// Carries out the restore.
    pub fn restore(&self, force: bool, now_ms: u64) -> Result<RestoreResult, UndoError> {
        let report = self.saved.store.restore(&self.plan, force, now_ms)?;
        let (left, more_left) = to_items(&report.left);
        Ok(RestoreResult {
            id: self.plan.snapshot.id.clone(),
            restored: count(report.restored.len()),
            left,
            more_left,
            saved: report.saved,
        })
    }
}

fn to_snapshot(found: SnapshotManifest) -> CallSnapshot {
    CallSnapshot {
        id: found.id,
        taken: Timestamp::from_unix_ms(found.taken_ms),
        reason: found.reason,
        session: found.session,
        event: found.event,
        project: found.project.as_path().to_string_lossy().into_owned(),
        replaced_question: found.replaces_question,
        entries: count(found.entries),
        refs: count(found.refs),
        bytes: found.bytes,
        not_saved: count(found.skipped.len()),
    }
}

/// Returns the first items, and the number of the others.
fn to_items(planned: &[PlannedRestore]) -> (Vec<RestoreItem>, u64) {
    let items = planned.iter().take(MAX_ITEMS).map(to_item).collect();
    (items, count(planned.len().saturating_sub(MAX_ITEMS)))
}

fn to_item(planned: &PlannedRestore) -> RestoreItem {
    let (action, reason) = match &planned.action {
        RestoreAction::Create => (RestoreItemAction::Create, None),
        RestoreAction::Replace => (RestoreItemAction::Replace, None),
        RestoreAction::Conflict { reason } => (RestoreItemAction::Conflict, Some(reason.clone())),
        RestoreAction::Blocked { reason } => (RestoreItemAction::Blocked, Some(reason.clone())),
    };
    let path = planned.path.as_path().to_string_lossy().into_owned();
    RestoreItem { path, git_ref: planned.git_ref.clone(), action, reason }
}

fn count(number: usize) -> u64 {
    u64::try_from(number).unwrap_or(u64::MAX)
}
