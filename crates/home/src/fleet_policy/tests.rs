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
    FleetPolicy::confirm_enrolment(&home, &enrolment, true).unwrap();
    home
}

fn accept(home: &Home, bytes: Vec<u8>) -> Result<CheckedBundle, BundleRefusal> {
    let checked = FleetPolicy::check(home, bytes, now())?;
    checked.put_in_force(home)?;
    Ok(checked)
}

fn bundle(version: u64, rules: &str, by: &[(&str, u8)]) -> Vec<u8> {
    bundle_with(version, rules, by, StaleBehaviour::Keep)
}

fn bundle_with(version: u64, rules: &str, by: &[(&str, u8)], when_stale: StaleBehaviour) -> Vec<u8> {
    let keys = vec![public("ann", 1), public("bob", 2)];
    let manifest = BundleManifest {
        fleet: "acme".to_owned(),
        version,
        min_version: 1,
        not_after: Timestamp::from_unix_ms(4_000_000_000_000),
        when_stale,
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
    let accepted = accept(&home, bundle(1, DENY, &[("ann", 1)])).unwrap();
    assert_eq!((accepted.replaces, accepted.is_known), (None, false));
    let sources = sources(&home);
    assert!(sources.problems.is_empty(), "{:?}", sources.problems);
    let loaded = sources.load();
    let rule = loaded.rules.rule("org/terraform").unwrap();
    assert!(rule.locked());
    assert_eq!(rule.source(), "fleet@1/rules/base.yaml");
    assert_eq!(sources.programs.len(), 1);
    let again = accept(&home, bundle(1, DENY, &[("ann", 1)])).unwrap();
    assert!(again.is_known);
}

#[test]
fn a_refused_bundle_leaves_the_one_before_in_force() {
    let dir = tempfile::tempdir().unwrap();
    let home = enrolled(dir.path());
    accept(&home, bundle(3, DENY, &[("ann", 1)])).unwrap();
    for (bytes, message) in [
        (bundle(2, DENY, &[("ann", 1)]), "not newer than version 3"),
        (bundle(4, DENY, &[]), "signed by 0 of 1"),
        (bundle(4, DENY, &[("ann", 9)]), "signed by 0 of 1"),
        (bundle(4, ALLOW, &[("ann", 1)]), "signed by 1 of 2"),
        (b"THBUNDL1".to_vec(), "invalid bundle"),
    ] {
        let refused = accept(&home, bytes.clone()).unwrap_err();
        assert!(refused.to_string().contains(message), "{refused}");
        assert_eq!(version(&home), Some(3));
    }
    accept(&home, bundle(4, ALLOW, &[("ann", 1), ("bob", 2)])).unwrap();
    assert_eq!(version(&home), Some(4));
}

#[test]
fn a_file_that_was_edited_is_refused_and_the_bundle_before_it_applies() {
    let dir = tempfile::tempdir().unwrap();
    let home = enrolled(dir.path());
    let (first, second) = (bundle(1, DENY, &[("ann", 1)]), bundle(2, DENY, &[("ann", 1)]));
    accept(&home, first.clone()).unwrap();
    accept(&home, second.clone()).unwrap();
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
    assert!(accept(&home, second.clone()).unwrap().is_known);
    assert_eq!(version(&home), Some(2));
    assert!(sources(&home).problems.is_empty());
}

#[test]
fn without_the_sealed_record_only_stricter_rules_of_a_signed_bundle_apply() {
    let dir = tempfile::tempdir().unwrap();
    let home = enrolled(dir.path());
    let rules = format!("{DENY}  - {{id: org/free, match: {{shell: {{program: make}}}}, verdict: allow}}\n");
    accept(&home, bundle(1, &rules, &[("ann", 1), ("bob", 2)])).unwrap();
    let path = bundle_file(&home, ACCEPTED_FILE);
    let sealed = std::fs::read_to_string(&path).unwrap();
    let lower = sealed.replace("\"newest\":1", "\"newest\":0");
    assert_ne!(lower, sealed);
    for damage in ["", "{", &lower, sealed.split_once('\n').unwrap().1] {
        std::fs::write(&path, damage).unwrap();
        let sources = sources(&home);
        assert!(sources.problems[0].message.contains("POLICY IS REFUSED"));
        let policy = FleetPolicy::load(&home).unwrap();
        assert!(!policy.is_trusted() && policy.bundle.is_some() && policy.trusted_bundle().is_none());
        let denying = sources.texts.iter().find(|text| text.name == "fleet@1/rules/base.yaml").unwrap();
        assert_eq!(denying.standing, crate::trust::Standing::Exposed);
        assert!(sources.load().rules.rule("org/terraform").is_some());
        let refused = accept(&home, bundle(2, DENY, &[("ann", 1), ("bob", 2)])).unwrap_err();
        assert!(matches!(refused, BundleRefusal::Unconfirmed(_)), "{refused}");
    }
    std::fs::remove_file(&path).unwrap();
    assert!(!FleetPolicy::load(&home).unwrap().is_trusted());
}

#[test]
fn a_planted_enrolment_names_no_signers() {
    let dir = tempfile::tempdir().unwrap();
    let home = enrolled(dir.path());
    accept(&home, bundle(1, DENY, &[("ann", 1)])).unwrap();
    let path = dir.path().join("fleet/enrolment.json");
    let text = std::fs::read_to_string(&path).unwrap();
    for (planted, why) in [
        (text.replace(&public("ann", 1), &public("eve", 9)), "was changed after this machine joined"),
        (text.replace("acme", "evil"), "was changed after this machine joined"),
        ("{".to_owned(), "EOF"),
    ] {
        std::fs::write(&path, planted).unwrap();
        let problems = sources(&home).problems;
        assert!(problems[0].message.contains(why), "{problems:?}");
        assert_eq!(version(&home), Some(1), "the confirmed membership stays in force");
        let refused = accept(&home, bundle(2, DENY, &[("eve", 9)])).unwrap_err();
        assert!(refused.to_string().contains("signed by 0 of 1"), "{refused}");
    }
    std::fs::remove_file(&path).unwrap();
    assert!(sources(&home).problems[0].message.contains("did not leave its fleet"));
    assert_eq!(version(&home), Some(1));
    // In a home that never joined, an enrolment alone gives its signers no trust.
    let other = tempfile::tempdir().unwrap();
    std::fs::create_dir_all(other.path().join("fleet/bundle")).unwrap();
    std::fs::write(other.path().join("fleet/enrolment.json"), text).unwrap();
    let other = Home::in_dir(other.path().to_owned());
    std::fs::write(bundle_file(&other, CURRENT_FILE), bundle(1, DENY, &[("ann", 1)])).unwrap();
    let policy = FleetPolicy::load(&other).unwrap();
    assert!(!policy.is_trusted() && !policy.problems.is_empty());
}

#[test]
fn a_membership_without_proof_can_only_make_verdicts_stricter() {
    let dir = tempfile::tempdir().unwrap();
    let home = enrolled(dir.path());
    let enrolment = FleetDir::of_state(&home.state).enrolment().unwrap().unwrap();
    FleetPolicy::confirm_enrolment(&home, &enrolment, false).unwrap();
    accept(&home, bundle(1, ALLOW, &[("ann", 1), ("bob", 2)])).unwrap();
    let sources = sources(&home);
    assert!(sources.warnings.iter().any(|warning| warning.message.contains("without a confirmation")));
    let policy = sources.fleet.as_ref().unwrap();
    assert!(policy.bundle.is_some() && policy.trusted_bundle().is_none());
    assert!(sources.texts.iter().all(|text| {
        !text.name.starts_with("fleet@") || text.standing == crate::trust::Standing::Exposed
    }));
}

#[test]
fn after_a_bundle_is_lost_the_next_one_needs_the_signatures_of_a_weakening_change() {
    let dir = tempfile::tempdir().unwrap();
    let home = enrolled(dir.path());
    let first = bundle(1, DENY, &[("ann", 1)]);
    accept(&home, first.clone()).unwrap();
    std::fs::remove_file(bundle_file(&home, CURRENT_FILE)).unwrap();
    assert_eq!(version(&home), None);
    let stricter = DENY.replace("program: terraform", "program: [terraform, tofu]");
    let refused = accept(&home, bundle(2, &stricter, &[("ann", 1)])).unwrap_err();
    assert!(refused.to_string().contains("signed by 1 of 2"), "{refused}");
    assert!(refused.to_string().contains("the policy in force is lost"), "{refused}");
    assert!(accept(&home, first).unwrap().is_known, "the same bundle repairs it");
    accept(&home, bundle(2, &stricter, &[("ann", 1)])).unwrap();
    std::fs::remove_file(bundle_file(&home, CURRENT_FILE)).unwrap();
    std::fs::remove_file(bundle_file(&home, PREVIOUS_FILE)).unwrap();
    accept(&home, bundle(3, &stricter, &[("ann", 1), ("bob", 2)])).unwrap();
    assert_eq!(version(&home), Some(3));
}

#[test]
fn a_lost_policy_asks_or_denies_as_the_accepted_bundle_says() {
    for (when_stale, expected) in
        [(StaleBehaviour::Keep, false), (StaleBehaviour::Ask, true), (StaleBehaviour::Deny, true)]
    {
        let dir = tempfile::tempdir().unwrap();
        let home = enrolled(dir.path());
        accept(&home, bundle_with(1, DENY, &[("ann", 1)], when_stale)).unwrap();
        assert!(sources(&home).load().rules.rule("fleet-policy-lost").is_none());
        std::fs::remove_file(bundle_file(&home, CURRENT_FILE)).unwrap();
        let loaded = sources(&home).load();
        assert_eq!(loaded.rules.rule("fleet-policy-lost").is_some(), expected, "{when_stale:?}");
    }
}

#[test]
fn nothing_of_a_membership_is_left_after_the_machine_left() {
    let dir = tempfile::tempdir().unwrap();
    let home = enrolled(dir.path());
    accept(&home, bundle(1, DENY, &[("ann", 1)])).unwrap();
    assert!(FleetPolicy::is_confirmed(&home));
    FleetDir::of_state(&home.state).remove_enrolment().unwrap();
    FleetPolicy::remove(&home).unwrap();
    assert!(!FleetPolicy::is_confirmed(&home) && FleetPolicy::load(&home).is_none());
    FleetPolicy::remove(&home).unwrap();
}

#[test]
fn a_withdrawn_bundle_is_not_used_as_the_one_before() {
    let dir = tempfile::tempdir().unwrap();
    let home = enrolled(dir.path());
    accept(&home, bundle(1, DENY, &[("ann", 1)])).unwrap();
    accept(&home, bundle(2, DENY, &[("ann", 1)])).unwrap();
    let mut accepted = AcceptedPolicy::read(&home).unwrap();
    accepted.minimum = 2;
    accepted.write(&home).unwrap();
    assert_eq!(version(&home), Some(2));
    std::fs::write(bundle_file(&home, CURRENT_FILE), "x").unwrap();
    assert_eq!(version(&home), None);
}

#[test]
fn a_machine_outside_a_fleet_accepts_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let home = Home::in_dir(dir.path().to_owned());
    let refused = accept(&home, bundle(1, DENY, &[("ann", 1)]));
    assert!(matches!(refused, Err(BundleRefusal::NotEnrolled)));
}
