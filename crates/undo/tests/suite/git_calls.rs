// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Every kind of git command that loses work, and its undo.

use tenterhook_undo::GitCallKind;

use crate::project::TestProject;

/// Runs a git command after a snapshot, checks that it destroyed something, and undoes it.
fn check(kind: GitCallKind, prepare: &[&[&str]], call: &[&[&str]]) -> TestProject {
    let project = TestProject::repository();
    for command in prepare {
        project.git(command);
    }
    // `git status` refreshes the index, so that it does not change in the comparison below.
    project.git(&["status"]);
    let (tree, state) = (project.tree(), project.git_state());
    let manifest = project.run_call(&project.git_request(kind), || {
        for command in call {
            project.git(command);
        }
    });
    assert!(project.tree() != tree || project.git_state() != state, "{call:?} destroys nothing");
    project.undo(&manifest);
    assert_eq!(project.git_state(), state, "{call:?}");
    assert_eq!(project.tree(), tree, "{call:?}");
    project
}

#[test]
fn discarded_changes_come_back() {
    check(GitCallKind::Discard, &[], &[&["checkout", "--", "."]]);
    check(GitCallKind::Discard, &[], &[&["restore", "."]]);
    check(GitCallKind::Discard, &[], &[&["checkout-index", "-f", "-a"]]);
}

#[test]
fn a_hard_reset_is_undone_with_the_index_and_the_branch() {
    check(GitCallKind::Reset, &[], &[&["reset", "-q", "--hard"]]);
    check(GitCallKind::Reset, &[], &[&["reset", "-q", "--hard", "HEAD~1"]]);
    check(GitCallKind::Reset, &[&["pack-refs", "--all"]], &[&["reset", "-q", "--hard", "HEAD~1"]]);
}

#[test]
fn a_reset_may_overwrite_an_untracked_file() {
    let project = TestProject::repository();
    project.git(&["stash", "-q", "-u"]);
    project.git(&["rm", "-q", "--cached", "run.sh"]);
    project.git(&["commit", "-q", "-m", "third"]);
    project.write("run.sh", "precious\n");
    let manifest = project.run_call(&project.git_request(GitCallKind::Reset), || {
        project.git(&["reset", "-q", "--hard", "HEAD~1"]);
    });
    assert_eq!(project.read("run.sh"), "#!/bin/sh\n");
    project.undo(&manifest);
    assert_eq!(project.read("run.sh"), "precious\n");
}

#[test]
fn a_forced_checkout_is_undone_with_head() {
    let prepare: &[&[&str]] = &[&["branch", "other", "HEAD~1"]];
    check(GitCallKind::Checkout, prepare, &[&["checkout", "-q", "-f", "other"]]);
    check(GitCallKind::Checkout, prepare, &[&["switch", "-q", "--discard-changes", "other"]]);
    check(GitCallKind::Checkout, prepare, &[&["checkout", "-q", "-f", "--detach", "HEAD~1"]]);
}

#[test]
fn a_rebase_is_undone() {
    let prepare: &[&[&str]] = &[&["stash", "-q", "-u"], &["branch", "base", "HEAD~1"]];
    let call: &[&[&str]] = &[
        &["rebase", "-q", "--force-rebase", "--onto", "base", "HEAD~1"],
        &["reset", "-q", "--hard", "HEAD~1"],
    ];
    check(GitCallKind::Rebase, prepare, call);
}

#[test]
fn cleaned_files_come_back() {
    let plain = GitCallKind::Clean { ignored: false, repositories: false };
    let all = GitCallKind::Clean { ignored: true, repositories: false };
    check(plain, &[], &[&["clean", "-q", "-f", "-d"]]);
    check(all, &[], &[&["clean", "-q", "-f", "-d", "-x"]]);
    check(all, &[], &[&["clean", "-q", "-f", "-d", "-X"]]);
}

#[test]
fn ignored_directories_are_saved_only_if_they_are_deleted() {
    let project = TestProject::repository();
    let count = |ignored| {
        let request = project.git_request(GitCallKind::Clean { ignored, repositories: false });
        project.store.take_snapshot(&request).unwrap().entries
    };
    // `target` and `target/out`; `*.log` is a pattern, so `debug.log` is saved in both cases.
    assert_eq!(count(true), count(false) + 2);
}

#[test]
fn a_dropped_stash_comes_back_even_after_a_collection() {
    let prepare: &[&[&str]] = &[&["stash", "-q", "-u"], &["stash", "apply", "-q"], &["stash", "-q"]];
    check(GitCallKind::DropStash, prepare, &[&["stash", "drop", "-q"]]);
    check(GitCallKind::DropStash, prepare, &[&["stash", "drop", "-q", "stash@{1}"]]);
    check(GitCallKind::DropStash, prepare, &[&["stash", "clear"]]);
    check(GitCallKind::DropStash, prepare, &[&["stash", "clear"], &["gc", "-q", "--prune=now"]]);
}

#[test]
fn a_deleted_branch_comes_back_even_after_a_collection() {
    let prepare: &[&[&str]] = &[
        &["stash", "-q", "-u"],
        &["checkout", "-q", "-b", "feature/one"],
        &["commit", "-q", "--allow-empty", "-m", "third"],
        &["checkout", "-q", "main"],
        &["config", "branch.feature/one.description", "text"],
    ];
    check(GitCallKind::DeleteBranch, prepare, &[&["branch", "-q", "-D", "feature/one"]]);
    let collect: &[&[&str]] = &[
        &["branch", "-q", "-D", "feature/one"],
        &["reflog", "expire", "--expire=now", "--all"],
        &["gc", "-q", "--prune=now"],
    ];
    let project = check(GitCallKind::DeleteBranch, prepare, collect);
    assert_eq!(project.git(&["config", "branch.feature/one.description"]), "text\n");
    let packed: Vec<&[&str]> = prepare.iter().copied().chain([&["pack-refs", "--all"][..]]).collect();
    check(GitCallKind::DeleteBranch, &packed, &[&["branch", "-q", "-D", "feature/one"]]);
}

#[test]
fn a_moved_ref_is_moved_back() {
    check(GitCallKind::UpdateRef, &[], &[&["update-ref", "refs/heads/main", "HEAD~1"]]);
    check(GitCallKind::UpdateRef, &[&["tag", "v1"]], &[&["tag", "-d", "v1"]]);
    check(GitCallKind::UpdateRef, &[&["branch", "b"]], &[&["branch", "-q", "-f", "b", "HEAD~1"]]);
}

#[test]
fn pruned_objects_come_back() {
    let project = TestProject::repository();
    let lost = project.git(&["rev-parse", "HEAD"]).trim().to_owned();
    project.git(&["reset", "-q", "--hard", "HEAD~1"]);
    let manifest = project.run_call(&project.git_request(GitCallKind::Prune), || {
        project.git(&["reflog", "expire", "--expire=now", "--all"]);
        project.git(&["gc", "-q", "--prune=now"]);
    });
    let exists = |id: &str| project.git(&["cat-file", "--batch-check", "--batch-all-objects"]).contains(id);
    assert!(!exists(&lost));
    project.undo(&manifest);
    assert!(exists(&lost));
    assert!(project.git(&["reflog"]).contains("HEAD@{1}"));
    project.git(&["fsck", "--full"]);
}
