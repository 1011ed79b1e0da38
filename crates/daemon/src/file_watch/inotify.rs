// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Changes as the kernel reports them.

use std::collections::{HashMap, HashSet};
use std::ffi::{OsStr, OsString};
use std::mem::MaybeUninit;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use rustix::fs::inotify::{CreateFlags, Reader, WatchFlags, add_watch, init, remove_watch};
use rustix::io::Errno;
use tokio::net::unix::pipe;

use super::steps::{WatchTarget, follow};

/// How many reports are read before other work of the daemon goes on.
const MAX_REPORTS_AT_ONCE: usize = 4096;
/// Room for reports that are read at once.
const REPORT_BUFFER_BYTES: usize = 4096;

/// Reports of the kernel about files and directories.
#[derive(Debug)]
pub(super) struct ChangeReports {
    /// The runtime waits for it as for the end of a pipe: both can be read when there is something to read.
    descriptor: pipe::Receiver,
    watched: HashMap<i32, Names>,
}

/// The names that count in a watched directory.
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

    /// Watches what these paths lead to, and nothing else. An error means that some change may go unreported.
    pub(super) fn set(&mut self, paths: &[PathBuf]) -> std::io::Result<()> {
        let mut watched = HashMap::new();
        for step in paths.iter().flat_map(|path| follow(path)) {
            self.add(&step, &mut watched)?;
        }
        for gone in self.watched.keys().filter(|watch| !watched.contains_key(*watch)) {
            // The kernel has removed it already if the file is gone.
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
            // It went away since the path was followed, which the directory above reports.
            Err(Errno::NOENT | Errno::NOTDIR) => return Ok(()),
            // A directory may be passed without the right to read it: that it is moved would go unreported.
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
        // A directory may be on the way to several files.
        add_watch(&self.descriptor, path, flags | WatchFlags::MASK_ADD)
    }

    /// Returns when something was reported that counts.
    pub(super) async fn next(&mut self) {
        loop {
            if self.descriptor.readable().await.is_err() {
                // The runtime ends.
                return std::future::pending().await;
            }
            let counts = read_reports(&self.descriptor, &self.watched);
            // If nothing is left to read, the runtime learns that from an attempt of its own. A report that is left or has
            // come since does not fit the buffer, and stays.
            let _ = self.descriptor.try_read(&mut [0]);
            if counts {
                return;
            }
        }
    }
}

/// Reads the reports that are there, up to a limit. Says whether one of them counts.
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
                    // About the directory or file itself, or too many reports to keep.
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
