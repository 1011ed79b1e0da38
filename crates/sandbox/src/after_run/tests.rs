// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Undoes what real git repositories and files contain after a hostile script.

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Command;

use super::*;
use crate::repository_search::{FoundRepositories, find_repositories};

fn shell(directory: &Path, script: &str) {
    let mut command = Command::new("sh");
    command.env_clear().env("PATH", "/usr/local/bin:/usr/bin:/bin").env("HOME", directory.join("home"));
    assert!(command.args(["-ec", script]).current_dir(directory.join("work")).status().unwrap().success());
}

/// Runs a script in a project and undoes its changes.
fn undo_after(script: &str) -> (tempfile::TempDir, Vec<UndoneChange>) {
    let directory = tempfile::tempdir().unwrap();
    let root = directory.path();
    for name in ["home/tools", "work"] {
        std::fs::create_dir_all(root.join(name)).unwrap();
    }
    shell(
        root,
        "git init -q .; chmod 640 .git/config; echo '{}' >../home/state; echo '#!' >../home/tools/x; chmod 755 ../home/tools/x",
    );
    let project = root.join("work").canonicalize().unwrap();
    let FoundRepositories { repositories, unread, .. } = find_repositories(&project, &DiskTree);
    let home = root.join("home").canonicalize().unwrap();
    let own = [home.join("state")];
    let roots = SandboxRoots { home, project, repositories, unread, ..SandboxRoots::default() };
    let before = SettingsBefore::read(&PathSets::default(), &roots, &own).unwrap();
    shell(root, script);
    let undone = before.restore();
    (directory, undone)
}

#[test]
fn obstacles_in_a_git_directory_do_not_keep_its_settings() {
    for obstacle in [
        "true",
        "mkdir .git/config.tenterhook-new",
        "chmod a-w .git",
        "rm .git/config; mkdir -p .git/config/x; touch .git/config.removed-by-tenterhook; chmod a-w .git",
        "ln -sf /tmp/evil .git/config",
    ] {
        let (directory, undone) = undo_after(&format!("git config alias.x '!x'; {obstacle}"));
        let config = directory.path().join("work/.git/config");
        assert!(!undone.is_empty() && undone.iter().all(|change| change.error.is_none()), "{undone:?}");
        assert!(!std::fs::read_to_string(&config).unwrap().contains("!x"), "{obstacle}");
        assert_eq!(config.symlink_metadata().unwrap().permissions().mode() & 0o777, 0o640, "{obstacle}");
    }
}

#[test]
fn linked_hooks_of_a_new_repository_are_moved_and_their_target_stays() {
    let (directory, undone) =
        undo_after("git init -q n; rm -rf n/.git/hooks; ln -s ../../../home/tools n/.git/hooks");
    let mode = directory.path().join("home/tools/x").metadata().unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o755);
    assert!(directory.path().join("work/n/.git/hooks").symlink_metadata().is_err(), "{undone:?}");
}

#[test]
fn a_new_repository_outside_the_project_is_detached() {
    for script in [
        "git init -q ../home/g; mkdir src; echo \"gitdir: $HOME/g/.git\" >src/.git",
        "git init -q ../home/g; mkdir src; ln -s $HOME/g/.git src/.git",
        "git init -q ../home/g; git init -q src; echo $HOME/g/.git >src/.git/commondir",
    ] {
        let (directory, undone) =
            undo_after(&format!("{script}; git -C ../home/g config core.fsmonitor ./x"));
        let output = Command::new("git")
            .args(["config", "core.fsmonitor"])
            .env("HOME", directory.path())
            .current_dir(directory.path().join("work/src"))
            .output()
            .unwrap();
        assert_eq!(String::from_utf8_lossy(&output.stdout), "", "{script}: {undone:?}");
        let config = std::fs::read_to_string(directory.path().join("home/g/.git/config")).unwrap();
        assert!(config.contains("fsmonitor"), "the repository outside is not changed");
    }
}

#[test]
fn state_that_cannot_be_read_is_restored() {
    for state in [
        r#"{"mcpServers": {"evil": {}}, "a": 1e999}"#,
        r#"{"mcpServers": {"evil": {}}, "a": "\ud800"}"#,
        r#"{"mcpServers": {"evil": {}}}"#,
        r#"{"projects": {"/other": {"hasTrustDialogAccepted": true, "evil": 0}}, "mcpServers": {"evil": {}},"#,
    ] {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("state");
        std::fs::write(&path, "{}").unwrap();
        let before = StateFile::read(&path).unwrap();
        std::fs::write(&path, state).unwrap();
        let repair = FileRepair { project: Path::new("/project") };
        assert!(before.restore(&path, Path::new("/project"), &repair).is_some(), "{state}");
        assert!(!std::fs::read_to_string(&path).unwrap().contains("evil"), "{state}");
    }
}

#[test]
fn a_directory_that_another_run_replaces_redirects_no_change() {
    let directory = tempfile::tempdir().unwrap();
    let root = directory.path().canonicalize().unwrap();
    for name in ["work/a", "outside"] {
        std::fs::create_dir_all(root.join(name)).unwrap();
        std::fs::write(root.join(name).join("config"), "old").unwrap();
    }
    let project = root.join("work");
    let repair = FileRepair { project: &project };
    let opened = repair.open_directory(&project.join("a")).unwrap();
    std::fs::rename(project.join("a"), project.join("b")).unwrap();
    std::os::unix::fs::symlink(root.join("outside"), project.join("a")).unwrap();
    // Opened before: the same directory.
    std::fs::write(opened.join(std::ffi::OsStr::new("config")), "new").unwrap();
    assert_eq!(std::fs::read_to_string(project.join("b/config")).unwrap(), "new");
    // Opened after: refused.
    let config = project.join("a/config");
    assert!(repair.replace(&config, b"x", None).is_err() && repair.move_aside(&config).is_err());
    assert_eq!(std::fs::read_to_string(root.join("outside/config")).unwrap(), "old");
    assert_eq!(std::fs::read_dir(root.join("outside")).unwrap().count(), 1);
}
