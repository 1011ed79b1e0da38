// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The policy bundle of the fleet that this machine belongs to: part of the organisation's layer.
//!
//! The bundle in force and the one before it are in `<state>/fleet/bundle/`. They are verified each time they are read,
//! because the account that owns the state directory can edit them: a bundle that cannot be verified is reported and not
//! used. Only [`FleetPolicy::accept`] replaces the bundle in force.

use std::path::PathBuf;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tenterhook_error::Failure;
use tenterhook_event::Timestamp;
use tenterhook_fleet_bundle::{
    Bundle, BundleError, InForce, MAX_BUNDLE_BYTES, SignerSet, Trust, check_update,
};
use tenterhook_fleet_state::{FleetDir, FleetEnrolment};
use tenterhook_policy::Problem;

use crate::Home;
use crate::home::{make_private_dir, write_atomic};
use crate::{ownership_check, read_file};

/// Directory of the bundles, in the directory of the fleet.
const BUNDLE_DIR: &str = "bundle";
/// The bundle in force.
const CURRENT_FILE: &str = "current";
/// The bundle before the one in force, which is used if that one is damaged.
const PREVIOUS_FILE: &str = "previous";
/// What this machine accepted.
const ACCEPTED_FILE: &str = "accepted.json";

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
    root: Trust,
    accepted: AcceptedBundles,
}

/// The bundles that this machine accepted.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
struct AcceptedBundles {
    v: u32,
    /// Newest version that was accepted.
    newest: u64,
    /// Lowest version that accepted bundles allow.
    minimum: u64,
    /// SHA-256 of the bundle that was accepted last.
    current: String,
    /// SHA-256 of the bundle before it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    previous: Option<String>,
}

/// A bundle that was accepted.
#[derive(Debug, Clone)]
pub struct AcceptedBundle {
    /// The verified bundle.
    pub bundle: Bundle,
    /// Version of the bundle that it replaces.
    pub replaces: Option<u64>,
    /// Its changes that weaken protection.
    pub weakening: Vec<String>,
    /// Whether the bundle was in force before.
    pub is_known: bool,
}

