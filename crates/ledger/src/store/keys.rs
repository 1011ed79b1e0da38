// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Key files in the ledger's directory.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::error::OpenError;
use super::options::LedgerOptions;
use crate::hash::encode_hex;
use crate::note::VerifierKey;
use crate::sealed_key::Argon2Cost;
use crate::sign::{SignError, Signer, SoftwareKey, random_bytes, replace_file};

/// Maximum length of the public key file.
const MAX_PUBLIC_KEY_BYTES: u64 = 4 << 10;

/// Returns the path of the signing key that is used if the caller does not pass a key.
pub(crate) fn key_path(dir: &Path) -> PathBuf {
    dir.join("key")
}

/// Returns the path of the next key during a rotation.
fn next_path(dir: &Path) -> PathBuf {
    dir.join("key.next")
}

/// Opens the key that signs this ledger. If `expected` is `None`, the ledger is new and a key is generated.
pub(crate) fn open_key(
    dir: &Path,
    expected: Option<&VerifierKey>,
    options: &mut LedgerOptions,
    recovered: &mut Vec<String>,
) -> Result<Arc<dyn Signer>, OpenError> {
    let signer = match options.key.take() {
        Some(signer) => signer,
        None => open_own_key(dir, expected, options.passphrase.as_deref(), recovered)?,
    };
    match expected {
        Some(expected) if expected != signer.key() => {
            Err(OpenError::OtherKey { given: signer.key().id(), expected: expected.to_string() })
        }
        _ => Ok(signer),
    }
}

/// Opens or generates the key in the ledger's directory.
fn open_own_key(
    dir: &Path,
    expected: Option<&VerifierKey>,
    passphrase: Option<&str>,
    recovered: &mut Vec<String>,
) -> Result<Arc<dyn Signer>, OpenError> {
    if next_path(dir).exists() {
        end_rotation(dir, expected, recovered)?;
    }
    let path = key_path(dir);
    if !path.exists() && expected.is_none() {
        let origin = format!("tenterhook.local/{}", encode_hex(&random_bytes::<8>()?));
        let key = SoftwareKey::generate(&origin)?;
        match passphrase {
            // The unsealed key is never written to disk.
            Some(passphrase) => key.seal(&path, passphrase, Argon2Cost::default())?,
            None => key.save(&path)?,
        }
        return Ok(Arc::new(key));
    }
    Ok(Arc::new(match passphrase {
        _ if !SoftwareKey::is_sealed(&path) => SoftwareKey::load(&path)?,
        Some(passphrase) => SoftwareKey::unseal(&path, passphrase)?,
        None => return Err(SignError::Sealed(path).into()),
    }))
}

/// Finishes or discards a rotation that the last run did not complete, depending on what the log contains.
fn end_rotation(
    dir: &Path,
    expected: Option<&VerifierKey>,
    recovered: &mut Vec<String>,
) -> Result<(), OpenError> {
    let io = |source| OpenError::Io { path: next_path(dir), source };
    let new = SoftwareKey::load(&next_path(dir)).map(|key| key.key().clone());
    let new = new.or_else(|_| SoftwareKey::sealed_public(&next_path(dir)));
    let took_over = new.is_ok_and(|key| Some(&key) == expected);
    if took_over {
        std::fs::rename(next_path(dir), key_path(dir)).map_err(io)?;
        recovered.push("finished a key rotation: the new key signs".into());
    } else {
        std::fs::remove_file(next_path(dir)).map_err(io)?;
        recovered.push("dropped a key rotation that was not recorded: the old key signs".into());
    }
    Ok(())
}

/// Generates and saves a log's next key. It is sealed if the current key is sealed.
pub(crate) fn prepare_next(
    dir: &Path,
    origin: &str,
    passphrase: Option<&str>,
) -> Result<SoftwareKey, SignError> {
    let key = SoftwareKey::generate(origin)?;
    match (SoftwareKey::sealed_cost(&key_path(dir)), passphrase) {
        (Some(cost), Some(passphrase)) => key.seal(&next_path(dir), passphrase, cost)?,
        (Some(_), None) => return Err(SignError::Sealed(key_path(dir))),
        (None, _) => key.save(&next_path(dir))?,
    }
    Ok(key)
}

/// Replaces the current key with the next key.
pub(crate) fn install_next(dir: &Path) -> Result<(), SignError> {
    std::fs::rename(next_path(dir), key_path(dir))
        .map_err(|source| SignError::Io { path: next_path(dir), source })
}

/// Reads the public key file. An unreadable file is treated as missing.
pub(super) fn read_public_key(dir: &Path) -> Option<String> {
    let path = dir.join("key.pub");
    tenterhook_files::read_text(&path, tenterhook_files::FileClass::State, MAX_PUBLIC_KEY_BYTES)
        .ok()
        .flatten()
}

/// Writes the public key file, which other programs need to verify the ledger.
pub(crate) fn write_public_key(dir: &Path, key: &VerifierKey) -> Result<(), SignError> {
    let path = dir.join("key.pub");
    let text = format!("{key}\n");
    if read_public_key(dir).is_some_and(|current| current == text) {
        return Ok(());
    }
    replace_file(&path, text.as_bytes(), 0o644).map_err(|source| SignError::Io { path, source })
}
