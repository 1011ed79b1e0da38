// SPDX-License-Identifier: Apache-2.0 OR MIT

//! What happened to one file, change by change. The texts come from the ledger: what was erased there
//! is not shown.

use tenterhook_api::{FileChange, FileDiff, MissingDiff};
use tenterhook_ledger::{ReadFailed, Reader, Record};
use tenterhook_records::recorded::{self, Field as _};

use super::SessionView;
use super::shape::{Shape, shape};
use tenterhook_records::sanitize;

/// No diff is longer, in characters.
const LONGEST: usize = 200_000;

/// A change of a file, as it was kept: what is shown of it, and the leaves that tell the rest.
pub struct FileChangeRecords {
    shown: FileChange,
    call: u64,
    result: Option<u64>,
    path: String,
}

impl SessionView<'_> {
    /// The changes of one file, by its path, whole or from the project.
    pub fn changes_of(&self, path: &str) -> Vec<FileChangeRecords> {
        let Some(body) = &self.0.body else { return Vec::new() };
        let shown = |path: &str| self.0.shown(path);
        let meant =
            body.files.changes.iter().filter(|change| change.path == path || shown(&change.path) == path);
        meant
            .map(|change| FileChangeRecords {
                shown: change.file_change(&shown),
                call: change.seq,
                result: change.result,
                path: change.path.clone(),
            })
            .collect()
    }
}

/// Each change with its diff, or why there is none.
pub fn diff(changes: Vec<FileChangeRecords>, reader: &Reader) -> Result<Vec<FileDiff>, ReadFailed> {
    changes.into_iter().map(|change| one(change, reader)).collect()
}

fn one(change: FileChangeRecords, reader: &Reader) -> Result<FileDiff, ReadFailed> {
    let FileChangeRecords { shown, call, result, path } = change;
    let call = reader.get(call)?;
    let result = match result {
        Some(result) => reader.get(result)?,
        None => None,
    };
    let (diff, why) = match &call {
        None => (None, Some(MissingDiff::NotYet)),
        Some(record) => text(record, result.as_ref(), &path),
    };
    Ok(FileDiff { change: shown, diff, why })
}

/// The diff of a call, or why there is none.
fn text(record: &Record, result: Option<&Record>, path: &str) -> (Option<String>, Option<MissingDiff>) {
    if record.bytes.is_none() {
        return (None, Some(MissingDiff::Pruned));
    }
    let (leaf, payload) = (recorded::leaf(record), recorded::payload(record));
    if payload.is_null() {
        return (
            None,
            Some(if recorded::is_erased(record) { MissingDiff::Erased } else { MissingDiff::TooLarge }),
        );
    }
    let Some(mut tool) = recorded::tool(&leaf, &payload) else { return (None, Some(MissingDiff::Unknown)) };
    if let Some(input) = payload.get("tool_input").filter(|input| !input.is_null()) {
        tool.args = input.clone();
    }
    let answered = result.map(recorded::payload).unwrap_or_default();
    let output = answered.field("detail").get("tool_output");
    let told = shape(&tool, output, path);
    let before_known = !matches!(told, Shape::Written { new: false, .. });
    match told.diff() {
        Some(diff) => (Some(sanitize(&diff, LONGEST)), (!before_known).then_some(MissingDiff::BeforeUnknown)),
        None => (None, Some(MissingDiff::Unknown)),
    }
}
