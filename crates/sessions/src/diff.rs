// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Diffs of the changes to one file. The texts come from the ledger, so erased content is not shown.

use tenterhook_api::{FileChange, FileDiff, MissingDiff};
use tenterhook_ledger::{ReadError, Reader, StoredRecord};
use tenterhook_records::recorded::{self, JsonField as _};

use super::SessionView;
use super::text_change::{TextChange, text_change};
use tenterhook_records::sanitize;

/// Maximum length of a diff, in characters.
const MAX_DIFF_CHARS: usize = 200_000;

/// A change to a file, and the sequence numbers of its call and result.
pub struct FileChangeRecords {
    shown: FileChange,
    call: u64,
    result: Option<u64>,
    path: String,
}

impl SessionView<'_> {
    /// Changes to one file. `path` is absolute, or relative to the project or working directory.
    pub fn changes_of(&self, path: &str) -> Vec<FileChangeRecords> {
        let Some(body) = &self.0.body else { return Vec::new() };
        let shown = |path: &str| self.0.display_path(path);
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

/// Returns each change with its diff, or the reason why it has none.
pub fn diff(changes: Vec<FileChangeRecords>, reader: &Reader) -> Result<Vec<FileDiff>, ReadError> {
    changes.into_iter().map(|change| diff_of(change, reader)).collect()
}

fn diff_of(change: FileChangeRecords, reader: &Reader) -> Result<FileDiff, ReadError> {
    let FileChangeRecords { shown, call, result, path } = change;
    let call = reader.get(call)?;
    let result = match result {
        Some(result) => reader.get(result)?,
        None => None,
    };
    let (diff, why) = match &call {
        None => (None, Some(MissingDiff::NotYet)),
        Some(record) => diff_text(record, result.as_ref(), &path),
    };
    Ok(FileDiff { change: shown, diff, why })
}

/// The diff of a call, or the reason why there is none.
fn diff_text(
    record: &StoredRecord,
    result: Option<&StoredRecord>,
    path: &str,
) -> (Option<String>, Option<MissingDiff>) {
    if record.bytes.is_none() {
        return (None, Some(MissingDiff::Pruned));
    }
    let (envelope, payload) = (recorded::envelope(record), recorded::payload(record));
    if payload.is_null() {
        return (
            None,
            Some(if recorded::is_erased(record) { MissingDiff::Erased } else { MissingDiff::TooLarge }),
        );
    }
    let Some(mut tool) = recorded::tool(&envelope, &payload) else {
        return (None, Some(MissingDiff::Unknown));
    };
    if let Some(input) = payload.get("tool_input").filter(|input| !input.is_null()) {
        tool.args = input.clone();
    }
    let answered = result.map(recorded::payload).unwrap_or_default();
    let output = answered.field("detail").get("tool_output");
    let change = text_change(&tool, output, path);
    let before_known = !matches!(change, TextChange::Written { new: false, .. });
    match change.diff() {
        Some(diff) => {
            (Some(sanitize(&diff, MAX_DIFF_CHARS)), (!before_known).then_some(MissingDiff::BeforeUnknown))
        }
        None => (None, Some(MissingDiff::Unknown)),
    }
}
