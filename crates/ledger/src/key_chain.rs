// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The keys that sign a log, in order: the `start` leaf names the first key, and each `rotate` leaf names the next.

use crate::envelope::{Envelope, LeafKind};
use crate::hash::decode_base64;
use crate::note::VerifierKey;
use crate::problem::Defect;
#[cfg(feature = "store")]
use crate::sign::{SignError, Signer};

/// A log's keys, oldest first, collected leaf by leaf.
#[derive(Debug, Clone, Default)]
pub(crate) struct KeyChain {
    keys: Vec<VerifierKey>,
    /// Id of the current key.
    signer: String,
}

/// Returns the statement that both keys sign in a key rotation.
fn rotation_statement(origin: &str, seq: u64, new: &VerifierKey) -> String {
    format!("tenterhook-rotate/1\n{origin}\n{seq}\n{new}\n")
}

/// Creates the two signatures of a `rotate` leaf, by the old and the new key.
#[cfg(feature = "store")]
pub(crate) fn sign_rotation(
    old: &dyn Signer,
    new: &dyn Signer,
    seq: u64,
) -> Result<(String, String), SignError> {
    let statement = rotation_statement(old.key().name(), seq, new.key());
    let sign = |signer: &dyn Signer| {
        signer.sign(statement.as_bytes()).map(|signature| crate::hash::encode_base64(&signature))
    };
    Ok((sign(old)?, sign(new)?))
}

impl KeyChain {
    /// Returns the log's origin (name).
    pub(crate) fn origin(&self) -> Option<&str> {
        self.keys.first().map(VerifierKey::name)
    }

    /// Returns the key that signs at this point of the log.
    pub(crate) fn current(&self) -> Option<&VerifierKey> {
        self.keys.last()
    }

    pub(crate) fn keys(&self) -> Vec<&VerifierKey> {
        self.keys.iter().collect()
    }

    pub(crate) fn into_keys(self) -> Vec<VerifierKey> {
        self.keys
    }

    /// Checks the next leaf against the current key, and adds the key that the leaf introduces.
    pub(crate) fn accept_leaf(&mut self, leaf: &Envelope<'_>) -> Result<(), Defect> {
        if (leaf.kind == LeafKind::Start) != self.keys.is_empty() {
            return Err(Defect::InvalidStart);
        }
        if leaf.kind == LeafKind::Start {
            let key: VerifierKey =
                leaf.key.as_ref().and_then(|key| key.parse().ok()).ok_or(Defect::InvalidStart)?;
            if leaf.seq != 0 || leaf.log.as_deref() != Some(key.name()) {
                return Err(Defect::InvalidStart);
            }
            self.signer = key.id();
            self.keys.push(key);
        }
        if leaf.signer != self.signer {
            return Err(Defect::WrongSigner {
                named: leaf.signer.clone().into_owned(),
                expected: self.signer.clone(),
            });
        }
        if leaf.kind == LeafKind::Rotate {
            let new = self.rotated_key(leaf).ok_or(Defect::InvalidRotation)?;
            self.signer = new.id();
            self.keys.push(new);
        }
        Ok(())
    }

    /// Returns the new key in a `rotate` leaf, if both keys signed the rotation.
    fn rotated_key(&self, leaf: &Envelope<'_>) -> Option<VerifierKey> {
        rotated_key(self.current()?, leaf)
    }
}

/// Returns the key that signs a log after this `rotate` leaf, if `old` and the new key both signed the rotation.
pub fn rotated_key(old: &VerifierKey, leaf: &Envelope<'_>) -> Option<VerifierKey> {
    if leaf.kind != LeafKind::Rotate {
        return None;
    }
    let new: VerifierKey = leaf.new_key.as_ref()?.parse().ok()?;
    let statement = rotation_statement(old.name(), leaf.seq, &new);
    let old_signature = decode_base64(leaf.old_signature.as_ref()?)?;
    let new_signature = decode_base64(leaf.new_signature.as_ref()?)?;
    let both = old.is_valid_signature(statement.as_bytes(), &old_signature)
        && new.is_valid_signature(statement.as_bytes(), &new_signature);
    (both && new.name() == old.name()).then_some(new)
}
