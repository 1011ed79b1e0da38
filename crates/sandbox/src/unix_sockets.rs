// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Unix sockets of other programs. A read-only mount does not prevent connecting to them, so they are hidden.

use std::path::{Path, PathBuf};

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
        (reachable(&path) && exists(&path)).then_some(path)
    });
    found.collect()
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
}
