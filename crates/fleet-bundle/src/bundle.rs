// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Writes, signs and verifies bundles.

use std::collections::{BTreeMap, BTreeSet};

use ed25519_dalek::{Signer as _, SigningKey};
use tenterhook_ledger::VerifierKey;
use tenterhook_ledger::note::{Note, SignatureLine};

use crate::container::{Container, MAX_NOTES};
use crate::error::BundleError;
use crate::manifest::{ApprovalSettings, BundleFileKind, BundleManifest, FileEntry};
use crate::payload;
use crate::signers::{SignerSet, Trust};

/// Maximum size of a bundle: it must fit into one message of the message bus.
pub const MAX_BUNDLE_BYTES: usize = 900 << 10;

/// A bundle whose signatures were verified.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bundle {
    /// The verified manifest.
    pub manifest: BundleManifest,
    /// Text of each file, by path.
    pub files: BTreeMap<String, String>,
    /// Names of the trusted signers that signed.
    pub signed_by: BTreeSet<String>,
    /// SHA-256 of the bundle's bytes, in hexadecimal.
    pub sha256: String,
    /// The signers that had to sign.
    pub(crate) required: SignerSet,
}

/// A bundle that is written and signed. Its signatures are not verified.
#[derive(Debug, Clone)]
pub struct BundleDraft {
    notes: Vec<Note>,
    payload: Vec<u8>,
}

impl Bundle {
    /// Verifies a bundle with the signers that a machine trusts.
    ///
    /// Manifests of earlier bundles that changed the signers are verified first, each with the signers before it. Whether
    /// a change needs more signatures than usual is decided by [`crate::check_update`].
    pub fn open(bytes: &[u8], trust: &Trust) -> Result<Self, BundleError> {
        let Container { notes, payload } = Container::decode(bytes)?;
        let (last, earlier) = notes.split_last().ok_or(BundleError::Form("no manifest"))?;
        let mut signers = trust.signers.clone();
        let mut version = 0;
        for note in earlier {
            let manifest = parse_for(note, trust)?;
            if manifest.version <= version {
                return Err(BundleError::Form("the earlier manifests are not in order"));
            }
            version = manifest.version;
            // The machine accepted this change of signers before, or nothing changed.
            if manifest.version <= trust.since || manifest.signers == signers {
                continue;
            }
            let needed = signers.weakening_threshold;
            require(&signers.signed_by(note)?, needed)?;
            signers = manifest.signers;
        }
        let manifest = parse_for(last, trust)?;
        if manifest.version <= version {
            return Err(BundleError::Form("the earlier manifests are not in order"));
        }
        let signed_by = signers.signed_by(last)?;
        let changes_signers = manifest.signers != signers;
        let needed = if changes_signers { signers.weakening_threshold } else { signers.threshold };
        require(&signed_by, needed)?;
        // Only signed content is decompressed.
        let files = payload::decompress(&payload, &manifest)?;
        Ok(Self { manifest, files, signed_by, sha256: payload::sha256(bytes), required: signers })
    }

    /// Describes a bundle whose signatures are not known, to compare it with another one. `required` are the signers that
    /// have to sign it.
    pub fn unverified(
        manifest: BundleManifest,
        files: BTreeMap<String, String>,
        required: SignerSet,
    ) -> Self {
        Self { manifest, files, signed_by: BTreeSet::new(), sha256: String::new(), required }
    }

    /// Returns what a machine trusts while this bundle is in force.
    pub fn trust(&self) -> Trust {
        let BundleManifest { fleet, signers, version, .. } = &self.manifest;
        Trust { fleet: fleet.clone(), signers: signers.clone(), since: *version }
    }

    /// Returns the files of one kind: name and text.
    pub fn files_of(&self, kind: BundleFileKind) -> impl Iterator<Item = (&str, &str)> {
        self.files.iter().filter_map(move |(path, text)| {
            let (found, name) = BundleFileKind::of_path(path)?;
            (found == kind).then_some((name, text.as_str()))
        })
    }

    /// Returns the keys of the approvers.
    pub fn approvers(&self) -> Vec<VerifierKey> {
        // The keys were checked when the manifest was parsed.
        self.manifest.approvals.approvers().unwrap_or_default()
    }

    /// Returns the settings for remote approvals.
    pub fn approvals(&self) -> &ApprovalSettings {
        &self.manifest.approvals
    }

    /// Returns the SHA-256 of bytes as it is used to name a bundle.
    pub fn digest(bytes: &[u8]) -> String {
        payload::sha256(bytes)
    }