/// Why a bundle was not accepted.
#[derive(Debug, thiserror::Error)]
pub enum BundleRefusal {
    /// The machine is not part of a fleet that signs policy.
    #[error("this machine is not part of a fleet that signs policy")]
    NotEnrolled,
    /// The bundle is refused.
    #[error(transparent)]
    Refused(#[from] BundleError),
    /// The bundle could not be stored.
    #[error("{}", .0.message)]
    Failed(#[from] Failure),
}

impl FleetPolicy {
    /// Reads the policy of the fleet and verifies it; `None` if the machine is not part of a fleet that signs policy.
    pub fn load(home: &Home) -> Option<Self> {
        let dir = FleetDir::of_state(&home.state);
        let enrolment = match dir.enrolment() {
            Ok(Some(enrolment)) => enrolment,
            Ok(None) => return None,
            Err(error) => return Some(Self::unreadable(home, &error.to_string())),
        };
        let Some(root) = root_trust(&enrolment) else {
            // Without keys, the fleet collects records and distributes no policy.
            return None;
        };
        let (machine, fleet) = (enrolment.machine.to_string(), enrolment.tenant.clone());
        let accepted = AcceptedBundles::read(home);
        let mut policy = Self {
            machine,
            fleet,
            bundle: None,
            problems: Vec::new(),
            is_exposed: ownership_check::find_exposure(&dir.file("enrolment.json")).is_some(),
            root,
            accepted: AcceptedBundles::default(),
        };
        match accepted {
            Ok(Some(accepted)) => {
                policy.accepted = accepted;
                policy.read_bundles(home);
            }
            Ok(None) if bundle_file(home, CURRENT_FILE).exists() => {
                policy.report(home, ACCEPTED_FILE, "the file is missing, so no bundle is in force");
            }
            Ok(None) => {}
            Err(error) => policy.report(home, ACCEPTED_FILE, &error.to_string()),
        }
        Some(policy)
    }

    fn unreadable(home: &Home, why: &str) -> Self {
        let root = Trust {
            fleet: String::new(),
            signers: SignerSet { keys: Vec::new(), threshold: 1, weakening_threshold: 1 },
            since: 0,
        };
        let (machine, fleet) = (String::new(), String::new());
        let accepted = AcceptedBundles::default();
        let (bundle, problems, is_exposed) = (None, Vec::new(), true);
        let mut policy = Self { machine, fleet, bundle, problems, is_exposed, root, accepted };
        policy.report(home, "../enrolment.json", why);
        policy
    }

    fn report(&mut self, home: &Home, file: &str, why: &str) {
        let name = bundle_file(home, file).display().to_string();
        let message = format!("THE ORGANISATION'S POLICY IS REFUSED: {why}");
        let hint = match &self.bundle {
            Some(bundle) => format!("version {} of the policy stays in force", bundle.manifest.version),
            None => "only the other rules are in force".to_owned(),
        };
        self.problems.push(
            Problem::for_file(&name, message).hint(format!("{hint}; the fleet sends the policy again")),
        );
    }

    /// Reads the bundle that was accepted last, or the one before it.
    fn read_bundles(&mut self, home: &Home) {
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
            let bundle = Bundle::open(bytes, &self.root).map_err(|error| error.to_string())?;
            let version = bundle.manifest.version;
            if version < self.accepted.minimum || version > self.accepted.newest {
                return Err(format!("version {version} was withdrawn or never accepted"));
            }
            Ok(bundle)
        };
        match open(&self.accepted.current) {
            Ok(bundle) => self.bundle = Some(Arc::new(bundle)),
            Err(why) => {
                let before = self.accepted.previous.as_deref().map(open);
                self.bundle = before.and_then(Result::ok).map(Arc::new);
                let cause = files.iter().find_map(|(_, read)| Some(read.as_ref().err()?.to_string()));
                self.report(home, CURRENT_FILE, &cause.unwrap_or(why));
            }
        }
    }

    /// Verifies a bundle and puts it in force. The caller loads the rules again and records the result.
    pub fn accept(home: &Home, bytes: &[u8], now: Timestamp) -> Result<AcceptedBundle, BundleRefusal> {
        let policy =
            Self::load(home).filter(|policy| !policy.fleet.is_empty()).ok_or(BundleRefusal::NotEnrolled)?;
        let digest = Bundle::digest(bytes);
        let in_force = policy.bundle.as_deref();
        let replaces = in_force.map(|bundle| bundle.manifest.version);
        if digest == policy.accepted.current {
            // A damaged copy is replaced by the same bundle.
            let bundle = Bundle::open(bytes, &policy.root)?;
            if in_force.is_none_or(|in_force| in_force.sha256 != digest) {
                write_atomic(&bundle_file(home, CURRENT_FILE), bytes, 0o600)?;
            }
            return Ok(AcceptedBundle { bundle, replaces, weakening: Vec::new(), is_known: true });
        }
        let bundle = policy.verify(bytes)?;
        let (newest, minimum) = (policy.accepted.newest, policy.accepted.minimum);
        let plan = check_update(&bundle, &InForce { bundle: in_force, newest, minimum }, now)?;
        make_private_dir(&bundle_file(home, ""))?;
        if let Some(in_force) = in_force
            && let Some(current) = [CURRENT_FILE, PREVIOUS_FILE]
                .iter()
                .filter_map(|file| read_bundle_file(home, file).ok().flatten())
                .find(|bytes| Bundle::digest(bytes) == in_force.sha256)
        {
            write_atomic(&bundle_file(home, PREVIOUS_FILE), &current, 0o600)?;
        }
        write_atomic(&bundle_file(home, CURRENT_FILE), bytes, 0o600)?;
        let accepted = AcceptedBundles {
            v: 1,
            newest: bundle.manifest.version,
            minimum: plan.minimum,
            current: digest,
            previous: in_force.map(|bundle| bundle.sha256.clone()),
        };
        // Until this file is written, the bundle before stays in force.
        accepted.write(home)?;
        let weakening = plan.weakening.iter().map(ToString::to_string).collect();
        Ok(AcceptedBundle { bundle, replaces, weakening, is_known: false })
    }

    /// Verifies a bundle with the signers that this machine trusts now. The bundle is not put in force.
    pub fn verify(&self, bytes: &[u8]) -> Result<Bundle, BundleError> {
        let trust = self.bundle.as_ref().map_or_else(|| self.root.clone(), |bundle| bundle.trust());
        Bundle::open(bytes, &trust)
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
        text + &format!(", {word} {}", manifest.not_after)
    }

    /// Returns the version in force and the ring, for JSON output.
    pub fn to_json(&self, home: &Home) -> Value {
        let manifest = self.bundle.as_ref().map(|bundle| &bundle.manifest);
        json!({
            "fleet": self.fleet,
            "ring": Self::ring(home),
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

/// Returns the signers that the enrolment names; `None` if there are none.
fn root_trust(enrolment: &FleetEnrolment) -> Option<Trust> {
    let signers = SignerSet::of_enrolment(enrolment.policy_keys.clone(), enrolment.policy_threshold);
    let fleet = enrolment.tenant.clone();
    (!signers.keys.is_empty()).then_some(Trust { fleet, signers, since: 0 })
}

fn bundle_file(home: &Home, name: &str) -> PathBuf {
    FleetDir::of_state(&home.state).file(BUNDLE_DIR).join(name)
}

fn read_bundle_file(home: &Home, name: &str) -> std::io::Result<Option<Vec<u8>>> {
    let max = u64::try_from(MAX_BUNDLE_BYTES).unwrap_or(u64::MAX);
    read_file::state_bytes(&bundle_file(home, name), max)
}

impl AcceptedBundles {
    fn read(home: &Home) -> std::io::Result<Option<Self>> {
        let text = read_file::state_file(&bundle_file(home, ACCEPTED_FILE))?;
        let Some(text) = text else { return Ok(None) };
        Ok(Some(serde_json::from_str(&text)?))
    }

    fn write(&self, home: &Home) -> Result<(), Failure> {
        let text = serde_json::to_vec_pretty(self).map_err(std::io::Error::from)?;
        write_atomic(&bundle_file(home, ACCEPTED_FILE), &text, 0o600)
    }
}

#[cfg(test)]
mod tests;
