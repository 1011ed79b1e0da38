// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Who signs checkpoints. What a signer cannot prove, it does not claim: there are no tiers.

use std::io::{Read, Write};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use ed25519_dalek::SigningKey;
use tenterhook_files::FileClass;

use crate::hash::{base64, from_base64};
use crate::note::{ED25519, VerifierKey};

const PREFIX: &str = "PRIVATE+KEY+";
/// No key file is longer; what comes behind is not read.
const MAX_KEY_FILE_BYTES: u64 = 64 << 10;

/// Something that can sign for a log.
pub trait Signer: Send + Sync {
    /// The public half, with the log's name in it.
    fn key(&self) -> &VerifierKey;

    /// The signature over a message: the same message always has the same one, as with Ed25519. The seal of
    /// a relaxed ledger's pending lines is derived from it.
    fn sign(&self, message: &[u8]) -> Result<Vec<u8>, SignError>;
}

/// A key that lies in a file only its owner can read, or was unsealed into memory.
pub struct SoftwareKey {
    secret: SigningKey,
    public: VerifierKey,
    /// The same key, as the library signs with it that is fast enough for every commit.
    #[cfg(feature = "store")]
    fast: aws_lc_rs::signature::Ed25519KeyPair,
}

/// The key cannot be had or cannot sign.
#[derive(Debug, thiserror::Error)]
pub enum SignError {
    /// The file cannot be read or written.
    #[error("`{}`: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// Others than its owner could read the key.
    #[error("`{}` can be read by others (its mode is {mode:o}, it must be 600)", path.display())]
    Permissions {
        /// The file.
        path: PathBuf,
        /// What its mode is.
        mode: u32,
    },
    /// The file holds no key.
    #[error("`{}` holds no signing key", .0.display())]
    NoKey(PathBuf),
    /// The key is sealed, and nobody said the passphrase.
    #[error("`{}` is sealed, and its passphrase was not given", .0.display())]
    Sealed(PathBuf),
    /// The passphrase does not open the key, or the file was changed.
    #[error("the passphrase does not open `{}`", .0.display())]
    Passphrase(PathBuf),
    /// The log's name cannot be a key's name.
    #[error(transparent)]
    Name(#[from] crate::note::NoteError),
    /// There is no randomness, or a signer of another kind failed.
    #[error("{0}")]
    Other(String),
}

// === impl SoftwareKey ===

impl SoftwareKey {
    /// A new key for the log of this name.
    pub fn generate(origin: &str) -> Result<Self, SignError> {
        Self::from_seed(origin, &random()?)
    }

    /// The key that this secret makes.
    pub fn from_seed(origin: &str, seed: &[u8; 32]) -> Result<Self, SignError> {
        let secret = SigningKey::from_bytes(seed);
        let public = VerifierKey::ed25519(origin, secret.verifying_key())?;
        #[cfg(feature = "store")]
        let fast = {
            use aws_lc_rs::signature::Ed25519KeyPair;
            let pair = Ed25519KeyPair::from_seed_and_public_key(seed, secret.verifying_key().as_bytes());
            pair.map_err(|why| SignError::Other(format!("the signing key cannot be used: {why}")))?
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

    /// The name and the id of the key in a file, whether or not it is sealed.
    #[cfg(feature = "store")]
    pub(crate) fn name_and_id(path: &Path) -> Result<(String, String), SignError> {
        let key = Self::load(path).map(|key| key.public).or_else(|_| Self::sealed_public(path))?;
        Ok((key.name().to_owned(), key.id()))
    }

    /// Reads a key from a file that nobody else may read.
    pub fn load(path: &Path) -> Result<Self, SignError> {
        let text = read_private(path)?;
        let refuse = || SignError::NoKey(path.to_owned());
        let text = std::str::from_utf8(&text).map_err(|_| refuse())?;
        let mut parts = text.trim_end().strip_prefix(PREFIX).ok_or_else(refuse)?.splitn(3, '+');
        let (Some(name), Some(id), Some(seed)) = (parts.next(), parts.next(), parts.next()) else {
            return Err(refuse());
        };
        let material = from_base64(seed).ok_or_else(refuse)?;
        let seed = material.strip_prefix(&[ED25519]).and_then(|seed| seed.try_into().ok());
        let key = Self::from_seed(name, seed.ok_or_else(refuse)?)?;
        if key.public.id() == id { Ok(key) } else { Err(refuse()) }
    }

    /// Writes the key to a new file that nobody else may read.
    pub fn save(&self, path: &Path) -> Result<(), SignError> {
        write_new(path, self.text().as_bytes(), 0o600)
            .map_err(|source| SignError::Io { path: path.to_owned(), source })
    }

    /// The secret half as a text.
    pub(crate) fn text(&self) -> String {
        let material: Vec<u8> = std::iter::once(ED25519).chain(*self.seed()).collect();
        format!("{PREFIX}{}+{}+{}\n", self.public.name(), self.public.id(), base64(&material))
    }
}

impl Signer for SoftwareKey {
    fn key(&self) -> &VerifierKey {
        &self.public
    }

    #[cfg(feature = "store")]
    fn sign(&self, message: &[u8]) -> Result<Vec<u8>, SignError> {
        let signature = self.fast.try_sign(message);
        let signature = signature.map_err(|_| SignError::Other("the key did not sign".to_owned()))?;
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

/// Bytes that nobody can guess.
pub(crate) fn random<const N: usize>() -> Result<[u8; N], SignError> {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes).map_err(|error| SignError::Other(format!("no randomness: {error}")))?;
    Ok(bytes)
}

/// Reads a file that only its owner may be able to read.
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

/// Writes a whole file under a name that was free, so that it is there entirely or not at all.
pub(crate) fn write_new(path: &Path, bytes: &[u8], mode: u32) -> std::io::Result<()> {
    let beside = beside(path)?;
    let written = write_synced(&beside, bytes, mode).and_then(|()| std::fs::hard_link(&beside, path));
    // Whatever happened, the name beside it has served.
    let removed = std::fs::remove_file(&beside);
    written?;
    removed?;
    sync_parent(path)
}

/// Puts a file in place of the one that was there, so that a reader sees the old or the new.
pub(crate) fn replace(path: &Path, bytes: &[u8], mode: u32) -> std::io::Result<()> {
    let beside = beside(path)?;
    let moved = write_synced(&beside, bytes, mode).and_then(|()| std::fs::rename(&beside, path));
    if let Err(error) = moved {
        // It may not even have been made; the first error is the one to tell.
        drop(std::fs::remove_file(&beside));
        return Err(error);
    }
    sync_parent(path)
}

/// The same for a copy of something that is safe elsewhere: a power cut may take it.
#[cfg(feature = "store")]
pub(crate) fn replace_copy(path: &Path, bytes: &[u8], mode: u32) -> std::io::Result<()> {
    let beside = beside(path)?;
    let mut options = std::fs::OpenOptions::new();
    let file = options.write(true).create_new(true).mode(mode).open(&beside);
    let moved = file.and_then(|mut file| file.write_all(bytes)).and_then(|()| std::fs::rename(&beside, path));
    if moved.is_err() {
        drop(std::fs::remove_file(&beside));
    }
    moved
}

fn beside(path: &Path) -> std::io::Result<PathBuf> {
    let random: [u8; 6] = random().map_err(|error| std::io::Error::other(error.to_string()))?;
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{}", crate::note::short(&random)));
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
