// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Detects local file systems, where every file change goes through this kernel and is reported.

use std::path::{Path, PathBuf};

/// Magic numbers of local file systems (statfs(2)): btrfs, bcachefs, erofs, ext2 to ext4, f2fs, overlayfs, ramfs,
/// squashfs, tmpfs, xfs, zfs.
const LOCAL_FILE_SYSTEMS: &[u32] = &[
    0x9123_683E,
    0xCA45_1A4E,
    0xE0F5_E1E2,
    0xEF53,
    0xF2F5_2010,
    0x794C_7630,
    0x8584_58F6,
    0x7371_7368,
    0x0102_1994,
    0x5846_5342,
    0x2FC1_2FC1,
];

/// Whether all paths are, or would be created, on local file systems.
pub(super) fn are_on_local_file_systems(paths: &[PathBuf]) -> bool {
    paths.iter().all(|path| is_local(path))
}

fn is_local(path: &Path) -> bool {
    let found = path.ancestors().find_map(|path| rustix::fs::statfs(path).ok());
    // The type of this field differs between architectures, but the number has 32 bits.
    let magic = found.and_then(|found| u32::try_from(i128::from(found.f_type) & 0xFFFF_FFFF).ok());
    magic.is_some_and(|magic| LOCAL_FILE_SYSTEMS.contains(&magic))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kernels_own_file_systems_do_not_report_changes() {
        assert!(!is_local(Path::new("/proc/self/status")));
        assert!(!are_on_local_file_systems(&["/proc/self".into(), "/".into()]));
    }
}
