// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The policy bundle of the fleet that this machine belongs to: part of the organisation's layer.
//!
//! The bundle in force and the one before it are in `<state>/fleet/bundle/`, with a sealed file that says which signers this
//! machine trusts and what it accepted. Bundles are verified each time they are read, because the account that owns the
//! state directory can edit them: a bundle that cannot be verified is reported and not used. Only [`FleetPolicy::check`]
//! and [`CheckedBundle::put_in_force`] replace the bundle in force.

mod accepted;

use std::path::PathBuf;
use std::sync::Arc;

use serde_json::{Value, json};
use tenterhook_error::Failure;
use tenterhook_event::Timestamp;
use tenterhook_fleet_bundle::{
    Bundle, BundleError, InForce, MAX_BUNDLE_BYTES, SignerSet, Trust, check_update,
};
use tenterhook_fleet_state::{FleetDir, FleetEnrolment, FleetStateError};
use tenterhook_policy::Problem;

use self::accepted::{ACCEPTED_FILE, AcceptedPolicy, UntrustedRecord};
use crate::Home;
use crate::home::{make_private_dir, write_atomic};
use crate::{ownership_check, read_file};

/// Directory of the bundles, in the directory of the fleet.
const BUNDLE_DIR: &str = "bundle";
/// The bundle in force.
const CURRENT_FILE: &str = "current";
/// The bundle before the one in force, which is used if that one is damaged.
const PREVIOUS_FILE: &str = "previous";
/// The enrolment, relative to the bundles.
const ENROLMENT_FILE: &str = "../enrolment.json";

/// The policy of the fleet on this machine.
#[derive(Debug, Clone)]
pub struct FleetPolicy {
    /// Id of the machine in the fleet.
    pub machine: String,
    /// Name of the fleet.
    pub fleet: String,
    /// The bundle in force.
    pub bundle: Option<Arc<Bundle>>,
    /// Bundles that were refused when they were read.
    pub problems: Vec<Problem>,
    /// Whether an account other than root can change the enrolment, which names the signers.
    pub is_exposed: bool,
    /// The signers that the enrolment names.
    enrolled: Trust,
    /// What this machine trusts and accepted; `None` if the file is missing or was changed.
    accepted: Option<AcceptedPolicy>,
}

/// A bundle that was verified and may replace the one in force.
#[derive(Debug, Clone)]
pub struct CheckedBundle {
    /// The verified bundle.
    pub bundle: Bundle,
    /// Version of the bundle that it replaces.
    pub replaces: Option<u64>,
    /// Its changes that weaken protection.
    pub weakening: Vec<String>,
    /// Whether the bundle was accepted before.
    pub is_known: bool,
    bytes: Vec<u8>,
    /// SHA-256 of the bundle in force.
    in_force: Option<String>,
    /// What is accepted once the bundle is in force; `None` if nothing changes.
    accepts: Option<AcceptedPolicy>,
}

