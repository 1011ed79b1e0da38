// SPDX-License-Identifier: Apache-2.0 OR MIT
//! What would be done, to be shown first and then done exactly so.

use std::path::{Path, PathBuf};

use similar::TextDiff;

use super::{
    InstallError, file,
    receipt::{Receipt, Receipts, Stored},
};

/// One file, before and after.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// The settings file.
    pub path: PathBuf,
    /// What it held when the plan was made; `None` when there was no file.
    pub before: Option<Vec<u8>>,
    /// What it will hold; `None` when it will be gone.
    pub after: Option<Vec<u8>>,
}

impl Change {
    /// Whether nothing changes.
    pub fn is_noop(&self) -> bool {
        self.before == self.after
    }

    /// A unified diff for people; empty when nothing changes.
    pub fn diff(&self) -> String {
        if self.is_noop() {
            return String::new();
        }
        let text = |bytes: &Option<Vec<u8>>| {
            String::from_utf8_lossy(bytes.as_deref().unwrap_or_default()).into_owned()
        };
        let name = |bytes: &Option<Vec<u8>>| match bytes {
            Some(_) => self.path.display().to_string(),
            None => "/dev/null".to_owned(),
        };
        let (before, after) = (text(&self.before), text(&self.after));
        let diff = TextDiff::from_lines(&before, &after);
        diff.unified_diff().header(&name(&self.before), &name(&self.after)).to_string()
    }
}

/// What happens to the receipt.
#[derive(Debug, Clone)]
pub(crate) enum Record {
    /// It stays as it is.
    Keep,
    /// It is written, and with it, on a first install, a copy of the original.
    Write { path: PathBuf, receipt: Box<Receipt>, previous: Option<Vec<u8>>, copy_original: bool },
    /// It has served. `backup` goes too when the original is back in its place.
    Drop { stored: Box<Stored>, backup: Option<PathBuf> },
}

/// A change to one settings file, with all that goes with it. Making one writes nothing.
#[derive(Debug, Clone)]
pub struct Plan {
    /// The settings file, before and after.
    pub change: Change,
    /// What the user should know, one sentence each.
    pub notes: Vec<String>,
    /// Whether the harness will heed the file as it will be; the notes say why not.
    pub in_force: bool,
    /// Whether the settings will be, byte for byte, what they were before the first install.
    pub restores: bool,
    /// The command of the status line that was there before ours, which ours runs as well.
    pub chained: Option<String>,
    pub(crate) receipts: Receipts,
    pub(crate) record: Record,
    /// Directories to make before, or to remove (if empty) after, outermost first.
    pub(crate) directories: Vec<PathBuf>,
}

impl Plan {
    /// Whether applying would write nothing at all.
    pub fn is_noop(&self) -> bool {
        self.change.is_noop() && matches!(self.record, Record::Keep)
    }

    /// Does what the plan says. On an error the settings file is as it was.
    pub fn apply(&self) -> Result<(), InstallError> {
        file::require_unchanged(&self.change.path, self.change.before.as_deref())?;
        match &self.record {
            Record::Keep => self.write_settings(),
            Record::Write { path, receipt, previous, copy_original } => {
                let undo = self.write_receipt(path, receipt, previous.as_deref(), *copy_original)?;
                self.write_settings().inspect_err(|_| undo.run())
            }
            Record::Drop { stored, backup } => {
                self.write_settings()?;
                // The settings are right already; a receipt that cannot be removed is found stale next time.
                let _ = fs_err::remove_file(&stored.path);
                if let Some(backup) = backup {
                    let _ = fs_err::remove_file(backup);
                }
                file::remove_directories_if_empty(&self.receipts.directories());
                Ok(())
            }
        }
    }

    fn write_settings(&self) -> Result<(), InstallError> {
        let Change { path, before, after } = &self.change;
        match (before, after) {
            (before, after) if before == after => Ok(()),
            (before, Some(after)) => {
                let made: Vec<_> =
                    self.directories.iter().filter(|directory| !directory.exists()).cloned().collect();
                let written = file::make_directories(&self.directories)
                    .and_then(|()| file::replace(path, before.as_deref(), after));
                written.inspect_err(|_| file::remove_directories_if_empty(&made))
            }
            (Some(before), None) => {
                file::delete(path, before)?;
                file::remove_directories_if_empty(&self.directories);
                Ok(())
            }
            (None, None) => Ok(()),
        }
    }

    /// Before the settings change, so that a crash in between leaves a receipt too many, never an original too few.
    fn write_receipt(
        &self,
        path: &Path,
        receipt: &Receipt,
        previous: Option<&[u8]>,
        copy_original: bool,
    ) -> Result<Undo, InstallError> {
        let mut directories = file::missing_directories(path)?;
        directories.extend(self.receipts.directories().into_iter().filter(|directory| !directory.exists()));
        directories.dedup();
        let mut undo = Undo { directories: directories.clone(), ..Undo::default() };
        let written = (|| {
            file::make_directories(&directories)?;
            let backup = receipt.original.as_ref().and_then(|backup| self.receipts.backup_path(backup));
            if let (true, Some(backup), Some(original)) = (copy_original, backup, &self.change.before)
                && file::read(&backup)?.is_none()
            {
                file::replace(&backup, None, original)?;
                undo.backup = Some(backup);
            }
            file::replace(path, previous, &receipt.to_bytes()?)?;
            undo.receipt = Some((path.to_owned(), previous.map(<[u8]>::to_vec)));
            Ok(())
        })();
        match written {
            Ok(()) => Ok(undo),
            Err(error) => {
                undo.run();
                Err(error)
            }
        }
    }
}

/// What has to go again when the settings could not be written after all.
#[derive(Default)]
struct Undo {
    receipt: Option<(PathBuf, Option<Vec<u8>>)>,
    backup: Option<PathBuf>,
    directories: Vec<PathBuf>,
}

impl Undo {
    /// As far as it goes: the caller already has an error to report, and a receipt too many does no harm.
    fn run(&self) {
        match &self.receipt {
            Some((path, None)) => {
                let _ = fs_err::remove_file(path);
            }
            Some((path, Some(previous))) => {
                if let Ok(Some(now)) = file::read(path) {
                    let _ = file::replace(path, Some(&now), previous);
                }
            }
            None => {}
        }
        if let Some(backup) = &self.backup {
            let _ = fs_err::remove_file(backup);
        }
        file::remove_directories_if_empty(&self.directories);
    }
}
