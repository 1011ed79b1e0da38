// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Working trees, submodules and repositories that are not what they seem.

use tenterhook_undo::{GitCallKind, GitTarget, SnapshotErrorKind, SnapshotRequest};

use crate::project::{TestProject, read_tree};

#[test]
fn a_linked_working_tree_has_its_own_index_and_shares_its_refs() {
    let project = TestProject::repository();
    let linked = project.top.join("linked");
    project.git(&["worktree", "add", "-q", "-b", "side", linked.to_str().unwrap()]);
    std::fs::write(linked.join("README.md"), "changed\n").unwrap();
    std::fs::write(linked.join("new.txt"), "staged\n").unwrap();
    project.git_in(&linked, &["add", "new.txt"]);
    let state = || project.git_in(&linked, &["status", "--porcelain=v2", "--branch"]);
    let (before, main, tree) = (state(), project.git_state(), read_tree(&linked));

    let target = GitTarget { directory: linked.clone(), kind: GitCallKind::Reset, with_submodules: false };
    let request = SnapshotRequest { project: linked.clone(), git: vec![target], ..project.request() };
    let manifest = project.run_call(&request, || {
        project.git_in(&linked, &["reset", "-q", "--hard", "HEAD~1"]);
    });
    assert_ne!(state(), before);
    project.undo(&manifest);
    assert_eq!((state(), read_tree(&linked)), (before, tree));
    assert_eq!(project.git_state(), main);
}

fn with_submodule() -> TestProject {
    let project = TestProject::repository();
    let library = project.top.join("library");
    std::fs::create_dir(&library).unwrap();
    project.git_in(&library, &["init", "-q", "-b", "main"]);
    std::fs::write(library.join("lib.c"), "int one;\n").unwrap();
    project.git_in(&library, &["add", "-A"]);
    project.git_in(&library, &["commit", "-q", "-m", "first"]);
    project.git(&["submodule", "--quiet", "add", library.to_str().unwrap(), "vendor/library"]);
    project.write("vendor/library/lib.c", "int two;\n");
    project.write("vendor/library/new.c", "int three;\n");
    project
}

#[test]
fn a_call_in_a_submodule_is_undone() {
    let project = with_submodule();
    let tree = project.tree();
    let directory = project.path("vendor/library");
    let target = GitTarget { directory: directory.clone(), kind: GitCallKind::Reset, with_submodules: false };
    let request = SnapshotRequest { git: vec![target], ..project.request() };
    let manifest = project.run_call(&request, || {
        project.git_in(&directory, &["reset", "-q", "--hard"]);
    });
    assert_ne!(project.tree(), tree);
    project.undo(&manifest);
    assert_eq!(project.tree(), tree);
}

#[test]
fn submodules_are_saved_if_the_call_changes_them() {
    let project = with_submodule();
    project.git(&["commit", "-q", "-m", "submodule"]);
    let mut request = project.git_request(GitCallKind::Reset);
    request.git[0].with_submodules = true;
    let tree = project.tree();
    let manifest = project.run_call(&request, || {
        project.git(&["reset", "-q", "--hard", "--recurse-submodules"]);
    });
    assert_eq!(project.read("vendor/library/lib.c"), "int one;\n");
    project.undo(&manifest);
    assert_eq!(project.tree(), tree);
}

#[test]
fn a_nested_repository_is_saved_if_it_is_deleted() {
    let project = TestProject::repository();
    std::fs::create_dir_all(project.path("nested")).unwrap();
    project.git_in(&project.path("nested"), &["init", "-q", "-b", "main"]);
    project.write("nested/file", "text\n");
    project.git_in(&project.path("nested"), &["add", "-A"]);
    project.git_in(&project.path("nested"), &["commit", "-q", "-m", "nested"]);
    let tree = project.tree();
    let kind = GitCallKind::Clean { ignored: false, repositories: true };
    let manifest = project.run_call(&project.git_request(kind), || {
        project.git(&["clean", "-q", "-ffd"]);
    });
    assert!(!project.path("nested").exists());
    project.undo(&manifest);
    assert_eq!(project.tree(), tree);
    project.git_in(&project.path("nested"), &["fsck", "--full"]);
    assert!(project.git_in(&project.path("nested"), &["log"]).contains("nested"));
}

#[test]
fn index_version_4_and_long_names_are_read() {
    let project = TestProject::repository();
    let long = "d".repeat(200);
    for name in ["a", "ab", "abc"] {
        project.write(&format!("{}/{long}/{name}", [long.as_str(); 17].join("/")), name);
    }
    project.git(&["add", "-A"]);
    for version in ["4", "2"] {
        project.git(&["update-index", "--index-version", version]);
        project.write("src/main.rs", version);
        let tree = project.tree();
        let manifest = project.run_call(&project.git_request(GitCallKind::Discard), || {
            project.git(&["checkout", "-q", "."]);
        });
        assert_ne!(project.tree(), tree);
        project.undo(&manifest);
        assert_eq!(project.tree(), tree);
    }
}

#[test]
fn a_repository_with_sha256_is_read() {
    let project = TestProject::empty();
    project.git(&["init", "-q", "-b", "main", "--object-format=sha256"]);
    project.write("one", "1\n");
    project.commit("first");
    project.write("one", "2\n");
    let manifest = project.run_call(&project.git_request(GitCallKind::Reset), || {
        project.git(&["reset", "-q", "--hard"]);
    });
    project.undo(&manifest);
    assert_eq!(project.read("one"), "2\n");
}

fn assert_refused(project: &TestProject, kind: GitCallKind) {
    let error = project.store.take_snapshot(&project.git_request(kind)).unwrap_err();
    assert_eq!(error.kind(), SnapshotErrorKind::NotCovered, "{error}");
    assert_eq!(std::fs::read_dir(project.top.join("state/undo")).unwrap().count(), 0);
}

#[test]
fn a_repository_that_changes_other_files_is_refused() {
    let all = GitCallKind::Clean { ignored: true, repositories: false };
    let elsewhere = TestProject::repository();
    std::fs::create_dir(elsewhere.top.join("documents")).unwrap();
    elsewhere.git(&["config", "core.worktree", elsewhere.top.join("documents").to_str().unwrap()]);
    assert_refused(&elsewhere, all);

    let included = TestProject::repository();
    included.git(&["config", "include.path", "other"]);
    assert_refused(&included, all);

    let split = TestProject::repository();
    split.git(&["update-index", "--split-index"]);
    assert_refused(&split, all);

    let foreign = TestProject::repository();
    let other = foreign.top.join("other");
    std::fs::create_dir(&other).unwrap();
    foreign.git_in(&other, &["init", "-q"]);
    std::fs::rename(foreign.path(".git"), foreign.top.join("moved")).unwrap();
    std::fs::write(foreign.path(".git"), format!("gitdir: {}\n", other.join(".git").display())).unwrap();
    assert_refused(&foreign, all);

    assert_refused(&TestProject::empty(), all);

    let outside = TestProject::repository();
    let inner = outside.top.join("elsewhere");
    std::fs::create_dir(&inner).unwrap();
    let request = SnapshotRequest { project: inner, ..outside.git_request(all) };
    let error = outside.store.take_snapshot(&request).unwrap_err();
    assert_eq!(error.kind(), SnapshotErrorKind::NotCovered);
}

#[test]
fn reftables_are_refused() {
    let project = TestProject::empty();
    project.git(&["init", "-q", "--ref-format=reftable"]);
    project.write("one", "1\n");
    project.commit("first");
    assert_refused(&project, GitCallKind::DeleteBranch);
}
