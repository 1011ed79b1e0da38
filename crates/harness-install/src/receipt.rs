// SPDX-License-Identifier: Apache-2.0 OR MIT
//! What was there before us, so that it can be put back byte for byte.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::{InstallError, Scope, file, jsonc::Created};

/// The newest form of receipt this program writes and reads.
pub const VERSION: u32 = 1;

/// The record of one harness's hooks in one settings file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Receipt {
    /// The form of this file.
    pub version: u32,
    /// The harness id.
    pub harness: String,
    /// The settings file, as it was named to us.
    pub settings: PathBuf,
    /// What the file held before the first install; `None` when there was no file.
    pub original: Option<Backup>,
    /// Directories made for the settings file, outermost first.
    pub directories: Vec<PathBuf>,
    /// Whether the file was never edited by anybody else between two of our writes. Only then does restoring
    /// the original lose nothing.
    pub pristine: bool,
    /// What we wrote last.
    pub written: Fingerprint,
    /// The containers we had to create inside the file.
    pub created: Created,
    /// What was asked for.
    #[serde(default)]
    pub asked: Asked,
    /// Pieces of text without which our hooks do not work, as they stand in the file.
    #[serde(default)]
    pub holds: Vec<String>,
}

/// What was asked for when the hooks were installed, so that it can be asked for again.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Asked {
    /// Whose settings.
    #[serde(default)]
    pub scope: Scope,
    /// Whether the harness asks the daemon by itself.
    #[serde(default)]
    pub http: bool,
    /// Whether the harness was told that our hooks are trusted.
    #[serde(default)]
    pub trust: bool,
}

/// A copy of the original, kept beside the receipt in `backup/`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Backup {
    /// Its file name.
    pub name: String,
    /// What it holds.
    pub fingerprint: Fingerprint,
}

/// Tells whether bytes are still the same ones. It guards against accidents, not against an attacker: whoever can
/// write the settings can write the receipt too.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fingerprint {
    /// Number of bytes.
    pub length: u64,
    /// FNV-1a, 64 bits, in hexadecimal.
    pub fnv1a: String,
}

impl Fingerprint {
    /// Of these bytes.
    pub fn of(bytes: &[u8]) -> Self {
        Self { length: bytes.len() as u64, fnv1a: format!("{:016x}", fnv1a(bytes)) }
    }

    /// Whether these are the bytes.
    pub fn is_of(&self, bytes: &[u8]) -> bool {
        *self == Self::of(bytes)
    }
}

fn fnv1a(bytes: &[u8]) -> u64 {
    bytes
        .iter()
        .fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3))
}

/// A receipt as it lies on disk.
#[derive(Debug, Clone)]
pub struct Stored {
    /// The receipt's own file.
    pub path: PathBuf,
    /// Its bytes.
    pub bytes: Vec<u8>,
    /// Its content; `None` when it cannot be understood.
    pub receipt: Option<Receipt>,
}

/// The receipts of one Tenterhook home.
#[derive(Debug, Clone)]
pub struct Receipts {
    directory: PathBuf,
    harness: String,
}

impl Receipts {
    /// Those of `harness` in `directory`.
    pub fn new(directory: &Path, harness: &str) -> Self {
        Self { directory: directory.to_owned(), harness: harness.to_owned() }
    }

    /// The receipt for `settings`, and where it is, or would be written.
    ///
    /// The first settings file of a harness has the plain name; another one (a project's, say, or a second file of
    /// the same install) has a name of its own, so that neither forgets the other.
    pub fn find(
        &self,
        settings: &Path,
        may_be_first: bool,
    ) -> Result<(PathBuf, Option<Stored>), InstallError> {
        let number = fnv1a(settings.as_os_str().as_encoded_bytes());
        let own = self.directory.join(format!("{}-{number:016x}.json", self.harness));
        if let Some(stored) = load(&own)? {
            return Ok((own, Some(stored)));
        }
        let plain = self.directory.join(format!("{}.json", self.harness));
        match load(&plain)? {
            Some(Stored { receipt: Some(receipt), .. }) if receipt.settings != settings => Ok((own, None)),
            Some(Stored { receipt: None, .. }) | None if !may_be_first => Ok((own, None)),
            stored => Ok((plain, stored)),
        }
    }

