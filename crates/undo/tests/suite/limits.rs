// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Limits, full disks and the removal of old snapshots.

use std::time::Duration;

use tenterhook_undo::{
    GitCallKind, SnapshotError, SnapshotErrorKind, SnapshotFilter, TargetChange, UndoLimits, UndoStore,
};

use crate::project::{TestProject, now_ms, test_limits};

fn store_with(project: &TestProject, limits: UndoLimits) -> UndoStore {
    UndoStore::open(&project.top.join("state/undo"), limits).unwrap()
}

fn count_paths(project: &TestProject) -> usize {
    std::fs::read_dir(project.top.join("state/undo")).unwrap().count()
}

#[test]
fn a_snapshot_over_a_limit_fails_and_leaves_nothing_behind() {
    let project = TestProject::repository();
    project.write("large", &"l".repeat(400_000));
    project.shell("rm link");
    let request = project.file_request(&[""], TargetChange::Overwrite);
    let limits = [
        UndoLimits { max_files: 5, ..test_limits() },
        UndoLimits { max_bytes: 100_000, ..test_limits() },
        UndoLimits { max_copy_bytes: 100_000, ..test_limits() },
        UndoLimits { max_time: Duration::ZERO, ..test_limits() },
    ];
    for limits in limits {
        let error = store_with(&project, limits).take_snapshot(&request).unwrap_err();
        assert_eq!(error.kind(), SnapshotErrorKind::LimitExceeded, "{error}");
        assert_eq!(count_paths(&project), 0, "{error}");
    }
    let limits = UndoLimits { min_free_bytes: u64::MAX, ..test_limits() };
    let error = store_with(&project, limits).take_snapshot(&request).unwrap_err();
    assert_eq!(error.kind(), SnapshotErrorKind::StorageFull);
    assert_eq!(count_paths(&project), 0);
}

#[test]
fn an_unreadable_file_fails_the_snapshot() {
    if rustix::process::geteuid().is_root() {
        return tenterhook_test_support::skip_test("root can read every file");
    }
    let project = TestProject::empty();
    project.write("secret", "text");
    project.set_mode("secret", 0o000);
    let request = project.file_request(&["secret"], TargetChange::Overwrite);
    let error = project.store.take_snapshot(&request).unwrap_err();
    assert!(matches!(error, SnapshotError::Unreadable { .. }), "{error}");
    assert_eq!(count_paths(&project), 0);
}

#[test]
fn old_snapshots_are_removed_by_age_size_and_number() {
    let project = TestProject::empty();
    project.write("file", &"f".repeat(1000));
    let mut request = project.file_request(&["file"], TargetChange::Overwrite);
    let start = now_ms();
    let mut ids = Vec::new();
    for number in 0..5 {
        request.now_ms = start + number;
        ids.push(project.store.take_snapshot(&request).unwrap().id);
    }
    let kept = |limits: UndoLimits, now| {
        let store = store_with(&project, limits);
        store.prune(now).unwrap();
        let list = store.list(&SnapshotFilter::default()).unwrap();
        list.into_iter().map(|manifest| manifest.id).rev().collect::<Vec<_>>()
    };
    assert_eq!(kept(test_limits(), start), ids);
    assert_eq!(kept(UndoLimits { max_snapshots: 4, ..test_limits() }, start), ids[1..]);
    assert_eq!(kept(UndoLimits { max_total_bytes: 3500, ..test_limits() }, start), ids[2..]);
    let max_age = Duration::from_millis(100);
    assert_eq!(kept(UndoLimits { max_age, ..test_limits() }, start + 103), ids[4..]);
}

#[test]
fn snapshots_that_replaced_a_question_are_removed_last() {
    let project = TestProject::empty();
    project.write("file", &"f".repeat(1000));
    let mut request = project.file_request(&["file"], TargetChange::Overwrite);
    let start = now_ms();
    let mut take = |replaces_question: bool, later: u64| {
        request.call.replaces_question = replaces_question;
        request.now_ms = start + later;
        project.store.take_snapshot(&request).unwrap().id
    };
    let asked = take(true, 0);
    let ordinary: Vec<_> = (1..6).map(|later| take(false, later)).collect();
    for limits in [
        UndoLimits { max_snapshots: 2, ..test_limits() },
        UndoLimits { max_total_bytes: 2500, ..test_limits() },
    ] {
        let store = store_with(&project, limits);
        store.prune(start).unwrap();
        let kept: Vec<_> =
            store.list(&SnapshotFilter::default()).unwrap().into_iter().map(|one| one.id).collect();
        assert!(kept.contains(&asked), "{kept:?}");
        assert!(kept.contains(&ordinary[4]) && !kept.contains(&ordinary[0]), "{kept:?}");
    }
}

#[test]
fn too_much_to_copy_is_refused_before_it_is_copied() {
    let project = TestProject::empty();
    for number in 0..20 {
        project.write(&format!("small/{number}"), &"s".repeat(10_000));
    }
    project.write("large", &"l".repeat(400_000));
    let limits = UndoLimits { max_copied_bytes: 150_000, ..test_limits() };
    let store = store_with(&project, limits);
    for (path, change) in [("small", TargetChange::Delete), ("large", TargetChange::Replace)] {
        let error = store.take_snapshot(&project.file_request(&[path], change)).unwrap_err();
        assert!(matches!(error, SnapshotError::TooMuchToCopy { .. }), "{path}: {error}");
        assert_eq!(count_paths(&project), 0);
    }
    // A link does not copy the content.
    assert!(store.take_snapshot(&project.file_request(&["large"], TargetChange::Delete)).is_ok());
}

#[test]
fn old_snapshots_are_removed_when_a_new_one_is_taken() {
    let project = TestProject::empty();
    project.write("file", "text");
    let mut request = project.file_request(&["file"], TargetChange::Overwrite);
    let first = project.store.take_snapshot(&request).unwrap();
    std::fs::remove_file(project.top.join("state/undo/pruned")).unwrap();
    request.now_ms += 8 * 24 * 3_600_000;
    let second = project.store.take_snapshot(&request).unwrap();
    let ids: Vec<_> =
        project.store.list(&SnapshotFilter::default()).unwrap().into_iter().map(|one| one.id).collect();
    assert_eq!(ids, [second.id]);
    assert!(project.store.plan_restore(&first.id, &[]).is_err());
}

#[test]
fn the_store_is_private() {
    use std::os::unix::fs::PermissionsExt;
    let project = TestProject::repository();
    let manifest = project.store.take_snapshot(&project.git_request(GitCallKind::Reset)).unwrap();
    let directory = project.top.join("state/undo");
    for path in [directory.clone(), directory.join(&manifest.id), directory.join(&manifest.id).join("files")]
    {
        assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o700, "{}", path.display());
    }
    std::fs::set_permissions(&directory, std::fs::Permissions::from_mode(0o755)).unwrap();
    assert!(UndoStore::open(&directory, test_limits()).is_err());
}
