// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Deleted and overwritten files.

use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, symlink};

use tenterhook_undo::{
    FileTarget, SnapshotErrorKind, SnapshotFilter, SnapshotRequest, TargetChange, TargetExtent,
};

use crate::project::{TestProject, now_ms};

#[test]
fn a_deleted_tree_comes_back_with_links_permissions_and_times() {
    let project = TestProject::repository();
    project.write("src/deep/er/large.bin", &"x".repeat(600_000));
    project.write("src/deep/small.txt", "small");
    project.set_mode("src/deep/small.txt", 0o400);
    project.write("src/empty-file", "");
    std::fs::create_dir(project.path("src/empty")).unwrap();
    project.set_mode("src/empty", 0o750);
    symlink("/etc/passwd", project.path("src/outside")).unwrap();
    symlink("missing", project.path("src/dangling")).unwrap();
    std::fs::write(project.path("src").join(std::ffi::OsStr::from_bytes(b"caf\xe9")), "bytes").unwrap();
    let tree = project.tree();
    let manifest = project.run_call(&project.file_request(&["src"], TargetChange::Delete), || {
        project.shell("rm -rf src");
    });
    assert!(!project.path("src").exists());
    project.undo(&manifest);
    assert_eq!(project.tree(), tree);
    // The restored file is a copy: writing to it must not change the snapshot.
    project.write("src/deep/er/large.bin", "short");
    project.shell("rm -rf src");
    let plan = project.store.plan_restore(&manifest.id, &[]).unwrap();
    project.store.restore(&plan, true, now_ms()).unwrap();
    assert_eq!(project.read("src/deep/er/large.bin").len(), 600_000);
}

#[test]
fn an_overwritten_file_comes_back() {
    for size in [0, 10, 300_000, 2_000_000] {
        let project = TestProject::empty();
        project.write("data", &"y".repeat(size));
        project.set_mode("data", 0o640);
        let tree = project.tree();
        let manifest = project.run_call(&project.file_request(&["data"], TargetChange::Overwrite), || {
            project.shell("echo other > data");
        });
        assert_eq!(project.read("data"), "other\n");
        project.undo(&manifest);
        assert_eq!(project.tree(), tree, "{size}");
    }
}

#[test]
fn a_moved_file_and_a_replaced_link_come_back() {
    let project = TestProject::repository();
    let manifest =
        project.run_call(&project.file_request(&["README.md", "link"], TargetChange::Delete), || {
            project.shell("mv README.md elsewhere && ln -sf run.sh link");
        });
    project.undo(&manifest);
    assert_eq!(project.read("README.md"), "second\n");
    assert_eq!(std::fs::read_link(project.path("link")).unwrap().to_str(), Some("src/main.rs"));
    assert!(project.path("elsewhere").exists(), "files that the call created stay");
}

#[test]
fn the_whole_project_can_be_saved_except_the_state_directory() {
    let project = TestProject::repository();
    let request = SnapshotRequest {
        project: project.top.clone(),
        files: vec![FileTarget {
            path: project.top.clone(),
            change: TargetChange::Delete,
            extent: TargetExtent::Tree,
        }],
        ..project.request()
    };
    let first = project.store.take_snapshot(&request).unwrap();
    let second = project.store.take_snapshot(&request).unwrap();
    assert_eq!(first.entries, second.entries);
}

#[test]
fn special_files_are_named_and_skipped() {
    let project = TestProject::empty();
    project.write("dir/file", "text");
    project.shell("mkfifo dir/pipe");
    let manifest = project.run_call(&project.file_request(&["dir"], TargetChange::Delete), || {
        project.shell("rm -r dir");
    });
    assert_eq!(manifest.skipped.len(), 1);
    assert_eq!(manifest.skipped[0].path.as_path(), project.path("dir/pipe"));
    project.undo(&manifest);
    assert_eq!(project.read("dir/file"), "text");
}

#[test]
fn a_path_outside_the_project_is_refused_and_so_is_one_behind_a_link() {
    let project = TestProject::empty();
    std::fs::create_dir(project.top.join("other")).unwrap();
    std::fs::write(project.top.join("other/file"), "text").unwrap();
    symlink("../other", project.path("link")).unwrap();
    for path in [project.top.join("other/file"), project.path("link/file"), "relative".into(), "/".into()] {
        let target =
            FileTarget { path: path.clone(), change: TargetChange::Delete, extent: TargetExtent::Tree };
        let request = SnapshotRequest { files: vec![target], ..project.request() };
        let error = project.store.take_snapshot(&request).unwrap_err();
        assert_eq!(error.kind(), SnapshotErrorKind::NotCovered, "{}", path.display());
    }
    // Deleting the link itself deletes nothing behind it.
    let manifest = project.run_call(&project.file_request(&["link"], TargetChange::Delete), || {
        project.shell("rm link");
    });
    assert_eq!(manifest.entries, 1);
    project.undo(&manifest);
    assert_eq!(std::fs::read_link(project.path("link")).unwrap().to_str(), Some("../other"));
}

