// SPDX-License-Identifier: Apache-2.0 OR MIT

use std::collections::BTreeMap;
use std::path::Path;

use ed25519_dalek::SigningKey;
use tenterhook_fleet_bundle::{ApprovalSettings, BundleDraft, BundleManifest, StaleBehaviour};
use tenterhook_fleet_protocol::{InstanceId, MachineId, NkeyKind, NkeyPair};
use tenterhook_ledger::VerifierKey;

use super::*;
use crate::{Env, Sources, WorkDirs};

const DENY: &str = "version: 1\nrules:\n  - {id: org/terraform, locked: true, match: {shell: {program: terraform}}, verdict: deny}\n";
const ALLOW: &str =
    "version: 1\nrules:\n  - {id: org/make, match: {shell: {program: make}}, verdict: allow}\n";

fn key(seed: u8) -> SigningKey {
    SigningKey::from_bytes(&[seed; 32])
}

fn public(name: &str, seed: u8) -> String {
    VerifierKey::ed25519(name, key(seed).verifying_key()).unwrap().to_string()
}

fn now() -> Timestamp {
    Timestamp::from_unix_ms(1_800_000_000_000)
}

/// A home of a machine in the fleet `acme`, whose policy Ann and Bob sign.
fn enrolled(dir: &Path) -> Home {
    let home = Home::in_dir(dir.to_owned());
    let machine = MachineId::of_key(&NkeyPair::from_seed(NkeyKind::User, &[7; 32]).public());
    let enrolment = FleetEnrolment {
        v: 1,
        server: "https://fleet.example".to_owned(),
        server_ca: None,
        machine,
        tenant: "acme".to_owned(),
        instance_seed: InstanceId([1; 16]),
        origin: "o".to_owned(),
        witness: String::new(),
        policy_keys: vec![public("ann", 1), public("bob", 2)],
        policy_threshold: 1,
        joined: 0,
        ephemeral: false,
        program: "/usr/bin/tenterhook-fleet".into(),
    };
    std::fs::create_dir_all(dir.join("fleet")).unwrap();
    std::fs::write(dir.join("fleet/enrolment.json"), serde_json::to_vec(&enrolment).unwrap()).unwrap();
    home
}

fn bundle(version: u64, rules: &str, by: &[(&str, u8)]) -> Vec<u8> {
    let keys = vec![public("ann", 1), public("bob", 2)];
    let manifest = BundleManifest {
        fleet: "acme".to_owned(),
        version,
        min_version: 1,
        not_after: Timestamp::from_unix_ms(4_000_000_000_000),
        when_stale: StaleBehaviour::Keep,
        commit: None,
        signers: SignerSet { keys, threshold: 1, weakening_threshold: 2 },
        approvals: ApprovalSettings::default(),
        files: Vec::new(),
    };
    let files: BTreeMap<_, _> = [
        ("rules/base.yaml".to_owned(), rules.to_owned()),
        ("programs/acme.yaml".to_owned(), "acme:\n  operands: delete...\n".to_owned()),
    ]
    .into_iter()
    .collect();
    let mut draft = BundleDraft::new(manifest, &files, None).unwrap();
    for (name, seed) in by {
        draft.sign(name, &key(*seed)).unwrap();
    }
    draft.encode().unwrap()
}

fn sources(home: &Home) -> Sources {
    Sources::collect(home, &Env::default(), &WorkDirs::default())
}

fn version(home: &Home) -> Option<u64> {
    Some(FleetPolicy::load(home)?.bundle?.manifest.version)
}

#[test]
fn an_accepted_bundle_is_the_organisations_layer() {
    let dir = tempfile::tempdir().unwrap();
    let home = enrolled(dir.path());
    assert!(sources(&home).problems.is_empty());
    let accepted = FleetPolicy::accept(&home, &bundle(1, DENY, &[("ann", 1)]), now()).unwrap();
    assert_eq!((accepted.replaces, accepted.is_known), (None, false));
    let sources = sources(&home);
    assert!(sources.problems.is_empty(), "{:?}", sources.problems);
    let loaded = sources.load();
    let rule = loaded.rules.rule("org/terraform").unwrap();
    assert!(rule.locked());
    assert_eq!(rule.source(), "fleet@1/rules/base.yaml");
    assert_eq!(sources.programs.len(), 1);
    let again = FleetPolicy::accept(&home, &bundle(1, DENY, &[("ann", 1)]), now()).unwrap();
    assert!(again.is_known);
}

