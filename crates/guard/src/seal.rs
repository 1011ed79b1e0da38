// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The key under which this home writes what it will believe later: spooled decisions and the snapshot.
//!
//! A file that somebody else put there, or changed, does not carry the right seal. Whoever can read the
//! key can forge it: the same account can, where the home belongs to that account.

use std::fs::OpenOptions;
use std::io::{Read, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::Path;

use aws_lc_rs::aead::{AES_256_GCM, Aad, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;
use tenterhook_files::FileClass;

/// Below the state directory.
const KEY: &str = "seal.key";
const LENGTH: usize = 32;
/// The seal of something large ends with so many bytes.
const TAG: usize = 16;

/// What the key is used for.
const SPOOL: &[u8] = b"spool/1\n";
const SNAPSHOT: &[u8] = b"snapshot/2\n";

/// What is sealed: a seal of one is none of the other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sealed {
    /// A spooled entry.
    Spool,
    /// A snapshot of the rules.
    Snapshot,
}

/// The key of a home.
pub struct SealKey([u8; LENGTH]);

impl SealKey {
    /// The key of the home with this state directory; made when there is none yet.
    pub fn open(state: &Path) -> std::io::Result<Self> {
        match Self::existing(state)? {
            Some(key) => Ok(key),
            None => Self::make(state),
        }
    }

    /// The same, but nothing is made.
    pub fn existing(state: &Path) -> std::io::Result<Option<Self>> {
        let path = state.join(KEY);
        let Some(mut file) = tenterhook_files::open(&path, FileClass::State)? else { return Ok(None) };
        let unusable = |why: &str| std::io::Error::other(format!("`{}` {why}", path.display()));
        if file.metadata()?.mode() & 0o077 != 0 {
            return Err(unusable("can be used by others (its mode must be 600)"));
        }
        let mut key = [0; LENGTH];
        file.read_exact(&mut key).map_err(|_| unusable("is too short for a key"))?;
        Ok(Some(Self(key)))
    }

    /// Two that begin at the same time end with the same key.
    fn make(state: &Path) -> std::io::Result<Self> {
        let mut key = [0; LENGTH];
        getrandom::fill(&mut key).map_err(std::io::Error::other)?;
        let beside = state.join(format!(".{KEY}.{}", std::process::id()));
        drop(std::fs::remove_file(&beside));
        let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&beside)?;
        file.write_all(&key)?;
        file.sync_all()?;
        let linked = std::fs::hard_link(&beside, state.join(KEY));
        std::fs::remove_file(&beside)?;
        match linked {
            Err(error) if error.kind() != std::io::ErrorKind::AlreadyExists => Err(error),
            _ => Self::existing(state)?.ok_or_else(|| std::io::Error::other("the key is gone again")),
        }
    }

    /// The seal of these bytes, in hexadecimal.
    pub fn seal(&self, what: Sealed, bytes: &[u8]) -> std::io::Result<String> {
        let seal = match what {
            Sealed::Spool => self.mac(SPOOL, bytes).map(|mac| mac.finalize().into_bytes().to_vec()),
            Sealed::Snapshot => self.seal_large(bytes),
        };
        let digits = |byte: &u8| format!("{byte:02x}");
        let seal = seal.ok_or_else(|| std::io::Error::other("no seal could be made"))?;
        Ok(seal.iter().map(digits).collect())
    }

    /// Whether this is the seal of these bytes.
    pub fn is_seal(&self, what: Sealed, bytes: &[u8], seal: &str) -> bool {
        let pairs = seal.as_bytes().chunks(2);
        let digit = |pair| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok();
        let Some(said) = pairs.map(digit).collect::<Option<Vec<u8>>>() else { return false };
        match what {
            Sealed::Spool => self.mac(SPOOL, bytes).is_some_and(|mac| mac.verify_slice(&said).is_ok()),
            Sealed::Snapshot => self.is_large_seal(bytes, said).unwrap_or(false),
        }
    }

    fn mac(&self, what: &[u8], bytes: &[u8]) -> Option<Hmac<Sha256>> {
        Hmac::<Sha256>::new_from_slice(&self.0).ok().map(|mac| mac.chain_update(what).chain_update(bytes))
    }

    /// A hook without a daemon looks at hundreds of kilobytes of rules before it judges by them, and GMAC goes
    /// over them nine times as fast as a hash. The seal is a nonce that is used once, and the tag.
    fn seal_large(&self, bytes: &[u8]) -> Option<Vec<u8>> {
        let mut nonce = [0; NONCE_LEN];
        getrandom::fill(&mut nonce).ok()?;
        let key = self.large_key()?;
        let unique = Nonce::assume_unique_for_key(nonce);
        let tag = key.seal_in_place_separate_tag(unique, Aad::from(bytes), &mut []).ok()?;
        Some([&nonce, tag.as_ref()].concat())
    }

    fn is_large_seal(&self, bytes: &[u8], mut said: Vec<u8>) -> Option<bool> {
        let (nonce, tag) = said.split_at_mut_checked(NONCE_LEN).filter(|(_, tag)| tag.len() == TAG)?;
        let nonce = Nonce::try_assume_unique_for_key(nonce).ok()?;
        Some(self.large_key()?.open_in_place(nonce, Aad::from(bytes), tag).is_ok())
    }

    /// A key of its own: the nonces of one are not those of the other.
    fn large_key(&self) -> Option<LessSafeKey> {
        let key = self.mac(SNAPSHOT, b"")?.finalize().into_bytes();
        UnboundKey::new(&AES_256_GCM, &key).ok().map(LessSafeKey::new)
    }
}

