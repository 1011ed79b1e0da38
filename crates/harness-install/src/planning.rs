// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Plans the change of each file. A *piece* is one [`ManagedFile`] of a harness: a file and the content that
//! Tenterhook writes into it.

use std::path::Path;

use super::{
    FileContent, HookTransport, InstallError, InstallPlan, InstallRequest, InstallWarning, ManagedFile,
    OwnedFile, PlannedChange, SettingsEditor, WarningLevel, file,
    jsonc::{CreatedContainers, SettingsError},
    paths::{require_absolute, utf8},
    plan::{FileStep, ReceiptAction},
    receipt::{FileFingerprint, InstallOptions, Receipt, ReceiptStore, StoredReceipt, VERSION},
};

/// Plans an install of the pieces. `receipts` is the directory of receipts. Writes nothing.
pub fn plan_install(
    harness: &str,
    order: &InstallRequest,
    pieces: &[ManagedFile],
    receipts: &Path,
) -> Result<InstallPlan, InstallError> {
    let receipts = ReceiptStore::new(receipts, harness);
    let mut plan = InstallPlan {
        steps: Vec::new(),
        notes: Vec::new(),
        pending: Vec::new(),
        in_force: true,
        chained: None,
    };
    for (number, piece) in pieces.iter().enumerate() {
        // The receipt stores the path as JSON, so the path must be UTF-8.
        utf8(&piece.path)?;
        require_absolute(&piece.path)?;
        let (step, warnings, chained) = plan_file(harness, order, piece, &receipts, number == 0)?;
        plan.steps.push(step);
        plan.chained = plan.chained.or(chained);
        for InstallWarning { weight, message } in warnings {
            plan.in_force &= weight != WarningLevel::Blocks;
            if weight == WarningLevel::Pending { &mut plan.pending } else { &mut plan.notes }.push(message);
        }
    }
    Ok(plan)
}

/// State of Tenterhook's hooks in the files of the pieces. Reads no receipts, because only root can read the
/// machine's receipts.
pub(super) fn inspect(pieces: &[ManagedFile]) -> Result<InstalledState, InstallError> {
    let mut found =
        InstalledState { is_installed: !pieces.is_empty(), is_current: true, warnings: Vec::new() };
    for ManagedFile { path, content, .. } in pieces {
        let before = file::read(path)?;
        let placed = match content {
            FileContent::Edited(editor) => {
                PlannedFile::edited(path, editor.as_ref(), before.as_deref(), None)?
            }
            FileContent::Owned(owned) => PlannedFile::owned(path, owned, before.as_deref())?,
        };
        found.is_installed &= placed.installed;
        found.is_current &= before.is_some_and(|before| before == placed.after);
        found.warnings.extend(placed.warnings);
    }
    Ok(found)
}

/// State of Tenterhook's hooks in the settings of a harness.
pub(super) struct InstalledState {
    /// Whether every file contains Tenterhook's content.
    pub(super) is_installed: bool,
    /// Whether installing again would change nothing.
    pub(super) is_current: bool,
    pub(super) warnings: Vec<InstallWarning>,
}

/// Plans the removal of the pieces. If only Tenterhook has written a file since the install, its original is restored
/// byte for byte. If not, only Tenterhook's content is removed from the current text. Writes nothing.
pub fn plan_uninstall(
    harness: &str,
    pieces: &[ManagedFile],
    receipts: &Path,
) -> Result<InstallPlan, InstallError> {
    let receipts = ReceiptStore::new(receipts, harness);
    let mut plan = InstallPlan {
        steps: Vec::new(),
        notes: Vec::new(),
        pending: Vec::new(),
        in_force: true,
        chained: None,
    };
    for (number, piece) in pieces.iter().enumerate() {
        require_absolute(&piece.path)?;
        let (_, stored) = receipts.find(&piece.path, number == 0)?;
        let stored = stored.map_or_else(|| receipt_of_source(piece, &receipts), |own| Ok(Some(own)))?;
        let leaving = FileRemoval { path: &piece.path, is_first: number == 0, receipts: &receipts, stored };
        plan.steps.push(leaving.plan(&piece.content, &mut plan.notes)?);
    }
    Ok(plan)
}

type FilePlan = (FileStep, Vec<InstallWarning>, Option<String>);

