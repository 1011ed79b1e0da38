// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The format of the state directory. A program refuses a directory that a newer version wrote. It upgrades an older
//! directory when it opens the ledger for writing.
//!
//! | format | first version | ledger store | changes |
//! |---|---|---|---|
//! | 1 | 0.1.0 | 4 | has no `format.json` |
//! | 2 | 0.2.0 | 6 | `ledger.pending` has sealed lines; agent marks name how they were found |
//!
//! Increase [`STATE_FORMAT`] and add a row whenever an older version could not read, or would misread, a file of the
//! state directory. No cleanup is needed after a crash: the ledger migrates in one transaction, and the number is
//! written afterwards by a rename.

use std::io::ErrorKind;
use std::path::Path;

use serde::{Deserialize, Serialize};
use serde_json::json;
use tenterhook_ledger::{LeafOrigin, Ledger, LedgerEntry, LedgerOptions, OpenError, OpenedLedger};

use tenterhook_error::Failure;
use tenterhook_home::write_atomic;
use tenterhook_home::{call_meta, env, read_file};
use tenterhook_records::secrets;

/// Format that this version writes. It is also the newest format that this version reads.
pub const STATE_FORMAT: u32 = 2;

/// Format of a state directory without a format file.
const FIRST_FORMAT: u32 = 1;
const VERSION: &str = env!("CARGO_PKG_VERSION");
const FORMAT_FILE: &str = "format.json";

/// Format of a state directory, and the version that wrote it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StateFormat {
    /// Number of the format.
    pub format: u32,
    /// The version that upgraded the directory to this format.
    pub version: String,
}

impl StateFormat {
    /// Reads the format of a state directory. Returns `None` if nothing has been recorded there yet.
    pub fn read(state: &Path) -> Result<Option<Self>, Failure> {
        let path = state.join(FORMAT_FILE);
        let unreadable = |why: String| {
            Failure::internal(format!(
                "format of the state directory is unknown: `{}`: {why}",
                path.display()
            ))
            .hint("remove this file; the next command writes it again")
        };
        let found = match read_file::state_file(&path) {
            // Only root can read the machine's state directory, but other accounts call hooks. A path that is not a
            // directory has no format.
            Err(error) if matches!(error.kind(), ErrorKind::PermissionDenied | ErrorKind::NotADirectory) => {
                return Ok(None);
            }
            found => found.map_err(|error| unreadable(error.to_string()))?,
        };
        if let Some(text) = found {
            return serde_json::from_str(&text).map(Some).map_err(|error| unreadable(error.to_string()));
        }
        let has_ledger = state.join("ledger/ledger.db").symlink_metadata().is_ok();
        Ok(has_ledger.then(|| Self { format: FIRST_FORMAT, version: "0.1.0".to_owned() }))
    }

    /// Fails if a newer version wrote the state directory in a format that this version does not know. Nothing is
    /// changed.
    pub fn refuse_newer(state: &Path) -> Result<(), Failure> {
        let Some(Self { format, version }) = Self::read(state)?.filter(|found| found.format > STATE_FORMAT)
        else {
            return Ok(());
        };
        let message = format!(
            "`{}` was written by Tenterhook {version} (state format {format}); this is Tenterhook {VERSION}, which reads \
             formats up to {STATE_FORMAT}. Install Tenterhook {version} or newer",
            state.display()
        );
        Err(Failure::internal(message)
            .hint("`tenterhook self info` prints the command that upgrades this program")
            .hint("downgrades are not supported: nothing was changed"))
    }

    /// Returns the format of the directory if it is older than the current format.
    pub fn outdated(state: &Path) -> Result<Option<Self>, Failure> {
        Ok(Self::read(state)?.filter(|found| found.format < STATE_FORMAT))
    }

