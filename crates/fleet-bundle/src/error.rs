// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Why a bundle is refused.

use tenterhook_event::Timestamp;

use crate::signers::SignerError;
use crate::update::BundleChange;

/// Why a bundle is refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BundleError {
    /// The bundle is larger than allowed.
    #[error("the bundle has {bytes} bytes; the maximum is {max}")]
    TooLarge {
        /// Size of the bundle.
        bytes: usize,
        /// Maximum size of a bundle.
        max: usize,
    },
    /// The bytes are not a bundle.
    #[error("invalid bundle: {0}")]
    Form(&'static str),
    /// The manifest is invalid.
    #[error("invalid manifest: {0}")]
    Manifest(String),
    /// The signer set of a manifest is invalid.
    #[error("invalid signers: {0}")]
    Signers(#[from] SignerError),
    /// A known signer's signature does not match the manifest.
    #[error("the signature of `{0}` does not match the manifest")]
    BadSignature(String),
    /// Too few of the trusted signers signed the bundle.
    #[error("signed by {given} of {needed} required signers{}", list_changes(changes))]
    TooFewSignatures {
        /// Number of different trusted signers that signed.
        given: usize,
        /// Number of signers that must sign.
        needed: usize,
        /// The changes that need more signatures.
        changes: Vec<BundleChange>,
    },
    /// The bundle belongs to another fleet.
    #[error("the bundle belongs to the fleet `{0}`")]
    OtherFleet(String),
    /// A file of the bundle does not have the content that the manifest names.
    #[error("the file `{0}` does not match the manifest")]
    File(String),
    /// The bundle is not newer than the newest one that this machine accepted.
    #[error("version {version} is not newer than version {accepted}, which this machine accepted before")]
    NotNewer {
        /// Version of the bundle.
        version: u64,
        /// Newest version that was accepted.
        accepted: u64,
    },
    /// An earlier bundle withdrew this version.
    #[error("version {version} was withdrawn; the minimum version is {minimum}")]
    Withdrawn {
        /// Version of the bundle.
        version: u64,
        /// Lowest version that may still be used.
        minimum: u64,
    },
    /// The bundle expired before it was accepted.
    #[error("the bundle expired on {0}")]
    Expired(Timestamp),
    /// A rule or a description in the bundle cannot be used.
    #[error("a file of the bundle cannot be used: {0}")]
    Rules(String),
}

/// The kind of a [`BundleError`], for callers and records.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum BundleErrorKind {
    /// The bundle is damaged or has an invalid format.
    Invalid,
    /// The signatures do not suffice.
    Signature,
    /// The version is too old.
    Version,
    /// The bundle has expired.
    Expired,
    /// The bundle belongs to another fleet.
    OtherFleet,
}

impl BundleError {
    /// Returns the kind of the error.
    pub fn kind(&self) -> BundleErrorKind {
        match self {
            Self::BadSignature(_) | Self::TooFewSignatures { .. } => BundleErrorKind::Signature,
            Self::NotNewer { .. } | Self::Withdrawn { .. } => BundleErrorKind::Version,
            Self::Expired(_) => BundleErrorKind::Expired,
            Self::OtherFleet(_) => BundleErrorKind::OtherFleet,
            Self::TooLarge { .. }
            | Self::Form(_)
            | Self::Manifest(_)
            | Self::Signers(_)
            | Self::File(_)
            | Self::Rules(_) => BundleErrorKind::Invalid,
        }
    }
}

impl BundleErrorKind {
    /// Name of the kind in records and messages.
    pub fn name(self) -> &'static str {
        match self {
            Self::Invalid => "invalid",
            Self::Signature => "signature",
            Self::Version => "version",
            Self::Expired => "expired",
            Self::OtherFleet => "other-fleet",
        }
    }
}

/// Lists the first changes, for a message.
fn list_changes(changes: &[BundleChange]) -> String {
    if changes.is_empty() {
        return String::new();
    }
    let shown: Vec<_> = changes.iter().take(3).map(ToString::to_string).collect();
    let more = changes.len().saturating_sub(shown.len());
    let more = if more == 0 { String::new() } else { format!(", and {more} more") };
    format!("; the change weakens protection: {}{more}", shown.join(", "))
}