impl std::fmt::Debug for SealKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("SealKey(…)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn a_seal_is_of_one_text_one_use_and_one_home() {
        let (one, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let key = SealKey::open(one.path()).unwrap();
        let seal = key.seal(Sealed::Spool, b"text").unwrap();
        assert!(SealKey::open(one.path()).unwrap().is_seal(Sealed::Spool, b"text", &seal));
        assert!(!key.is_seal(Sealed::Spool, b"test", &seal));
        assert!(!key.is_seal(Sealed::Snapshot, b"text", &seal));
        assert!(!SealKey::open(other.path()).unwrap().is_seal(Sealed::Spool, b"text", &seal));
        for wrong in ["", "zz", "é", seal.split_at(62).0, &format!("{seal}00"), &"0".repeat(64)] {
            assert!(!key.is_seal(Sealed::Spool, b"text", wrong), "{wrong}");
        }
    }

    #[test]
    fn a_seal_of_something_large_breaks_with_every_byte_of_it_and_is_never_the_same() {
        let (one, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let key = SealKey::open(one.path()).unwrap();
        let mut text = b"rules ".repeat(1_000);
        let seal = key.seal(Sealed::Snapshot, &text).unwrap();
        assert_eq!(seal.len(), 2 * (NONCE_LEN + TAG));
        assert_ne!(seal, key.seal(Sealed::Snapshot, &text).unwrap(), "a nonce is used once");
        assert!(key.is_seal(Sealed::Snapshot, &text, &seal));
        assert!(!key.is_seal(Sealed::Spool, &text, &seal));
        assert!(!SealKey::open(other.path()).unwrap().is_seal(Sealed::Snapshot, &text, &seal));
        for at in [0, 15, 16, 3_000, 5_999] {
            text[at] ^= 1;
            assert!(!key.is_seal(Sealed::Snapshot, &text, &seal), "{at}");
            text[at] ^= 1;
        }
        for at in 0..seal.len() {
            let other = |digit| if digit == '0' { '1' } else { '0' };
            let digits = seal.chars().enumerate();
            let wrong: String = digits.map(|(n, digit)| if n == at { other(digit) } else { digit }).collect();
            assert!(!key.is_seal(Sealed::Snapshot, &text, &wrong), "{wrong}");
        }
        for wrong in ["", "0", seal.split_at(54).0, &format!("{seal}00")] {
            assert!(!key.is_seal(Sealed::Snapshot, &text, wrong), "{wrong}");
        }
    }

    #[test]
    fn a_key_that_others_can_read_is_none() {
        let dir = tempfile::tempdir().unwrap();
        SealKey::open(dir.path()).unwrap();
        let path = dir.path().join(KEY);
        assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o644)).unwrap();
        assert!(SealKey::open(dir.path()).is_err());
        std::fs::write(&path, "short").unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).unwrap();
        assert!(SealKey::open(dir.path()).is_err());
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 1);
    }
}