#[test]
fn a_path_that_does_not_exist_needs_no_snapshot() {
    let project = TestProject::empty();
    let request = project.file_request(&["missing", "a/b/c"], TargetChange::Overwrite);
    assert_eq!(project.store.take_snapshot(&request).unwrap().entries, 0);
}

#[test]
fn snapshots_are_found_by_session_event_and_id() {
    let project = TestProject::repository();
    let mut request = project.file_request(&["README.md"], TargetChange::Overwrite);
    let one = project.store.take_snapshot(&request).unwrap();
    request.call.session = Some("another".to_owned());
    request.call.event = Some("later".to_owned());
    request.now_ms += 1;
    let other = project.store.take_snapshot(&request).unwrap();
    let list = |session: Option<&str>, id: Option<&str>| {
        let filter = SnapshotFilter { session: session.map(Into::into), id_or_event: id.map(Into::into) };
        project.store.list(&filter).unwrap().into_iter().map(|found| found.id).collect::<Vec<_>>()
    };
    assert_eq!(list(None, None), [other.id.clone(), one.id.clone()]);
    assert_eq!(list(Some("session"), None), std::slice::from_ref(&one.id));
    assert_eq!(list(None, Some("later")), std::slice::from_ref(&other.id));
    assert_eq!(list(None, Some(&one.id)), std::slice::from_ref(&one.id));
    assert_eq!(project.store.note_call_end(Some("another"), "call").unwrap(), Some(other.id));
    assert_eq!(project.store.note_call_end(Some("another"), "call").unwrap(), None);
    assert_eq!(project.store.note_call_end(None, "call").unwrap(), None);
    assert!(project.store.plan_restore("../../etc", &[]).is_err());
}

/// Takes a snapshot of one target and returns the paths that it contains, relative to the project.
fn saved(project: &TestProject, path: &str, change: TargetChange, extent: TargetExtent) -> Vec<String> {
    let target = FileTarget { path: project.path(path), change, extent };
    let request = SnapshotRequest { files: vec![target], ..project.request() };
    let manifest = project.store.take_snapshot(&request).unwrap();
    project.shell("rm -rf ./* .hidden");
    let plan = project.store.plan_restore(&manifest.id, &[]).unwrap();
    let mut paths: Vec<_> = plan
        .items
        .iter()
        .map(|item| item.path.as_path().strip_prefix(project.path("")).unwrap().display().to_string())
        .collect();
    paths.sort();
    project.store.restore(&plan, true, now_ms()).unwrap();
    paths
}

#[test]
fn a_pattern_saves_the_entries_of_a_directory_with_hidden_ones() {
    let prepare = || {
        let project = TestProject::empty();
        for path in ["a", "b", ".hidden", "sub/c", "sub/.d"] {
            project.write(path, "text");
        }
        project
    };
    let delete = TargetChange::Delete;
    assert_eq!(saved(&prepare(), "", delete, TargetExtent::Entries), [".hidden", "a", "b"]);
    let trees = [".hidden", "a", "b", "sub", "sub/.d", "sub/c"];
    assert_eq!(saved(&prepare(), "", delete, TargetExtent::EntryTrees), trees);
    assert_eq!(saved(&prepare(), "sub", delete, TargetExtent::Entries), ["sub/.d", "sub/c"]);
}

#[test]
fn all_entries_of_a_repository_are_refused_because_a_pattern_may_match_its_directory() {
    let project = TestProject::repository();
    let request = |extent| {
        let target = FileTarget { path: project.path(""), change: TargetChange::Delete, extent };
        SnapshotRequest { files: vec![target], ..project.request() }
    };
    let error = project.store.take_snapshot(&request(TargetExtent::EntryTrees)).unwrap_err();
    assert_eq!(error.kind(), SnapshotErrorKind::NotCovered, "{error}");
    assert!(project.store.take_snapshot(&request(TargetExtent::Entries)).is_ok(), "files only");
}

#[test]
fn a_saved_file_that_the_call_did_not_change_is_not_part_of_the_undo() {
    let project = TestProject::empty();
    project.write("deleted", "text");
    project.write(".kept", "text");
    let target =
        FileTarget { path: project.path(""), change: TargetChange::Delete, extent: TargetExtent::Entries };
    let request = SnapshotRequest { files: vec![target], ..project.request() };
    let manifest = project.run_call(&request, || project.shell("rm ./*"));
    project.write(".kept", "newer work");
    project.undo(&manifest);
    assert_eq!((project.read("deleted").as_str(), project.read(".kept").as_str()), ("text", "newer work"));
}

