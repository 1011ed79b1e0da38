// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Plans a restore: compares a snapshot with the current files, and decides for each path what would happen.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::current::{CurrentState, find_damage, is_unverified, read_current};
use crate::error::UndoError;
use crate::git::find_ref_change;
use crate::manifest::{
    EntryRole, EntryStamp, FileTime, SavedContent, SavedEntry, SavedRef, SnapshotManifest,
};
use crate::store::{LoadedSnapshot, UndoStore};
use crate::stored_path::StoredPath;

/// If the end of the call is unknown, changes up to this time after the snapshot count as those of the call.
const CALL_WINDOW_MS: u64 = 5_000;

/// What a restore would do.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RestorePlan {
    /// The snapshot that is restored.
    pub snapshot: SnapshotManifest,
    /// All paths and refs that differ from the snapshot, in the order in which they are restored.
    pub items: Vec<PlannedRestore>,
    /// Number of paths and refs that are as they were.
    pub unchanged: usize,
}

/// What a restore would do with one path or ref.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PlannedRestore {
    /// Absolute path of a file, or of a repository's common directory if this is a ref.
    pub path: StoredPath,
    /// Name of the ref, if this is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub git_ref: Option<String>,
    /// What would happen.
    pub action: RestoreAction,
    #[serde(skip)]
    pub(crate) item: ItemIndex,
    /// State of the path when the plan was made. The path is not replaced if it has changed since.
    #[serde(skip)]
    pub(crate) seen: Option<EntryStamp>,
}

/// Position of an item in the lists of a snapshot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ItemIndex {
    Entry(usize),
    Ref(usize),
}

/// What a restore does with one path or ref.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case", tag = "type")]
pub enum RestoreAction {
    /// The path does not exist and is created.
    Create,
    /// The path is as the call left it and is replaced.
    Replace,
    /// The path was changed after the call. It is replaced only if the caller forces it.
    Conflict {
        /// What was changed.
        reason: String,
    },
    /// The path cannot be restored.
    Blocked {
        /// Why it cannot be restored.
        reason: String,
    },
}

// === impl UndoStore ===

impl UndoStore {
    /// Plans to restore a snapshot. If paths are given, only files at or below them are restored, and the state of
    /// git is not. Relative paths are relative to the project.
    pub fn plan_restore(&self, id: &str, paths: &[PathBuf]) -> Result<RestorePlan, UndoError> {
        let snapshot = self.load(id)?;
        Ok(plan_snapshot(&snapshot, paths, self.limits.max_files))
    }
}

