// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The key that seals files which this home reads again later: spooled decisions, the snapshot, allowances, and what
//! this machine accepted from its fleet.
//!
//! A file that another account wrote or changed has no valid seal. Every process that can read the key can forge a
//! seal. If the home belongs to the agent's account, that includes the agent.

use std::fs::OpenOptions;
use std::io::{Read, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::Path;

use aws_lc_rs::aead::{AES_256_GCM, Aad, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;
use tenterhook_files::FileClass;

/// Name of the key file in the state directory.
const KEY_FILE: &str = "seal.key";
const KEY_BYTES: usize = 32;
/// Length of the authentication tag at the end of a snapshot's seal.
const TAG_BYTES: usize = 16;

/// Prefixes of the sealed data that separate the uses of the key.
const SPOOL_CONTEXT: &[u8] = b"spool/1\n";
const SNAPSHOT_CONTEXT: &[u8] = b"snapshot/2\n";
const ALLOWANCES_CONTEXT: &[u8] = b"allowances/1\n";
const FLEET_POLICY_CONTEXT: &[u8] = b"fleet-policy/1\n";

/// What a seal is for. A seal made for one purpose is invalid for the other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SealPurpose {
    /// An entry of the spool.
    Spool,
    /// A snapshot of the rules.
    Snapshot,
    /// The calls that a user allowed.
    Allowances,
    /// The signers that this machine trusts, and the policy bundles that it accepted.
    FleetPolicy,
}

/// Seal key of a home.
pub struct SealKey([u8; KEY_BYTES]);

impl SealKey {
    /// Opens the key in this state directory. Creates the key if there is none.
    pub fn open(state: &Path) -> std::io::Result<Self> {
        match Self::open_existing(state)? {
            Some(key) => Ok(key),
            None => Self::create(state),
        }
    }

    /// Opens the key in this state directory, if there is one.
    pub fn open_existing(state: &Path) -> std::io::Result<Option<Self>> {
        let path = state.join(KEY_FILE);
        let Some(mut file) = tenterhook_files::open(&path, FileClass::State)? else { return Ok(None) };
        let unusable = |why: &str| std::io::Error::other(format!("`{}` {why}", path.display()));
        if file.metadata()?.mode() & 0o077 != 0 {
            return Err(unusable("is accessible to other accounts (its mode must be 600)"));
        }
        let mut key = [0; KEY_BYTES];
        file.read_exact(&mut key).map_err(|_| unusable("is too short for a key"))?;
        Ok(Some(Self(key)))
    }

    /// Creates the key. If two processes create the key at the same time, both end up with the same key.
    fn create(state: &Path) -> std::io::Result<Self> {
        let mut key = [0; KEY_BYTES];
        getrandom::fill(&mut key).map_err(std::io::Error::other)?;
        let temporary = state.join(format!(".{KEY_FILE}.{}", std::process::id()));
        drop(std::fs::remove_file(&temporary));
        let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&temporary)?;
        file.write_all(&key)?;
        file.sync_all()?;
        let linked = std::fs::hard_link(&temporary, state.join(KEY_FILE));
        std::fs::remove_file(&temporary)?;
        match linked {
            Err(error) if error.kind() != std::io::ErrorKind::AlreadyExists => Err(error),
            _ => Self::open_existing(state)?
                .ok_or_else(|| std::io::Error::other("the key disappeared after it was created")),
        }
    }

    /// Returns the seal of these bytes, in hexadecimal digits.
    pub fn seal(&self, purpose: SealPurpose, bytes: &[u8]) -> std::io::Result<String> {
        let seal = match purpose {
            SealPurpose::Spool => self.seal_short_text(SPOOL_CONTEXT, bytes),
            SealPurpose::Allowances => self.seal_short_text(ALLOWANCES_CONTEXT, bytes),
            SealPurpose::FleetPolicy => self.seal_short_text(FLEET_POLICY_CONTEXT, bytes),
            SealPurpose::Snapshot => self.seal_snapshot(bytes),
        };
        let digits = |byte: &u8| format!("{byte:02x}");
        let seal = seal.ok_or_else(|| std::io::Error::other("cannot create a seal"))?;
        Ok(seal.iter().map(digits).collect())
    }

    /// Returns whether this is a valid seal of these bytes.
    pub fn verify(&self, purpose: SealPurpose, bytes: &[u8], seal: &str) -> bool {
        let pairs = seal.as_bytes().chunks(2);
        let digit = |pair| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok();
        let Some(given) = pairs.map(digit).collect::<Option<Vec<u8>>>() else { return false };
        match purpose {
            SealPurpose::Spool => self.verify_short_text(SPOOL_CONTEXT, bytes, &given),
            SealPurpose::Allowances => self.verify_short_text(ALLOWANCES_CONTEXT, bytes, &given),
            SealPurpose::FleetPolicy => self.verify_short_text(FLEET_POLICY_CONTEXT, bytes, &given),
            SealPurpose::Snapshot => self.verify_snapshot(bytes, given).unwrap_or(false),
        }
    }

    fn seal_short_text(&self, context: &[u8], bytes: &[u8]) -> Option<Vec<u8>> {
        self.mac(context, bytes).map(|mac| mac.finalize().into_bytes().to_vec())
    }

    fn verify_short_text(&self, context: &[u8], bytes: &[u8], given: &[u8]) -> bool {
        self.mac(context, bytes).is_some_and(|mac| mac.verify_slice(given).is_ok())
    }

    fn mac(&self, purpose: &[u8], bytes: &[u8]) -> Option<Hmac<Sha256>> {
        Hmac::<Sha256>::new_from_slice(&self.0).ok().map(|mac| mac.chain_update(purpose).chain_update(bytes))
    }

    /// Seals a snapshot. A hook without a daemon verifies hundreds of kilobytes of rules before it uses them, and
    /// GMAC is nine times as fast as a hash. The seal consists of a nonce, which is used once, and the tag.
    fn seal_snapshot(&self, bytes: &[u8]) -> Option<Vec<u8>> {
        let mut nonce = [0; NONCE_LEN];
        getrandom::fill(&mut nonce).ok()?;
        let key = self.snapshot_key()?;
        let unique = Nonce::assume_unique_for_key(nonce);
        let tag = key.seal_in_place_separate_tag(unique, Aad::from(bytes), &mut []).ok()?;
        Some([&nonce, tag.as_ref()].concat())
    }

    fn verify_snapshot(&self, bytes: &[u8], mut given: Vec<u8>) -> Option<bool> {
        let (nonce, tag) = given.split_at_mut_checked(NONCE_LEN).filter(|(_, tag)| tag.len() == TAG_BYTES)?;
        let nonce = Nonce::try_assume_unique_for_key(nonce).ok()?;
        Some(self.snapshot_key()?.open_in_place(nonce, Aad::from(bytes), tag).is_ok())
    }

    /// Derives a separate key for snapshots, so that its nonces are independent of the spool's.
    fn snapshot_key(&self) -> Option<LessSafeKey> {
        let key = self.mac(SNAPSHOT_CONTEXT, b"")?.finalize().into_bytes();
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
        let seal = key.seal(SealPurpose::Spool, b"text").unwrap();
        assert!(SealKey::open(one.path()).unwrap().verify(SealPurpose::Spool, b"text", &seal));
        assert!(!key.verify(SealPurpose::Spool, b"test", &seal));
        assert!(!key.verify(SealPurpose::Snapshot, b"text", &seal));
        assert!(!key.verify(SealPurpose::Allowances, b"text", &seal));
        assert!(!key.verify(SealPurpose::FleetPolicy, b"text", &seal));
        assert!(!SealKey::open(other.path()).unwrap().verify(SealPurpose::Spool, b"text", &seal));
        for wrong in ["", "zz", "é", seal.split_at(62).0, &format!("{seal}00"), &"0".repeat(64)] {
            assert!(!key.verify(SealPurpose::Spool, b"text", wrong), "{wrong}");
        }
    }

    #[test]
    fn a_seal_of_something_large_breaks_with_every_byte_of_it_and_is_never_the_same() {
        let (one, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let key = SealKey::open(one.path()).unwrap();
        let mut text = b"rules ".repeat(1_000);
        let seal = key.seal(SealPurpose::Snapshot, &text).unwrap();
        assert_eq!(seal.len(), 2 * (NONCE_LEN + TAG_BYTES));
        assert_ne!(seal, key.seal(SealPurpose::Snapshot, &text).unwrap(), "a nonce is used once");
        assert!(key.verify(SealPurpose::Snapshot, &text, &seal));
        assert!(!key.verify(SealPurpose::Spool, &text, &seal));
        assert!(!SealKey::open(other.path()).unwrap().verify(SealPurpose::Snapshot, &text, &seal));
        for at in [0, 15, 16, 3_000, 5_999] {
            text[at] ^= 1;
            assert!(!key.verify(SealPurpose::Snapshot, &text, &seal), "{at}");
            text[at] ^= 1;
        }
        for at in 0..seal.len() {
            let other = |digit| if digit == '0' { '1' } else { '0' };
            let digits = seal.chars().enumerate();
            let wrong: String = digits.map(|(n, digit)| if n == at { other(digit) } else { digit }).collect();
            assert!(!key.verify(SealPurpose::Snapshot, &text, &wrong), "{wrong}");
        }
        for wrong in ["", "0", seal.split_at(54).0, &format!("{seal}00")] {
            assert!(!key.verify(SealPurpose::Snapshot, &text, wrong), "{wrong}");
        }
    }

    #[test]
    fn a_key_that_others_can_read_is_none() {
        let dir = tempfile::tempdir().unwrap();
        SealKey::open(dir.path()).unwrap();
        let path = dir.path().join(KEY_FILE);
        assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o644)).unwrap();
        assert!(SealKey::open(dir.path()).is_err());
        std::fs::write(&path, "short").unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).unwrap();
        assert!(SealKey::open(dir.path()).is_err());
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 1);
    }
}
