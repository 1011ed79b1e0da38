// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Stores the settings before a run, so that a later command can undo changes of a run whose supervisor was killed.

use std::io::{self, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::SettingsBefore;
use crate::file_tree::{LinkAtEnd, read_ordinary_file};

/// Maximum size of stored settings.
const MAX_STORED_BYTES: u64 = 1 << 30;

/// Content of a file. It is stored as text in which each byte is one character.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct FileBytes(pub(super) Vec<u8>);

impl Serialize for FileBytes {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.0.iter().copied().map(char::from).collect::<String>())
    }
}

impl<'de> Deserialize<'de> for FileBytes {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let bytes: Result<_, _> = text.chars().map(|letter| u8::try_from(u32::from(letter))).collect();
        bytes.map(Self).map_err(serde::de::Error::custom)
    }
}

impl SettingsBefore {
    /// Stores the settings in a new file that only this account can read. Fails if a path is not UTF-8.
    pub fn store(&self, path: &Path) -> io::Result<()> {
        let bytes = serde_json::to_vec(self).map_err(io::Error::from)?;
        let mut file = std::fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?;
        file.write_all(&bytes)
    }

    /// Reads stored settings; `None` if there are none, or if they are not complete.
    pub fn read_stored(path: &Path) -> io::Result<Option<Self>> {
        match read_ordinary_file(path, MAX_STORED_BYTES, LinkAtEnd::Refuse) {
            Ok(content) => Ok(content.and_then(|content| serde_json::from_slice(&content).ok())),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }
}
