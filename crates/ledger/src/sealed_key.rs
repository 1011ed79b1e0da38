// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Signing keys sealed with a passphrase. They are encrypted with ChaCha20-Poly1305; Argon2id derives the key.

use std::path::Path;

use argon2::{Algorithm, Argon2, Params, Version};
use chacha20poly1305::aead::{Aead, KeyInit, Payload};
use chacha20poly1305::{ChaCha20Poly1305, Key, Nonce};
use serde::{Deserialize, Serialize};

use crate::hash::{decode_base64, encode_base64};
use crate::note::VerifierKey;
use crate::sign::{SignError, Signer, SoftwareKey, create_file, random_bytes, read_private, replace_file};

const SEALED_KEY_FORMAT: &str = "tenterhook-key/1";
/// Maximum Argon2 memory that a key file may request, in KiB.
const MAX_ARGON2_KIB: u32 = 1 << 20;

/// Argon2id parameters, which determine the cost of guessing a passphrase once.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Argon2Cost {
    /// Memory, in KiB.
    pub m: u32,
    /// Number of passes over the memory.
    pub t: u32,
    /// Number of parallel lanes.
    pub p: u32,
}

impl Default for Argon2Cost {
    /// Returns 64 MiB, three passes and one lane, which takes about 0.1 s.
    fn default() -> Self {
        Self { m: 64 * 1024, t: 3, p: 1 }
    }
}

#[derive(Serialize, Deserialize)]
struct SealedKeyFile {
    sealed: String,
    key: String,
    argon2id: Argon2Cost,
    salt: String,
    nonce: String,
    secret: String,
}

impl SoftwareKey {
    /// Writes the key to a new file, sealed under a passphrase.
    pub fn seal(&self, path: &Path, passphrase: &str, cost: Argon2Cost) -> Result<(), SignError> {
        let text = self.sealed_text(passphrase, cost)?;
        create_file(path, text.as_bytes(), 0o600)
            .map_err(|source| SignError::Io { path: path.to_owned(), source })
    }

    /// Seals a key file in place. Earlier copies of the file or disk still contain the unsealed key.
    pub fn seal_in_place(path: &Path, passphrase: &str, cost: Argon2Cost) -> Result<(), SignError> {
        let text = Self::load(path)?.sealed_text(passphrase, cost)?;
        replace_file(path, text.as_bytes(), 0o600)
            .map_err(|source| SignError::Io { path: path.to_owned(), source })
    }

    /// Unseals a key file in place, so that it no longer needs a passphrase.
    pub fn unseal_in_place(path: &Path, passphrase: &str) -> Result<(), SignError> {
        let text = Self::unseal(path, passphrase)?.to_private_text();
        replace_file(path, text.as_bytes(), 0o600)
            .map_err(|source| SignError::Io { path: path.to_owned(), source })
    }

    fn sealed_text(&self, passphrase: &str, cost: Argon2Cost) -> Result<String, SignError> {
        let (salt, nonce) = (random_bytes::<16>()?, random_bytes::<12>()?);
        let key = self.key().to_string();
        let sealed = derive_cipher(passphrase, &salt, cost)?
            .encrypt(&Nonce::from(nonce), Payload { msg: self.seed(), aad: key.as_bytes() })
            .map_err(|_| SignError::Other("cannot seal the key".into()))?;
        let file = SealedKeyFile {
            sealed: SEALED_KEY_FORMAT.into(),
            key,
            argon2id: cost,
            salt: encode_base64(&salt),
            nonce: encode_base64(&nonce),
            secret: encode_base64(&sealed),
        };
        let text = serde_json::to_string_pretty(&file);
        text.map(|text| text + "\n").map_err(|error| SignError::Other(error.to_string()))
    }

