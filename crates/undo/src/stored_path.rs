// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Paths in manifests. A path on a Unix system is any sequence of bytes, and JSON contains only text.

use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A path that is written as text if it is valid UTF-8, and otherwise as a list of bytes.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StoredPath(PathBuf);

#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum PathText {
    Text(String),
    Bytes(Vec<u8>),
}

// === impl StoredPath ===

impl StoredPath {
    /// Returns the path.
    pub fn as_path(&self) -> &Path {
        &self.0
    }
}

impl<P: Into<PathBuf>> From<P> for StoredPath {
    fn from(path: P) -> Self {
        Self(path.into())
    }
}

impl Serialize for StoredPath {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0.to_str() {
            Some(text) => serializer.serialize_str(text),
            None => self.0.as_os_str().as_bytes().serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for StoredPath {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let bytes = match PathText::deserialize(deserializer)? {
            PathText::Text(text) => text.into_bytes(),
            PathText::Bytes(bytes) => bytes,
        };
        Ok(Self(PathBuf::from(OsString::from_vec(bytes))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_that_is_not_text_survives() {
        for bytes in [&b"src/main.rs"[..], b"caf\xe9", b"a\nb", b""] {
            let path = StoredPath::from(OsString::from_vec(bytes.to_vec()));
            let text = serde_json::to_string(&path).unwrap();
            assert_eq!(serde_json::from_str::<StoredPath>(&text).unwrap(), path, "{text}");
        }
    }
}
