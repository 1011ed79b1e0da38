// SPDX-License-Identifier: Apache-2.0 OR MIT

use std::collections::BTreeMap;

use ed25519_dalek::SigningKey;
use proptest::prelude::*;
use tenterhook_event::Timestamp;
use tenterhook_ledger::VerifierKey;

use super::*;
use crate::container::Container;

const DENY: &str =
    "version: 1\nrules:\n  - {id: org/terraform, match: {shell: {program: terraform}}, verdict: deny}\n";
const ALLOW: &str =
    "version: 1\nrules:\n  - {id: org/make, match: {shell: {program: make}}, verdict: allow}\n";

fn now() -> Timestamp {
    Timestamp::from_unix_ms(1_800_000_000_000)
}

fn later() -> Timestamp {
    Timestamp::from_unix_ms(1_900_000_000_000)
}

fn key(seed: u8) -> SigningKey {
    SigningKey::from_bytes(&[seed; 32])
}

fn public(name: &str, seed: u8) -> String {
    VerifierKey::ed25519(name, key(seed).verifying_key()).unwrap().to_string()
}

/// Ann, Bob and Cleo: one of them signs, two for a change that weakens protection.
fn signers() -> SignerSet {
    let keys = vec![public("ann", 1), public("bob", 2), public("cleo", 3)];
    SignerSet { keys, threshold: 1, weakening_threshold: 2 }
}

fn trust() -> Trust {
    Trust { fleet: "acme".to_owned(), signers: signers(), since: 0 }
}

fn manifest(version: u64) -> BundleManifest {
    BundleManifest {
        fleet: "acme".to_owned(),
        version,
        min_version: 1,
        not_after: later(),
        when_stale: StaleBehaviour::Keep,
        commit: Some("0123abc".to_owned()),
        signers: signers(),
        approvals: ApprovalSettings::default(),
        files: Vec::new(),
    }
}

fn files(rules: &str) -> BTreeMap<String, String> {
    [("rules/base.yaml".to_owned(), rules.to_owned())].into_iter().collect()
}

fn write(manifest: BundleManifest, files: &BTreeMap<String, String>, by: &[(&str, u8)]) -> Vec<u8> {
    write_after(None, manifest, files, by).encode().unwrap()
}

fn write_after(
    previous: Option<&BundleDraft>,
    manifest: BundleManifest,
    files: &BTreeMap<String, String>,
    by: &[(&str, u8)],
) -> BundleDraft {
    let mut draft = BundleDraft::new(manifest, files, previous).unwrap();
    for (name, seed) in by {
        draft.sign(name, &key(*seed)).unwrap();
    }
    draft
}

fn open(bytes: &[u8]) -> Result<Bundle, BundleError> {
    Bundle::open(bytes, &trust())
}

fn update(old: Option<&Bundle>, new: &Bundle) -> Result<UpdatePlan, BundleError> {
    let newest = old.map_or(0, |bundle| bundle.manifest.version);
    check_update(new, &InForce { bundle: old, newest, minimum: 0 }, now())
}

#[test]
fn a_signed_bundle_is_read_as_it_was_written() {
    let bytes = write(manifest(7), &files(DENY), &[("ann", 1)]);
    let bundle = open(&bytes).unwrap();
    assert_eq!(bundle.manifest.version, 7);
    assert_eq!(bundle.files, files(DENY));
    assert!(bundle.signed_by.iter().eq(["ann"]));
    assert_eq!(bundle.sha256, Bundle::digest(&bytes));
    assert_eq!(Bundle::stated_version(&bytes), Some(7));
    assert!(update(None, &bundle).unwrap().weakening.is_empty());
    assert_eq!(bundle.rules().rules[0].0, "fleet@7/rules/base.yaml");
}