    /// Loads a sealed key.
    pub fn unseal(path: &Path, passphrase: &str) -> Result<Self, SignError> {
        let file = read_sealed(path)?;
        let refuse = || SignError::NoKey(path.to_owned());
        let part = |text: &str| decode_base64(text).ok_or_else(refuse);
        let nonce: [u8; 12] = part(&file.nonce)?.try_into().map_err(|_| refuse())?;
        let secret = part(&file.secret)?;
        let seed = derive_cipher(passphrase, &part(&file.salt)?, file.argon2id)?
            .decrypt(&Nonce::from(nonce), Payload { msg: &secret, aad: file.key.as_bytes() })
            .map_err(|_| SignError::Passphrase(path.to_owned()))?;
        let public: VerifierKey = file.key.parse()?;
        let seed: [u8; 32] = seed.try_into().map_err(|_| refuse())?;
        let key = Self::from_seed(public.name(), &seed)?;
        if *key.key() == public { Ok(key) } else { Err(refuse()) }
    }

    /// Reads the public key from a sealed key file, which needs no passphrase.
    pub fn sealed_public(path: &Path) -> Result<VerifierKey, SignError> {
        Ok(read_sealed(path)?.key.parse()?)
    }

    /// Whether the file contains a sealed key, which needs a passphrase.
    pub fn is_sealed(path: &Path) -> bool {
        read_sealed(path).is_ok()
    }

    /// Returns a sealed key's Argon2 parameters; `None` if the key is not sealed.
    #[cfg(feature = "store")]
    pub(crate) fn sealed_cost(path: &Path) -> Option<Argon2Cost> {
        read_sealed(path).ok().map(|file| file.argon2id)
    }
}

fn read_sealed(path: &Path) -> Result<SealedKeyFile, SignError> {
    let file: Option<SealedKeyFile> = serde_json::from_slice(&read_private(path)?).ok();
    let known = file.filter(|file| file.sealed == SEALED_KEY_FORMAT && file.argon2id.m <= MAX_ARGON2_KIB);
    known.ok_or_else(|| SignError::NoKey(path.to_owned()))
}

fn derive_cipher(passphrase: &str, salt: &[u8], cost: Argon2Cost) -> Result<ChaCha20Poly1305, SignError> {
    let other = |error: argon2::Error| SignError::Other(format!("cannot use the passphrase: {error}"));
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

    const CHEAP_COST: Argon2Cost = Argon2Cost { m: 64, t: 1, p: 1 };

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
        assert!(error.ends_with("is readable by other users: its mode is 640, but must be 600"), "{error}");
    }

    #[test]
    fn a_sealed_key_opens_with_its_passphrase_only() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("key");
        let key = SoftwareKey::generate("example.com/log").unwrap();
        key.seal(&path, "correct horse", CHEAP_COST).unwrap();
        assert!(SoftwareKey::is_sealed(&path) && SoftwareKey::load(&path).is_err());
        assert_eq!(SoftwareKey::sealed_public(&path).unwrap(), *key.key());
        assert_eq!(SoftwareKey::unseal(&path, "correct horse").unwrap().key(), key.key());
        assert!(matches!(SoftwareKey::unseal(&path, "wrong horse"), Err(SignError::Passphrase(_))));
        let other = SoftwareKey::generate("example.com/log").unwrap().key().to_string();
        let text = std::fs::read_to_string(&path).unwrap().replace(&key.key().to_string(), &other);
        std::fs::write(&path, text).unwrap();
        assert!(SoftwareKey::unseal(&path, "correct horse").is_err(), "the public key is authenticated too");
    }

    #[test]
    fn a_key_is_sealed_and_unsealed_in_place() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("key");
        let key = SoftwareKey::generate("example.com/log").unwrap();
        key.save(&path).unwrap();
        let plain = std::fs::read(&path).unwrap();
        SoftwareKey::seal_in_place(&path, "correct horse", CHEAP_COST).unwrap();
        let secret = encode_base64(key.seed());
        assert!(!std::fs::read_to_string(&path).unwrap().contains(secret.trim_end_matches('=')));
        assert!(SoftwareKey::seal_in_place(&path, "again", CHEAP_COST).is_err(), "it is sealed already");
        assert!(SoftwareKey::unseal_in_place(&path, "wrong horse").is_err());
        SoftwareKey::unseal_in_place(&path, "correct horse").unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), plain);
        assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 1, "no temporary file is left");
    }
}
