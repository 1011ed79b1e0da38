// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The spool: one private file for each entry that nobody could record yet.

use std::fs::File;
use std::io::{Read, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::OFlags;
use tenterhook_ledger::{Ledger, Sealed};

/// No spooled entry is longer, in bytes: an envelope, and a payload of at most 1 MiB with its escapes.
const LONGEST: u64 = 16 << 20;
/// What an entry that cannot be read is called from then on.
const REFUSED: &str = "refused";

/// A directory of sealed entries. Secrets are out of them before they come here.
#[derive(Debug)]
pub(super) struct Spool {
    dir: PathBuf,
}

impl Spool {
    pub(super) fn new(dir: PathBuf) -> Self {
        Self { dir }
    }

    /// Puts an entry down, durably, as `<event id>.json`.
    pub(super) fn put(&self, entry: &Sealed) -> std::io::Result<()> {
        let line = entry.to_spool().map_err(std::io::Error::other)?;
        std::fs::DirBuilder::new().recursive(true).mode(0o700).create(&self.dir)?;
        let mut file = tempfile::Builder::new().prefix(".").tempfile_in(&self.dir)?;
        file.write_all(line.as_bytes())?;
        file.as_file().sync_all()?;
        file.persist(self.dir.join(format!("{}.json", entry.id())))?;
        File::open(&self.dir)?.sync_all()
    }

    /// Brings at most so many entries into the ledger, oldest first. Only the holder of the ledger's
    /// lock does this, and an entry's file goes only once its leaf is durable: a crash between the
    /// two is made good by the ledger, which knows the event's id.
    pub(super) fn take_in(&self, ledger: &Ledger, at_most: usize) {
        for path in self.files("json").into_iter().take(at_most) {
            let entry = read(&path).and_then(|line| Sealed::from_spool(&line).map_err(std::io::Error::other));
            let Ok(entry) = entry else {
                // Looked at once, not with every call: nonsense must not keep others waiting.
                drop(std::fs::rename(&path, path.with_extension(REFUSED)));
                continue;
            };
            if ledger.append_sealed(entry).is_err() {
                // The ledger refuses; it will do the same to the next one.
                break;
            }
            // If it stays, it is found to be recorded next time.
            drop(std::fs::remove_file(&path));
        }
    }

    /// How many entries wait, and how many cannot be read.
    pub(super) fn count(&self) -> (usize, usize) {
        (self.files("json").len(), self.files(REFUSED).len())
    }

    /// The names are ids, and ids are in the order of time.
    fn files(&self, extension: &str) -> Vec<PathBuf> {
        let Ok(entries) = std::fs::read_dir(&self.dir) else { return Vec::new() };
        let paths = entries.filter_map(|entry| Some(entry.ok()?.path()));
        let mut paths: Vec<_> =
            paths.filter(|path| path.extension().is_some_and(|found| found == extension)).collect();
        paths.sort_unstable();
        paths
    }
}

/// A link or a pipe in an entry's place is not followed, and nobody makes us read without end.
fn read(path: &Path) -> std::io::Result<String> {
    let flags = i32::try_from((OFlags::NOFOLLOW | OFlags::NONBLOCK).bits()).unwrap_or(0);
    let file = std::fs::OpenOptions::new().read(true).custom_flags(flags).open(path)?;
    if !file.metadata()?.is_file() {
        return Err(std::io::Error::other("not a file"));
    }
    let mut line = String::new();
    file.take(LONGEST).read_to_string(&mut line)?;
    Ok(line)
}