fn plan_file(
    harness: &str,
    order: &InstallRequest,
    piece: &ManagedFile,
    receipts: &ReceiptStore,
    is_first: bool,
) -> Result<FilePlan, InstallError> {
    let path = &piece.path;
    let before = file::read(path)?;
    let (receipt_path, stored) = receipts.find(path, is_first)?;
    let source = if stored.is_none() { receipt_of_source(piece, receipts)? } else { None };
    let known = stored.as_ref().or(source.as_ref()).and_then(|stored| stored.receipt.as_ref());
    let placed = match &piece.content {
        FileContent::Edited(editor) => PlannedFile::edited(path, editor.as_ref(), before.as_deref(), known)?,
        FileContent::Owned(owned) => PlannedFile::owned(path, owned, before.as_deref())?,
    };
    let previous = known.filter(|_| placed.installed);
    let original = before.as_deref().filter(|_| !placed.whole);
    let original = original.map(|before| receipts.plan_backup(&receipt_path, path, before)).transpose()?;
    let chained = placed.created.status.chained_command();
    let receipt = Receipt {
        version: VERSION,
        harness: harness.to_owned(),
        settings: path.clone(),
        // Keeps the original of the first install. It is restored as long as only Tenterhook has written the file
        // since.
        original: previous.map_or(original, |previous| previous.original.clone()),
        directories: match previous {
            Some(previous) => previous.directories.clone(),
            None => file::missing_directories(path)?,
        },
        pristine: match previous {
            Some(previous) => {
                previous.pristine && before.as_deref().is_some_and(|before| previous.written.is_of(before))
            }
            // If the file has entries of Tenterhook but no receipt, the previous content is unknown.
            None => !placed.installed || placed.whole,
        },
        written: FileFingerprint::of(&placed.after),
        created: placed.created,
        asked: InstallOptions {
            scope: order.scope.clone(),
            http: matches!(order.transport, HookTransport::Http { .. }),
            trust: order.trust,
        },
        holds: placed.holds,
    };
    let change = PlannedChange { path: path.clone(), before, after: Some(placed.after) };
    let directories = receipt.directories.clone();
    let record = if change.is_noop() {
        ReceiptAction::Keep
    } else {
        ReceiptAction::Write {
            copy_original: previous.is_none(),
            path: receipt_path,
            receipt: Box::new(receipt),
            previous: stored.map(|stored| stored.bytes),
        }
    };
    let step = FileStep {
        change,
        restores: false,
        mode: placed.mode,
        receipts: receipts.clone(),
        record,
        directories,
    };
    Ok((step, placed.warnings, chained))
}

/// Receipt of the file that the harness copied to this path.
fn receipt_of_source(
    piece: &ManagedFile,
    receipts: &ReceiptStore,
) -> Result<Option<StoredReceipt>, InstallError> {
    match &piece.copied_from {
        Some(source) => Ok(receipts.find(source, true)?.1),
        None => Ok(None),
    }
}

/// A file after Tenterhook's content has been inserted.
struct PlannedFile {
    after: Vec<u8>,
    created: CreatedContainers,
    /// Whether the file already contained Tenterhook's content.
    installed: bool,
    /// Whether the whole file is Tenterhook's.
    whole: bool,
    mode: u32,
    holds: Vec<String>,
    warnings: Vec<InstallWarning>,
}

impl PlannedFile {
    fn edited(
        path: &Path,
        editor: &dyn SettingsEditor,
        before: Option<&[u8]>,
        known: Option<&Receipt>,
    ) -> Result<Self, InstallError> {
        let at = |flaw: SettingsError| flaw.at(path);
        let text = file::text(path, before.unwrap_or_default())?;
        let created = known.map(|receipt| receipt.created.clone()).unwrap_or_default();
        let installed = editor.contains(text, &created).map_err(at)?;
        let created = if installed { created } else { CreatedContainers::default() };
        let edited = editor.insert(text, &created).map_err(at)?;
        editor.check(text, &edited.text).map_err(|error| self_check(path, error.what))?;
        let warnings = editor.warnings(text).map_err(at)?;
        Ok(Self {
            after: edited.text.into_bytes(),
            created: edited.created,
            installed,
            whole: false,
            mode: file::PRIVATE_FILE_MODE,
            holds: editor.required_texts(),
            warnings,
        })
    }

    fn owned(path: &Path, owned: &OwnedFile, before: Option<&[u8]>) -> Result<Self, InstallError> {
        if before.is_some_and(|before| !(owned.is_ours)(before)) {
            return Err(InstallError::NotOurs { path: path.to_owned() });
        }
        Ok(Self {
            after: owned.bytes.clone(),
            created: CreatedContainers::default(),
            installed: before.is_some(),
            whole: true,
            mode: owned.mode,
            holds: owned.holds.clone(),
            warnings: owned.warnings.clone(),
        })
    }
}

/// One file from which Tenterhook's content is removed.
struct FileRemoval<'a> {
    path: &'a Path,
    /// Whether it is the file that messages to users name.
    is_first: bool,
    receipts: &'a ReceiptStore,
    stored: Option<StoredReceipt>,
}

