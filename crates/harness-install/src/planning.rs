// SPDX-License-Identifier: Apache-2.0 OR MIT
//! From pieces to a plan: what each file would hold, and what goes with it.

use std::path::Path;

use super::{
    Change, Content, Editor, InstallError, Order, Owned, Piece, Plan, Transport, Warning, Weight, file,
    jsonc::{Created, Flaw},
    paths::{require_absolute, utf8},
    plan::{Record, Step},
    receipt::{Asked, Fingerprint, Receipt, Receipts, Stored, VERSION},
};

/// Plans the pieces in. `receipts` is where receipts are kept. Writes nothing.
pub fn plan_install(
    harness: &str,
    order: &Order,
    pieces: &[Piece],
    receipts: &Path,
) -> Result<Plan, InstallError> {
    let receipts = Receipts::new(receipts, harness);
    let mut plan =
        Plan { steps: Vec::new(), notes: Vec::new(), pending: Vec::new(), in_force: true, chained: None };
    for (number, piece) in pieces.iter().enumerate() {
        // The receipt names it, in JSON.
        utf8(&piece.path)?;
        require_absolute(&piece.path)?;
        let (step, warnings, chained) = put(harness, order, piece, &receipts, number == 0)?;
        plan.steps.push(step);
        plan.chained = plan.chained.or(chained);
        for Warning { weight, says } in warnings {
            plan.in_force &= weight != Weight::Blocks;
            if weight == Weight::Pending { &mut plan.pending } else { &mut plan.notes }.push(says);
        }
    }
    Ok(plan)
}

/// What of ours is in the files of the pieces now. Reads no receipts: those of the machine are for root only.
pub(super) fn inspect(pieces: &[Piece]) -> Result<Inspection, InstallError> {
    let mut found = Inspection { is_installed: !pieces.is_empty(), is_current: true, warnings: Vec::new() };
    for Piece { path, content, .. } in pieces {
        let before = file::read(path)?;
        let placed = match content {
            Content::Edited(editor) => Placed::edited(path, editor.as_ref(), before.as_deref(), None)?,
            Content::Owned(owned) => Placed::owned(path, owned, before.as_deref())?,
        };
        found.is_installed &= placed.installed;
        found.is_current &= before.is_some_and(|before| before == placed.after);
        found.warnings.extend(placed.warnings);
    }
    Ok(found)
}

/// What of ours is in the settings of a harness.
pub(super) struct Inspection {
    /// Whether every file has something of ours.
    pub(super) is_installed: bool,
    /// Whether installing again would change nothing.
    pub(super) is_current: bool,
    pub(super) warnings: Vec<Warning>,
}

/// Plans the pieces out: the original back, byte for byte, if nobody else wrote since; otherwise only what is ours
/// is taken out of what is there now. Writes nothing.
pub fn plan_uninstall(harness: &str, pieces: &[Piece], receipts: &Path) -> Result<Plan, InstallError> {
    let receipts = Receipts::new(receipts, harness);
    let mut plan =
        Plan { steps: Vec::new(), notes: Vec::new(), pending: Vec::new(), in_force: true, chained: None };
    for (number, piece) in pieces.iter().enumerate() {
        require_absolute(&piece.path)?;
        let (_, stored) = receipts.find(&piece.path, number == 0)?;
        let stored = stored.map_or_else(|| receipt_of_source(piece, &receipts), |own| Ok(Some(own)))?;
        let leaving = Leaving { path: &piece.path, is_first: number == 0, receipts: &receipts, stored };
        plan.steps.push(leaving.plan(&piece.content, &mut plan.notes)?);
    }
    Ok(plan)
}

type Put = (Step, Vec<Warning>, Option<String>);

