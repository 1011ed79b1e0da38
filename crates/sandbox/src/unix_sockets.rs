// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Unix sockets of other programs. A read-only mount does not prevent connecting to them, so they are hidden.

use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use rustix::process::{getegid, geteuid, getgroups};

/// Extended attribute with the access control list of a file.
const ACCESS_LIST: &str = "system.posix_acl_access";
/// Directories below the home directory in which programs create sockets that give access to the machine.
const SOCKET_DIRECTORIES: &[&str] = &[
    ".docker/run",
    ".docker/desktop",
    ".colima",
    ".lima",
    ".rd",
    ".1password",
    ".gnupg",
    ".tmux",
    ".emacs.d/server",
];

/// Directories of the machine with such sockets.
const MACHINE_SOCKET_DIRECTORIES: &[&str] =
    &["/var/lib/docker", "/var/lib/containerd", "/var/lib/lxd", "/var/lib/incus", "/var/snap/lxd/common/lxd"];

/// Returns the paths of sockets in the text of `/proc/net/unix`.
pub fn socket_paths(table: &str) -> Vec<PathBuf> {
    let path = |line: &str| {
        // Num RefCount Protocol Flags Type St Inode Path
        let path = line.split_whitespace().nth(7)?;
        let start = line.find(path)?;
        line.get(start..).filter(|path| path.starts_with('/')).map(PathBuf::from)
    };
    let mut found: Vec<_> = table.lines().skip(1).filter_map(path).collect();
    found.sort();
    found.dedup();
    found
}

/// Returns the sockets to hide: those that exist and that a run could reach. `reachable` decides the latter.
pub fn sockets_to_hide(table: &str, reachable: impl Fn(&Path) -> bool) -> Vec<PathBuf> {
    let exists = |path: &PathBuf| std::fs::symlink_metadata(path).is_ok_and(|found| !found.is_dir());
    let found = socket_paths(table).into_iter().filter_map(|path| {
        let path = path.parent()?.canonicalize().ok()?.join(path.file_name()?);
        (reachable(&path) && exists(&path) && may_search_all_above(&path)).then_some(path)
    });
    found.collect()
}

/// Whether this account may search the directories above a path without capabilities, as in a sandbox. Otherwise the run
/// cannot reach the path, and nothing can be mounted on it. For root, this differs from what root may do outside.
fn may_search_all_above(path: &Path) -> bool {
    path.ancestors().skip(1).all(may_search)
}

fn may_search(directory: &Path) -> bool {
    let Ok(found) = std::fs::metadata(directory) else { return false };
    let is_in_group = || {
        let gid = found.gid();
        getegid().as_raw() == gid
            || getgroups().is_ok_and(|groups| groups.iter().any(|group| group.as_raw() == gid))
    };
    let bit = match () {
        () if found.uid() == geteuid().as_raw() => 0o100,
        () if is_in_group() => 0o010,
        () => 0o001,
    };
    // An access control list may permit more than the mode.
    found.mode() & bit != 0 || rustix::fs::getxattr(directory, ACCESS_LIST, &mut [0_u8; 0]).is_ok()
}

/// Returns the directories with sockets that exist, without links.
pub fn socket_directories(home: &Path) -> Vec<PathBuf> {
    let machine = MACHINE_SOCKET_DIRECTORIES.iter().map(PathBuf::from);
    let own = SOCKET_DIRECTORIES.iter().map(|name| home.join(name));
    own.chain(machine)
        .filter(|path| path.canonicalize().is_ok_and(|real| real.is_dir() && real == *path))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_of_sockets_are_read_and_abstract_names_are_not() {
        let table = "Num       RefCount Protocol Flags    Type St Inode Path\n\
            0000000000000000: 00000002 00000000 00010000 0001 01 11 /run/docker.sock\n\
            0000000000000000: 00000002 00000000 00010000 0001 01 12 @/tmp/.X11-unix/X0\n\
            0000000000000000: 00000003 00000000 00000000 0001 03 13\n\
            0000000000000000: 00000002 00000000 00010000 0001 01 14 /home/a b/agent.1\n";
        assert_eq!(
            socket_paths(table),
            [PathBuf::from("/home/a b/agent.1"), PathBuf::from("/run/docker.sock")]
        );
    }

    #[test]
    fn a_socket_in_a_directory_that_the_account_may_not_search_is_not_reachable() {
        use std::os::unix::fs::PermissionsExt as _;
        let directory = tempfile::tempdir().unwrap();
        let inner = directory.path().join("inner");
        std::fs::create_dir(&inner).unwrap();
        let socket = inner.join("x.sock");
        assert!(may_search_all_above(&socket));
        std::fs::set_permissions(&inner, std::fs::Permissions::from_mode(0o600)).unwrap();
        assert!(!may_search_all_above(&socket), "not even for root, who has no capabilities in a sandbox");
        std::fs::set_permissions(&inner, std::fs::Permissions::from_mode(0o700)).unwrap();
        assert!(!may_search(&inner.join("missing")));
    }
}
