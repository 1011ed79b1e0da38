// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The signed part of a bundle.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use tenterhook_event::Timestamp;
use tenterhook_ledger::VerifierKey;

use crate::error::BundleError;
use crate::signers::{SignerSet, parse_keys};

/// First line of the signed text. A signature of anything else is not valid for a bundle.
pub(crate) const SIGNED_PREFIX: &str = "tenterhook-policy-bundle/1\n";
/// Maximum length of the signed text.
pub(crate) const MAX_MANIFEST_BYTES: usize = 128 << 10;
/// Maximum number of files.
const MAX_FILES: usize = 256;
/// Maximum size of a file.
const MAX_FILE_BYTES: u64 = 512 << 10;
/// Maximum size of all files.
pub(crate) const MAX_CONTENT_BYTES: u64 = 4 << 20;
/// Maximum number of approvers.
const MAX_APPROVERS: usize = 256;
/// Maximum version: JSON readers do not represent larger numbers exactly.
const MAX_VERSION: u64 = 1 << 53;

/// The signed part of a bundle: versions, keys, and the hashes of all files. Its JSON text has only one form.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BundleManifest {
    /// Name of the fleet.
    pub fleet: String,
    /// Version; each bundle of a fleet has a higher one.
    pub version: u64,
    /// Lowest version that machines may still use. Lower versions are withdrawn.
    pub min_version: u64,
    /// Time after which the bundle is stale.
    pub not_after: Timestamp,
    /// What a machine does with a stale bundle.
    pub when_stale: StaleBehaviour,
    /// The git commit that the files come from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
    /// The keys that sign the next bundle.
    pub signers: SignerSet,
    /// Who may answer approvals remotely.
    pub approvals: ApprovalSettings,
    /// The files, sorted by path.
    pub files: Vec<FileEntry>,
}

/// What a machine does with a stale bundle.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum StaleBehaviour {
    /// The rules stay in force, and users are warned.
    Keep,
    /// The rules stay in force, and the user is asked about every tool call.
    Ask,
    /// Every tool call is denied.
    Deny,
}

/// Who may answer approvals remotely.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ApprovalSettings {
    /// Verifier keys of the approvers: `<name>+<key id>+<base64>`.
    pub keys: Vec<String>,
    /// Whether a signed answer may approve a call on a machine on which a local approval needs a code.
    pub replaces_code: bool,
}

/// A file of a bundle.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FileEntry {
    /// Path in the bundle: `rules/<name>.yaml`, `profiles/<name>.yaml` or `programs/<name>.yaml`.
    pub path: String,
    /// SHA-256 of the content, in hexadecimal.
    pub sha256: String,
    /// Size of the content.
    pub bytes: u64,
}

/// What a file of a bundle contains.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum BundleFileKind {
    /// Rules, with their named lists.
    Rules,
    /// A sandbox profile.
    Profile,
    /// Descriptions of programs.
    Programs,
}

impl BundleFileKind {
    /// Returns the kind and the name of the file at a path in a bundle; `None` if the path is invalid.
    pub fn of_path(path: &str) -> Option<(Self, &str)> {
        let (directory, file) = path.split_once('/')?;
        let kind = match directory {
            "rules" => Self::Rules,
            "profiles" => Self::Profile,
            "programs" => Self::Programs,
            _ => return None,
        };
        let name = file.strip_suffix(".yaml")?;
        let fits =
            |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || matches!(byte, b'-' | b'_');
        (!name.is_empty() && name.len() <= 80 && name.bytes().all(fits)).then_some((kind, name))
    }
}

impl StaleBehaviour {
    /// Name in manifests and messages.
    pub fn name(self) -> &'static str {
        match self {
            Self::Keep => "keep",
            Self::Ask => "ask",
            Self::Deny => "deny",
        }
    }
}

impl ApprovalSettings {
    /// Parses the keys of the approvers.
    pub fn approvers(&self) -> Result<Vec<VerifierKey>, BundleError> {
        if self.keys.len() > MAX_APPROVERS {
            return Err(BundleError::Manifest(format!("more than {MAX_APPROVERS} approvers")));
        }
        Ok(parse_keys(&self.keys)?)
    }
}

impl BundleManifest {
    /// Returns the text that is signed.
    pub(crate) fn signed_text(&self) -> Result<String, BundleError> {
        self.check()?;
        let json = serde_json::to_string(self).map_err(|error| BundleError::Manifest(error.to_string()))?;
        Ok(format!("{SIGNED_PREFIX}{json}\n"))
    }

    /// Parses the signed text. Only the form that [`Self::signed_text`] writes is accepted.
    pub(crate) fn parse(text: &str) -> Result<Self, BundleError> {
        let json = text
            .strip_prefix(SIGNED_PREFIX)
            .and_then(|rest| rest.strip_suffix('\n'))
            .ok_or(BundleError::Form("another kind of signed text"))?;
        let manifest: Self =
            serde_json::from_str(json).map_err(|error| BundleError::Manifest(error.to_string()))?;
        if manifest.signed_text()? != text {
            return Err(BundleError::Form("the manifest is not in its canonical form"));
        }
        Ok(manifest)
    }

    /// Returns the size of all files.
    pub(crate) fn content_bytes(&self) -> u64 {
        self.files.iter().fold(0, |sum, file| sum.saturating_add(file.bytes))
    }

    fn check(&self) -> Result<(), BundleError> {
        let Self { fleet, version, min_version, commit, signers, approvals, files, .. } = self;
        let refuse = |why: &str| Err(BundleError::Manifest(why.to_owned()));
        let is_plain = |text: &str| text.len() <= 100 && text.bytes().all(|byte| byte.is_ascii_graphic());
        if fleet.is_empty() || !is_plain(fleet) || !commit.as_deref().is_none_or(is_plain) {
            return refuse("invalid name of the fleet or of the commit");
        }
        if *version == 0 || *version > MAX_VERSION || min_version > version {
            return refuse("invalid version");
        }
        signers.check()?;
        approvals.approvers()?;
        if files.len() > MAX_FILES || files.iter().any(|file| file.bytes > MAX_FILE_BYTES) {
            return refuse("too many files, or a file is too large");
        }
        if self.content_bytes() > MAX_CONTENT_BYTES {
            return refuse("the files are too large");
        }
        let is_hash = |text: &str| {
            text.len() == 64
                && text.bytes().all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte))
        };
        let paths: BTreeSet<_> = files.iter().map(|file| &file.path).collect();
        if paths.len() != files.len() || !files.is_sorted() {
            return refuse("the files are not sorted, or a path occurs twice");
        }
        match files
            .iter()
            .find(|file| BundleFileKind::of_path(&file.path).is_none() || !is_hash(&file.sha256))
        {
            Some(file) => Err(BundleError::Manifest(format!(
                "invalid file `{}`",
                file.path.chars().take(100).collect::<String>()
            ))),
            None => Ok(()),
        }
    }
}
