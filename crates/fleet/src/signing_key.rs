// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Keys of signers and approvers. They stay on the computer of their owner; the server never sees them.

use std::fs::OpenOptions;
use std::io::Write as _;
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::Path;

use ed25519_dalek::SigningKey;
use serde::{Deserialize, Serialize};
use tenterhook_error::Failure;
use tenterhook_files::{FileClass, read_text};
use tenterhook_fleet_protocol::ApproverKey;
use tenterhook_ledger::VerifierKey;

/// Maximum length of a key file.
const MAX_KEY_FILE_BYTES: u64 = 4096;

/// The key of a signer or an approver.
pub(crate) struct PersonalKey {
    pub(crate) name: String,
    seed: [u8; 32],
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct KeyFile {
    name: String,
    /// Verifier key, for reference.
    public: String,
    /// Secret seed, in hexadecimal.
    seed: String,
}

impl PersonalKey {
    /// Creates a key in a new file that only its owner can read.
    pub(crate) fn create(path: &Path, name: &str) -> Result<Self, Failure> {
        let mut seed = [0; 32];
        getrandom::fill(&mut seed).map_err(|error| Failure::internal(error.to_string()))?;
        let key = Self { name: name.to_owned(), seed };
        let public = key.public()?.to_string();
        let seed = seed.iter().fold(String::new(), |text, byte| text + &format!("{byte:02x}"));
        let text = serde_json::to_vec_pretty(&KeyFile { name: name.to_owned(), public, seed })
            .map_err(|error| Failure::internal(error.to_string()))?;
        let mut file = OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(0o600)
            .open(path)
            .map_err(|error| Failure::user(format!("cannot create `{}`: {error}", path.display())))?;
        file.write_all(&text)?;
        file.sync_all()?;
        Ok(key)
    }

    /// Loads a key from a file that only its owner can read.
    pub(crate) fn load(path: &Path) -> Result<Self, Failure> {
        let invalid =
            |why: String| Failure::user(format!("`{}` is not a signing key: {why}", path.display()));
        let mode = path.metadata().map_err(|error| invalid(error.to_string()))?.mode() & 0o777;
        if mode & 0o077 != 0 {
            let error = invalid(format!("other users can read it (mode {mode:o})"));
            return Err(error.hint(format!("chmod 600 {}", path.display())));
        }
        let text = read_text(path, FileClass::Named, MAX_KEY_FILE_BYTES);
        let text = text.map_err(|error| invalid(error.to_string()))?.unwrap_or_default();
        let stored: KeyFile = serde_json::from_str(&text).map_err(|error| invalid(error.to_string()))?;
        let seed = decode_seed(&stored.seed).ok_or_else(|| invalid("its seed is invalid".to_owned()))?;
        let key = Self { name: stored.name, seed };
        if key.public()?.to_string() == stored.public {
            Ok(key)
        } else {
            Err(invalid("its public key does not fit its seed".to_owned()))
        }
    }

    /// Returns the public key.
    pub(crate) fn public(&self) -> Result<VerifierKey, Failure> {
        VerifierKey::ed25519(&self.name, self.signing_key().verifying_key()).map_err(|_| {
            Failure::user(format!("invalid name `{}`", self.name)).hint("use no spaces and no `+`")
        })
    }

    /// Returns the key for signing bundles.
    pub(crate) fn signing_key(&self) -> SigningKey {
        SigningKey::from_bytes(&self.seed)
    }

    /// Returns the key for signing answers.
    pub(crate) fn approver(&self) -> Result<ApproverKey, Failure> {
        ApproverKey::from_seed(&self.name, &self.seed).map_err(|error| Failure::user(error.to_string()))
    }
}

fn decode_seed(text: &str) -> Option<[u8; 32]> {
    let digits: Option<Vec<u32>> = text.chars().map(|digit| digit.to_digit(16)).collect();
    let bytes: Option<Vec<u8>> = digits?
        .chunks(2)
        .map(|pair| match pair {
            [high, low] => u8::try_from(high * 16 + low).ok(),
            _ => None,
        })
        .collect();
    bytes?.try_into().ok()
}
