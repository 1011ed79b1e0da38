// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Which key signs when: the first leaf names the first, a `rotate` leaf each next one.

use crate::hash::from_base64;
use crate::note::VerifierKey;
use crate::problem::Wrong;
use crate::record::{Envelope, Kind};
#[cfg(feature = "store")]
use crate::sign::{SignError, Signer};

/// The keys of a log, oldest first.
#[derive(Debug, Clone, Default)]
pub(crate) struct Chain {
    keys: Vec<VerifierKey>,
    /// The id of the last.
    signer: String,
}

/// What both keys sign when one takes over from the other.
fn statement(origin: &str, seq: u64, new: &VerifierKey) -> String {
    format!("tenterhook-rotate/1\n{origin}\n{seq}\n{new}\n")
}

/// The two signatures of a `rotate` leaf: of the key that goes and of the key that comes.
#[cfg(feature = "store")]
pub(crate) fn rotation(old: &dyn Signer, new: &dyn Signer, seq: u64) -> Result<(String, String), SignError> {
    let statement = statement(old.key().name(), seq, new.key());
    let sign = |signer: &dyn Signer| {
        signer.sign(statement.as_bytes()).map(|signature| crate::hash::base64(&signature))
    };
    Ok((sign(old)?, sign(new)?))
}

impl Chain {
    /// The log's name.
    pub(crate) fn origin(&self) -> Option<&str> {
        self.keys.first().map(VerifierKey::name)
    }

    /// The key that signs now.
    pub(crate) fn current(&self) -> Option<&VerifierKey> {
        self.keys.last()
    }

    pub(crate) fn keys(&self) -> Vec<&VerifierKey> {
        self.keys.iter().collect()
    }

    pub(crate) fn into_keys(self) -> Vec<VerifierKey> {
        self.keys
    }

    /// Takes in the next leaf.
    pub(crate) fn follow(&mut self, leaf: &Envelope<'_>) -> Result<(), Wrong> {
        if (leaf.kind == Kind::Start) != self.keys.is_empty() {
            return Err(Wrong::Start);
        }
        if leaf.kind == Kind::Start {
            let key: VerifierKey = leaf.key.as_ref().and_then(|key| key.parse().ok()).ok_or(Wrong::Start)?;
            if leaf.seq != 0 || leaf.log.as_deref() != Some(key.name()) {
                return Err(Wrong::Start);
            }
            self.signer = key.id();
            self.keys.push(key);
        }
        if leaf.signer != self.signer {
            return Err(Wrong::Signer {
                named: leaf.signer.clone().into_owned(),
                expected: self.signer.clone(),
            });
        }
        if leaf.kind == Kind::Rotate {
            let new = self.rotated(leaf).ok_or(Wrong::Rotation)?;
            self.signer = new.id();
            self.keys.push(new);
        }
        Ok(())
    }

    /// The key that takes over, if both keys say so.
    fn rotated(&self, leaf: &Envelope<'_>) -> Option<VerifierKey> {
        let old = self.current()?;
        let new: VerifierKey = leaf.new_key.as_ref()?.parse().ok()?;
        let statement = statement(old.name(), leaf.seq, &new);
        let old_signature = from_base64(leaf.old_signature.as_ref()?)?;
        let new_signature = from_base64(leaf.new_signature.as_ref()?)?;
        let both = old.accepts(statement.as_bytes(), &old_signature)
            && new.accepts(statement.as_bytes(), &new_signature);
        (both && new.name() == old.name()).then_some(new)
    }
}