impl FileRemoval<'_> {
    fn plan(self, content: &FileContent, notes: &mut Vec<String>) -> Result<FileStep, InstallError> {
        if let Some(StoredReceipt { path, receipt: None, .. }) = &self.stored {
            notes.push(format!(
                "the receipt `{}` cannot be read, so only marked entries are removed",
                path.display()
            ));
        }
        let before = file::read(self.path)?;
        let Some(bytes) = &before else {
            if self.is_first {
                notes.push(format!("nothing is installed: there is no `{}`", self.path.display()));
            }
            return Ok(self.step(None, None, LeftoverFiles::default()));
        };
        let receipt = self.stored.as_ref().and_then(|stored| stored.receipt.clone());
        let untouched = receipt.as_ref().filter(|receipt| receipt.pristine && receipt.written.is_of(bytes));
        if let Some(receipt) = untouched {
            let Some(backup) = &receipt.original else {
                let kept = LeftoverFiles {
                    directories: self.directories()?,
                    restores: true,
                    ..LeftoverFiles::default()
                };
                return Ok(self.step(before, None, kept));
            };
            if let Some(original) = self.receipts.original(backup)? {
                let backup = self.receipts.backup_path(backup);
                return Ok(self.step(
                    before,
                    Some(original),
                    LeftoverFiles { backup, restores: true, ..LeftoverFiles::default() },
                ));
            }
            notes.push(
                "the backup of the original is missing or changed, so only Tenterhook's entries are removed"
                    .into(),
            );
        }
        match content {
            FileContent::Edited(editor) => self.take(editor.as_ref(), bytes.clone(), receipt.as_ref(), notes),
            FileContent::Owned(owned) => self.take_whole(owned, bytes.clone(), notes),
        }
    }

    fn take_whole(
        self,
        owned: &OwnedFile,
        bytes: Vec<u8>,
        notes: &mut Vec<String>,
    ) -> Result<FileStep, InstallError> {
        if !(owned.is_ours)(&bytes) {
            notes.push(format!("`{}` was not written by Tenterhook and is kept", self.path.display()));
            return Ok(self.step(Some(bytes.clone()), Some(bytes), LeftoverFiles::default()));
        }
        let kept =
            LeftoverFiles { directories: self.directories()?, restores: true, ..LeftoverFiles::default() };
        Ok(self.step(Some(bytes), None, kept))
    }

    fn take(
        self,
        editor: &dyn SettingsEditor,
        bytes: Vec<u8>,
        receipt: Option<&Receipt>,
        notes: &mut Vec<String>,
    ) -> Result<FileStep, InstallError> {
        let path = self.path;
        let at = |flaw: SettingsError| flaw.at(path);
        let text = file::text(path, &bytes)?;
        let created = receipt.map_or_else(CreatedContainers::default, |receipt| receipt.created.clone());
        let left = editor.remove(text, &created).map_err(at)?;
        if left == text {
            if self.is_first {
                notes.push(format!("nothing is installed in `{}`", path.display()));
            }
            return Ok(self.step(Some(bytes.clone()), Some(bytes), LeftoverFiles::default()));
        }
        if editor
            .contains(&left, &CreatedContainers::default())
            .map_err(|flaw| self_check(path, flaw.what))?
        {
            return Err(self_check(path, "an entry of Tenterhook is still there".into()));
        }
        let file_was_ours = receipt.is_some_and(|receipt| receipt.original.is_none());
        if file_was_ours && editor.is_empty_after_removal(&left) {
            let kept = LeftoverFiles {
                directories: self.directories()?,
                restores: true,
                ..LeftoverFiles::default()
            };
            return Ok(self.step(Some(bytes), None, kept));
        }
        let backup = receipt.and_then(|receipt| receipt.original.as_ref());
        if let Some(backup) = backup.and_then(|backup| self.receipts.backup_path(backup)) {
            notes.push(format!(
                "the settings were edited after the install, so the edits are kept; the original is in `{}`",
                backup.display()
            ));
        }
        if self.stored.is_none() {
            notes.push(
                "this home has no receipt of an install here, so only our entries are taken out; if it was another home's, \
                 uninstall with `--home` of that one"
                    .into(),
            );
        }
        Ok(self.step(Some(bytes), Some(left.into_bytes()), LeftoverFiles::default()))
    }

    /// Directories that an install created for the file and that are still on its path.
    fn directories(&self) -> Result<Vec<std::path::PathBuf>, InstallError> {
        let Some(receipt) = self.stored.as_ref().and_then(|stored| stored.receipt.as_ref()) else {
            return Ok(Vec::new());
        };
        let target = file::target(self.path)?;
        Ok(receipt.directories.iter().filter(|directory| target.starts_with(directory)).cloned().collect())
    }

    fn step(self, before: Option<Vec<u8>>, after: Option<Vec<u8>>, kept: LeftoverFiles) -> FileStep {
        let drop = |stored| ReceiptAction::Drop { stored: Box::new(stored), backup: kept.backup };
        FileStep {
            change: PlannedChange { path: self.path.to_owned(), before, after },
            restores: kept.restores,
            mode: file::PRIVATE_FILE_MODE,
            receipts: self.receipts.clone(),
            record: self.stored.map_or(ReceiptAction::Keep, drop),
            directories: kept.directories,
        }
    }
}

/// Directories and backup to remove after the change, and whether the change restores the original.
#[derive(Default)]
struct LeftoverFiles {
    directories: Vec<std::path::PathBuf>,
    backup: Option<std::path::PathBuf>,
    restores: bool,
}

fn self_check(path: &Path, what: String) -> InstallError {
    InstallError::SelfCheck { path: path.to_owned(), what }
}