#[test]
fn missing_wrong_and_unknown_signatures_are_refused() {
    let few =
        |bytes: &[u8]| matches!(open(bytes), Err(BundleError::TooFewSignatures { given: 0, needed: 1, .. }));
    assert!(few(&write(manifest(7), &files(DENY), &[])));
    assert!(few(&write(manifest(7), &files(DENY), &[("mallory", 9)])), "an unknown signer");
    assert!(few(&write(manifest(7), &files(DENY), &[("ann", 9)])), "a known name with another key");
    assert!(open(&write(manifest(7), &files(DENY), &[("mallory", 9), ("bob", 2)])).is_ok());
    // The signature of one manifest under another.
    let (one, other) =
        (write(manifest(7), &files(DENY), &[("ann", 1)]), write(manifest(8), &files(DENY), &[]));
    let mut mixed = Container::decode(&other).unwrap();
    mixed.notes[0].signatures = Container::decode(&one).unwrap().notes[0].signatures.clone();
    assert_eq!(open(&mixed.encode().unwrap()), Err(BundleError::BadSignature("ann".to_owned())));
}

#[test]
fn a_signer_counts_once() {
    let bytes = write(manifest(7), &files(ALLOW), &[("ann", 1)]);
    let mut container = Container::decode(&bytes).unwrap();
    let line = container.notes[0].signatures[0].clone();
    container.notes[0].signatures.push(line);
    let bundle = open(&container.encode().unwrap()).unwrap();
    assert_eq!(bundle.signed_by.len(), 1);
    assert!(matches!(update(None, &bundle), Err(BundleError::TooFewSignatures { given: 1, needed: 2, .. })));
    // The same key under two names is not two signers.
    let keys = vec![public("ann", 1), public("annie", 1)];
    let twice = SignerSet { keys, threshold: 1, weakening_threshold: 2 };
    assert_eq!(twice.check(), Err(SignerError::Duplicate("annie".to_owned())));
}

#[test]
fn a_change_that_weakens_protection_needs_more_signatures() {
    let first = open(&write(manifest(1), &files(DENY), &[("ann", 1)])).unwrap();
    let weaker = |by: &[(&str, u8)]| open(&write(manifest(2), &files(ALLOW), by)).unwrap();
    let refused = update(Some(&first), &weaker(&[("ann", 1)])).unwrap_err();
    assert_eq!(refused.kind(), BundleErrorKind::Signature);
    assert_eq!(
        refused.to_string(),
        "signed by 1 of 2 required signers; the change weakens protection: rule `org/make` is an exception, rule \
         `org/terraform` is removed"
    );
    assert_eq!(update(Some(&first), &weaker(&[("ann", 1), ("cleo", 3)])).unwrap().weakening.len(), 2);
    // The same rules again need one signature.
    let again = open(&write(manifest(3), &files(DENY), &[("bob", 2)])).unwrap();
    assert!(update(Some(&first), &again).unwrap().weakening.is_empty());
}

#[test]
fn approvers_profiles_and_staleness_can_weaken_protection() {
    let strict = BundleManifest { when_stale: StaleBehaviour::Deny, ..manifest(1) };
    let first = open(&write(strict.clone(), &files(DENY), &[("ann", 1)])).unwrap();
    let changes = |manifest: BundleManifest, extra: Option<&str>| {
        let mut all = files(DENY);
        all.extend(extra.map(|path| (path.to_owned(), "version: 1\n".to_owned())));
        let bundle =
            open(&write(BundleManifest { version: 2, ..manifest }, &all, &[("ann", 1), ("bob", 2)])).unwrap();
        let changes = find_changes(Some(&first), &bundle, now()).unwrap();
        changes.iter().map(ToString::to_string).collect::<Vec<_>>()
    };
    assert!(changes(strict.clone(), None).is_empty());
    let keys = vec![public("olga", 8)];
    let approvals = ApprovalSettings { keys, replaces_code: true };
    assert_eq!(
        changes(BundleManifest { approvals, ..strict.clone() }, None),
        ["approver `olga` is added", "signed answers replace codes"]
    );
    assert_eq!(changes(strict.clone(), Some("profiles/cargo.yaml")), ["sandbox profile `cargo` differs"]);
    let keep = BundleManifest { when_stale: StaleBehaviour::Keep, ..strict.clone() };
    assert_eq!(changes(keep, None), ["a stale policy restricts less"]);
    let later = BundleManifest { not_after: Timestamp::from_unix_ms(later().unix_ms() + 1), ..strict };
    assert!(changes(later, None).is_empty(), "a renewed bundle is valid for longer");
}

