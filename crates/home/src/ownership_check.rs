// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Checks that only root can change the organisation's file.

use std::os::unix::fs::MetadataExt;
use std::path::Path;

use crate::home;

const OTHERS_CAN_WRITE: u32 = 0o022;
const STICKY: u32 = 0o1000;

/// Returns why an account other than root could change a file, or `None` if only root can. An account could change
/// the file if it owns or can write to the file or a directory above it. For tests, files that belong to the current
/// account are accepted too, unless they are in the machine's configuration directory.
pub(crate) fn find_exposure(path: &Path) -> Option<String> {
    let own = (!path.starts_with(home::MACHINE_CONFIG_DIR)).then(|| rustix::process::geteuid().as_raw());
    // If the path contains a link, the directories of both the path and its target are checked.
    let real = fs_err::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let all = path.ancestors().chain(real.ancestors()).filter(|part| !part.as_os_str().is_empty());
    all.into_iter().find_map(|part| {
        let name = part.display();
        let metadata = match fs_err::symlink_metadata(part) {
            Ok(metadata) if metadata.is_symlink() => return describe_foreign_owner(&metadata, own, part),
            Ok(metadata) => metadata,
            Err(error) => return Some(error.to_string()),
        };
        // In a sticky directory, an account cannot replace another account's files.
        let shared = metadata.is_dir() && metadata.mode() & STICKY != 0;
        if metadata.mode() & OTHERS_CAN_WRITE != 0 && !shared {
            return Some(format!("`{name}` is writable by its group or by all accounts"));
        }
        describe_foreign_owner(&metadata, own, part)
    })
}

fn describe_foreign_owner(metadata: &std::fs::Metadata, own: Option<u32>, part: &Path) -> Option<String> {
    let owner = metadata.uid();
    (owner != 0 && Some(owner) != own)
        .then(|| format!("`{}` belongs to user {owner}, not to root", part.display()))
}
