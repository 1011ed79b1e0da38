// SPDX-License-Identifier: Apache-2.0 OR MIT

//! A machine that is part of a fleet, and the keys of its signers and approvers. No server is needed: a bundle and an
//! answer carry their own proof.

use std::collections::BTreeMap;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ed25519_dalek::SigningKey;
use serde_json::{Value, json};
use tenterhook_event::Timestamp;
use tenterhook_fleet_bundle::{ApprovalSettings, BundleDraft, BundleManifest, SignerSet, StaleBehaviour};
use tenterhook_fleet_protocol::{
    AnswerDecision, ApprovalRequest, ApproverKey, InstanceId, MachineId, NkeyKind, NkeyPair, SignedAnswer,
};
use tenterhook_fleet_state::FleetEnrolment;
use tenterhook_ledger::VerifierKey;

use crate::context::TestContext;

/// Rules of the fleet `acme`.
pub(crate) const FLEET_RULES: &str = "version: 1\nrules:\n  - {id: org/deploy, locked: true, match: {shell: {program: deploy}}, verdict: deny, reason: deployments run in the pipeline}\n  - {id: org/make, match: {shell: {program: make}}, verdict: ask, reason: people make things}\n";

/// Ann and Bob sign the policy. One of them suffices, unless the change weakens protection.
const SIGNERS: [(&str, u8); 2] = [("ann", 1), ("bob", 2)];
/// Seed of the approver's key.
const OLGA: u8 = 8;

/// What a test changes about a bundle.
pub(crate) struct BundleSpec<'a> {
    pub(crate) version: u64,
    pub(crate) rules: &'a str,
    pub(crate) signed_by: &'a [&'a str],
    pub(crate) when_stale: StaleBehaviour,
    pub(crate) not_after: u64,
    pub(crate) replaces_code: bool,
}

impl Default for BundleSpec<'_> {
    fn default() -> Self {
        Self {
            version: 1,
            rules: FLEET_RULES,
            signed_by: &["ann", "bob"],
            when_stale: StaleBehaviour::Keep,
            not_after: 4_000_000_000_000,
            replaces_code: false,
        }
    }
}

impl BundleSpec<'_> {
    pub(crate) fn bytes(&self) -> Vec<u8> {
        let approver = ApproverKey::from_seed("olga", &[OLGA; 32]).unwrap();
        let keys = SIGNERS.iter().map(|(name, seed)| public(name, *seed)).collect();
        let manifest = BundleManifest {
            fleet: "acme".to_owned(),
            version: self.version,
            min_version: 1,
            not_after: Timestamp::from_unix_ms(self.not_after),
            when_stale: self.when_stale,
            commit: Some("0123abc".to_owned()),
            signers: SignerSet { keys, threshold: 1, weakening_threshold: 2 },
            approvals: ApprovalSettings {
                keys: vec![approver.public().to_string()],
                replaces_code: self.replaces_code,
            },
            files: Vec::new(),
        };
        let files: BTreeMap<_, _> = [
            ("rules/base.yaml".to_owned(), self.rules.to_owned()),
            ("programs/acme.yaml".to_owned(), "acme-purge:\n  operands: delete...\n".to_owned()),
        ]
        .into_iter()
        .collect();
        let mut draft = BundleDraft::new(manifest, &files, None).unwrap();
        for (name, seed) in SIGNERS.iter().filter(|(name, _)| self.signed_by.contains(name)) {
            draft.sign(name, &SigningKey::from_bytes(&[*seed; 32])).unwrap();
        }
        draft.encode().unwrap()
    }

    /// Request that delivers the bundle to the daemon.
    pub(crate) fn request(&self) -> Value {
        bundle_request(&self.bytes())
    }
}

pub(crate) fn bundle_request(bytes: &[u8]) -> Value {
    json!({"bundle": STANDARD.encode(bytes)})
}

fn public(name: &str, seed: u8) -> String {
    VerifierKey::ed25519(name, SigningKey::from_bytes(&[seed; 32]).verifying_key()).unwrap().to_string()
}

pub(crate) fn machine_id(seed: u8) -> MachineId {
    MachineId::of_key(&NkeyPair::from_seed(NkeyKind::User, &[seed; 32]).public())
}

/// Enrols the machine of a test in the fleet `acme`.
pub(crate) fn join_fleet(test: &TestContext) {
    let enrolment = FleetEnrolment {
        v: 1,
        server: "https://fleet.example".to_owned(),
        server_ca: None,
        machine: machine_id(7),
        tenant: "acme".to_owned(),
        instance_seed: InstanceId([1; 16]),
        origin: "o".to_owned(),
        witness: String::new(),
        policy_keys: SIGNERS.iter().map(|(name, seed)| public(name, *seed)).collect(),
        policy_threshold: 1,
        joined: 0,
        ephemeral: false,
        program: "/nonexistent/tenterhook-fleet".into(),
    };
    test.write("home/fleet/enrolment.json", &serde_json::to_string(&enrolment).unwrap());
    let home = tenterhook_home::Home::in_dir(test.home());
    tenterhook_home::FleetPolicy::confirm_enrolment(&home, &enrolment, true).unwrap();
}

/// An answer of the approver Olga to an approval as the daemon lists it.
pub(crate) fn sign_answer(
    machine: MachineId,
    approval: &Value,
    decision: AnswerDecision,
    seconds: u64,
) -> SignedAnswer {
    sign_answer_as(("olga", OLGA), machine, approval, decision, seconds)
}

pub(crate) fn sign_answer_as(
    (name, seed): (&str, u8),
    machine: MachineId,
    approval: &Value,
    decision: AnswerDecision,
    seconds: u64,
) -> SignedAnswer {
    let listed: tenterhook_api::Approval = serde_json::from_value(approval.clone()).unwrap();
    let now = tenterhook_home::call_meta::now_ms() / 1000;
    let request = ApprovalRequest {
        machine,
        approval: listed.id.to_string(),
        call: listed.call_text(),
        expires: 0,
        closed: false,
    };
    ApproverKey::from_seed(name, &[seed; 32]).unwrap().answer(&request, decision, now + seconds)
}
