// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Whether a file of the organisation is out of reach for whoever it is about.

use std::os::unix::fs::MetadataExt;
use std::path::Path;

use crate::home;

const OTHERS_WRITE: u32 = 0o022;
const STICKY: u32 = 0o1000;

/// Why others than root could change what a file says, if they could: it, or a directory above it, is
/// theirs or can be written by them. A place that somebody named for a trial may also be their own.
pub(crate) fn exposed(path: &Path) -> Option<String> {
    let own = (!path.starts_with(home::SYSTEM)).then(|| rustix::process::geteuid().as_raw());
    // Behind a link, both ways count: where the link is, and where it leads.
    let real = fs_err::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let all = path.ancestors().chain(real.ancestors()).filter(|part| !part.as_os_str().is_empty());
    all.into_iter().find_map(|part| {
        let name = part.display();
        let metadata = match fs_err::symlink_metadata(part) {
            Ok(metadata) if metadata.is_symlink() => return foreign(&metadata, own, part),
            Ok(metadata) => metadata,
            Err(error) => return Some(error.to_string()),
        };
        // In a sticky directory nobody can replace what is another's.
        let shared = metadata.is_dir() && metadata.mode() & STICKY != 0;
        if metadata.mode() & OTHERS_WRITE != 0 && !shared {
            return Some(format!("`{name}` can be written by its group or by everybody"));
        }
        foreign(&metadata, own, part)
    })
}

fn foreign(metadata: &std::fs::Metadata, own: Option<u32>, part: &Path) -> Option<String> {
    let owner = metadata.uid();
    (owner != 0 && Some(owner) != own)
        .then(|| format!("`{}` belongs to user {owner}, not to root", part.display()))
}