#[test]
fn replacing_a_link_saves_the_link_and_not_the_file_behind_it() {
    let project = TestProject::empty();
    project.write("tree/file", "text");
    std::fs::write(project.top.join("outside"), "text").unwrap();
    symlink("../../outside", project.path("tree/out")).unwrap();
    let target = FileTarget {
        path: project.path("tree"),
        change: TargetChange::Replace,
        extent: TargetExtent::Entries,
    };
    let request = SnapshotRequest { files: vec![target], ..project.request() };
    let manifest = project.run_call(&request, || project.shell("cd tree && sed -i s/text/new/ *"));
    project.undo(&manifest);
    assert_eq!(project.read("tree/file"), "text");
    assert!(project.path("tree/out").is_symlink());
}

#[test]
fn a_directory_is_not_overwritten_so_nothing_is_saved_of_it() {
    let project = TestProject::empty();
    project.write("src/file", "text");
    let target =
        FileTarget { path: project.path("src"), change: TargetChange::Overwrite, extent: TargetExtent::Path };
    let request = SnapshotRequest { files: vec![target], ..project.request() };
    assert!(project.store.take_snapshot_of_existing(&request).unwrap().is_none());
}

/// A write through another name of the file, with its time set back.
#[test]
fn content_that_was_changed_in_the_snapshot_is_never_restored() {
    let project = TestProject::empty();
    project.write("src/big", &"a".repeat(50_000));
    let request = project.file_request(&["src"], TargetChange::Delete);
    let manifest = project.store.take_snapshot(&request).unwrap();
    let time = project.path("src/big").metadata().unwrap().modified().unwrap();
    project.shell("ln src/big keep; rm -r src; printf b | dd of=keep conv=notrunc status=none");
    let file = std::fs::File::options().write(true).open(project.path("keep")).unwrap();
    file.set_modified(time).unwrap();
    project.store.note_state_after(&manifest.id).unwrap();
    let plan = project.store.plan_restore(&manifest.id, &[]).unwrap();
    let report = project.store.restore(&plan, false, now_ms()).unwrap();
    assert!(!project.path("src/big").exists());
    let reasons = format!("{:?}", report.left);
    assert!(reasons.contains("changed after the snapshot"), "{reasons}");
}

#[test]
fn a_file_with_another_name_is_copied_so_that_changes_of_it_do_not_reach_the_snapshot() {
    let project = TestProject::empty();
    project.write("src/big", &"a".repeat(50_000));
    project.shell("ln src/big keep");
    let manifest = project.run_call(&project.file_request(&["src"], TargetChange::Delete), || {
        project.shell("rm -r src; echo changed > keep");
    });
    project.undo(&manifest);
    assert_eq!(project.read("src/big"), "a".repeat(50_000));
}

#[test]
fn directories_on_the_way_to_a_restored_file_get_their_saved_modes() {
    let project = TestProject::empty();
    project.write("private/inner/key", "text");
    project.set_mode("private", 0o700);
    project.set_mode("private/inner", 0o750);
    let manifest = project.run_call(&project.file_request(&["private"], TargetChange::Delete), || {
        project.shell("rm -r private");
    });
    let plan = project.store.plan_restore(&manifest.id, &["private/inner/key".into()]).unwrap();
    project.store.restore(&plan, false, now_ms()).unwrap();
    let mode = |path: &str| project.path(path).metadata().unwrap().mode() & 0o7777;
    assert_eq!((mode("private"), mode("private/inner")), (0o700, 0o750));
}

#[test]
fn setuid_bits_come_back_only_for_the_same_owner() {
    let project = TestProject::empty();
    for name in ["own", "other"] {
        project.write(&format!("bin/{name}"), "text");
        project.set_mode(&format!("bin/{name}"), 0o4755);
    }
    let is_root = rustix::process::geteuid().is_root();
    if is_root {
        std::os::unix::fs::chown(project.path("bin/other"), Some(65_534), None).unwrap();
        project.set_mode("bin/other", 0o4755);
    }
    let manifest = project.run_call(&project.file_request(&["bin"], TargetChange::Delete), || {
        project.shell("rm -r bin");
    });
    let plan = project.store.plan_restore(&manifest.id, &[]).unwrap();
    project.store.restore(&plan, false, now_ms()).unwrap();
    let mode = |path: &str| project.path(path).metadata().unwrap().mode() & 0o7777;
    assert_eq!(mode("bin/own"), 0o4755);
    assert_eq!(mode("bin/other"), if is_root { 0o755 } else { 0o4755 });
}