#[test]
fn versions_only_rise() {
    let at = |version, min_version| {
        open(&write(BundleManifest { min_version, ..manifest(version) }, &files(DENY), &[("ann", 1)]))
            .unwrap()
    };
    let old = at(2, 1);
    let in_force = |minimum, newest| InForce { bundle: Some(&old), newest, minimum };
    let not_newer = |version, accepted| Err(BundleError::NotNewer { version, accepted });
    assert_eq!(check_update(&at(6, 1), &in_force(0, 7), now()), not_newer(6, 7));
    assert_eq!(check_update(&at(7, 1), &in_force(0, 7), now()), not_newer(7, 7));
    assert_eq!(check_update(&at(8, 5), &in_force(3, 7), now()).unwrap().minimum, 5);
    assert_eq!(
        check_update(&at(8, 1), &in_force(3, 7), now()).unwrap().minimum,
        3,
        "the minimum does not fall"
    );
    let withdrawn = check_update(&at(8, 1), &in_force(9, 7), now());
    assert_eq!(withdrawn, Err(BundleError::Withdrawn { version: 8, minimum: 9 }));
}

#[test]
fn a_bundle_after_a_lost_one_needs_the_signatures_of_a_weakening_change() {
    let new = |by: &[(&str, u8)]| open(&write(manifest(8), &files(DENY), by)).unwrap();
    let lost = InForce { bundle: None, newest: 7, minimum: 0 };
    let refused = check_update(&new(&[("ann", 1)]), &lost, now()).unwrap_err();
    assert!(refused.to_string().contains("the policy in force is lost"), "{refused}");
    let plan = check_update(&new(&[("ann", 1), ("bob", 2)]), &lost, now()).unwrap();
    assert_eq!(plan.weakening, [BundleChange::Lost]);
    let first = InForce { newest: 0, ..lost };
    assert!(check_update(&new(&[("ann", 1)]), &first, now()).is_ok(), "no bundle was accepted before");
}

#[test]
fn an_expired_bundle_and_one_of_another_fleet_are_refused() {
    let past = BundleManifest { not_after: Timestamp::from_unix_ms(now().unix_ms() - 1), ..manifest(7) };
    let bundle = open(&write(past, &files(DENY), &[("ann", 1)])).unwrap();
    assert_eq!(update(None, &bundle).unwrap_err().kind(), BundleErrorKind::Expired);
    let other = BundleManifest { fleet: "beta".to_owned(), ..manifest(7) };
    let refused = open(&write(other, &files(DENY), &[("ann", 1)]));
    assert_eq!(refused, Err(BundleError::OtherFleet("beta".to_owned())));
}

#[test]
fn a_bundle_with_a_rule_that_cannot_be_used_is_refused() {
    for (text, message) in [
        ("version: 1\nrules:\n  - {id: a, match: {shel: {}}, verdict: deny}\n", "rules/base.yaml:3"),
        (
            "version: 1\nrules:\n  - {id: fleet-policy-stale, match: {tool: shell}, verdict: deny}\n",
            "reserved",
        ),
        ("version: 1\nrules:\n  - {id: guard-files, match: {tool: shell}, verdict: deny}\n", "already used"),
        (
            "version: 1\nrules:\n  - {id: a, match: {shell: {program: x}}, verdict: allow, overrides: guard-files}\n",
            "locked",
        ),
    ] {
        let bundle = open(&write(manifest(7), &files(text), &[("ann", 1), ("bob", 2)])).unwrap();
        let refused = update(None, &bundle).unwrap_err();
        assert!(matches!(&refused, BundleError::Rules(text) if text.contains(message)), "{refused}");
    }
}

