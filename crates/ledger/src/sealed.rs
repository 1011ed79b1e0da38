// SPDX-License-Identifier: Apache-2.0 OR MIT

//! A signing key under a passphrase: Argon2id makes a key of it, ChaCha20-Poly1305 seals with that.

use std::path::Path;

use argon2::{Algorithm, Argon2, Params, Version};
use chacha20poly1305::aead::{Aead, KeyInit, Payload};
use chacha20poly1305::{ChaCha20Poly1305, Key, Nonce};
use serde::{Deserialize, Serialize};

use crate::hash::{base64, from_base64};
use crate::note::VerifierKey;
use crate::sign::{SignError, Signer, SoftwareKey, random, read_private, replace, write_new};

const FORMAT: &str = "tenterhook-key/1";
/// Nobody's file may make us take more memory than this, in KiB.
const MAX_MEMORY: u32 = 1 << 20;

/// What guessing one passphrase costs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cost {
    /// Memory in KiB.
    pub m: u32,
    /// Passes over it.
    pub t: u32,
    /// Lanes.
    pub p: u32,
}

impl Default for Cost {
    /// 64 MiB, three passes, one lane: a tenth of a second here.
    fn default() -> Self {
        Self { m: 64 * 1024, t: 3, p: 1 }
    }
}

#[derive(Serialize, Deserialize)]
struct File {
    sealed: String,
    key: String,
    argon2id: Cost,
    salt: String,
    nonce: String,
    secret: String,
}

impl SoftwareKey {
    /// Writes the key to a new file, sealed under a passphrase.
    pub fn seal(&self, path: &Path, passphrase: &str, cost: Cost) -> Result<(), SignError> {
        let text = self.sealed_text(passphrase, cost)?;
        write_new(path, text.as_bytes(), 0o600)
            .map_err(|source| SignError::Io { path: path.to_owned(), source })
    }

    /// Seals a key where it lies. Whoever may have read the disk before could still have it.
    pub fn seal_in_place(path: &Path, passphrase: &str, cost: Cost) -> Result<(), SignError> {
        let text = Self::load(path)?.sealed_text(passphrase, cost)?;
        replace(path, text.as_bytes(), 0o600)
            .map_err(|source| SignError::Io { path: path.to_owned(), source })
    }

    /// Opens a sealed key where it lies: from then on it needs no passphrase.
    pub fn unseal_in_place(path: &Path, passphrase: &str) -> Result<(), SignError> {
        let text = Self::unseal(path, passphrase)?.text();
        replace(path, text.as_bytes(), 0o600)
            .map_err(|source| SignError::Io { path: path.to_owned(), source })
    }

    fn sealed_text(&self, passphrase: &str, cost: Cost) -> Result<String, SignError> {
        let (salt, nonce) = (random::<16>()?, random::<12>()?);
        let key = self.key().to_string();
        let sealed = cipher(passphrase, &salt, cost)?
            .encrypt(&Nonce::from(nonce), Payload { msg: self.seed(), aad: key.as_bytes() })
            .map_err(|_| SignError::Other("the key cannot be sealed".into()))?;
        let file = File {
            sealed: FORMAT.into(),
            key,
            argon2id: cost,
            salt: base64(&salt),
            nonce: base64(&nonce),
            secret: base64(&sealed),
        };
        let text = serde_json::to_string_pretty(&file);
        text.map(|text| text + "\n").map_err(|error| SignError::Other(error.to_string()))
    }

    /// Opens a sealed key.
    pub fn unseal(path: &Path, passphrase: &str) -> Result<Self, SignError> {
        let file = read_sealed(path)?;
        let refuse = || SignError::NoKey(path.to_owned());
        let part = |text: &str| from_base64(text).ok_or_else(refuse);
        let nonce: [u8; 12] = part(&file.nonce)?.try_into().map_err(|_| refuse())?;
        let secret = part(&file.secret)?;
        let seed = cipher(passphrase, &part(&file.salt)?, file.argon2id)?
            .decrypt(&Nonce::from(nonce), Payload { msg: &secret, aad: file.key.as_bytes() })
            .map_err(|_| SignError::Passphrase(path.to_owned()))?;
        let public: VerifierKey = file.key.parse()?;
        let seed: [u8; 32] = seed.try_into().map_err(|_| refuse())?;
        let key = Self::from_seed(public.name(), &seed)?;
        if *key.key() == public { Ok(key) } else { Err(refuse()) }
    }

