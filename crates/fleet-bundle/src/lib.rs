// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Signed policy bundles of a fleet.
//!
//! A bundle is a [`BundleManifest`], the signatures of its signers, and files: rules, sandbox profiles and descriptions of
//! programs. [`Bundle::open`] verifies the signatures before anything is decompressed. [`check_update`] decides whether a
//! machine replaces the bundle in force: only by a newer version, and with more signatures if the change weakens
//! protection. This crate performs no IO.

mod bundle;
mod container;
mod error;
mod manifest;
mod payload;
mod rules;
mod signers;
mod stale;
mod update;

pub use bundle::{Bundle, BundleDraft, MAX_BUNDLE_BYTES};
pub use error::{BundleError, BundleErrorKind};
pub use manifest::{ApprovalSettings, BundleFileKind, BundleManifest, FileEntry, StaleBehaviour};
pub use rules::{BundleRules, FLEET_SOURCE, LOST_RULE, STALE_RULE};
pub use signers::{SignerError, SignerSet, Trust};
pub use update::{BundleChange, InForce, UpdatePlan, check_update, find_changes};

#[cfg(test)]
mod tests;