/// Why a bundle was not accepted.
#[derive(Debug, thiserror::Error)]
pub enum BundleRefusal {
    /// The machine is not part of a fleet that signs policy.
    #[error("this machine is not part of a fleet that signs policy")]
    NotEnrolled,
    /// The record of the membership is missing or was changed.
    #[error("the membership of this machine is not confirmed: {0}")]
    Unconfirmed(String),
    /// The bundle is refused.
    #[error(transparent)]
    Refused(#[from] BundleError),
    /// The bundle could not be stored.
    #[error("{}", .0.message)]
    Failed(#[from] Failure),
}

impl FleetPolicy {
    /// Confirms the membership of a machine that has just joined: from now on, it trusts the signers that its enrolment
    /// names. Without proof of the user's presence, their policy can only make verdicts stricter.
    pub fn confirm_enrolment(
        home: &Home,
        enrolment: &FleetEnrolment,
        is_proven: bool,
    ) -> Result<(), Failure> {
        accepted::remove(home)?;
        AcceptedPolicy::of_enrolment(enrolment, is_proven).write(home)
    }

    /// Whether this machine confirmed a membership, even if its enrolment is missing.
    pub fn is_confirmed(home: &Home) -> bool {
        bundle_file(home, ACCEPTED_FILE).symlink_metadata().is_ok()
    }

    /// Removes the bundles and the record of the membership, when the machine leaves its fleet.
    pub fn remove(home: &Home) -> Result<(), Failure> {
        Ok(accepted::remove(home)?)
    }

    /// Reads the policy of the fleet and verifies it; `None` if the machine is not part of a fleet that signs policy.
    pub fn load(home: &Home) -> Option<Self> {
        let enrolment = FleetDir::of_state(&home.state).enrolment();
        match AcceptedPolicy::read(home) {
            Ok(accepted) => Self::of_accepted(home, accepted, enrolment),
            Err(why) => Self::unconfirmed(home, &why, enrolment),
        }
    }

    /// The policy of a confirmed membership. It does not depend on the enrolment, which is only compared.
    fn of_accepted(
        home: &Home,
        accepted: AcceptedPolicy,
        enrolment: Result<Option<FleetEnrolment>, FleetStateError>,
    ) -> Option<Self> {
        let mismatch = match enrolment {
            Ok(Some(enrolment)) if accepted.fits(&enrolment) => None,
            Ok(Some(_)) => Some("it was changed after this machine joined".to_owned()),
            Ok(None) => Some("the file is missing, but this machine did not leave its fleet".to_owned()),
            Err(error) => Some(error.to_string()),
        };
        // Without keys, the fleet collects records and distributes no policy.
        let trust = accepted.enrolled_trust();
        if trust.is_none() && mismatch.is_none() {
            return None;
        }
        let enrolled = trust.unwrap_or_else(|| no_trust(&accepted.fleet));
        let mut policy = Self::new(home, accepted.machine.clone(), enrolled);
        policy.read_bundles(home, &accepted);
        policy.accepted = Some(accepted);
        if let Some(why) = mismatch {
            policy.report(home, ENROLMENT_FILE, &why);
        }
        Some(policy)
    }

    /// The policy of a membership that nothing confirms: of a bundle that its signers signed, only what makes verdicts
    /// stricter applies.
    fn unconfirmed(
        home: &Home,
        why: &UntrustedRecord,
        enrolment: Result<Option<FleetEnrolment>, FleetStateError>,
    ) -> Option<Self> {
        let is_missing = matches!(why, UntrustedRecord::Missing);
        let (machine, trust) = match enrolment {
            Ok(None) if is_missing => return None,
            Ok(None) => (String::new(), None),
            Ok(Some(enrolment)) => {
                let signers = accepted::find_signers(&enrolment);
                if signers.is_none() && is_missing {
                    return None;
                }
                let fleet = enrolment.tenant.clone();
                let trust = signers.map(|signers| Trust { fleet, signers, since: 0 });
                (enrolment.machine.to_string(), trust)
            }
            Err(error) => {
                let mut policy = Self::new(home, String::new(), no_trust(""));
                policy.report(home, ENROLMENT_FILE, &error.to_string());
                return Some(policy);
            }
        };
        let mut policy = Self::new(home, machine, trust.unwrap_or_else(|| no_trust("")));
        let stored = [CURRENT_FILE, PREVIOUS_FILE].into_iter();
        let mut stored = stored.filter_map(|file| read_bundle_file(home, file).ok().flatten());
        let opened = stored.find_map(|bytes| Bundle::open(&bytes, &policy.enrolled).ok());
        policy.bundle = opened.map(Arc::new);
        policy.report(home, ACCEPTED_FILE, &why.to_string());
        Some(policy)
    }

    fn new(home: &Home, machine: String, enrolled: Trust) -> Self {
        let enrolment = bundle_file(home, ENROLMENT_FILE);
        Self {
            machine,
            fleet: enrolled.fleet.clone(),
            bundle: None,
            problems: Vec::new(),
            is_exposed: ownership_check::find_exposure(&enrolment).is_some(),
            enrolled,
            accepted: None,
        }
    }

    /// Whether a user confirmed this membership. If not, only what makes verdicts stricter applies.
    pub fn is_trusted(&self) -> bool {
        self.accepted.as_ref().is_some_and(|accepted| accepted.is_proven)
    }

    /// Fails if the record of this membership is missing or was changed.
    pub fn require_confirmation(&self) -> Result<(), BundleRefusal> {
        self.accepted().map(|_| ())
    }

    fn accepted(&self) -> Result<&AcceptedPolicy, BundleRefusal> {
        let why = || self.problems.first().map(|problem| problem.message.clone()).unwrap_or_default();
        self.accepted.as_ref().ok_or_else(|| BundleRefusal::Unconfirmed(why()))
    }

    /// Returns the bundle in force, if it may also do what a rule that denies cannot: approve calls, describe the
    /// sandbox.
    pub fn trusted_bundle(&self) -> Option<&Arc<Bundle>> {
        self.bundle.as_ref().filter(|_| self.is_trusted())
    }

    /// Returns the rule that applies because the accepted bundle is lost, as the text of a rule file.
    pub(crate) fn lost_rule(&self) -> Option<String> {
        let current = self.accepted.as_ref()?.current.as_ref()?;
        self.bundle.is_none().then(|| current.when_stale.lost_rule()).flatten()
    }

    fn report(&mut self, home: &Home, file: &str, why: &str) {
        let name = bundle_file(home, file).display().to_string();
        let message = format!("THE ORGANISATION'S POLICY IS REFUSED: {why}");
        let in_force = match &self.bundle {
            Some(bundle) if self.is_trusted() => {
                format!("version {} of the policy stays in force", bundle.manifest.version)
            }
            Some(bundle) => format!(
                "of version {} of the policy, only rules that deny or ask are in force",
                bundle.manifest.version
            ),
            None => "only the other rules are in force".to_owned(),
        };
        let next = match file {
            CURRENT_FILE => "the fleet sends the policy again",
            _ => "leave the fleet and join it again: `tenterhook fleet leave`",
        };
        self.problems.push(Problem::for_file(&name, message).hint(format!("{in_force}; {next}")));
    }

    /// Reads the bundle that was accepted last, or the one before it.
    fn read_bundles(&mut self, home: &Home, accepted: &AcceptedPolicy) {
        let Some(current) = &accepted.current else { return };
        let files = [CURRENT_FILE, PREVIOUS_FILE].map(|file| (file, read_bundle_file(home, file)));
        let find = |digest: &str| {
            files.iter().find_map(|(_, bytes)| {
                let bytes = bytes.as_ref().ok()?.as_deref()?;
                (Bundle::digest(bytes) == digest).then_some(bytes)
            })
        };
        let open = |digest: &str| {
            let bytes =
                find(digest).ok_or("the bundle that was accepted is missing or was changed".to_owned())?;
            let bundle = Bundle::open(bytes, &self.enrolled).map_err(|error| error.to_string())?;
            let version = bundle.manifest.version;
            if version < accepted.minimum || version > accepted.newest {
                return Err(format!("version {version} was withdrawn or never accepted"));
            }
            Ok(bundle)
        };
        match open(&current.sha256) {
            Ok(bundle) => self.bundle = Some(Arc::new(bundle)),
            Err(why) => {
                let before = accepted.previous.as_deref().map(open);
                self.bundle = before.and_then(Result::ok).map(Arc::new);
                let cause = files.iter().find_map(|(_, read)| Some(read.as_ref().err()?.to_string()));
                self.report(home, CURRENT_FILE, &cause.unwrap_or(why));
            }
        }
    }

    /// Verifies a bundle that may replace the one in force. Nothing is changed, so that the caller can record it first.
    pub fn check(home: &Home, bytes: Vec<u8>, now: Timestamp) -> Result<CheckedBundle, BundleRefusal> {
        let policy = Self::load(home).ok_or(BundleRefusal::NotEnrolled)?;
        let accepted = policy.accepted()?;
        let in_force = policy.bundle.as_deref();
        let replaces = in_force.map(|bundle| bundle.manifest.version);
        let in_force_digest = in_force.map(|bundle| bundle.sha256.clone());
        if accepted.is_current(&Bundle::digest(&bytes)) {
            let bundle = Bundle::open(&bytes, &policy.enrolled)?;
            return Ok(CheckedBundle {
                bundle,
                replaces,
                weakening: Vec::new(),
                is_known: true,
                bytes,
                in_force: in_force_digest,
                accepts: None,
            });
        }
        let bundle = policy.verify(&bytes)?;
        let AcceptedPolicy { newest, minimum, .. } = *accepted;
        let plan = check_update(&bundle, &InForce { bundle: in_force, newest, minimum }, now)?;
        let accepts = accepted.with_bundle(&bundle, plan.minimum, in_force_digest.clone());
        let weakening = plan.weakening.iter().map(ToString::to_string).collect();
        let (in_force, accepts) = (in_force_digest, Some(accepts));
        Ok(CheckedBundle { bundle, replaces, weakening, is_known: false, bytes, in_force, accepts })
    }

    /// Verifies a bundle with the signers that this machine trusts now. The bundle is not put in force.
    pub fn verify(&self, bytes: &[u8]) -> Result<Bundle, BundleError> {
        let of_accepted = || self.accepted.as_ref().and_then(AcceptedPolicy::current_trust);
        let trust = self.bundle.as_ref().map(|bundle| bundle.trust()).or_else(of_accepted);
        Bundle::open(bytes, trust.as_ref().unwrap_or(&self.enrolled))
    }

    /// Describes the bundle in force in one line.
    pub fn summary(&self, home: &Home, now: Timestamp) -> String {
        let Some(bundle) = &self.bundle else {
            return format!("fleet `{}`: no policy is in force", self.fleet);
        };
        let manifest = &bundle.manifest;
        let mut text = format!("fleet `{}` version {}", self.fleet, manifest.version);
        text += &Self::ring(home).map(|ring| format!(", ring {ring}")).unwrap_or_default();
        text += &manifest.commit.as_ref().map(|commit| format!(", commit {commit}")).unwrap_or_default();
        let word = if bundle.is_stale(now) { "STALE SINCE" } else { "valid until" };
        text += &format!(", {word} {}", manifest.not_after);
        if self.is_trusted() { text } else { text + ", only its rules that deny or ask" }
    }

    /// Returns the version in force and the ring, for JSON output.
    pub fn to_json(&self, home: &Home) -> Value {
        let manifest = self.bundle.as_ref().map(|bundle| &bundle.manifest);
        json!({
            "fleet": self.fleet,
            "ring": Self::ring(home),
            "trusted": self.is_trusted(),
            "version": manifest.map(|manifest| manifest.version),
            "commit": manifest.and_then(|manifest| manifest.commit.as_deref()),
            "not_after": manifest.map(|manifest| manifest.not_after),
        })
    }

    /// Returns the ring of the machine.
    pub fn ring(home: &Home) -> Option<String> {
        let credentials = FleetDir::of_state(&home.state).credentials().ok()??;
        Some(credentials.credentials.ring.to_string())
    }

    /// Returns the files of which a change can change the policy.
    pub fn watched_files(home: &Home) -> Vec<PathBuf> {
        let files = [CURRENT_FILE, PREVIOUS_FILE, ACCEPTED_FILE].map(|file| bundle_file(home, file));
        std::iter::once(FleetDir::of_state(&home.state).file("enrolment.json")).chain(files).collect()
    }
}

impl CheckedBundle {
    /// Puts the bundle in force. The caller loads the rules again.
    pub fn put_in_force(&self, home: &Home) -> Result<(), Failure> {
        let digest = &self.bundle.sha256;
        let Some(accepts) = &self.accepts else {
            // A damaged copy is replaced by the same bundle.
            if self.in_force.as_ref() != Some(digest) {
                write_atomic(&bundle_file(home, CURRENT_FILE), &self.bytes, 0o600)?;
            }
            return Ok(());
        };
        make_private_dir(&bundle_file(home, ""))?;
        if let Some(in_force) = &self.in_force
            && let Some(current) = [CURRENT_FILE, PREVIOUS_FILE]
                .iter()
                .filter_map(|file| read_bundle_file(home, file).ok().flatten())
                .find(|bytes| Bundle::digest(bytes) == *in_force)
        {
            write_atomic(&bundle_file(home, PREVIOUS_FILE), &current, 0o600)?;
        }
        write_atomic(&bundle_file(home, CURRENT_FILE), &self.bytes, 0o600)?;
        // Until this file is written, the bundle before stays in force.
        accepts.write(home)
    }
}

/// The trust of a membership that names no signers: no bundle can be verified.
fn no_trust(fleet: &str) -> Trust {
    let signers = SignerSet { keys: Vec::new(), threshold: 1, weakening_threshold: 1 };
    Trust { fleet: fleet.to_owned(), signers, since: 0 }
}

fn bundle_file(home: &Home, name: &str) -> PathBuf {
    FleetDir::of_state(&home.state).file(BUNDLE_DIR).join(name)
}

fn read_bundle_file(home: &Home, name: &str) -> std::io::Result<Option<Vec<u8>>> {
    let max = u64::try_from(MAX_BUNDLE_BYTES).unwrap_or(u64::MAX);
    read_file::state_bytes(&bundle_file(home, name), max)
}

#[cfg(test)]
mod tests;