    /// Every receipt of this harness that can be read.
    pub fn all(&self) -> Vec<Receipt> {
        let ours = |receipt: &Receipt| receipt.harness == self.harness;
        every(&self.directory).into_iter().filter(ours).collect()
    }

    /// Where the copy of an original lies.
    pub fn backup_path(&self, backup: &Backup) -> Option<PathBuf> {
        // A name, never a way out of the directory.
        let name = Path::new(&backup.name).file_name()?;
        Some(self.backups().join(name))
    }

    /// The original bytes, if the copy is there and whole.
    pub fn original(&self, backup: &Backup) -> Result<Option<Vec<u8>>, InstallError> {
        let Some(path) = self.backup_path(backup) else { return Ok(None) };
        Ok(file::read(&path)?.filter(|bytes| backup.fingerprint.is_of(bytes)))
    }

    /// A place for a copy of `original`, beside the receipt at `receipt`, that overwrites no other copy.
    pub fn plan_backup(
        &self,
        receipt: &Path,
        settings: &Path,
        original: &[u8],
    ) -> Result<Backup, InstallError> {
        let fingerprint = Fingerprint::of(original);
        let [stem, file_name] = [receipt.file_stem(), settings.file_name()]
            .map(|name| name.unwrap_or_default().to_string_lossy().into_owned());
        let mut name = format!("{stem}-{file_name}");
        let mut number = 1;
        // An equal copy is one that a crash left, or one kept from an earlier install: as good as a new one.
        while file::read(&self.backups().join(&name))?.is_some_and(|copy| !fingerprint.is_of(&copy)) {
            name = format!("{stem}-{file_name}.{number}");
            number += 1;
        }
        Ok(Backup { name, fingerprint })
    }

    /// The directories this keeps, outermost first.
    pub fn directories(&self) -> [PathBuf; 2] {
        [self.directory.clone(), self.backups()]
    }

    fn backups(&self) -> PathBuf {
        self.directory.join("backup")
    }
}

impl Receipt {
    /// The bytes to store.
    pub fn to_bytes(&self) -> Result<Vec<u8>, InstallError> {
        let mut bytes = serde_json::to_vec_pretty(self).map_err(std::io::Error::from)?;
        bytes.push(b'\n');
        Ok(bytes)
    }
}

/// Every receipt in a directory that can be read, in the order of the files' names.
pub fn every(directory: &Path) -> Vec<Receipt> {
    let entries = fs_err::read_dir(directory).into_iter().flatten().flatten();
    let mut paths: Vec<_> = entries.map(|entry| entry.path()).collect();
    paths.sort();
    let is_receipt = |path: &PathBuf| path.extension().is_some_and(|extension| extension == "json");
    let read = |path: PathBuf| load(&path).ok()??.receipt;
    paths.into_iter().filter(is_receipt).filter_map(read).collect()
}

impl Receipt {
    /// Whether the settings still hold what they have to for our hooks to work.
    pub fn is_kept(&self) -> bool {
        if self.holds.is_empty() {
            return true;
        }
        let Ok(Some(bytes)) = file::read(&self.settings) else { return false };
        self.written.is_of(&bytes) || {
            let text = String::from_utf8_lossy(&bytes);
            self.holds.iter().all(|piece| text.contains(piece))
        }
    }
}

fn load(path: &Path) -> Result<Option<Stored>, InstallError> {
    #[derive(Deserialize)]
    struct Versioned {
        version: u32,
    }
    let Some(bytes) = file::read(path)? else { return Ok(None) };
    if let Ok(Versioned { version }) = serde_json::from_slice(&bytes)
        && version > VERSION
    {
        return Err(InstallError::ReceiptTooNew { path: path.to_owned(), found: version, known: VERSION });
    }
    let receipt = serde_json::from_slice(&bytes).ok();
    Ok(Some(Stored { path: path.to_owned(), bytes, receipt }))
}