fn put(
    harness: &str,
    order: &Order,
    piece: &Piece,
    receipts: &Receipts,
    is_first: bool,
) -> Result<Put, InstallError> {
    let path = &piece.path;
    let before = file::read(path)?;
    let (receipt_path, stored) = receipts.find(path, is_first)?;
    let source = if stored.is_none() { receipt_of_source(piece, receipts)? } else { None };
    let known = stored.as_ref().or(source.as_ref()).and_then(|stored| stored.receipt.as_ref());
    let placed = match &piece.content {
        Content::Edited(editor) => Placed::edited(path, editor.as_ref(), before.as_deref(), known)?,
        Content::Owned(owned) => Placed::owned(path, owned, before.as_deref())?,
    };
    let previous = known.filter(|_| placed.installed);
    let original = before.as_deref().filter(|_| !placed.whole);
    let original = original.map(|before| receipts.plan_backup(&receipt_path, path, before)).transpose()?;
    let chained = placed.created.status.chained_command();
    let receipt = Receipt {
        version: VERSION,
        harness: harness.to_owned(),
        settings: path.clone(),
        // The first original is the one to go back to, as long as nobody else wrote in between.
        original: previous.map_or(original, |previous| previous.original.clone()),
        directories: match previous {
            Some(previous) => previous.directories.clone(),
            None => file::missing_directories(path)?,
        },
        pristine: match previous {
            Some(previous) => {
                previous.pristine && before.as_deref().is_some_and(|before| previous.written.is_of(before))
            }
            // Entries of ours without a receipt: what was there before them is not known.
            None => !placed.installed || placed.whole,
        },
        written: Fingerprint::of(&placed.after),
        created: placed.created,
        asked: Asked {
            scope: order.scope.clone(),
            http: matches!(order.transport, Transport::Http { .. }),
            trust: order.trust,
        },
        holds: placed.holds,
    };
    let change = Change { path: path.clone(), before, after: Some(placed.after) };
    let directories = receipt.directories.clone();
    let record = if change.is_noop() {
        Record::Keep
    } else {
        Record::Write {
            copy_original: previous.is_none(),
            path: receipt_path,
            receipt: Box::new(receipt),
            previous: stored.map(|stored| stored.bytes),
        }
    };
    let step =
        Step { change, restores: false, mode: placed.mode, receipts: receipts.clone(), record, directories };
    Ok((step, placed.warnings, chained))
}

/// The receipt of the file that the harness copied to the place of this one.
fn receipt_of_source(piece: &Piece, receipts: &Receipts) -> Result<Option<Stored>, InstallError> {
    match &piece.copied_from {
        Some(source) => Ok(receipts.find(source, true)?.1),
        None => Ok(None),
    }
}

/// A file with ours in it.
struct Placed {
    after: Vec<u8>,
    created: Created,
    /// Whether there was anything of ours in it before.
    installed: bool,
    /// Whether all of it is ours.
    whole: bool,
    mode: u32,
    holds: Vec<String>,
    warnings: Vec<Warning>,
}

impl Placed {
    fn edited(
        path: &Path,
        editor: &dyn Editor,
        before: Option<&[u8]>,
        known: Option<&Receipt>,
    ) -> Result<Self, InstallError> {
        let at = |flaw: Flaw| at(path, flaw);
        let text = file::text(path, before.unwrap_or_default())?;
        let created = known.map(|receipt| receipt.created.clone()).unwrap_or_default();
        let installed = editor.holds(text, &created).map_err(at)?;
        let created = if installed { created } else { Created::default() };
        let edited = editor.put(text, &created).map_err(at)?;
        editor.check(text, &edited.text).map_err(|error| self_check(path, error.what))?;
        let warnings = editor.warnings(text).map_err(at)?;
        Ok(Self {
            after: edited.text.into_bytes(),
            created: edited.created,
            installed,
            whole: false,
            mode: file::PRIVATE,
            holds: editor.marks(),
            warnings,
        })
    }

    fn owned(path: &Path, owned: &Owned, before: Option<&[u8]>) -> Result<Self, InstallError> {
        if before.is_some_and(|before| !(owned.is_ours)(before)) {
            return Err(InstallError::NotOurs { path: path.to_owned() });
        }
        Ok(Self {
            after: owned.bytes.clone(),
            created: Created::default(),
            installed: before.is_some(),
            whole: true,
            mode: owned.mode,
            holds: owned.holds.clone(),
            warnings: owned.warnings.clone(),
        })
    }
}

/// One file that we leave.
struct Leaving<'a> {
    path: &'a Path,
    /// Whether it is the file that is named to people.
    is_first: bool,
    receipts: &'a Receipts,
    stored: Option<Stored>,
}

