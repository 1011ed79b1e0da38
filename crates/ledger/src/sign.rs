// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Checkpoint signers, and functions that write files atomically.

use std::io::{Read, Write};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use ed25519_dalek::SigningKey;
use tenterhook_files::FileClass;

use crate::hash::{decode_base64, encode_base64};
use crate::note::{ED25519_TYPE, VerifierKey};

const PRIVATE_KEY_PREFIX: &str = "PRIVATE+KEY+";
/// Maximum length of a key file; anything after it is not read.
const MAX_KEY_FILE_BYTES: u64 = 64 << 10;

/// A key that signs for a log.
pub trait Signer: Send + Sync {
    /// Returns the public key, which includes the log's name.
    fn key(&self) -> &VerifierKey;

    /// Signs a message. Signatures must be deterministic, as Ed25519 signatures are: with relaxed durability, entries
    /// wait in a file before they are committed, and the key that seals this file is derived from a signature.
    fn sign(&self, message: &[u8]) -> Result<Vec<u8>, SignError>;
}

/// A key loaded from a file that only its owner can read, or unsealed into memory.
pub struct SoftwareKey {
    secret: SigningKey,
    public: VerifierKey,
    /// The same key for a second, faster library, because every commit is signed.
    #[cfg(feature = "store")]
    fast: aws_lc_rs::signature::Ed25519KeyPair,
}

/// Error for a key that cannot be loaded or cannot sign.
#[derive(Debug, thiserror::Error)]
pub enum SignError {
    /// The file cannot be read or written.
    #[error("`{}`: {source}", path.display())]
    Io {
        /// The key file.
        path: PathBuf,
        /// Error reported by the operating system.
        source: std::io::Error,
    },
    /// Other users can read the key.
    #[error("`{}` is readable by other users: its mode is {mode:o}, but must be 600", path.display())]
    Permissions {
        /// The key file.
        path: PathBuf,
        /// Permission bits of the file.
        mode: u32,
    },
    /// The file does not contain a valid key.
    #[error("`{}` does not contain a signing key", .0.display())]
    NoKey(PathBuf),
    /// The key is sealed, and no passphrase was given.
    #[error("`{}` is sealed, and no passphrase was given", .0.display())]
    Sealed(PathBuf),
    /// The passphrase is wrong, or the file was changed.
    #[error("wrong passphrase for `{}`", .0.display())]
    Passphrase(PathBuf),
    /// The log's name is not a valid key name.
    #[error(transparent)]
    Name(#[from] crate::note::NoteError),
    /// No random bytes are available, or another kind of signer failed.
    #[error("{0}")]
    Other(String),
}

impl SoftwareKey {
    /// Generates a new key for the log with this name.
    pub fn generate(origin: &str) -> Result<Self, SignError> {
        Self::from_seed(origin, &random_bytes()?)
    }

    /// Creates the key from this secret seed.
    pub fn from_seed(origin: &str, seed: &[u8; 32]) -> Result<Self, SignError> {
        let secret = SigningKey::from_bytes(seed);
        let public = VerifierKey::ed25519(origin, secret.verifying_key())?;
        #[cfg(feature = "store")]
        let fast = {
            use aws_lc_rs::signature::Ed25519KeyPair;
            let pair = Ed25519KeyPair::from_seed_and_public_key(seed, secret.verifying_key().as_bytes());
            pair.map_err(|why| SignError::Other(format!("cannot use the signing key: {why}")))?
        };
        Ok(Self {
            secret,
            public,
            #[cfg(feature = "store")]
            fast,
        })
    }

    pub(crate) fn seed(&self) -> &[u8; 32] {
        self.secret.as_bytes()
    }

    /// Reads the name and id of the key in a file, whether sealed or not.
    #[cfg(feature = "store")]
    pub(crate) fn read_name_and_id(path: &Path) -> Result<(String, String), SignError> {
        let key = Self::load(path).map(|key| key.public).or_else(|_| Self::sealed_public(path))?;
        Ok((key.name().to_owned(), key.id()))
    }

    /// Loads a key from a file that only its owner may read.
    pub fn load(path: &Path) -> Result<Self, SignError> {
        let text = read_private(path)?;
        let refuse = || SignError::NoKey(path.to_owned());
        let text = std::str::from_utf8(&text).map_err(|_| refuse())?;
        let mut parts = text.trim_end().strip_prefix(PRIVATE_KEY_PREFIX).ok_or_else(refuse)?.splitn(3, '+');
        let (Some(name), Some(id), Some(seed)) = (parts.next(), parts.next(), parts.next()) else {
            return Err(refuse());
        };
        let material = decode_base64(seed).ok_or_else(refuse)?;
        let seed = material.strip_prefix(&[ED25519_TYPE]).and_then(|seed| seed.try_into().ok());
        let key = Self::from_seed(name, seed.ok_or_else(refuse)?)?;
        if key.public.id() == id { Ok(key) } else { Err(refuse()) }
    }