    /// Opens the ledger of a state directory for writing, which migrates the ledger's store, and upgrades the
    /// directory to the current format. An upgrade is recorded.
    pub fn open_ledger(state: &Path, dir: &Path, options: LedgerOptions) -> Result<OpenedLedger, OpenError> {
        // If the format is unreadable, nothing is upgraded; commands refuse such a directory.
        let outdated = Self::outdated(state).ok().flatten();
        let opened = Ledger::open(dir, options)?;
        if let Some(before) = outdated {
            let detail = json!({
                "from": before,
                "to": Self { format: STATE_FORMAT, version: VERSION.to_owned() },
                "done": opened.recovered,
            });
            let meta = call_meta::mint().map_err(|failure| OpenError::Store(failure.message))?;
            let entry = LedgerEntry::change(
                meta.id,
                meta.ts,
                "state upgrade",
                &env::current_user(),
                detail,
                &secrets,
            );
            opened
                .ledger
                .append(entry.with_origin(LeafOrigin::Cli))
                .map_err(|error| OpenError::Store(format!("cannot record the upgrade: {error}")))?;
        }
        // If the number cannot be written, the next process writes it. The store itself refuses older programs.
        drop(Self::write_current(state));
        Ok(opened)
    }

    /// Writes the current format, unless the directory already has it.
    pub fn write_current(state: &Path) -> Result<(), Failure> {
        let path = state.join(FORMAT_FILE);
        let is_current = read_file::state_file(&path)
            .ok()
            .flatten()
            .and_then(|text| serde_json::from_str::<Self>(&text).ok())
            .is_some_and(|found| found.format == STATE_FORMAT);
        if is_current {
            return Ok(());
        }
        let current = Self { format: STATE_FORMAT, version: VERSION.to_owned() };
        let bytes = serde_json::to_vec(&current).map_err(|error| Failure::internal(error.to_string()))?;
        write_atomic(&path, &bytes, 0o600)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_newer_format_is_refused_with_both_versions() {
        let dir = tempfile::tempdir().unwrap();
        assert_eq!(StateFormat::read(dir.path()), Ok(None));
        StateFormat::refuse_newer(dir.path()).unwrap();
        std::fs::write(dir.path().join(FORMAT_FILE), r#"{"format": 99, "version": "9.9.9", "more": 1}"#)
            .unwrap();
        let refused = StateFormat::refuse_newer(dir.path()).unwrap_err();
        for part in ["Tenterhook 9.9.9 (state format 99)", VERSION, "up to 2", "Install Tenterhook 9.9.9"] {
            assert!(refused.message.contains(part), "{}", refused.message);
        }
    }

    #[test]
    fn a_ledger_without_a_format_is_of_the_first_version_until_it_is_brought_forward() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir(dir.path().join("ledger")).unwrap();
        std::fs::write(dir.path().join("ledger/ledger.db"), "").unwrap();
        assert_eq!(StateFormat::outdated(dir.path()).unwrap().unwrap().format, FIRST_FORMAT);
        StateFormat::write_current(dir.path()).unwrap();
        assert_eq!(StateFormat::outdated(dir.path()), Ok(None));
        assert_eq!(StateFormat::read(dir.path()).unwrap().unwrap().format, STATE_FORMAT);
    }

    #[test]
    fn a_format_file_that_cannot_be_read_is_not_passed_over() {
        let dir = tempfile::tempdir().unwrap();
        for text in ["", "{", "2", r#"{"format": "x", "version": "1"}"#] {
            std::fs::write(dir.path().join(FORMAT_FILE), text).unwrap();
            let refused = StateFormat::refuse_newer(dir.path()).unwrap_err();
            assert!(refused.message.contains("is unknown"), "{}", refused.message);
        }
    }

    #[test]
    fn a_ledger_of_another_format_needs_another_state_format() {
        // An older program must refuse a state directory whose ledger it cannot open.
        assert_eq!((STATE_FORMAT, tenterhook_ledger::STORE_FORMAT), (2, 6));
    }
}
