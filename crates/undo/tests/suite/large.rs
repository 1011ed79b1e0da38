// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Many files and large files. The full sizes run with `make soak`.

use std::fs::File;
use std::io::Write;
use std::time::Duration;

use tenterhook_undo::{SnapshotErrorKind, TargetChange, UndoLimits, UndoStore};

use crate::project::{TestProject, now_ms, test_limits};

fn is_soak() -> bool {
    std::env::var("TENTERHOOK_SOAK").is_ok()
}

#[test]
fn many_files_are_saved_and_restored() {
    let count = if is_soak() { 100_000 } else { 2_000 };
    let project = TestProject::empty();
    for number in 0..count {
        project
            .write(&format!("many/{}/{}/{number}", number % 17, number % 101), &format!("file {number}\n"));
    }
    let limits = UndoLimits { max_files: 2 * count, ..test_limits() };
    let store = UndoStore::open(&project.top.join("state/undo"), limits).unwrap();
    let tree = project.tree();
    let manifest = store.take_snapshot(&project.file_request(&["many"], TargetChange::Delete)).unwrap();
    assert!(manifest.entries > count);
    project.shell("rm -rf many");
    let plan = store.plan_restore(&manifest.id, &[]).unwrap();
    let report = store.restore(&plan, false, now_ms()).unwrap();
    assert!(report.left.is_empty());
    assert_eq!(project.tree(), tree);
    store.remove(&manifest.id).unwrap();
}

#[test]
fn a_large_file_is_linked_if_it_is_deleted_and_not_copied_if_it_is_overwritten() {
    let mib = if is_soak() { 1024 } else { 32 };
    let project = TestProject::empty();
    let path = project.path("large");
    let mut file = File::create(&path).unwrap();
    let block: Vec<u8> = (0..=255_u8).cycle().take(1024 * 1024).collect();
    for _ in 0..mib {
        file.write_all(&block).unwrap();
    }
    drop(file);
    let limits =
        UndoLimits { max_time: Duration::from_secs(2), max_copy_bytes: 1024 * 1024, ..test_limits() };
    let store = UndoStore::open(&project.top.join("state/undo"), limits).unwrap();
    let manifest = store.take_snapshot(&project.file_request(&["large"], TargetChange::Delete)).unwrap();
    assert_eq!(manifest.bytes, mib * 1024 * 1024);

    // Without shared blocks the file would have to be copied.
    match store.take_snapshot(&project.file_request(&["large"], TargetChange::Overwrite)) {
        Ok(manifest) => store.remove(&manifest.id).unwrap(),
        Err(error) => assert_eq!(error.kind(), SnapshotErrorKind::LimitExceeded, "{error}"),
    }

    project.shell("rm large");
    let plan = store.plan_restore(&manifest.id, &[]).unwrap();
    store.restore(&plan, false, now_ms()).unwrap();
    let restored = std::fs::read(&path).unwrap();
    assert!(restored.chunks(block.len()).all(|chunk| chunk == block));
    assert_eq!(u64::try_from(restored.len()).unwrap(), mib * 1024 * 1024);
}
