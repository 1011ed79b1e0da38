// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Receives file changes from the kernel (inotify).

use std::collections::{HashMap, HashSet};
use std::ffi::{OsStr, OsString};
use std::mem::MaybeUninit;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use rustix::fs::inotify::{CreateFlags, Reader, WatchFlags, add_watch, init, remove_watch};
use rustix::io::Errno;
use tokio::net::unix::pipe;

use super::steps::{WatchTarget, follow};

/// Maximum number of reports read before other tasks may run.
const MAX_REPORTS_AT_ONCE: usize = 4096;
/// Size of the buffer for reports.
const REPORT_BUFFER_BYTES: usize = 4096;

/// Kernel reports about files and directories.
#[derive(Debug)]
pub(super) struct ChangeReports {
    /// The inotify descriptor, wrapped as a pipe so that the runtime can wait until it is readable.
    descriptor: pipe::Receiver,
    watched: HashMap<i32, Names>,
}

/// The relevant names in a watched directory.
#[derive(Debug, Default)]
struct Names {
    some: HashSet<OsString>,
    all: bool,
}

impl ChangeReports {
    pub(super) fn new() -> std::io::Result<Self> {
        let descriptor = init(CreateFlags::CLOEXEC | CreateFlags::NONBLOCK)?;
        let descriptor = pipe::Receiver::from_owned_fd_unchecked(descriptor)?;
        Ok(Self { descriptor, watched: HashMap::new() })
    }

    /// Replaces the watches: from now on, only these paths, their directories and the targets of their links are
    /// watched. After an error, some changes may go unreported.
    pub(super) fn set(&mut self, paths: &[PathBuf]) -> std::io::Result<()> {
        let mut watched = HashMap::new();
        for step in paths.iter().flat_map(|path| follow(path)) {
            self.add(&step, &mut watched)?;
        }
        for gone in self.watched.keys().filter(|watch| !watched.contains_key(*watch)) {
            // If the file is gone, the kernel has already removed its watch.
            let _ = remove_watch(&self.descriptor, *gone);
        }
        self.watched = watched;
        Ok(())
    }

    fn add(&self, step: &WatchTarget, watched: &mut HashMap<i32, Names>) -> std::io::Result<()> {
        let own = WatchFlags::MOVE_SELF | WatchFlags::DELETE_SELF;
        let entries = WatchFlags::CREATE | WatchFlags::DELETE | WatchFlags::MOVED_FROM | WatchFlags::MOVED_TO;
        let content = WatchFlags::MODIFY | WatchFlags::CLOSE_WRITE | WatchFlags::ATTRIB;
        let (path, flags) = match step {
            WatchTarget::Passed(path) => (path, own),
            WatchTarget::Named(directory, _) => (directory, own | entries),
            WatchTarget::Reached(path) if path.is_dir() => (path, own | entries | content),
            WatchTarget::Reached(path) => (path, own | content),
        };
        let watch = match self.watch(path, flags) {
            // The file was removed after the path was resolved; its parent directory reports that.
            Err(Errno::NOENT | Errno::NOTDIR) => return Ok(()),
            // Any other error is returned. For example, a directory without read permission can be part of a
            // path, but the kernel does not report that it is moved.
            other => other?,
        };
        let names: &mut Names = watched.entry(watch).or_default();
        match step {
            WatchTarget::Passed(_) => {}
            WatchTarget::Named(_, name) => drop(names.some.insert(name.clone())),
            WatchTarget::Reached(_) => names.all = true,
        }
        Ok(())
    }

    fn watch(&self, path: &Path, flags: WatchFlags) -> rustix::io::Result<i32> {
        // A directory may be part of several paths.
        add_watch(&self.descriptor, path, flags | WatchFlags::MASK_ADD)
    }

    /// Returns once a relevant change was reported.
    pub(super) async fn next(&mut self) {
        loop {
            if self.descriptor.readable().await.is_err() {
                // The runtime is shutting down.
                return std::future::pending().await;
            }
            let counts = read_reports(&self.descriptor, &self.watched);
            // A read that would block makes the runtime wait for the next report. The one-byte buffer is too
            // small to consume a report.
            let _ = self.descriptor.try_read(&mut [0]);
            if counts {
                return;
            }
        }
    }
}

/// Reads available reports up to a limit. Returns whether one of them is relevant.
fn read_reports(descriptor: &pipe::Receiver, watched: &HashMap<i32, Names>) -> bool {
    let mut buffer = [MaybeUninit::uninit(); REPORT_BUFFER_BYTES];
    let mut reader = Reader::new(descriptor, &mut buffer);
    let mut counts = false;
    for _ in 0..MAX_REPORTS_AT_ONCE {
        match reader.next() {
            Ok(report) => {
                let name = report.file_name().map(|name| OsStr::from_bytes(name.to_bytes()));
                counts |= match (watched.get(&report.wd()), name) {
                    (Some(names), Some(name)) => names.all || names.some.contains(name),
                    // The report is about the watched directory or file itself, or the kernel's queue overflowed.
                    (Some(_), None) => true,
                    (None, _) => report.wd() < 0,
                };
            }
            Err(Errno::INTR) => {}
            Err(_) => return counts,
        }
    }
    counts
}