    /// Returns the version that the manifest of a bundle states, without verifying anything.
    pub fn stated_version(bytes: &[u8]) -> Option<u64> {
        let container = Container::decode(bytes).ok()?;
        BundleManifest::parse(&container.notes.last()?.text).ok().map(|manifest| manifest.version)
    }
}

fn parse_for(note: &Note, trust: &Trust) -> Result<BundleManifest, BundleError> {
    let manifest = BundleManifest::parse(&note.text)?;
    if manifest.fleet == trust.fleet { Ok(manifest) } else { Err(BundleError::OtherFleet(manifest.fleet)) }
}

fn require(signed_by: &BTreeSet<String>, needed: usize) -> Result<(), BundleError> {
    let given = signed_by.len();
    if given >= needed {
        return Ok(());
    }
    Err(BundleError::TooFewSignatures { given, needed, changes: Vec::new() })
}

impl BundleDraft {
    /// Writes a bundle without signatures. `manifest.files` is replaced by the list of `files`. `previous` is the bundle
    /// in force: if it changed the signers, its manifest is included.
    pub fn new(
        mut manifest: BundleManifest,
        files: &BTreeMap<String, String>,
        previous: Option<&Self>,
    ) -> Result<Self, BundleError> {
        manifest.files = files
            .iter()
            .map(|(path, text)| FileEntry {
                path: path.clone(),
                sha256: payload::sha256(text.as_bytes()),
                bytes: u64::try_from(text.len()).unwrap_or(u64::MAX),
            })
            .collect();
        let mut notes = previous.map(Self::signer_changes).transpose()?.unwrap_or_default();
        if notes.len() >= MAX_NOTES {
            return Err(BundleError::Form("too many changes of the signers"));
        }
        notes.push(Note { text: manifest.signed_text()?, signatures: Vec::new() });
        let draft = Self { notes, payload: payload::compress(files) };
        draft.encode()?;
        Ok(draft)
    }

    /// Reads a bundle to add signatures.
    pub fn decode(bytes: &[u8]) -> Result<Self, BundleError> {
        let Container { notes, payload } = Container::decode(bytes)?;
        notes.iter().try_for_each(|note| BundleManifest::parse(&note.text).map(drop))?;
        Ok(Self { notes, payload })
    }

    /// Returns the manifest.
    pub fn manifest(&self) -> Result<BundleManifest, BundleError> {
        BundleManifest::parse(&self.notes.last().ok_or(BundleError::Form("no manifest"))?.text)
    }

    /// Returns the files, compared with the manifest. Signatures are not verified.
    pub fn files(&self) -> Result<BTreeMap<String, String>, BundleError> {
        payload::decompress(&self.payload, &self.manifest()?)
    }

    /// Returns the names in the signature lines. They are not verified.
    pub fn signer_names(&self) -> Vec<String> {
        let lines = self.notes.last().map(|note| note.signatures.as_slice()).unwrap_or_default();
        lines.iter().map(|line| line.name.clone()).collect()
    }

    /// Adds a signature, or replaces the one of the same key.
    pub fn sign(&mut self, name: &str, key: &SigningKey) -> Result<(), BundleError> {
        let public = VerifierKey::ed25519(name, key.verifying_key())
            .map_err(|_| BundleError::Manifest("invalid name of a signer".to_owned()))?;
        let note = self.notes.last_mut().ok_or(BundleError::Form("no manifest"))?;
        let signature = key.sign(note.text.as_bytes()).to_bytes().to_vec();
        let line = SignatureLine { name: public.name().to_owned(), key_id: public.key_id(), signature };
        note.signatures.retain(|other| (&other.name, other.key_id) != (&line.name, line.key_id));
        note.signatures.push(line);
        Ok(())
    }

    /// Returns the bytes of the bundle.
    pub fn encode(&self) -> Result<Vec<u8>, BundleError> {
        Container { notes: self.notes.clone(), payload: self.payload.clone() }.encode()
    }

    /// Returns the manifests that changed the signers, up to this bundle. A machine that trusts older signers follows
    /// them.
    fn signer_changes(&self) -> Result<Vec<Note>, BundleError> {
        let (last, earlier) = self.notes.split_last().ok_or(BundleError::Form("no manifest"))?;
        let mut notes = earlier.to_vec();
        let before = match earlier.last() {
            Some(note) => Some(BundleManifest::parse(&note.text)?.signers),
            None => None,
        };
        // Without an earlier change, the signers before this bundle are those of the enrolment, which the bundle does
        // not contain. Its manifest is then always included.
        if before.as_ref() != Some(&BundleManifest::parse(&last.text)?.signers) {
            notes.push(last.clone());
        }
        Ok(notes)
    }
}
