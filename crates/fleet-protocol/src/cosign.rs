// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Cosignatures of a witness as in <https://c2sp.org/tlog-cosignature>: an Ed25519 signature with a time.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ed25519_dalek::{Signer, SigningKey};
use sha2::{Digest, Sha256};
use tenterhook_ledger::VerifierKey;
use tenterhook_ledger::checkpoint::Checkpoint;
use tenterhook_ledger::note::{COSIGNATURE_TYPE, NoteError, SignatureLine};

/// The key of a witness.
#[derive(Clone)]
pub struct CosignKey {
    secret: SigningKey,
    public: VerifierKey,
}

/// Error for a checkpoint without a valid cosignature.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CosignError {
    /// The checkpoint is invalid, or its log did not sign it.
    #[error("cosigned checkpoint: {0}")]
    Note(#[from] NoteError),
    /// The checkpoint belongs to another log.
    #[error("the cosigned checkpoint is of the log `{found}`, not of `{expected}`")]
    Origin {
        /// Origin in the checkpoint.
        found: String,
        /// The expected origin.
        expected: String,
    },
    /// The witness did not cosign the checkpoint.
    #[error("the checkpoint has no valid cosignature of the witness `{0}`")]
    NotCosigned(String),
}

impl CosignKey {
    /// Creates the key of the witness with this name from a secret seed.
    pub fn from_seed(name: &str, seed: &[u8; 32]) -> Result<Self, NoteError> {
        let secret = SigningKey::from_bytes(seed);
        let material: Vec<u8> =
            std::iter::once(COSIGNATURE_TYPE).chain(secret.verifying_key().to_bytes()).collect();
        let digest: [u8; 32] =
            Sha256::new().chain_update(name).chain_update(b"\n").chain_update(&material).finalize().into();
        let [a, b, c, d, ..] = digest;
        let id = u32::from_be_bytes([a, b, c, d]);
        let public = format!("{name}+{id:08x}+{}", STANDARD.encode(&material)).parse()?;
        Ok(Self { secret, public })
    }

    /// Returns the public key, which machines store.
    pub fn public(&self) -> &VerifierKey {
        &self.public
    }

    /// Cosigns the text of a checkpoint at a Unix time in seconds.
    pub fn cosign(&self, checkpoint: &Checkpoint, time: u64) -> SignatureLine {
        let message = format!("cosignature/v1\ntime {time}\n{}", checkpoint.text());
        let signature = self.secret.sign(message.as_bytes()).to_bytes();
        SignatureLine::new(&self.public, time.to_be_bytes().into_iter().chain(signature).collect())
    }
}

impl std::fmt::Debug for CosignKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "CosignKey({})", self.public)
    }
}

/// Checks a cosigned checkpoint of the log `origin`. Returns it with the time of the cosignature.
///
/// The log's own signature is not checked, because its keys change: whether the log contains the checkpoint is
/// decided by its root.
pub fn check_cosigned(
    note: &str,
    origin: &str,
    witness: &VerifierKey,
) -> Result<(Checkpoint, u64), CosignError> {
    let (checkpoint, note) = Checkpoint::parse(note)?;
    if checkpoint.origin != origin {
        return Err(CosignError::Origin { found: checkpoint.origin, expected: origin.to_owned() });
    }
    let times = note
        .signatures
        .iter()
        .filter(|line| line.name == witness.name() && line.key_id == witness.key_id())
        .filter_map(|line| witness.cosignature_time(&note.text, &line.signature));
    let time = times.max().ok_or_else(|| CosignError::NotCosigned(witness.name().to_owned()))?;
    // Signatures cover the whole text, and a text with more lines than these has content that nothing reads.
    if note.text == checkpoint.text() {
        Ok((checkpoint, time))
    } else {
        Err(NoteError::Form("unknown lines").into())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use tenterhook_ledger::{Hash, SoftwareKey};

    use super::*;

    const ORIGIN: &str = "host/ledger";

    fn cosigned(size: u64, time: u64) -> (String, CosignKey) {
        let witness = CosignKey::from_seed("fleet.example/witness", &[5; 32]).unwrap();
        let log = SoftwareKey::from_seed(ORIGIN, &[6; 32]).unwrap();
        let checkpoint = Checkpoint { origin: ORIGIN.into(), size, root: Hash([7; 32]) };
        let mut note = checkpoint.sign(&[&log]).unwrap();
        note.signatures.push(witness.cosign(&checkpoint, time));
        (note.to_string(), witness)
    }

    proptest! {
        #[test]
        fn the_ledger_verifies_every_cosignature(size: u64, time: u64) {
            let (note, witness) = cosigned(size, time);
            let (checkpoint, found) = check_cosigned(&note, ORIGIN, witness.public()).unwrap();
            prop_assert_eq!((checkpoint.size, found), (size, time));
            let (_, parsed) = Checkpoint::parse(&note).unwrap();
            prop_assert!(parsed.check(&[witness.public()]).is_ok());
        }
    }

    #[test]
    fn another_log_another_witness_and_an_edited_time_are_refused() {
        let (note, witness) = cosigned(10, 1000);
        let other = CosignKey::from_seed("fleet.example/witness", &[8; 32]).unwrap();
        assert!(matches!(check_cosigned(&note, "other", witness.public()), Err(CosignError::Origin { .. })));
        assert!(matches!(check_cosigned(&note, ORIGIN, other.public()), Err(CosignError::NotCosigned(_))));
        let (_, mut edited) = Checkpoint::parse(&note).unwrap();
        edited.signatures[1].signature[7] ^= 1;
        let refused = check_cosigned(&edited.to_string(), ORIGIN, witness.public());
        assert!(matches!(refused, Err(CosignError::NotCosigned(_))));
        let larger = note.replace("\n10\n", "\n11\n");
        assert!(check_cosigned(&larger, ORIGIN, witness.public()).is_err());
    }

    #[test]
    fn the_key_of_a_witness_is_no_key_of_a_log() {
        let (_, witness) = cosigned(1, 1);
        let log = Checkpoint { origin: ORIGIN.into(), size: 1, root: Hash([7; 32]) };
        let note = log.sign(&[&SoftwareKey::from_seed("fleet.example/witness", &[5; 32]).unwrap()]).unwrap();
        assert!(check_cosigned(&note.to_string(), ORIGIN, witness.public()).is_err());
    }
}