fn plan_snapshot(snapshot: &LoadedSnapshot, paths: &[PathBuf], max_refs: usize) -> RestorePlan {
    let roots = snapshot.open_roots();
    let project = snapshot.manifest.project.as_path();
    let wanted: Vec<_> = paths.iter().map(|path| project.join(path)).collect();
    let is_wanted = |path: &Path| wanted.is_empty() || wanted.iter().any(|wanted| path.starts_with(wanted));
    let mut plan = RestorePlan { snapshot: snapshot.manifest.clone(), items: Vec::new(), unchanged: 0 };
    let (mut entry_items, mut git_items) = (Vec::new(), Vec::new());
    for (number, entry) in snapshot.entries.iter().enumerate() {
        let Some(top) = snapshot.manifest.roots.get(entry.root) else { continue };
        let path = top.as_path().join(entry.path.as_path());
        if !is_wanted(&path) {
            continue;
        }
        let root = roots.get(entry.root).and_then(Option::as_ref);
        let current = read_current(root, &snapshot.directory, entry);
        let after = snapshot.after.as_ref().and_then(|after| after.entries.get(number));
        if after.is_some_and(|after| after.as_ref().is_some_and(|after| is_untouched(entry, after))) {
            plan.unchanged += 1;
            continue;
        }
        let damage =
            if current == CurrentState::Same { None } else { find_damage(&snapshot.directory, entry) };
        let Some(mut action) = decide(&current, after, damage, snapshot.manifest.taken_ms) else {
            plan.unchanged += 1;
            continue;
        };
        if is_unverified(entry) && matches!(action, RestoreAction::Create | RestoreAction::Replace) {
            let reason = "its content may have been changed after the snapshot".to_owned();
            action = RestoreAction::Conflict { reason };
        }
        let seen = match current {
            CurrentState::Different(stamp) => Some(stamp),
            _ => None,
        };
        let item = ItemIndex::Entry(number);
        let planned = PlannedRestore { path: path.into(), git_ref: None, action, item, seen };
        if is_git_state(entry) { &mut git_items } else { &mut entry_items }.push(planned);
    }
    if wanted.is_empty() {
        let current = snapshot.read_current_refs(&roots, max_refs);
        let known = by_name(&current);
        let after = snapshot.after.as_ref().map(|after| by_name(&after.refs));
        for (number, saved) in snapshot.refs.iter().enumerate() {
            let name = (saved.root, saved.name.as_str());
            let root = roots.get(saved.root).and_then(Option::as_ref);
            let changed = root.and_then(|root| find_ref_change(root, &saved.name));
            let now = RefState { value: known.get(&name).copied(), changed, is_readable: root.is_some() };
            let Some(action) = decide_ref(saved, &now, after.as_ref(), snapshot.manifest.taken_ms) else {
                plan.unchanged += 1;
                continue;
            };
            let path = snapshot.manifest.roots.get(saved.root).cloned();
            git_items.push(PlannedRestore {
                path: path.unwrap_or_else(|| StoredPath::from("")),
                git_ref: Some(saved.name.clone()),
                action,
                item: ItemIndex::Ref(number),
                seen: None,
            });
        }
    }
    keep_git_state_together(&mut git_items);
    // Objects come first, so that refs never name an object that is missing. Refs come before HEAD and the index.
    git_items.sort_by_key(|planned| matches!(planned.item, ItemIndex::Entry(_)));
    plan.items = entry_items;
    plan.items.extend(git_items);
    plan
}

/// Whether the call left a file as it was saved. A pattern may match fewer files than were saved for it, and later changes
/// of the others do not concern the restore.
fn is_untouched(entry: &SavedEntry, after: &EntryStamp) -> bool {
    let SavedContent::File { size, .. } = entry.content else { return false };
    entry.role == EntryRole::Work && (size, entry.modified) == (after.size, after.modified)
}

fn is_git_state(entry: &SavedEntry) -> bool {
    matches!(entry.role, EntryRole::GitState | EntryRole::GitLog)
}

fn by_name(refs: &[SavedRef]) -> RefValues<'_> {
    refs.iter().map(|saved| ((saved.root, saved.name.as_str()), saved.value.as_str())).collect()
}

/// Decides what to do with a path; `None` if it is unchanged. `after` is the state directly after the call, if known.
fn decide(
    current: &CurrentState,
    after: Option<&Option<EntryStamp>>,
    damage: Option<&'static str>,
    taken_ms: u64,
) -> Option<RestoreAction> {
    let blocked = |reason: &str| Some(RestoreAction::Blocked { reason: reason.to_owned() });
    let stamp = match (current, damage) {
        (CurrentState::Same, _) => return None,
        (CurrentState::Blocked(reason), _) => return blocked(reason),
        (_, Some(reason)) => return blocked(reason),
        (CurrentState::Missing, None) => return Some(RestoreAction::Create),
        (CurrentState::Different(stamp), None) => stamp,
    };
    let is_newer = match after {
        Some(after) => !after.as_ref().is_some_and(|after| after.is_same_state(stamp)),
        None => is_after_window(stamp.modified.max(stamp.changed), taken_ms),
    };
    if is_newer {
        let reason = "it was changed after the call".to_owned();
        return Some(RestoreAction::Conflict { reason });
    }
    Some(RestoreAction::Replace)
}

/// Values of refs, by repository and name.
type RefValues<'r> = HashMap<(usize, &'r str), &'r str>;

/// Current state of a ref.
struct RefState<'r> {
    value: Option<&'r str>,
    changed: Option<FileTime>,
    is_readable: bool,
}