    /// Writes the key to a new file that only its owner may read.
    pub fn save(&self, path: &Path) -> Result<(), SignError> {
        create_file(path, self.to_private_text().as_bytes(), 0o600)
            .map_err(|source| SignError::Io { path: path.to_owned(), source })
    }

    /// Returns the secret key as text.
    pub(crate) fn to_private_text(&self) -> String {
        let material: Vec<u8> = std::iter::once(ED25519_TYPE).chain(*self.seed()).collect();
        let (name, id, seed) = (self.public.name(), self.public.id(), encode_base64(&material));
        format!("{PRIVATE_KEY_PREFIX}{name}+{id}+{seed}\n")
    }
}

impl Signer for SoftwareKey {
    fn key(&self) -> &VerifierKey {
        &self.public
    }

    #[cfg(feature = "store")]
    fn sign(&self, message: &[u8]) -> Result<Vec<u8>, SignError> {
        let signature = self.fast.try_sign(message);
        let signature = signature.map_err(|_| SignError::Other("cannot sign with the key".to_owned()))?;
        Ok(signature.as_ref().to_vec())
    }

    #[cfg(not(feature = "store"))]
    fn sign(&self, message: &[u8]) -> Result<Vec<u8>, SignError> {
        Ok(ed25519_dalek::Signer::sign(&self.secret, message).to_bytes().to_vec())
    }
}

impl std::fmt::Debug for SoftwareKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "SoftwareKey({})", self.public)
    }
}

pub(crate) fn random_bytes<const N: usize>() -> Result<[u8; N], SignError> {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes).map_err(|error| SignError::Other(format!("no random bytes: {error}")))?;
    Ok(bytes)
}

/// Reads a file. Fails if other users can read it.
pub(crate) fn read_private(path: &Path) -> Result<Vec<u8>, SignError> {
    let io = |source| SignError::Io { path: path.to_owned(), source };
    let opened = tenterhook_files::open(path, FileClass::State).map_err(io)?;
    let file = opened.ok_or_else(|| io(std::io::ErrorKind::NotFound.into()))?;
    let mode = file.metadata().map_err(io)?.permissions().mode() & 0o777;
    if mode & 0o077 != 0 {
        return Err(SignError::Permissions { path: path.to_owned(), mode });
    }
    let mut bytes = Vec::new();
    file.take(MAX_KEY_FILE_BYTES).read_to_end(&mut bytes).map_err(io)?;
    Ok(bytes)
}

/// Creates a file atomically. Fails if the file exists.
pub(crate) fn create_file(path: &Path, bytes: &[u8], mode: u32) -> std::io::Result<()> {
    let temporary = temporary_sibling(path)?;
    let written = write_synced(&temporary, bytes, mode).and_then(|()| std::fs::hard_link(&temporary, path));
    // The temporary name is removed even if the link could not be created.
    let removed = std::fs::remove_file(&temporary);
    written?;
    removed?;
    sync_parent(path)
}

/// Replaces a file atomically: a reader sees either the old or the new content.
pub(crate) fn replace_file(path: &Path, bytes: &[u8], mode: u32) -> std::io::Result<()> {
    let temporary = temporary_sibling(path)?;
    let moved = write_synced(&temporary, bytes, mode).and_then(|()| std::fs::rename(&temporary, path));
    if let Err(error) = moved {
        // If the temporary file was never created, this fails too. Only the first error is reported.
        drop(std::fs::remove_file(&temporary));
        return Err(error);
    }
    sync_parent(path)
}

/// Like [`replace_file`], but without syncing: for a copy that may be lost in a power cut.
#[cfg(feature = "store")]
pub(crate) fn replace_copy(path: &Path, bytes: &[u8], mode: u32) -> std::io::Result<()> {
    let temporary = temporary_sibling(path)?;
    let mut options = std::fs::OpenOptions::new();
    let file = options.write(true).create_new(true).mode(mode).open(&temporary);
    let moved =
        file.and_then(|mut file| file.write_all(bytes)).and_then(|()| std::fs::rename(&temporary, path));
    if moved.is_err() {
        drop(std::fs::remove_file(&temporary));
    }
    moved
}

/// Returns a random file name in the same directory.
fn temporary_sibling(path: &Path) -> std::io::Result<PathBuf> {
    let random: [u8; 6] = random_bytes().map_err(|error| std::io::Error::other(error.to_string()))?;
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{}", crate::hash::encode_hex(&random)));
    Ok(path.with_file_name(name))
}

fn write_synced(path: &Path, bytes: &[u8], mode: u32) -> std::io::Result<()> {
    let mut file = std::fs::OpenOptions::new().write(true).create_new(true).mode(mode).open(path)?;
    file.write_all(bytes)?;
    file.sync_all()
}

fn sync_parent(path: &Path) -> std::io::Result<()> {
    match path.parent() {
        Some(dir) if !dir.as_os_str().is_empty() => std::fs::File::open(dir)?.sync_all(),
        _ => Ok(()),
    }
}
