// SPDX-License-Identifier: Apache-2.0 OR MIT

//! A look at the disk: which of the paths that a call names are links, and where they lead.
//!
//! Nothing is opened and nothing is followed: every directory on the way is looked at by itself, so
//! that no pipe, device or directory that is yet to be mounted can keep anybody waiting.

use std::collections::HashMap;

use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags};
use tenterhook_event::Event;
use tenterhook_facts::{EntryKind, EvalEnvironment, Facts};

/// What a call would do, with what its paths really are.
pub fn facts(event: &Event, around: &EvalEnvironment<'_>) -> Facts {
    let facts = tenterhook_facts::facts(event, around);
    if around.seen.is_some() {
        return facts;
    }
    let mut eyes = Eyes::default();
    let seen = tenterhook_facts::probe_links(event, &facts, around, &mut |place| eyes.look(place));
    if seen.is_empty() {
        return facts;
    }
    tenterhook_facts::facts(event, &EvalEnvironment { seen: Some(&seen), ..*around })
}

/// Looks at places, and remembers which devices are to be left alone.
#[derive(Default)]
struct Eyes {
    mounts_on_touch: HashMap<i128, bool>,
}

impl Eyes {
    fn look(&mut self, place: &str) -> EntryKind {
        let Ok(stat) = rustix::fs::statat(CWD, place, AtFlags::SYMLINK_NOFOLLOW) else {
            return EntryKind::Missing;
        };
        match FileType::from_raw_mode(stat.st_mode) {
            FileType::Symlink => match rustix::fs::readlinkat(CWD, place, Vec::new()) {
                Ok(says) => EntryKind::Link(says.to_string_lossy().into_owned()),
                Err(_) => EntryKind::Missing,
            },
            FileType::Directory => {
                // What lies on a disk is there already.
                let mounts = !is_disk(&stat) && {
                    let device = i128::from(stat.st_dev);
                    *self.mounts_on_touch.entry(device).or_insert_with(|| mounts_on_touch(place))
                };
                if mounts { EntryKind::Missing } else { EntryKind::Other }
            }
            _ => EntryKind::Missing,
        }
    }
}

/// Whether the file system has a device of its own. The kernel gives those that have none numbers of its
/// choice, all with the same first part.
#[cfg(target_os = "linux")]
fn is_disk(stat: &rustix::fs::Stat) -> bool {
    rustix::fs::major(stat.st_dev) != 0
}

#[cfg(not(target_os = "linux"))]
fn is_disk(_stat: &rustix::fs::Stat) -> bool {
    false
}

/// Whether what is below a directory is mounted when somebody goes there, from a machine that may not
/// answer.
#[cfg(target_os = "linux")]
fn mounts_on_touch(directory: &str) -> bool {
    /// `AUTOFS_SUPER_MAGIC`
    const ON_TOUCH: u64 = 0x0187;
    let only_the_path = OFlags::PATH | OFlags::NOFOLLOW | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let Ok(place) = rustix::fs::openat(CWD, directory, only_the_path, Mode::empty()) else { return false };
    rustix::fs::fstatfs(place).is_ok_and(|system| u64::try_from(system.f_type) == Ok(ON_TOUCH))
}

#[cfg(not(target_os = "linux"))]
fn mounts_on_touch(_directory: &str) -> bool {
    false
}