/// Decides what to do with a ref; `None` if it is unchanged. `after` contains the values directly after the call, if they
/// are known.
fn decide_ref(
    saved: &SavedRef,
    now: &RefState<'_>,
    after: Option<&RefValues<'_>>,
    taken_ms: u64,
) -> Option<RestoreAction> {
    let Some(value) = now.value else {
        let reason = "its repository does not exist".to_owned();
        return Some(if now.is_readable { RestoreAction::Create } else { RestoreAction::Blocked { reason } });
    };
    if value == saved.value {
        return None;
    }
    let is_newer = match after {
        Some(after) => after.get(&(saved.root, saved.name.as_str())) != Some(&value),
        None => now.changed.is_none_or(|changed| is_after_window(changed, taken_ms)),
    };
    if is_newer {
        let reason = "it was moved after the call".to_owned();
        return Some(RestoreAction::Conflict { reason });
    }
    Some(RestoreAction::Replace)
}

/// Whether a time is later than the moments in which the call itself changed files.
fn is_after_window(time: FileTime, taken_ms: u64) -> bool {
    let end = taken_ms.saturating_add(CALL_WINDOW_MS);
    let (seconds, rest) = (i64::try_from(end / 1000).unwrap_or(i64::MAX), end % 1000);
    time > FileTime(seconds, u32::try_from(rest * 1_000_000).unwrap_or_default())
}

/// An index belongs to the commit of its branch. If one of HEAD, refs and index has changed after the call, replacing
/// the others would mix two states. What is missing can still be created.
fn keep_git_state_together(items: &mut [PlannedRestore]) {
    if !items.iter().any(|planned| matches!(planned.action, RestoreAction::Conflict { .. })) {
        return;
    }
    for planned in items.iter_mut().filter(|planned| planned.action == RestoreAction::Replace) {
        let reason = "other state of the repository was changed after the call".to_owned();
        planned.action = RestoreAction::Conflict { reason };
    }
}

// === impl RestorePlan ===

impl RestorePlan {
    /// Returns the number of items that are replaced only if the caller forces it.
    pub fn count_conflicts(&self) -> usize {
        self.items.iter().filter(|planned| matches!(planned.action, RestoreAction::Conflict { .. })).count()
    }

    /// Returns the number of items that would be restored without force.
    pub fn count_restorable(&self) -> usize {
        let is_restorable = |planned: &&PlannedRestore| {
            matches!(planned.action, RestoreAction::Create | RestoreAction::Replace)
        };
        self.items.iter().filter(is_restorable).count()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TAKEN_MS: u64 = 1_000_000;

    fn stamp(seconds: i64) -> EntryStamp {
        let time = FileTime(seconds, 0);
        EntryStamp { inode: 1, size: 2, modified: time, changed: time, index_hash: None }
    }

    #[test]
    fn a_path_is_replaced_only_if_the_call_was_the_last_to_change_it() {
        let different = CurrentState::Different(stamp(1_001));
        assert_eq!(decide(&different, None, None, TAKEN_MS), Some(RestoreAction::Replace));
        assert_eq!(
            decide(&different, Some(&Some(stamp(1_001))), None, TAKEN_MS),
            Some(RestoreAction::Replace)
        );
        let is_conflict = |current: &CurrentState, after: Option<Option<EntryStamp>>| {
            matches!(decide(current, after.as_ref(), None, TAKEN_MS), Some(RestoreAction::Conflict { .. }))
        };
        assert!(is_conflict(&different, Some(Some(stamp(1_000)))));
        assert!(is_conflict(&different, Some(None)), "created again after it was deleted");
        assert!(is_conflict(&CurrentState::Different(stamp(1_006)), None));
    }

    #[test]
    fn a_missing_path_is_created_unless_its_content_is_damaged() {
        assert_eq!(decide(&CurrentState::Missing, None, None, TAKEN_MS), Some(RestoreAction::Create));
        let damaged = decide(&CurrentState::Missing, None, Some("damaged"), TAKEN_MS);
        assert!(matches!(damaged, Some(RestoreAction::Blocked { .. })));
        assert_eq!(decide(&CurrentState::Same, None, Some("damaged"), TAKEN_MS), None);
    }
}
