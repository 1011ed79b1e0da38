// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Finds the program `tenterhook-fleet`. A project must not be able to choose it.

use std::ffi::OsStr;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

/// Name of the program with the commands of a fleet and the connector.
pub const FLEET_PROGRAM: &str = "tenterhook-fleet";
/// Directories in which packages install programs.
const PACKAGE_DIRS: [&str; 2] = ["/usr/local/bin", "/usr/bin"];

/// Finds the program beside another one, or where packages install it.
pub fn find_beside(program: Option<&Path>) -> Option<PathBuf> {
    let beside = program.and_then(Path::parent).map(Path::to_owned);
    let dirs = beside.into_iter().chain(PACKAGE_DIRS.map(PathBuf::from));
    dirs.map(|dir| dir.join(FLEET_PROGRAM)).find(|path| is_trusted(path))
}

/// Finds the program beside another one, or in a directory of `PATH`. Directories below `cwd`, relative ones, and files
/// that other accounts can replace are passed over: a project or an agent may have added them.
pub fn find_on_path(program: Option<&Path>, path: Option<&OsStr>, cwd: Option<&Path>) -> Option<PathBuf> {
    if let Some(found) = find_beside(program) {
        return Some(found);
    }
    let project = cwd.map(project_root);
    let dirs = path.into_iter().flat_map(std::env::split_paths);
    dirs.filter(|dir| dir.is_absolute())
        .filter(|dir| !project.as_ref().is_some_and(|project| is_below(dir, project)))
        .map(|dir| dir.join(FLEET_PROGRAM))
        .find(|path| is_trusted(path))
}

/// Returns the root of the git repository that contains a directory, or the directory itself.
fn project_root(cwd: &Path) -> PathBuf {
    cwd.ancestors().find(|dir| dir.join(".git").exists()).unwrap_or(cwd).to_owned()
}

fn is_below(dir: &Path, project: &Path) -> bool {
    let resolve = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
    // The root directory is not a project, even as working directory.
    project.parent().is_some() && resolve(dir).starts_with(resolve(project))
}

/// Whether a path is a program that only this account or root can have written.
fn is_trusted(path: &Path) -> bool {
    let me = rustix::process::getuid().as_raw();
    let safe = |path: &Path| {
        path.metadata().is_ok_and(|metadata| {
            // Others may write to a directory with the sticky bit, but not replace the files of others.
            let sticky = metadata.is_dir() && metadata.mode() & 0o1000 != 0;
            (metadata.uid() == me || metadata.uid() == 0) && (metadata.mode() & 0o022 == 0 || sticky)
        })
    };
    let is_program = path
        .metadata()
        .is_ok_and(|metadata| metadata.is_file() && metadata.permissions().mode() & 0o111 != 0);
    is_program && safe(path) && path.parent().is_some_and(safe)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn program(dir: &Path, mode: u32) -> PathBuf {
        fs::create_dir_all(dir).unwrap();
        fs::set_permissions(dir, fs::Permissions::from_mode(0o755)).unwrap();
        let path = dir.join(FLEET_PROGRAM);
        fs::write(&path, "#!/bin/sh\n").unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
        path
    }

    #[test]
    fn a_program_in_the_project_or_in_a_relative_directory_is_passed_over() {
        let dir = tempfile::tempdir().unwrap();
        let (project, tools) = (dir.path().join("project"), dir.path().join("tools"));
        fs::create_dir_all(project.join(".git")).unwrap();
        fs::create_dir_all(project.join("src")).unwrap();
        program(&project.join("bin"), 0o755);
        let wanted = program(&tools, 0o755);
        let path =
            std::env::join_paths([Path::new("."), Path::new("bin"), &project.join("bin"), &tools]).unwrap();
        let found = find_on_path(None, Some(&path), Some(&project.join("src")));
        assert_eq!(found, Some(wanted));
        let only = std::env::join_paths([project.join("bin")]).unwrap();
        assert_eq!(find_on_path(None, Some(&only), Some(&project)), None);
        assert!(find_on_path(None, Some(&only), Some(&tools)).is_some());
    }

    #[test]
    fn a_program_that_others_can_replace_is_passed_over() {
        let dir = tempfile::tempdir().unwrap();
        for (name, mode) in [("writable", 0o777), ("not-executable", 0o644)] {
            let path = program(&dir.path().join(name), mode);
            assert_eq!(find_beside(Some(&path.with_file_name("tenterhook"))), None, "{name}");
        }
        let path = program(&dir.path().join("open"), 0o755);
        fs::set_permissions(path.parent().unwrap(), fs::Permissions::from_mode(0o777)).unwrap();
        assert_eq!(find_beside(Some(&path.with_file_name("tenterhook"))), None);
        let path = program(&dir.path().join("fine"), 0o755);
        assert_eq!(find_beside(Some(&path.with_file_name("tenterhook"))), Some(path));
    }
}
