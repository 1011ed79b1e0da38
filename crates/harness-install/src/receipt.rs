// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Receipts. A receipt describes a settings file before the install, so that the file can be restored byte for byte.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::{InstallError, SettingsScope, file, jsonc::CreatedContainers};

/// Newest receipt format that this program reads and writes.
pub const VERSION: u32 = 1;

/// Receipt of one harness's hooks in one settings file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Receipt {
    /// Format version of the receipt.
    pub version: u32,
    /// Id of the harness.
    pub harness: String,
    /// Path of the settings file, as given by the caller.
    pub settings: PathBuf,
    /// Content of the file before the first install; `None` if there was no file.
    pub original: Option<OriginalBackup>,
    /// Directories created for the settings file, outermost first.
    pub directories: Vec<PathBuf>,
    /// Whether nothing but Tenterhook has changed the file since the first install. Only then does restoring the
    /// original lose no changes.
    pub pristine: bool,
    /// Content that Tenterhook wrote last.
    pub written: FileFingerprint,
    /// Containers that Tenterhook created in the file.
    pub created: CreatedContainers,
    /// Options of the install.
    #[serde(default)]
    pub asked: InstallOptions,
    /// Texts that the file must contain for the hooks to work.
    #[serde(default)]
    pub holds: Vec<String>,
}

/// Options of an install, stored so that it can be repeated.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct InstallOptions {
    /// Scope of the settings.
    #[serde(default)]
    pub scope: SettingsScope,
    /// Whether the harness calls the daemon over HTTP.
    #[serde(default)]
    pub http: bool,
    /// Whether the harness was told to trust the hooks.
    #[serde(default)]
    pub trust: bool,
}

/// A copy of the original, next to the receipt in `backup/`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OriginalBackup {
    /// Name of the backup file.
    pub name: String,
    /// Fingerprint of the backup's content.
    pub fingerprint: FileFingerprint,
}

/// Recognises unchanged bytes. It protects against accidents, not attackers: anyone who can write the settings can
/// write the receipt too.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileFingerprint {
    /// Number of bytes.
    pub length: u64,
    /// FNV-1a, 64 bits, in hexadecimal.
    pub fnv1a: String,
}

impl FileFingerprint {
    /// Fingerprint of these bytes.
    pub fn of(bytes: &[u8]) -> Self {
        Self { length: bytes.len() as u64, fnv1a: format!("{:016x}", fnv1a(bytes)) }
    }

    /// Whether the bytes have this fingerprint.
    pub fn is_of(&self, bytes: &[u8]) -> bool {
        *self == Self::of(bytes)
    }
}

fn fnv1a(bytes: &[u8]) -> u64 {
    bytes
        .iter()
        .fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3))
}

/// A receipt on disk.
#[derive(Debug, Clone)]
pub struct StoredReceipt {
    /// Path of the receipt.
    pub path: PathBuf,
    /// Content of the file.
    pub bytes: Vec<u8>,
    /// The parsed receipt; `None` if it is invalid.
    pub receipt: Option<Receipt>,
}

/// The receipts of one state directory.
#[derive(Debug, Clone)]
pub struct ReceiptStore {
    directory: PathBuf,
    harness: String,
}

impl ReceiptStore {
    /// The receipts of `harness` in `directory`.
    pub fn new(directory: &Path, harness: &str) -> Self {
        Self { directory: directory.to_owned(), harness: harness.to_owned() }
    }

    /// Finds the receipt for `settings`, and the path where it is stored or would be stored.
    ///
    /// The receipt of a harness's first settings file is named after the harness. The names of other receipts (for a
    /// project's file, or for a second file of the same install) also contain a hash of the file's path, so that no
    /// receipt overwrites another.
    pub fn find(
        &self,
        settings: &Path,
        may_be_first: bool,
    ) -> Result<(PathBuf, Option<StoredReceipt>), InstallError> {
        let number = fnv1a(settings.as_os_str().as_encoded_bytes());
        let own = self.directory.join(format!("{}-{number:016x}.json", self.harness));
        if let Some(stored) = load(&own)? {
            return Ok((own, Some(stored)));
        }
        let plain = self.directory.join(format!("{}.json", self.harness));
        match load(&plain)? {
            Some(StoredReceipt { receipt: Some(receipt), .. }) if receipt.settings != settings => {
                Ok((own, None))
            }
            Some(StoredReceipt { receipt: None, .. }) | None if !may_be_first => Ok((own, None)),
            stored => Ok((plain, stored)),
        }
    }

    /// Every receipt of this harness that can be read; `doctor` reports those that cannot.
    pub fn all(&self) -> Vec<Receipt> {
        let ours = |receipt: &Receipt| receipt.harness == self.harness;
        every(&self.directory).readable.into_iter().filter(ours).collect()
    }