impl Leaving<'_> {
    fn plan(self, content: &Content, notes: &mut Vec<String>) -> Result<Step, InstallError> {
        if let Some(Stored { path, receipt: None, .. }) = &self.stored {
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
            return Ok(self.step(None, None, Kept::default()));
        };
        let receipt = self.stored.as_ref().and_then(|stored| stored.receipt.clone());
        let untouched = receipt.as_ref().filter(|receipt| receipt.pristine && receipt.written.is_of(bytes));
        if let Some(receipt) = untouched {
            let Some(backup) = &receipt.original else {
                let kept = Kept { directories: self.directories()?, restores: true, ..Kept::default() };
                return Ok(self.step(before, None, kept));
            };
            if let Some(original) = self.receipts.original(backup)? {
                let backup = self.receipts.backup_path(backup);
                return Ok(self.step(
                    before,
                    Some(original),
                    Kept { backup, restores: true, ..Kept::default() },
                ));
            }
            notes.push(
                "the copy of the original is missing or changed, so our entries are taken out instead".into(),
            );
        }
        match content {
            Content::Edited(editor) => self.take(editor.as_ref(), bytes.clone(), receipt.as_ref(), notes),
            Content::Owned(owned) => self.take_whole(owned, bytes.clone(), notes),
        }
    }

    fn take_whole(
        self,
        owned: &Owned,
        bytes: Vec<u8>,
        notes: &mut Vec<String>,
    ) -> Result<Step, InstallError> {
        if !(owned.is_ours)(&bytes) {
            notes.push(format!("`{}` is not one that we wrote, and stays", self.path.display()));
            return Ok(self.step(Some(bytes.clone()), Some(bytes), Kept::default()));
        }
        let kept = Kept { directories: self.directories()?, restores: true, ..Kept::default() };
        Ok(self.step(Some(bytes), None, kept))
    }

    fn take(
        self,
        editor: &dyn Editor,
        bytes: Vec<u8>,
        receipt: Option<&Receipt>,
        notes: &mut Vec<String>,
    ) -> Result<Step, InstallError> {
        let path = self.path;
        let at = |flaw: Flaw| at(path, flaw);
        let text = file::text(path, &bytes)?;
        let created = receipt.map_or_else(Created::default, |receipt| receipt.created.clone());
        let left = editor.take(text, &created).map_err(at)?;
        if left == text {
            if self.is_first {
                notes.push(format!("nothing is installed in `{}`", path.display()));
            }
            return Ok(self.step(Some(bytes.clone()), Some(bytes), Kept::default()));
        }
        if editor.holds(&left, &Created::default()).map_err(|flaw| self_check(path, flaw.what))? {
            return Err(self_check(path, "something of ours is still there".into()));
        }
        let file_was_ours = receipt.is_some_and(|receipt| receipt.original.is_none());
        if file_was_ours && editor.is_hollow(&left) {
            let kept = Kept { directories: self.directories()?, restores: true, ..Kept::default() };
            return Ok(self.step(Some(bytes), None, kept));
        }
        let backup = receipt.and_then(|receipt| receipt.original.as_ref());
        if let Some(backup) = backup.and_then(|backup| self.receipts.backup_path(backup)) {
            notes.push(format!(
                "the settings were edited since the install, so the edits stay; the original is kept in `{}`",
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
        Ok(self.step(Some(bytes), Some(left.into_bytes()), Kept::default()))
    }

    /// Those of the directories made for the file that still lead to it.
    fn directories(&self) -> Result<Vec<std::path::PathBuf>, InstallError> {
        let Some(receipt) = self.stored.as_ref().and_then(|stored| stored.receipt.as_ref()) else {
            return Ok(Vec::new());
        };
        let target = file::target(self.path)?;
        Ok(receipt.directories.iter().filter(|directory| target.starts_with(directory)).cloned().collect())
    }

    fn step(self, before: Option<Vec<u8>>, after: Option<Vec<u8>>, kept: Kept) -> Step {
        let drop = |stored| Record::Drop { stored: Box::new(stored), backup: kept.backup };
        Step {
            change: Change { path: self.path.to_owned(), before, after },
            restores: kept.restores,
            mode: file::PRIVATE,
            receipts: self.receipts.clone(),
            record: self.stored.map_or(Record::Keep, drop),
            directories: kept.directories,
        }
    }
}

/// What becomes of the things beside a file that we leave.
#[derive(Default)]
struct Kept {
    directories: Vec<std::path::PathBuf>,
    backup: Option<std::path::PathBuf>,
    restores: bool,
}

fn at(path: &Path, flaw: Flaw) -> InstallError {
    let Flaw { line, column, what } = flaw;
    InstallError::Settings { path: path.to_owned(), line, column, what }
}

fn self_check(path: &Path, what: String) -> InstallError {
    InstallError::SelfCheck { path: path.to_owned(), what }
}
