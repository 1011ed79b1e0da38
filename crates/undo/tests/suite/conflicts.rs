// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Newer work is shown and not overwritten.

use std::os::unix::fs::symlink;
use std::path::PathBuf;

use tenterhook_undo::{
    GitCallKind, RestoreAction, SnapshotManifest, TargetChange, UndoSelection, format_plan, format_report,
};

use crate::project::{TestProject, now_ms};

fn actions(project: &TestProject, manifest: &SnapshotManifest) -> Vec<(PathBuf, RestoreAction)> {
    let plan = project.store.plan_restore(&manifest.id, &[]).unwrap();
    plan.items.into_iter().map(|planned| (planned.path.as_path().to_owned(), planned.action)).collect()
}

#[test]
fn a_file_changed_after_the_call_is_left_unless_forced_and_the_undo_can_be_undone() {
    let project = TestProject::empty();
    project.write("one", "1 old");
    project.write("two", "2 old");
    let manifest = project.run_call(&project.file_request(&["one", "two"], TargetChange::Overwrite), || {
        project.shell("echo call > one; echo call > two");
    });
    project.write("two", "newer work");
    let plan = project.store.plan_restore(&manifest.id, &[]).unwrap();
    assert_eq!((plan.count_restorable(), plan.count_conflicts()), (1, 1));
    let shown = format_plan(&plan);
    assert!(shown.contains("replace   one\n"), "{shown}");
    assert!(shown.contains("conflict  two (it was changed after the call)\n"), "{shown}");

    let report = project.store.restore(&plan, false, now_ms()).unwrap();
    assert_eq!((report.restored.len(), report.left.len()), (1, 1));
    assert_eq!((project.read("one"), project.read("two")), ("1 old".into(), "newer work".into()));
    assert!(format_report(&report, &project.project).contains("left      two"));

    let plan = project.store.plan_restore(&manifest.id, &[]).unwrap();
    let report = project.store.restore(&plan, true, now_ms()).unwrap();
    assert_eq!(project.read("two"), "2 old");
    let saved = report.saved.unwrap();
    let select = |selection| project.store.select(&selection).unwrap().remove(0).id;
    assert_eq!(select(UndoSelection::Last), manifest.id);
    assert_eq!(select(UndoSelection::Session("session".to_owned())), manifest.id);
    assert_eq!(select(UndoSelection::IdOrEvent("event".to_owned())), manifest.id);
    assert_eq!(select(UndoSelection::IdOrEvent(saved.clone())), saved);
    assert!(project.store.select(&UndoSelection::Session("unknown".to_owned())).is_err());
    let plan = project.store.plan_restore(&saved, &[]).unwrap();
    assert_eq!(plan.count_restorable(), 1);
    project.store.restore(&plan, false, now_ms()).unwrap();
    assert_eq!(project.read("two"), "newer work");
}

#[test]
fn a_file_created_again_after_it_was_deleted_is_newer_work() {
    let project = TestProject::empty();
    project.write("one", "old");
    let manifest = project.run_call(&project.file_request(&["one"], TargetChange::Delete), || {
        project.shell("rm one");
    });
    project.write("one", "new");
    let found = actions(&project, &manifest);
    assert!(matches!(found[..], [(_, RestoreAction::Conflict { .. })]), "{found:?}");
}

#[test]
fn only_the_named_paths_are_restored() {
    let project = TestProject::repository();
    let manifest = project.run_call(&project.git_request(GitCallKind::Reset), || {
        project.git(&["reset", "-q", "--hard", "HEAD~1"]);
    });
    let head = project.git(&["rev-parse", "HEAD"]);
    let plan = project.store.plan_restore(&manifest.id, &["src".into()]).unwrap();
    project.store.restore(&plan, false, now_ms()).unwrap();
    assert_eq!(project.read("src/main.rs"), "fn main() { work() }\n");
    assert_eq!(project.read("README.md"), "first\n");
    assert_eq!(project.git(&["rev-parse", "HEAD"]), head);
}

#[test]
fn newer_commits_are_kept_while_files_come_back() {
    let project = TestProject::repository();
    let manifest = project.run_call(&project.git_request(GitCallKind::Reset), || {
        project.git(&["reset", "-q", "--hard"]);
    });
    project.git(&["commit", "-q", "--allow-empty", "-m", "newer"]);
    let head = project.git(&["rev-parse", "HEAD"]);
    let plan = project.store.plan_restore(&manifest.id, &[]).unwrap();
    let report = project.store.restore(&plan, false, now_ms()).unwrap();
    assert!(!report.left.is_empty());
    assert_eq!(project.git(&["rev-parse", "HEAD"]), head);
    assert_eq!(project.read("src/main.rs"), "fn main() { work() }\n");
    assert_eq!(project.read("src/lib.rs"), "//! Staged\n");
    project.git(&["fsck", "--full"]);
}

