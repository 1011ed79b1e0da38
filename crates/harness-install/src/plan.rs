// SPDX-License-Identifier: Apache-2.0 OR MIT
//! A planned change to settings files. The plan is shown first and then applied exactly as shown: to all of its
//! files, or to none.

use std::path::{Path, PathBuf};

use similar::TextDiff;

use super::{
    InstallError, file,
    receipt::{Receipt, ReceiptStore, StoredReceipt},
};

/// The content of one file, before and after the change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlannedChange {
    /// Path of the settings file.
    pub path: PathBuf,
    /// Content when the plan was made; `None` if there was no file.
    pub before: Option<Vec<u8>>,
    /// Content after the change; `None` if the file is removed.
    pub after: Option<Vec<u8>>,
}

impl PlannedChange {
    /// Whether nothing changes.
    pub fn is_noop(&self) -> bool {
        self.before == self.after
    }

    /// A unified diff for display; empty when nothing changes.
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
pub(crate) enum ReceiptAction {
    /// The receipt is unchanged.
    Keep,
    /// The receipt is written, together with a backup of the original on a first install.
    Write { path: PathBuf, receipt: Box<Receipt>, previous: Option<Vec<u8>>, copy_original: bool },
    /// The receipt is removed. The backup is removed as well if the original is restored.
    Drop { stored: Box<StoredReceipt>, backup: Option<PathBuf> },
}

/// A change to the settings of one harness. Creating a plan writes nothing.
#[derive(Debug, Clone)]
pub struct InstallPlan {
    /// Steps, one per file. Messages to users name the first file.
    pub steps: Vec<FileStep>,
    /// Notes for the user, one sentence each.
    pub notes: Vec<String>,
    /// Actions that the user has to take before the hooks run, one sentence each.
    pub pending: Vec<String>,
    /// Whether the harness will run the hooks after the change; if not, the notes give the reason.
    pub in_force: bool,
    /// Command of the previous status line, which Tenterhook's status line runs as well.
    pub chained: Option<String>,
}

/// A change to one file, with its receipt and directories.
#[derive(Debug, Clone)]
pub struct FileStep {
    /// Content of the file, before and after.
    pub change: PlannedChange,
    /// Whether the step restores the exact bytes that the file had before the first install.
    pub restores: bool,
    /// Mode of a new file.
    pub(crate) mode: u32,
    pub(crate) receipts: ReceiptStore,
    pub(crate) record: ReceiptAction,
    /// Directories to create before the change, or to remove after it if they are empty; outermost first.
    pub(crate) directories: Vec<PathBuf>,
}

impl InstallPlan {
    /// Whether applying the plan would write nothing.
    pub fn is_noop(&self) -> bool {
        self.steps.iter().all(FileStep::is_noop)
    }

    /// Whether every file gets back the exact bytes that it had before the first install.
    pub fn restores(&self) -> bool {
        self.steps.iter().all(|step| step.restores || step.is_noop())
    }

    /// The file that messages to users name.
    pub fn settings(&self) -> Option<&Path> {
        self.steps.first().map(|step| step.change.path.as_path())
    }

    /// A unified diff of all files for display; empty when nothing changes.
    pub fn diff(&self) -> String {
        self.steps.iter().map(|step| step.change.diff()).collect()
    }

    /// Applies the plan. On an error every file is unchanged, unless the error is [`InstallError::NotUndone`].
    pub fn apply(&self) -> Result<(), InstallError> {
        for FileStep { change, .. } in &self.steps {
            file::require_unchanged(&change.path, change.before.as_deref())?;
        }
        let mut undone: Vec<(&FileStep, Option<ReceiptUndo>)> = Vec::new();
        for step in &self.steps {
            match step.write() {
                Ok(undo) => undone.push((step, undo)),
                Err(error) => {
                    let mut left = Vec::new();
                    for (step, undo) in undone.iter().rev() {
                        left.extend(step.take_back().err());
                        undo.iter().for_each(ReceiptUndo::run);
                    }
                    let undone = left.is_empty();
                    return Err(if undone { error } else { InstallError::not_undone(error, &left) });
                }
            }
        }
        // The settings are already correct; a receipt that cannot be removed is detected as stale next time.
        self.steps.iter().for_each(FileStep::drop_receipt);
        Ok(())
    }
}

impl FileStep {
    /// Whether applying the step would write nothing.
    pub fn is_noop(&self) -> bool {
        self.change.is_noop() && matches!(self.record, ReceiptAction::Keep)
    }

    /// Writes the receipt of an install, then the settings file. Returns how to undo the receipt, in case a later
    /// step fails.
    fn write(&self) -> Result<Option<ReceiptUndo>, InstallError> {
        let ReceiptAction::Write { path, receipt, previous, copy_original } = &self.record else {
            return self.write_settings().map(|()| None);
        };
        let undo = self.write_receipt(path, receipt, previous.as_deref(), *copy_original)?;
        self.write_settings().inspect_err(|_| undo.run())?;
        Ok(Some(undo))
    }

    /// Restores the previous content, because a later step failed.
    fn take_back(&self) -> Result<(), InstallError> {
        let PlannedChange { path, before, after } = &self.change;
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
        let ReceiptAction::Drop { stored, backup } = &self.record else { return };
        let _ = fs_err::remove_file(&stored.path);
        if let Some(backup) = backup {
            let _ = fs_err::remove_file(backup);
        }
        file::remove_directories_if_empty(&self.receipts.directories());
    }

    fn write_settings(&self) -> Result<(), InstallError> {
        let PlannedChange { path, before, after } = &self.change;
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

    /// Called before the settings are written. A crash in between leaves an unneeded receipt, but never loses an
    /// original.
    fn write_receipt(
        &self,
        path: &Path,
        receipt: &Receipt,
        previous: Option<&[u8]>,
        copy_original: bool,
    ) -> Result<ReceiptUndo, InstallError> {
        let mut directories = file::missing_directories(path)?;
        directories.extend(self.receipts.directories().into_iter().filter(|directory| !directory.exists()));
        directories.dedup();
        let mut undo = ReceiptUndo { directories: directories.clone(), ..ReceiptUndo::default() };
        let written = (|| {
            file::make_directories(&directories)?;
            let backup = receipt.original.as_ref().and_then(|backup| self.receipts.backup_path(backup));
            if let (true, Some(backup), Some(original)) = (copy_original, backup, &self.change.before)
                && file::read(&backup)?.is_none()
            {
                file::replace(&backup, None, original, file::PRIVATE_FILE_MODE)?;
                undo.backup = Some(backup);
            }
            file::replace(path, previous, &receipt.to_bytes()?, file::PRIVATE_FILE_MODE)?;
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

/// Files to remove or restore if the settings could not be written.
#[derive(Default)]
struct ReceiptUndo {
    receipt: Option<(PathBuf, Option<Vec<u8>>)>,
    backup: Option<PathBuf>,
    directories: Vec<PathBuf>,
}

impl ReceiptUndo {
    /// Undoes the receipt as far as possible. Errors are ignored: the caller already has an error to report, and an
    /// unneeded receipt does no harm.
    fn run(&self) {
        match &self.receipt {
            Some((path, None)) => {
                let _ = fs_err::remove_file(path);
            }
            Some((path, Some(previous))) => {
                if let Ok(Some(now)) = file::read(path) {
                    let _ = file::replace(path, Some(&now), previous, file::PRIVATE_FILE_MODE);
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