#[test]
fn the_signers_change_only_with_the_signatures_of_the_old_ones() {
    let next =
        SignerSet { keys: vec![public("dora", 4), public("emil", 5)], threshold: 1, weakening_threshold: 2 };
    let first = write_after(None, manifest(1), &files(DENY), &[("ann", 1)]);
    let changed = BundleManifest { signers: next.clone(), ..manifest(2) };
    let one = write_after(Some(&first), changed.clone(), &files(DENY), &[("ann", 1)]);
    assert!(matches!(open(&one.encode().unwrap()), Err(BundleError::TooFewSignatures { needed: 2, .. })));
    let second = write_after(Some(&first), changed, &files(DENY), &[("ann", 1), ("bob", 2)]);
    let opened = open(&second.encode().unwrap()).unwrap();
    assert_eq!(opened.trust().signers, next);
    // A machine that trusts only the first keys follows the change; the old keys are no longer enough.
    let third = BundleManifest { signers: next.clone(), ..manifest(3) };
    let by_new = write_after(Some(&second), third.clone(), &files(DENY), &[("dora", 4)]).encode().unwrap();
    assert_eq!(open(&by_new).unwrap().manifest.version, 3);
    assert_eq!(Bundle::open(&by_new, &opened.trust()).unwrap().manifest.version, 3);
    let by_old = write_after(Some(&second), third.clone(), &files(DENY), &[("ann", 1), ("bob", 2)]);
    assert!(matches!(open(&by_old.encode().unwrap()), Err(BundleError::TooFewSignatures { given: 0, .. })));
    // Former keys cannot start another chain on a machine that knows the new ones.
    let forged = write(manifest(9), &files(ALLOW), &[("ann", 1), ("bob", 2), ("cleo", 3)]);
    let refused = Bundle::open(&forged, &opened.trust());
    assert!(matches!(refused, Err(BundleError::TooFewSignatures { given: 0, .. })));
    // Without the change in between, the new keys are unknown.
    let lone = write(third, &files(DENY), &[("dora", 4)]);
    assert!(matches!(open(&lone), Err(BundleError::TooFewSignatures { given: 0, .. })));
}

#[test]
fn sizes_are_limited_before_anything_is_decompressed() {
    let too_large = vec![0; MAX_BUNDLE_BYTES + 1];
    assert!(matches!(open(&too_large), Err(BundleError::TooLarge { .. })));
    // Eight megabytes of zeros in a few bytes: the manifest states how much is read.
    let bytes = write(manifest(7), &files(DENY), &[("ann", 1)]);
    let mut container = Container::decode(&bytes).unwrap();
    container.payload = ruzstd::encoding::compress_to_vec(
        std::io::Read::take(std::io::repeat(0), 8 << 20),
        ruzstd::encoding::CompressionLevel::Fastest,
    );
    assert!(container.payload.len() < 64 << 10);
    let refused = open(&container.encode().unwrap()).unwrap_err();
    assert_eq!(refused.kind(), BundleErrorKind::Invalid);
    // A length that is longer than the bundle.
    let mut long = bytes.clone();
    long[9..13].copy_from_slice(&u32::MAX.to_be_bytes());
    assert!(matches!(open(&long), Err(BundleError::Form(_))));
    let draft = |size: usize| BundleDraft::new(manifest(7), &files(&"a".repeat(size)), None);
    assert!(matches!(draft(600 << 10), Err(BundleError::Manifest(_))));
    assert!(matches!(open(&bytes[..bytes.len() - 1]), Err(BundleError::Form("truncated"))));
    assert!(matches!(open(&[&bytes[..], b"x"].concat()), Err(BundleError::Form("bytes after the end"))));
}

#[test]
fn a_manifest_has_one_form_and_its_files_have_one_place() {
    let bytes = write(manifest(7), &files(DENY), &[]);
    let respelled = |from: &str, to: &str| {
        let mut container = Container::decode(&bytes).unwrap();
        let text = container.notes[0].text.replacen(from, to, 1);
        assert_ne!(text, container.notes[0].text);
        container.notes[0].text = text;
        open(&container.encode().unwrap()).unwrap_err().kind()
    };
    for (from, to) in [
        ("\"version\":7", "\"version\": 7"),
        ("\"version\":7", "\"version\":7,\"more\":1"),
        ("\"version\":7", "\"version\":0"),
        ("\"min_version\":1", "\"min_version\":8"),
        ("rules/base.yaml", "rules/../x.yaml"),
        ("rules/base.yaml", "/etc/base.yaml"),
        ("rules/base.yaml", "rules/base.txt"),
        ("\"threshold\":1", "\"threshold\":0"),
        ("\"weakening_threshold\":2", "\"weakening_threshold\":4"),
        ("tenterhook-policy-bundle/1", "tenterhook-policy-bundle/2"),
    ] {
        assert_eq!(respelled(from, to), BundleErrorKind::Invalid, "{to}");
    }
}