#[test]
fn a_deleted_branch_comes_back_beside_newer_commits() {
    let project = TestProject::repository();
    project.git(&["branch", "side", "HEAD~1"]);
    let side = project.git(&["rev-parse", "side"]);
    let manifest = project.run_call(&project.git_request(GitCallKind::DeleteBranch), || {
        project.git(&["branch", "-q", "-D", "side"]);
    });
    project.commit("newer");
    let plan = project.store.plan_restore(&manifest.id, &[]).unwrap();
    project.store.restore(&plan, false, now_ms()).unwrap();
    assert_eq!(project.git(&["rev-parse", "side"]), side);
    assert!(project.git(&["log", "-1", "--format=%s"]).contains("newer"));
}

#[test]
fn without_the_end_of_the_call_its_changes_are_recognised_by_their_time() {
    let project = TestProject::empty();
    project.write("one", "old");
    let mut request = project.file_request(&["one"], TargetChange::Overwrite);
    let recent = project.store.take_snapshot(&request).unwrap();
    request.now_ms -= 60_000;
    let earlier = project.store.take_snapshot(&request).unwrap();
    project.write("one", "call");
    assert!(matches!(actions(&project, &recent)[..], [(_, RestoreAction::Replace)]));
    assert!(matches!(actions(&project, &earlier)[..], [(_, RestoreAction::Conflict { .. })]));
}

#[test]
fn a_restore_never_writes_through_a_link() {
    let project = TestProject::empty();
    project.write("dir/file", "old");
    project.write("plain", "old");
    std::fs::create_dir(project.top.join("victim")).unwrap();
    std::fs::write(project.top.join("victim/file"), "untouched").unwrap();
    let request = project.file_request(&["dir", "plain"], TargetChange::Delete);
    let manifest = project.run_call(&request, || project.shell("rm -r dir plain"));
    symlink(project.top.join("victim"), project.path("dir")).unwrap();
    symlink(project.top.join("victim/file"), project.path("plain")).unwrap();
    let plan = project.store.plan_restore(&manifest.id, &[]).unwrap();
    assert_eq!(plan.count_restorable(), 0, "{}", format_plan(&plan));
    project.store.restore(&plan, true, now_ms()).unwrap();
    assert_eq!(std::fs::read_to_string(project.top.join("victim/file")).unwrap(), "untouched");
    assert!(std::fs::read_link(project.path("dir")).is_ok());
    // With force, the link itself is replaced, not its target.
    assert_eq!(project.read("plain"), "old");
    assert!(std::fs::read_link(project.path("plain")).is_err());
}

#[test]
fn a_path_that_changes_after_the_plan_is_left() {
    let project = TestProject::empty();
    project.write("one", "old");
    project.write("two", "old");
    let request = project.file_request(&["one", "two"], TargetChange::Overwrite);
    let manifest = project.run_call(&request, || project.shell("echo call > one; rm two"));
    let plan = project.store.plan_restore(&manifest.id, &[]).unwrap();
    assert_eq!(plan.count_restorable(), 2);
    project.write("one", "changed meanwhile");
    project.write("two", "created meanwhile");
    let report = project.store.restore(&plan, false, now_ms()).unwrap();
    assert_eq!(report.left.len(), 2);
    assert_eq!(project.read("one"), "changed meanwhile");
    assert_eq!(project.read("two"), "created meanwhile");
}

#[test]
fn a_hard_link_that_was_written_in_place_is_reported() {
    let project = TestProject::empty();
    project.write("large", &"z".repeat(100_000));
    let request = project.file_request(&["large"], TargetChange::Delete);
    let manifest = project.run_call(&request, || project.shell("echo oops > large; rm large"));
    let found = actions(&project, &manifest);
    assert!(matches!(found[..], [(_, RestoreAction::Blocked { .. })]), "{found:?}");
}

#[test]
fn damaged_content_is_not_restored() {
    let project = TestProject::empty();
    project.write("one", "old");
    let manifest = project.run_call(&project.file_request(&["one"], TargetChange::Overwrite), || {
        project.shell("rm one");
    });
    std::fs::write(project.top.join("state/undo").join(&manifest.id).join("pack-0"), "bad").unwrap();
    let plan = project.store.plan_restore(&manifest.id, &[]).unwrap();
    let report = project.store.restore(&plan, false, now_ms()).unwrap();
    assert_eq!((report.restored.len(), report.left.len()), (0, 1));
    assert!(!project.path("one").exists());
    assert_eq!(std::fs::read_dir(&project.project).unwrap().count(), 0);
}

#[test]
fn the_calls_of_a_session_are_undone_one_after_the_other() {
    let project = TestProject::repository();
    let (tree, state) = (project.tree(), project.git_state());
    let mut request = project.git_request(GitCallKind::Reset);
    for revision in ["HEAD", "HEAD~1"] {
        request.now_ms += 1;
        project.run_call(&request, || {
            project.git(&["reset", "-q", "--hard", revision]);
        });
    }
    let mut request = project.git_request(GitCallKind::Clean { ignored: true, repositories: false });
    request.now_ms += 10;
    project.run_call(&request, || {
        project.git(&["clean", "-q", "-fdx"]);
    });
    let selected = project.store.select(&UndoSelection::Session("session".to_owned())).unwrap();
    assert_eq!(selected.len(), 3);
    for manifest in &selected {
        project.undo(manifest);
    }
    assert_eq!(project.git_state(), state);
    assert_eq!(project.tree(), tree);
}
