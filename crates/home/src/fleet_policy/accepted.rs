// SPDX-License-Identifier: Apache-2.0 OR MIT

//! What this machine trusts and accepted: the membership that a user confirmed, and the bundles that were verified.
//!
//! The file is sealed with the home's key, so a program that can write files in the state directory but cannot read that
//! key can neither name other signers, nor lower the version, nor make an accepted bundle be forgotten unseen.

use serde::{Deserialize, Serialize};
use tenterhook_error::Failure;
use tenterhook_fleet_bundle::{Bundle, SignerSet, StaleBehaviour, Trust};
use tenterhook_fleet_state::FleetEnrolment;

use super::{BUNDLE_DIR, bundle_file};
use crate::Home;
use crate::home::{make_private_dir, write_atomic};
use crate::read_file;
use crate::seal::{SealKey, SealPurpose};

/// Name of the file, in the directory of the bundles.
pub(super) const ACCEPTED_FILE: &str = "accepted.json";
/// Format of the file.
const ACCEPTED_FORMAT: u32 = 1;

/// What this machine trusts and accepted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct AcceptedPolicy {
    v: u32,
    /// Id of the machine in the fleet.
    pub(super) machine: String,
    /// Name of the fleet.
    pub(super) fleet: String,
    /// Whether a user proved to be present when the machine joined.
    pub(super) is_proven: bool,
    /// The signers that the enrolment named when the machine joined; `None` if the fleet signs no policy.
    pub(super) enrolled_signers: Option<SignerSet>,
    /// Newest version that was accepted; zero if there is none.
    pub(super) newest: u64,
    /// Lowest version that accepted bundles allow.
    pub(super) minimum: u64,
    /// The bundle that was accepted last.
    pub(super) current: Option<AcceptedVersion>,
    /// SHA-256 of the bundle before it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) previous: Option<String>,
}

/// What stays known about a bundle whose file is lost.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct AcceptedVersion {
    /// SHA-256 of the bundle.
    pub(super) sha256: String,
    /// The signers that it names.
    signers: SignerSet,
    /// What applies if it is stale or lost.
    pub(super) when_stale: StaleBehaviour,
}

/// Why the file is not trusted.
#[derive(Debug, thiserror::Error)]
pub(super) enum UntrustedRecord {
    #[error("the file is missing")]
    Missing,
    #[error(transparent)]
    Io(#[from] std::io::Error),
    #[error("its seal is missing")]
    NoSeal,
    #[error("the seal key is missing")]
    NoKey,
    #[error("it was changed, or another home wrote it")]
    Seal,
    #[error("a newer version wrote it")]
    Version,
    #[error(transparent)]
    Form(#[from] serde_json::Error),
}

impl AcceptedPolicy {
    /// The state after joining: no bundle was accepted.
    pub(super) fn of_enrolment(enrolment: &FleetEnrolment, is_proven: bool) -> Self {
        let FleetEnrolment { machine, tenant, .. } = enrolment;
        Self {
            v: ACCEPTED_FORMAT,
            machine: machine.to_string(),
            fleet: tenant.clone(),
            is_proven,
            enrolled_signers: find_signers(enrolment),
            newest: 0,
            minimum: 0,
            current: None,
            previous: None,
        }
    }

    /// The state after a bundle was accepted.
    pub(super) fn with_bundle(&self, bundle: &Bundle, minimum: u64, previous: Option<String>) -> Self {
        let manifest = &bundle.manifest;
        let current = AcceptedVersion {
            sha256: bundle.sha256.clone(),
            signers: manifest.signers.clone(),
            when_stale: manifest.when_stale,
        };
        Self { newest: manifest.version, minimum, current: Some(current), previous, ..self.clone() }
    }

    /// Returns the signers that the enrolment named; `None` if the fleet signs no policy.
    pub(super) fn enrolled_trust(&self) -> Option<Trust> {
        let signers = self.enrolled_signers.clone()?;
        Some(Trust { fleet: self.fleet.clone(), signers, since: 0 })
    }

    /// Returns the signers that the bundle accepted last names; `None` if there is none.
    pub(super) fn current_trust(&self) -> Option<Trust> {
        let signers = self.current.as_ref()?.signers.clone();
        Some(Trust { fleet: self.fleet.clone(), signers, since: self.newest })
    }

    /// Whether a bundle with this digest was accepted last.
    pub(super) fn is_current(&self, digest: &str) -> bool {
        self.current.as_ref().is_some_and(|current| current.sha256 == digest)
    }

    /// Whether an enrolment is the one that was confirmed.
    pub(super) fn fits(&self, enrolment: &FleetEnrolment) -> bool {
        let other = Self::of_enrolment(enrolment, self.is_proven);
        (&self.machine, &self.fleet, &self.enrolled_signers)
            == (&other.machine, &other.fleet, &other.enrolled_signers)
    }

    /// Reads the file.
    pub(super) fn read(home: &Home) -> Result<Self, UntrustedRecord> {
        let text = read_file::state_file(&bundle_file(home, ACCEPTED_FILE))?;
        let text = text.ok_or(UntrustedRecord::Missing)?;
        let (seal, body) = text.split_once('\n').ok_or(UntrustedRecord::NoSeal)?;
        let key = SealKey::open_existing(&home.state)?.ok_or(UntrustedRecord::NoKey)?;
        if !key.verify(SealPurpose::FleetPolicy, body.as_bytes(), seal) {
            return Err(UntrustedRecord::Seal);
        }
        let stored: Self = serde_json::from_str(body)?;
        if stored.v == ACCEPTED_FORMAT { Ok(stored) } else { Err(UntrustedRecord::Version) }
    }

    /// Replaces the file.
    pub(super) fn write(&self, home: &Home) -> Result<(), Failure> {
        make_private_dir(&bundle_file(home, ""))?;
        let body = serde_json::to_string(self).map_err(std::io::Error::from)?;
        let seal = SealKey::open(&home.state)?.seal(SealPurpose::FleetPolicy, body.as_bytes())?;
        write_atomic(&bundle_file(home, ACCEPTED_FILE), format!("{seal}\n{body}").as_bytes(), 0o600)
    }
}

/// Returns the signers that an enrolment names; `None` if there are none.
pub(super) fn find_signers(enrolment: &FleetEnrolment) -> Option<SignerSet> {
    let signers = SignerSet::of_enrolment(enrolment.policy_keys.clone(), enrolment.policy_threshold);
    (!signers.keys.is_empty()).then_some(signers)
}

/// Removes the bundles and what was accepted, when the machine leaves its fleet.
pub(super) fn remove(home: &Home) -> std::io::Result<()> {
    let directory = tenterhook_fleet_state::FleetDir::of_state(&home.state).file(BUNDLE_DIR);
    match std::fs::remove_dir_all(directory) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}