#[test]
fn writing_to_a_link_saves_the_file_behind_it_and_a_link_out_of_the_project_is_refused() {
    let project = TestProject::empty();
    project.write("real", "text");
    symlink("real", project.path("link")).unwrap();
    let overwrite = TargetChange::Overwrite;
    assert_eq!(saved(&project, "link", overwrite, TargetExtent::Path), ["link", "real"]);
    std::fs::write(project.top.join("outside"), "text").unwrap();
    symlink("../outside", project.path("out")).unwrap();
    project.write("tree/file", "text");
    symlink("../../outside", project.path("tree/out")).unwrap();
    for (path, extent) in [("out", TargetExtent::Path), ("tree", TargetExtent::Tree)] {
        let target = FileTarget { path: project.path(path), change: overwrite, extent };
        let request = SnapshotRequest { files: vec![target], ..project.request() };
        let error = project.store.take_snapshot(&request).unwrap_err();
        assert_eq!(error.kind(), SnapshotErrorKind::NotCovered, "{path}: {error}");
    }
}

#[test]
fn the_directory_of_a_repository_is_not_a_target() {
    let project = TestProject::repository();
    let request = project.file_request(&[".git/config"], TargetChange::Delete);
    let error = project.store.take_snapshot(&request).unwrap_err();
    assert_eq!(error.kind(), SnapshotErrorKind::NotCovered, "{error}");
}

#[test]
fn a_name_of_a_file_with_several_names_comes_back_with_its_content() {
    let project = TestProject::empty();
    project.write("one", &"x".repeat(300_000));
    std::fs::hard_link(project.path("one"), project.path("other")).unwrap();
    let manifest = project.run_call(&project.file_request(&["one"], TargetChange::Overwrite), || {
        project.shell("printf new > one");
    });
    assert_eq!(project.read("other"), "new");
    project.undo(&manifest);
    assert_eq!(project.read("one").len(), 300_000);
    assert_eq!(project.read("other"), "new", "the other name is not part of the snapshot");
}

#[test]
fn a_call_whose_files_do_not_exist_takes_no_optional_snapshot() {
    let project = TestProject::empty();
    let missing = project.file_request(&["missing"], TargetChange::Overwrite);
    assert_eq!(project.store.take_snapshot_of_existing(&missing).unwrap(), None);
    assert_eq!(project.store.list(&SnapshotFilter::default()).unwrap(), []);
    project.write("file", "text");
    let existing = project.file_request(&["file"], TargetChange::Overwrite);
    assert!(project.store.take_snapshot_of_existing(&existing).unwrap().is_some());
}

#[test]
fn concurrent_snapshots_do_not_disturb_each_other() {
    let project = TestProject::empty();
    for number in 0..300 {
        project.write(&format!("data/{number}"), &format!("file {number}\n"));
    }
    let request = project.file_request(&["data"], TargetChange::Overwrite);
    let taken: Vec<_> = std::thread::scope(|scope| {
        let running: Vec<_> =
            (0..8).map(|_| scope.spawn(|| project.store.take_snapshot(&request).unwrap())).collect();
        running.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    let tree = project.tree();
    for manifest in &taken {
        assert_eq!(manifest.entries, 301);
        project.shell("rm -rf data");
        project.undo(manifest);
        assert_eq!(project.tree(), tree);
    }
}

#[test]
fn a_file_that_is_written_while_it_is_copied_is_saved_in_one_state_or_refused() {
    let project = TestProject::empty();
    let path = project.path("busy");
    let write = |byte: u8| std::fs::write(&path, vec![byte; 4_000_000]).unwrap();
    write(b'a');
    let is_done = std::sync::atomic::AtomicBool::new(false);
    let request = project.file_request(&["busy"], TargetChange::Overwrite);
    let mut taken = Vec::new();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !is_done.load(std::sync::atomic::Ordering::Relaxed) {
                write(b'b');
                std::thread::sleep(std::time::Duration::from_millis(15));
            }
        });
        for _ in 0..20 {
            match project.store.take_snapshot(&request) {
                Ok(manifest) => taken.push(manifest),
                Err(error) => assert_eq!(error.kind(), SnapshotErrorKind::Io, "{error}"),
            }
        }
        is_done.store(true, std::sync::atomic::Ordering::Relaxed);
    });
    for manifest in taken {
        std::fs::remove_file(&path).unwrap();
        let plan = project.store.plan_restore(&manifest.id, &[]).unwrap();
        project.store.restore(&plan, true, now_ms()).unwrap();
        let content = std::fs::read(&path).unwrap();
        assert!(content.windows(2).all(|pair| pair[0] == pair[1]), "two states are mixed");
    }
}
