// SPDX-License-Identifier: Apache-2.0 OR MIT

//! A throw-away project with a git repository and a store for snapshots.

use std::collections::BTreeMap;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{SystemTime, UNIX_EPOCH};

use tenterhook_undo::{
    CallReference, FileTarget, GitCallKind, GitTarget, RestoreReport, SnapshotManifest, SnapshotRequest,
    TargetChange, TargetExtent, UndoLimits, UndoStore,
};

pub(crate) struct TestProject {
    _directory: tempfile::TempDir,
    pub(crate) top: PathBuf,
    pub(crate) project: PathBuf,
    pub(crate) store: UndoStore,
}

/// Type, permissions, time and content of every path, so that two states can be compared.
pub(crate) type TreeState = BTreeMap<PathBuf, (u32, Option<(i64, i64)>, Vec<u8>)>;

pub(crate) fn test_limits() -> UndoLimits {
    UndoLimits { max_time: std::time::Duration::from_mins(1), min_free_bytes: 0, ..UndoLimits::default() }
}

pub(crate) fn now_ms() -> u64 {
    u64::try_from(SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_millis()).unwrap()
}

impl TestProject {
    /// An empty project without a repository.
    pub(crate) fn empty() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let top = directory.path().canonicalize().unwrap();
        let project = top.join("project");
        std::fs::create_dir(&project).unwrap();
        let store = UndoStore::open(&top.join("state/undo"), test_limits()).unwrap();
        Self { _directory: directory, top, project, store }
    }

    /// A repository with two commits, and with staged, unstaged, untracked and ignored files.
    pub(crate) fn repository() -> Self {
        let project = Self::empty();
        project.git(&["init", "-q", "-b", "main"]);
        project.write("src/main.rs", "fn main() {}\n");
        project.write("src/lib.rs", "//! First\n");
        project.write("README.md", "first\n");
        project.write(".gitignore", "target/\n*.log\n");
        project.commit("first");
        project.write("README.md", "second\n");
        project.write("run.sh", "#!/bin/sh\n");
        project.set_mode("run.sh", 0o755);
        project.commit("second");
        project.write("src/lib.rs", "//! Staged\n");
        project.git(&["add", "src/lib.rs"]);
        project.write("src/main.rs", "fn main() { work() }\n");
        project.write("notes/todo.txt", "untracked\n");
        project.write("debug.log", "ignored\n");
        project.write("target/out", "built\n");
        std::os::unix::fs::symlink("src/main.rs", project.project.join("link")).unwrap();
        project
    }

    pub(crate) fn path(&self, path: &str) -> PathBuf {
        self.project.join(path)
    }

    pub(crate) fn write(&self, path: &str, text: &str) {
        let path = self.path(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    pub(crate) fn read(&self, path: &str) -> String {
        std::fs::read_to_string(self.path(path)).unwrap()
    }

    pub(crate) fn set_mode(&self, path: &str, mode: u32) {
        std::fs::set_permissions(self.path(path), std::fs::Permissions::from_mode(mode)).unwrap();
    }

    pub(crate) fn commit(&self, message: &str) {
        self.git(&["add", "-A"]);
        self.git(&["commit", "-q", "-m", message]);
    }

    /// Runs git in the project and returns its output.
    pub(crate) fn git(&self, arguments: &[&str]) -> String {
        self.git_in(&self.project, arguments)
    }

    /// Runs git without any settings of this machine.
    pub(crate) fn git_in(&self, directory: &Path, arguments: &[&str]) -> String {
        let output = Command::new("git")
            .args(["-c", "protocol.file.allow=always", "-c", "gc.auto=0"])
            .args(arguments)
            .current_dir(directory)
            .env_clear()
            .env("PATH", std::env::var("PATH").unwrap())
            .env("HOME", &self.top)
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .envs([("GIT_AUTHOR_NAME", "a"), ("GIT_AUTHOR_EMAIL", "a@example.com")])
            .envs([("GIT_COMMITTER_NAME", "a"), ("GIT_COMMITTER_EMAIL", "a@example.com")])
            .output()
            .unwrap();
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "git {arguments:?}: {errors}");
        String::from_utf8(output.stdout).unwrap()
    }

    /// Runs a shell command in the project.
    pub(crate) fn shell(&self, command: &str) {
        let done = Command::new("sh").args(["-c", command]).current_dir(&self.project).status().unwrap();
        assert!(done.success(), "{command}");
    }

    pub(crate) fn request(&self) -> SnapshotRequest {
        let call = CallReference {
            reason: "test-rule".to_owned(),
            session: Some("session".to_owned()),
            event: Some("event".to_owned()),
            tool_call: Some("call".to_owned()),
            replaces_question: true,
        };
        SnapshotRequest {
            call,
            project: self.project.clone(),
            files: Vec::new(),
            git: Vec::new(),
            now_ms: now_ms(),
        }
    }

    pub(crate) fn git_request(&self, kind: GitCallKind) -> SnapshotRequest {
        let target = GitTarget { directory: self.project.clone(), kind, with_submodules: false };
        SnapshotRequest { git: vec![target], ..self.request() }
    }

    pub(crate) fn file_request(&self, paths: &[&str], change: TargetChange) -> SnapshotRequest {
        let target = |path: &&str| FileTarget { path: self.path(path), change, extent: TargetExtent::Tree };
        SnapshotRequest { files: paths.iter().map(target).collect(), ..self.request() }
    }

    /// Takes a snapshot, runs the call, and notes its end.
    pub(crate) fn run_call(&self, request: &SnapshotRequest, call: impl FnOnce()) -> SnapshotManifest {
        let manifest = self.store.take_snapshot(request).unwrap();
        call();
        self.store.note_state_after(&manifest.id).unwrap();
        manifest
    }

    /// Restores a whole snapshot without force; nothing may be left.
    pub(crate) fn undo(&self, manifest: &SnapshotManifest) -> RestoreReport {
        let plan = self.store.plan_restore(&manifest.id, &[]).unwrap();
        let report = self.store.restore(&plan, false, now_ms()).unwrap();
        assert!(report.left.is_empty(), "{:?}", report.left);
        report
    }

    /// The working tree, without the git directory.
    pub(crate) fn tree(&self) -> TreeState {
        read_tree(&self.project)
    }

    /// What git says about the repository.
    pub(crate) fn git_state(&self) -> Vec<String> {
        let commands: [&[&str]; 6] = [
            &["status", "--porcelain=v2", "--branch", "--ignored"],
            &["for-each-ref"],
            &["stash", "list"],
            &["diff"],
            &["diff", "--cached"],
            &["rev-parse", "HEAD"],
        ];
        let state = commands.iter().map(|command| self.git(command)).collect();
        self.git(&["fsck", "--full"]);
        state
    }
}

pub(crate) fn read_tree(top: &Path) -> TreeState {
    let mut state = TreeState::new();
    let mut open = vec![top.to_owned()];
    while let Some(directory) = open.pop() {
        for entry in std::fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            if path.file_name().unwrap() == ".git" {
                continue;
            }
            let found = path.symlink_metadata().unwrap();
            // The time of a directory changes with its entries, and that of a link cannot be set.
            let time = found.is_file().then(|| (found.mtime(), found.mtime_nsec()));
            let content = if found.is_symlink() {
                std::fs::read_link(&path).unwrap().into_os_string().into_encoded_bytes()
            } else if found.is_dir() {
                open.push(path.clone());
                Vec::new()
            } else {
                std::fs::read(&path).unwrap()
            };
            state.insert(path, (found.mode(), time, content));
        }
    }
    state
}
