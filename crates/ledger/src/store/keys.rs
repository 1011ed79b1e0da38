// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The key in the ledger's directory.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::error::OpenError;
use super::options::Options;
use crate::note::{VerifierKey, short};
use crate::sealed::Cost;
use crate::sign::{SignError, Signer, SoftwareKey, random, replace};

/// No public key is longer.
const MAX_PUBLIC_KEY_BYTES: u64 = 4 << 10;

/// The key, unless the caller brings one.
pub(crate) fn path(dir: &Path) -> PathBuf {
    dir.join("key")
}

/// A key that is about to take over.
fn next(dir: &Path) -> PathBuf {
    dir.join("key.next")
}

/// The key that signs this ledger, or a new one when `expected` says that there is no ledger yet.
pub(crate) fn open(
    dir: &Path,
    expected: Option<&VerifierKey>,
    options: &mut Options,
    recovered: &mut Vec<String>,
) -> Result<Arc<dyn Signer>, OpenError> {
    let signer = match options.key.take() {
        Some(signer) => signer,
        None => own(dir, expected, options.passphrase.as_deref(), recovered)?,
    };
    match expected {
        Some(expected) if expected != signer.key() => {
            Err(OpenError::OtherKey { given: signer.key().id(), expected: expected.to_string() })
        }
        _ => Ok(signer),
    }
}

fn own(
    dir: &Path,
    expected: Option<&VerifierKey>,
    passphrase: Option<&str>,
    recovered: &mut Vec<String>,
) -> Result<Arc<dyn Signer>, OpenError> {
    if next(dir).exists() {
        settle(dir, expected, recovered)?;
    }
    let path = path(dir);
    if !path.exists() && expected.is_none() {
        let origin = format!("tenterhook.local/{}", short(&random::<8>()?));
        let key = SoftwareKey::generate(&origin)?;
        match passphrase {
            // It was never on the disk as it is.
            Some(passphrase) => key.seal(&path, passphrase, Cost::default())?,
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

/// A change of keys was under way when the last run ended: the log says whether it happened.
fn settle(dir: &Path, expected: Option<&VerifierKey>, recovered: &mut Vec<String>) -> Result<(), OpenError> {
    let io = |source| OpenError::Io { path: next(dir), source };
    let new = SoftwareKey::load(&next(dir)).map(|key| key.key().clone());
    let new = new.or_else(|_| SoftwareKey::sealed_public(&next(dir)));
    let took_over = new.is_ok_and(|key| Some(&key) == expected);
    if took_over {
        std::fs::rename(next(dir), path(dir)).map_err(io)?;
        recovered.push("a change of keys was finished: the new key signs".into());
    } else {
        std::fs::remove_file(next(dir)).map_err(io)?;
        recovered.push("a change of keys that was never recorded was dropped: the old key signs".into());
    }
    Ok(())
}

/// A new key for the log of this name, in the place of one that is about to take over. If the one
/// that goes is sealed, so is the one that comes.
pub(crate) fn prepare(dir: &Path, origin: &str, passphrase: Option<&str>) -> Result<SoftwareKey, SignError> {
    let key = SoftwareKey::generate(origin)?;
    match (SoftwareKey::sealed_cost(&path(dir)), passphrase) {
        (Some(cost), Some(passphrase)) => key.seal(&next(dir), passphrase, cost)?,
        (Some(_), None) => return Err(SignError::Sealed(path(dir))),
        (None, _) => key.save(&next(dir))?,
    }
    Ok(key)
}

/// The new key has taken over.
pub(crate) fn install(dir: &Path) -> Result<(), SignError> {
    std::fs::rename(next(dir), path(dir)).map_err(|source| SignError::Io { path: next(dir), source })
}

/// The public half in the file beside the store. One that cannot be read counts as missing.
pub(super) fn published(dir: &Path) -> Option<String> {
    let path = dir.join("key.pub");
    tenterhook_files::read_text(&path, tenterhook_files::FileClass::State, MAX_PUBLIC_KEY_BYTES)
        .ok()
        .flatten()
}

/// Writes the public half beside, for whoever wants to verify.
pub(crate) fn publish(dir: &Path, key: &VerifierKey) -> Result<(), SignError> {
    let path = dir.join("key.pub");
    let text = format!("{key}\n");
    if published(dir).is_some_and(|there| there == text) {
        return Ok(());
    }
    replace(&path, text.as_bytes(), 0o644).map_err(|source| SignError::Io { path, source })
}
