// SPDX-License-Identifier: Apache-2.0 OR MIT
//! What would be done, to be shown first and then done exactly so: every file of it, or none.

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

/// A change to the settings of one harness, file by file. Making one writes nothing.
#[derive(Debug, Clone)]
pub struct Plan {
    /// The files, the one that is named to people first.
    pub steps: Vec<Step>,
    /// What the user should know, one sentence each.
    pub notes: Vec<String>,
    /// What a person has to do before our hooks run, one sentence each.
    pub pending: Vec<String>,
    /// Whether the harness will heed the files as they will be; the notes say why not.
    pub in_force: bool,
    /// The command of the status line that was there before ours, which ours runs as well.
    pub chained: Option<String>,
}

/// A change to one file, with all that goes with it.
#[derive(Debug, Clone)]
pub struct Step {
    /// The file, before and after.
    pub change: Change,
    /// Whether the file will be, byte for byte, what it was before the first install.
    pub restores: bool,
    /// The mode of a file that is made.
    pub(crate) mode: u32,
    pub(crate) receipts: Receipts,
    pub(crate) record: Record,
    /// Directories to make before, or to remove (if empty) after, outermost first.
    pub(crate) directories: Vec<PathBuf>,
}

impl Plan {
    /// Whether applying would write nothing at all.
    pub fn is_noop(&self) -> bool {
        self.steps.iter().all(Step::is_noop)
    }

    /// Whether everything will be, byte for byte, what it was before the first install.
    pub fn restores(&self) -> bool {
        self.steps.iter().all(|step| step.restores || step.is_noop())
    }

    /// The file that is named to people.
    pub fn settings(&self) -> Option<&Path> {
        self.steps.first().map(|step| step.change.path.as_path())
    }

    /// A unified diff of all files for people; empty when nothing changes.
    pub fn diff(&self) -> String {
        self.steps.iter().map(|step| step.change.diff()).collect()
    }

    /// Does what the plan says. On an error every file is as it was, unless the error is [`InstallError::NotUndone`].
    pub fn apply(&self) -> Result<(), InstallError> {
        for Step { change, .. } in &self.steps {
            file::require_unchanged(&change.path, change.before.as_deref())?;
        }
        let mut undone: Vec<(&Step, Option<Undo>)> = Vec::new();
        for step in &self.steps {
            match step.write() {
                Ok(undo) => undone.push((step, undo)),
                Err(error) => {
                    let mut left = Vec::new();
                    for (step, undo) in undone.iter().rev() {
                        left.extend(step.take_back().err());
                        undo.iter().for_each(Undo::run);
                    }
                    let undone = left.is_empty();
                    return Err(if undone { error } else { InstallError::not_undone(error, &left) });
                }
            }
        }
        // The settings are right already; a receipt that cannot be removed is found stale next time.
        self.steps.iter().for_each(Step::drop_receipt);
        Ok(())
    }
}

impl Step {
    /// Whether applying would write nothing at all.
    pub fn is_noop(&self) -> bool {
        self.change.is_noop() && matches!(self.record, Record::Keep)
    }

    /// Writes the receipt of an install and the file. What to undo should a later step fail.
    fn write(&self) -> Result<Option<Undo>, InstallError> {
        let Record::Write { path, receipt, previous, copy_original } = &self.record else {
            return self.write_settings().map(|()| None);
        };
        let undo = self.write_receipt(path, receipt, previous.as_deref(), *copy_original)?;
        self.write_settings().inspect_err(|_| undo.run())?;
        Ok(Some(undo))
    }

    /// Puts back what was there, because a later step failed.
    fn take_back(&self) -> Result<(), InstallError> {
        let Change { path, before, after } = &self.change;
        match (before, after) {
            (before, after) if before == after => Ok(()),
            (Some(before), Some(after)) => file::replace(path, Some(after), before, self.mode),
            (Some(before), None) => file::make_directories(&self.directories)
                .and_then(|()| file::replace(path, None, before, self.mode)),
            (None, Some(after)) => {
                file::delete(path, after).map(|()| file::remove_directories_if_empty(&self.directories))
            }
            (None, None) => Ok(()),
        }
    }

    fn drop_receipt(&self) {
        let Record::Drop { stored, backup } = &self.record else { return };
        let _ = fs_err::remove_file(&stored.path);
        if let Some(backup) = backup {
            let _ = fs_err::remove_file(backup);
        }
        file::remove_directories_if_empty(&self.receipts.directories());
    }

    fn write_settings(&self) -> Result<(), InstallError> {
        let Change { path, before, after } = &self.change;
        match (before, after) {
            (before, after) if before == after => Ok(()),
            (before, Some(after)) => {
                let made: Vec<_> =
                    self.directories.iter().filter(|directory| !directory.exists()).cloned().collect();
                let written = file::make_directories(&self.directories)
                    .and_then(|()| file::replace(path, before.as_deref(), after, self.mode));
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
                file::replace(&backup, None, original, file::PRIVATE)?;
                undo.backup = Some(backup);
            }
            file::replace(path, previous, &receipt.to_bytes()?, file::PRIVATE)?;
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
                    let _ = file::replace(path, Some(&now), previous, file::PRIVATE);
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