    /// Path of a backup.
    pub fn backup_path(&self, backup: &OriginalBackup) -> Option<PathBuf> {
        // The name must not lead out of the directory.
        let name = Path::new(&backup.name).file_name()?;
        Some(self.backups().join(name))
    }

    /// The original bytes, if the backup exists and is intact.
    pub fn original(&self, backup: &OriginalBackup) -> Result<Option<Vec<u8>>, InstallError> {
        let Some(path) = self.backup_path(backup) else { return Ok(None) };
        Ok(file::read(&path)?.filter(|bytes| backup.fingerprint.is_of(bytes)))
    }

    /// A path for a backup of `original`, next to the receipt at `receipt`, that overwrites no other backup.
    pub fn plan_backup(
        &self,
        receipt: &Path,
        settings: &Path,
        original: &[u8],
    ) -> Result<OriginalBackup, InstallError> {
        let fingerprint = FileFingerprint::of(original);
        let [stem, file_name] = [receipt.file_stem(), settings.file_name()]
            .map(|name| name.unwrap_or_default().to_string_lossy().into_owned());
        let mut name = format!("{stem}-{file_name}");
        let mut number = 1;
        // Reuses an equal backup that a crash left behind or that an earlier install kept.
        while file::read(&self.backups().join(&name))?.is_some_and(|copy| !fingerprint.is_of(&copy)) {
            name = format!("{stem}-{file_name}.{number}");
            number += 1;
        }
        Ok(OriginalBackup { name, fingerprint })
    }

    /// Directories that this store creates, outermost first.
    pub fn directories(&self) -> [PathBuf; 2] {
        [self.directory.clone(), self.backups()]
    }

    fn backups(&self) -> PathBuf {
        self.directory.join("backup")
    }
}

impl Receipt {
    /// The serialized receipt.
    pub fn to_bytes(&self) -> Result<Vec<u8>, InstallError> {
        let mut bytes = serde_json::to_vec_pretty(self).map_err(std::io::Error::from)?;
        bytes.push(b'\n');
        Ok(bytes)
    }
}

/// The receipts in a directory, sorted by file name.
#[derive(Debug, Default)]
pub struct ReceiptFiles {
    /// Receipts that can be read.
    pub readable: Vec<Receipt>,
    /// Files that should be receipts but cannot be read, so what they describe is unknown.
    pub unreadable: Vec<UnreadableReceipt>,
}

/// A receipt that cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct UnreadableReceipt {
    /// The file, or the directory if that cannot be listed.
    pub path: PathBuf,
    /// What is wrong with it.
    pub reason: String,
}

/// Reads every receipt in a directory. A directory that does not exist has none.
pub fn every(directory: &Path) -> ReceiptFiles {
    let mut files = ReceiptFiles::default();
    let entries: std::io::Result<Vec<_>> =
        fs_err::read_dir(directory).and_then(|entries| entries.map(|entry| Ok(entry?.path())).collect());
    let mut paths = match entries {
        Ok(paths) => paths,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return files,
        Err(error) => {
            let (path, reason) = (directory.to_owned(), error.to_string());
            files.unreadable.push(UnreadableReceipt { path, reason });
            return files;
        }
    };
    paths.sort();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "json"));
    for path in paths {
        let reason = match load(&path) {
            Ok(Some(StoredReceipt { receipt: Some(receipt), .. })) => {
                files.readable.push(receipt);
                continue;
            }
            Ok(Some(StoredReceipt { bytes, .. })) => match serde_json::from_slice::<Receipt>(&bytes) {
                Ok(_) => continue,
                Err(error) => error.to_string(),
            },
            // The file was removed after the directory was listed.
            Ok(None) => continue,
            Err(error) => error.to_string(),
        };
        files.unreadable.push(UnreadableReceipt { path, reason });
    }
    files
}

impl Receipt {
    /// Whether the settings still contain every text that the hooks need.
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

fn load(path: &Path) -> Result<Option<StoredReceipt>, InstallError> {
    #[derive(Deserialize)]
    struct ReceiptVersion {
        version: u32,
    }
    let Some(bytes) = file::read(path)? else { return Ok(None) };
    if let Ok(ReceiptVersion { version }) = serde_json::from_slice(&bytes)
        && version > VERSION
    {
        return Err(InstallError::ReceiptTooNew { path: path.to_owned(), found: version, known: VERSION });
    }
    let receipt = serde_json::from_slice(&bytes).ok();
    Ok(Some(StoredReceipt { path: path.to_owned(), bytes, receipt }))
}
