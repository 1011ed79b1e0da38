// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Calls that are saved instead of asked about.

use std::process::Command;

use serde_json::json;
use tenterhook_event::{Decision, ToolCall};
use tenterhook_undo::{SnapshotFilter, UndoLimits, UndoStore};

use super::run_file_tests::Project;

/// A project with a repository, one commit and an uncommitted change.
fn repository() -> Project {
    let project = Project::new(&[("a.txt", "committed\n"), ("sub/b.txt", "committed\n")]);
    for arguments in [&["init", "-q"][..], &["add", "-A"], &["commit", "-q", "-m", "first"]] {
        git(&project, arguments);
    }
    std::fs::write(project.directory().join("a.txt"), "changed\n").unwrap();
    project
}

fn git(project: &Project, arguments: &[&str]) {
    let who = ["-c", "user.name=a", "-c", "user.email=a@example.com"];
    let mut command = Command::new("git");
    command.args(who).args(arguments).current_dir(project.directory());
    command.env("HOME", project.directory()).env("GIT_CONFIG_NOSYSTEM", "1");
    assert!(command.status().unwrap().success(), "{arguments:?}");
}

fn store(project: &Project) -> UndoStore {
    UndoStore::open(&project.undo_directory(), UndoLimits::default()).unwrap()
}

#[test]
fn a_call_that_can_be_undone_is_saved_and_not_asked_about() {
    let lines = [
        "git reset --hard",
        "git checkout -- .",
        "git clean -fdx",
        "git branch -D other",
        "git stash clear",
        "cd sub && git restore .",
        "git -C sub reset --hard",
        "git status && bash -c 'git checkout .'",
    ];
    for line in lines {
        let project = repository();
        assert_eq!(project.run(line), Decision::None, "{line}");
        let found = store(&project).list(&SnapshotFilter::default()).unwrap();
        assert_eq!(found.len(), 1, "{line}");
        assert_eq!(found[0].session.as_deref(), Some("s"));
    }
}

#[test]
fn the_snapshot_restores_what_the_call_discarded() {
    let project = repository();
    let judged = project.judge(ToolCall::new("Bash", json!({ "command": "git reset --hard" })));
    let id = judged.observed.unwrap()["snapshot"].as_str().unwrap().to_owned();
    assert!(
        judged
            .findings
            .iter()
            .any(|finding| { finding.message.as_ref().is_some_and(|message| message.contains(&id)) })
    );
    assert!(judged.steps.iter().any(|step| step.note.as_ref().is_some_and(|note| note.contains(&id))));
    git(&project, &["reset", "-q", "--hard"]);
    let plan = store(&project).plan_restore(&id, &[]).unwrap();
    store(&project).restore(&plan, true, 1).unwrap();
    assert_eq!(std::fs::read_to_string(project.directory().join("a.txt")).unwrap(), "changed\n");
}

#[test]
fn the_question_stays_if_the_snapshot_does_not_cover_the_call() {
    let lines = [
        "git reset --hard && hg purge",
        "sudo git reset --hard",
        "git --git-dir=/x/.git --work-tree=/x reset --hard",
        "GIT_WORK_TREE=/x git clean -fdx",
        "git -c core.worktree=/x clean -fdx",
        "git -C /x reset --hard",
        "git reset --hard $TARGET",
        "cd sub; git clean -fd",
        "git reset --hard; git filter-branch --all",
        "./git reset --hard",
        "ssh host git reset --hard",
    ];
    for line in lines {
        let project = repository();
        assert!(project.run(line) >= Decision::Ask, "{line}");
    }
    let plain = Project::new(&[("a.txt", "text")]);
    assert_eq!(plain.run("git reset --hard"), Decision::Ask, "no repository");
}

#[test]
fn a_call_that_is_denied_takes_no_snapshot() {
    let project = repository();
    assert_eq!(project.run("git reset --hard && rm -rf ~"), Decision::Deny);
    assert!(!project.undo_directory().exists());
}