#[test]
fn a_refused_bundle_leaves_the_one_before_in_force() {
    let dir = tempfile::tempdir().unwrap();
    let home = enrolled(dir.path());
    FleetPolicy::accept(&home, &bundle(3, DENY, &[("ann", 1)]), now()).unwrap();
    for (bytes, message) in [
        (bundle(2, DENY, &[("ann", 1)]), "not newer than version 3"),
        (bundle(4, DENY, &[]), "signed by 0 of 1"),
        (bundle(4, DENY, &[("ann", 9)]), "signed by 0 of 1"),
        (bundle(4, ALLOW, &[("ann", 1)]), "signed by 1 of 2"),
        (b"THBUNDL1".to_vec(), "invalid bundle"),
    ] {
        let refused = FleetPolicy::accept(&home, &bytes, now()).unwrap_err();
        assert!(refused.to_string().contains(message), "{refused}");
        assert_eq!(version(&home), Some(3));
    }
    FleetPolicy::accept(&home, &bundle(4, ALLOW, &[("ann", 1), ("bob", 2)]), now()).unwrap();
    assert_eq!(version(&home), Some(4));
}

#[test]
fn a_file_that_was_edited_is_refused_and_the_bundle_before_it_applies() {
    let dir = tempfile::tempdir().unwrap();
    let home = enrolled(dir.path());
    let (first, second) = (bundle(1, DENY, &[("ann", 1)]), bundle(2, DENY, &[("ann", 1)]));
    FleetPolicy::accept(&home, &first, now()).unwrap();
    FleetPolicy::accept(&home, &second, now()).unwrap();
    let current = bundle_file(&home, CURRENT_FILE);
    // A bundle with a valid signature that the machine did not accept.
    for bytes in [bundle(9, DENY, &[("ann", 1)]), second[1..].to_vec(), Vec::new()] {
        std::fs::write(&current, bytes).unwrap();
        let sources = sources(&home);
        assert_eq!(version(&home), Some(1));
        assert!(sources.problems[0].message.contains("POLICY IS REFUSED"), "{:?}", sources.problems);
        assert!(sources.load().rules.rule("org/terraform").is_some());
    }
    std::fs::remove_file(&current).unwrap();
    assert_eq!(version(&home), Some(1));
    assert!(!sources(&home).problems.is_empty());
    // The same bundle, sent again, repairs it.
    assert!(FleetPolicy::accept(&home, &second, now()).unwrap().is_known);
    assert_eq!(version(&home), Some(2));
    assert!(sources(&home).problems.is_empty());
}

#[test]
fn without_its_record_of_acceptance_no_bundle_is_in_force_and_that_is_reported() {
    let dir = tempfile::tempdir().unwrap();
    let home = enrolled(dir.path());
    FleetPolicy::accept(&home, &bundle(1, DENY, &[("ann", 1)]), now()).unwrap();
    for damage in ["", "{"] {
        std::fs::write(bundle_file(&home, ACCEPTED_FILE), damage).unwrap();
        let sources = sources(&home);
        assert!(sources.problems[0].message.contains("POLICY IS REFUSED"));
        let loaded = sources.load();
        assert!(loaded.rules.rule("org/terraform").is_none());
        assert!(loaded.rules.rule("guard-files").is_some(), "the built-in rules stay in force");
    }
    std::fs::write(dir.path().join("fleet/enrolment.json"), "{").unwrap();
    assert!(!sources(&home).problems.is_empty());
}

#[test]
fn a_withdrawn_bundle_is_not_used_as_the_one_before() {
    let dir = tempfile::tempdir().unwrap();
    let home = enrolled(dir.path());
    FleetPolicy::accept(&home, &bundle(1, DENY, &[("ann", 1)]), now()).unwrap();
    FleetPolicy::accept(&home, &bundle(2, DENY, &[("ann", 1)]), now()).unwrap();
    let path = bundle_file(&home, ACCEPTED_FILE);
    let text = std::fs::read_to_string(&path).unwrap();
    std::fs::write(&path, text.replace("\"minimum\": 1", "\"minimum\": 2")).unwrap();
    assert_eq!(version(&home), Some(2));
    std::fs::write(bundle_file(&home, CURRENT_FILE), "x").unwrap();
    assert_eq!(version(&home), None);
}

#[test]
fn a_machine_outside_a_fleet_accepts_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let home = Home::in_dir(dir.path().to_owned());
    let refused = FleetPolicy::accept(&home, &bundle(1, DENY, &[("ann", 1)]), now());
    assert!(matches!(refused, Err(BundleRefusal::NotEnrolled)));
}