    /// The public half of a sealed key, for which no passphrase is needed.
    pub fn sealed_public(path: &Path) -> Result<VerifierKey, SignError> {
        Ok(read_sealed(path)?.key.parse()?)
    }

    /// Whether the file holds a sealed key and so asks for a passphrase.
    pub fn is_sealed(path: &Path) -> bool {
        read_sealed(path).is_ok()
    }

    /// What guessing the passphrase of a sealed key costs; nothing when it is not sealed.
    #[cfg(feature = "store")]
    pub(crate) fn sealed_cost(path: &Path) -> Option<Cost> {
        read_sealed(path).ok().map(|file| file.argon2id)
    }
}

fn read_sealed(path: &Path) -> Result<File, SignError> {
    let file: Option<File> = serde_json::from_slice(&read_private(path)?).ok();
    let known = file.filter(|file| file.sealed == FORMAT && file.argon2id.m <= MAX_MEMORY);
    known.ok_or_else(|| SignError::NoKey(path.to_owned()))
}

fn cipher(passphrase: &str, salt: &[u8], cost: Cost) -> Result<ChaCha20Poly1305, SignError> {
    let other = |error: argon2::Error| SignError::Other(format!("the passphrase cannot be used: {error}"));
    let params = Params::new(cost.m, cost.t, cost.p, Some(32)).map_err(other)?;
    let mut key = [0; 32];
    Argon2::new(Algorithm::Argon2id, Version::V0x13, params)
        .hash_password_into(passphrase.as_bytes(), salt, &mut key)
        .map_err(other)?;
    Ok(ChaCha20Poly1305::new(&Key::from(key)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    const CHEAP: Cost = Cost { m: 64, t: 1, p: 1 };

    #[test]
    fn a_key_survives_its_file_and_others_may_not_read_it() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("key");
        let key = SoftwareKey::generate("example.com/log").unwrap();
        key.save(&path).unwrap();
        assert_eq!(SoftwareKey::load(&path).unwrap().key(), key.key());
        assert!(key.save(&path).is_err(), "a key is never written over");
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o640)).unwrap();
        let error = SoftwareKey::load(&path).unwrap_err().to_string();
        assert!(error.ends_with("can be read by others (its mode is 640, it must be 600)"), "{error}");
    }

    #[test]
    fn a_sealed_key_opens_with_its_passphrase_only() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("key");
        let key = SoftwareKey::generate("example.com/log").unwrap();
        key.seal(&path, "correct horse", CHEAP).unwrap();
        assert!(SoftwareKey::is_sealed(&path) && SoftwareKey::load(&path).is_err());
        assert_eq!(SoftwareKey::sealed_public(&path).unwrap(), *key.key());
        assert_eq!(SoftwareKey::unseal(&path, "correct horse").unwrap().key(), key.key());
        assert!(matches!(SoftwareKey::unseal(&path, "wrong horse"), Err(SignError::Passphrase(_))));
        let other = SoftwareKey::generate("example.com/log").unwrap().key().to_string();
        let text = std::fs::read_to_string(&path).unwrap().replace(&key.key().to_string(), &other);
        std::fs::write(&path, text).unwrap();
        assert!(SoftwareKey::unseal(&path, "correct horse").is_err(), "the public half is sealed in as well");
    }

    #[test]
    fn a_key_is_sealed_and_opened_where_it_lies() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("key");
        let key = SoftwareKey::generate("example.com/log").unwrap();
        key.save(&path).unwrap();
        let plain = std::fs::read(&path).unwrap();
        SoftwareKey::seal_in_place(&path, "correct horse", CHEAP).unwrap();
        let secret = base64(key.seed());
        assert!(!std::fs::read_to_string(&path).unwrap().contains(secret.trim_end_matches('=')));
        assert!(SoftwareKey::seal_in_place(&path, "again", CHEAP).is_err(), "it is sealed already");
        assert!(SoftwareKey::unseal_in_place(&path, "wrong horse").is_err());
        SoftwareKey::unseal_in_place(&path, "correct horse").unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), plain);
        assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 1, "nothing is left beside it");
    }
}