#[test]
fn a_file_that_differs_from_the_manifest_is_refused() {
    let bytes = write(manifest(7), &files(DENY), &[("ann", 1)]);
    let mut container = Container::decode(&bytes).unwrap();
    container.payload = payload::compress(&files(&DENY.replace("terraform", "terrafarm")));
    let refused = open(&container.encode().unwrap());
    assert_eq!(refused, Err(BundleError::File("rules/base.yaml".to_owned())));
}

#[test]
fn a_stale_bundle_does_what_its_manifest_says() {
    use tenterhook_event::{Decision, Event, EventId, EventKind, ToolCall};
    let verdict = |behaviour: StaleBehaviour, at: u64| {
        let manifest = BundleManifest { when_stale: behaviour, ..manifest(7) };
        let bundle = open(&write(manifest, &files(DENY), &[("ann", 1)])).unwrap();
        let BundleRules { rules, .. } = bundle.rules();
        let sources: Vec<_> = rules
            .iter()
            .map(|(name, text)| tenterhook_policy::RuleSource {
                name,
                text,
                layer: tenterhook_policy::SourceLayer::Organisation,
                trusted: true,
            })
            .collect();
        let loaded = tenterhook_policy::RuleSet::load(&sources);
        assert!(loaded.problems.is_empty(), "{:?}", loaded.problems);
        let rules = loaded.rules;
        let (id, ts) = (EventId::from_parts(1, 2), Timestamp::from_unix_ms(at));
        let mut event = Event::new(id, ts, "claude-code", EventKind::PreTool, "PreToolUse");
        event.tool = Some(ToolCall::new("Bash", serde_json::json!({"command": "ls"})));
        let facts = tenterhook_policy::facts(&event, &tenterhook_policy::EvalEnvironment::default());
        let state = tenterhook_policy::SessionState::default();
        let found = tenterhook_policy::judge(&event, &facts, &state, &rules).findings;
        found.iter().map(|finding| finding.decision).max().unwrap_or_default()
    };
    for (behaviour, stale) in [
        (StaleBehaviour::Keep, Decision::None),
        (StaleBehaviour::Ask, Decision::Ask),
        (StaleBehaviour::Deny, Decision::Deny),
    ] {
        assert_eq!(verdict(behaviour, later().unix_ms()), Decision::None);
        assert_eq!(verdict(behaviour, later().unix_ms() + 1), stale);
    }
}

fn any_files() -> impl Strategy<Value = BTreeMap<String, String>> {
    let path = ("rules|profiles|programs", "[a-z0-9_-]{1,12}")
        .prop_map(|(kind, name)| format!("{kind}/{name}.yaml"));
    proptest::collection::btree_map(path, "\\PC{0,200}", 0..6)
}

proptest! {
    #[test]
    fn every_bundle_is_read_back(files in any_files(), version in 1_u64..1_000_000) {
        let manifest = BundleManifest { min_version: 1, ..manifest(version) };
        let bundle = open(&write(manifest, &files, &[("bob", 2)])).unwrap();
        prop_assert_eq!(bundle.files, files);
        prop_assert_eq!(bundle.manifest.version, version);
    }

    #[test]
    fn a_changed_byte_never_changes_what_is_accepted(at in any::<prop::sample::Index>(), bit in 0..8_u32) {
        let mut bytes = write(manifest(7), &files(DENY), &[("ann", 1)]);
        let before = open(&bytes).unwrap();
        let at = at.index(bytes.len());
        bytes[at] ^= 1 << bit;
        if let Ok(after) = open(&bytes) {
            prop_assert_eq!((after.manifest, after.files), (before.manifest, before.files));
        }
    }

    #[test]
    fn no_bytes_make_the_reader_fail_in_another_way(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
        prop_assert!(open(&bytes).is_err());
        prop_assert!(open(&[b"THBUNDL1", &bytes[..]].concat()).is_err());
    }
}
