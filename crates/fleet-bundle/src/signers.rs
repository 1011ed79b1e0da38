// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The keys that sign bundles, and how many of them must sign.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use tenterhook_ledger::VerifierKey;
use tenterhook_ledger::note::Note;

use crate::error::BundleError;

/// Maximum number of signers.
const MAX_SIGNERS: usize = 32;

/// The keys that sign bundles, and how many of them must sign.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SignerSet {
    /// Verifier keys: `<name>+<key id>+<base64>`.
    pub keys: Vec<String>,
    /// Number of signers that must sign a bundle.
    pub threshold: usize,
    /// Number of signers that must sign a bundle that weakens protection.
    pub weakening_threshold: usize,
}

/// What a machine trusts when it verifies a bundle: the signers, and since which version.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trust {
    /// Name of the fleet.
    pub fleet: String,
    /// Signers that the machine trusts.
    pub signers: SignerSet,
    /// Version of the bundle that named these signers; zero for the keys of the enrolment.
    pub since: u64,
}

/// Why a set of signers cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SignerError {
    /// There are no keys, or too many.
    #[error("expected 1 to {MAX_SIGNERS} keys, found {0}")]
    Count(usize),
    /// A key is invalid.
    #[error("invalid verifier key `{0}`")]
    Key(String),
    /// Two keys have the same name or are the same key.
    #[error("the key `{0}` is listed twice")]
    Duplicate(String),
    /// A threshold cannot be met, or the ordinary one is higher.
    #[error("thresholds {threshold} and {weakening} do not fit {keys} keys")]
    Threshold {
        /// Number of signers for an ordinary bundle.
        threshold: usize,
        /// Number of signers for a bundle that weakens protection.
        weakening: usize,
        /// Number of keys.
        keys: usize,
    },
}

impl SignerSet {
    /// The signers that an enrolment names: a change that weakens protection needs one more than usual, if there is one.
    pub fn of_enrolment(keys: Vec<String>, threshold: u32) -> Self {
        let threshold = usize::try_from(threshold).unwrap_or(usize::MAX).max(1);
        let weakening_threshold = threshold.saturating_add(1).min(keys.len()).max(threshold);
        Self { keys, threshold, weakening_threshold }
    }

    /// Checks the keys and thresholds, and returns the parsed keys.
    pub fn check(&self) -> Result<Vec<VerifierKey>, SignerError> {
        let Self { keys, threshold, weakening_threshold } = self;
        if keys.is_empty() || keys.len() > MAX_SIGNERS {
            return Err(SignerError::Count(keys.len()));
        }
        if *threshold == 0 || weakening_threshold < threshold || *weakening_threshold > keys.len() {
            let (threshold, weakening) = (*threshold, *weakening_threshold);
            return Err(SignerError::Threshold { threshold, weakening, keys: keys.len() });
        }
        parse_keys(keys)
    }

    /// Returns the names of the different signers that signed a note. A known signer with an invalid signature is an
    /// error; signatures of unknown keys are ignored, and several signatures of one key count once.
    pub(crate) fn signed_by(&self, note: &Note) -> Result<BTreeSet<String>, BundleError> {
        let keys = self.check()?;
        let mut signed = BTreeSet::new();
        for line in &note.signatures {
            let known = keys.iter().find(|key| key.name() == line.name && key.key_id() == line.key_id);
            let Some(key) = known else { continue };
            if !key.is_valid_signature(note.text.as_bytes(), &line.signature) {
                return Err(BundleError::BadSignature(key.name().to_owned()));
            }
            signed.insert(key.name().to_owned());
        }
        Ok(signed)
    }
}

/// Parses keys, all of which must be different and have different names.
pub(crate) fn parse_keys(texts: &[String]) -> Result<Vec<VerifierKey>, SignerError> {
    let (mut names, mut materials) = (BTreeSet::new(), BTreeSet::new());
    let mut keys = Vec::with_capacity(texts.len());
    for text in texts {
        let refuse = || SignerError::Key(text.chars().take(100).collect());
        let key: VerifierKey = text.parse().map_err(|_| refuse())?;
        if key.to_string() != *text {
            return Err(refuse());
        }
        let material = text.rsplit('+').next().unwrap_or_default().to_owned();
        if !names.insert(key.name().to_owned()) || !materials.insert(material) {
            return Err(SignerError::Duplicate(key.name().to_owned()));
        }
        keys.push(key);
    }
    Ok(keys)
}
