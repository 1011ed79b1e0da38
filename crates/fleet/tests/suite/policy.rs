// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Policy and approvals from the operator's command to a real daemon, over real engines.

use std::path::PathBuf;
use std::time::Duration;

use async_nats::jetstream;
use serde_json::{Value, json};
use tenterhook_fleet_protocol::{AnswerDecision, ApprovalRequest, ApproverKey, Mailbox, Subject};
use tenterhook_fleet_server::FleetKeys;
use tenterhook_test_support::wait_until;

use crate::guarded_machine::GuardedMachine;
use crate::trial::Trial;

const RULES: &str = "version: 1\nrules:\n  - {id: org/deploy, match: {shell: {program: deploy}}, verdict: deny}\n  - {id: org/make, match: {shell: {program: make}}, verdict: ask}\n";

/// A trial with signers, an approver, and a directory with the policy.
struct PolicyTrial {
    trial: Trial,
}

impl PolicyTrial {
    fn start() -> Option<Self> {
        let own = Self { trial: Trial::start(&["default"], &[])? };
        let keys: Vec<String> = ["ann", "bob", "olga"].iter().map(|name| own.create_key(name)).collect();
        own.trial.json(&["policy", "signers", &keys[0], &keys[1], "--threshold", "1"]);
        std::fs::create_dir_all(own.path("policy/rules")).unwrap();
        let settings =
            format!("valid_for: 30d\napprovals:\n  keys: [\"{}\"]\n  replaces_code: false\n", keys[2]);
        std::fs::write(own.path("policy/fleet.yaml"), settings).unwrap();
        own.write_rules(RULES);
        Some(own)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.trial.dir.path().join(name)
    }

    fn text(&self, name: &str) -> String {
        self.path(name).display().to_string()
    }

    fn create_key(&self, name: &str) -> String {
        let created = self.trial.json_unsigned(&["key", "sign", name, "--out", &self.text(name)]);
        created["public_key"].as_str().unwrap().to_owned()
    }

    fn write_rules(&self, rules: &str) {
        std::fs::write(self.path("policy/rules/base.yaml"), rules).unwrap();
    }

    /// Signs the directory as the next version. Returns the version.
    fn push(&self, signers: &[&str]) -> u64 {
        let mut arguments = vec!["policy".to_owned(), "push".to_owned(), self.text("policy")];
        for signer in signers {
            arguments.extend(["--sign".to_owned(), self.text(signer)]);
        }
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        self.trial.json(&arguments)["bundle"]["version"].as_u64().unwrap()
    }

    fn rollout(&self, version: u64, more: &[&str]) {
        let version = version.to_string();
        self.trial.json(&[&["policy", "rollout", &version], more].concat());
    }

    fn stage(&self) -> Value {
        let status = self.trial.json(&["policy", "status"]);
        status["rollouts"][0]["rollout"]["stage"].clone()
    }

    fn wait_for_stage(&self, stage: &str) -> Value {
        wait_until(&format!("the stage {stage}"), || {
            std::thread::sleep(Duration::from_millis(100));
            (self.stage() == stage).then(|| self.trial.json(&["policy", "status"]))
        })
    }
}

#[test]
fn a_policy_reaches_a_machine_and_a_candidate_that_denies_too_much_stops() {
    let Some(own) = PolicyTrial::start() else { return };
    let Some(machine) = GuardedMachine::join(&own.trial, &own.trial.token("default", 1)) else { return };
    for number in 0..40 {
        let command = if number < 4 { format!("publish {number}") } else { format!("echo {number}") };
        assert!(!machine.call(&command));
    }
    let first = own.push(&["ann", "bob"]);
    assert_eq!(first, 1);
    own.rollout(first, &[]);
    machine.wait_for_policy(1);
    let status = own.wait_for_stage("active");
    assert_eq!(status["rollouts"][0]["replay"]["reported"], 1, "it was replayed first: {status}");
    assert!(machine.call("deploy now"), "the rules of the fleet apply");
    assert_eq!(machine.changes("fleet policy accepted").len(), 1);
    // About a tenth of the calls would be denied in addition.
    own.write_rules(&format!(
        "{RULES}  - {{id: org/publish, match: {{shell: {{program: publish}}}}, verdict: deny}}\n"
    ));
    let second = own.push(&["ann"]);
    own.rollout(second, &["--max-newly-denied", "5"]);
    let status = own.wait_for_stage("stopped");
    let reason = status["rollouts"][0]["rollout"]["reason"].as_str().unwrap();
    assert!(reason.contains("would deny 4 of"), "{reason}");
    assert_eq!(machine.policy_version(), 1, "the candidate was never in force");
    let alerts = own.trial.json(&["alerts"]);
    assert!(alerts.to_string().contains("rollout-stopped"), "{alerts}");
    // The status of the machine has counts and no call.
    let machines = own.trial.json(&["machines"]);
    let report = &machines["machines"][0]["status"]["bundle"];
    assert!(report["backtest"].as_object().unwrap().values().all(Value::is_u64), "{report}");
    // A rollback is the older content under a new version.
    own.rollout(second, &["--skip-replay"]);
    machine.wait_for_policy(2);
    assert!(machine.call("publish now"));
    let signers = [own.text("ann"), own.text("bob")];
    let rollback =
        ["policy", "rollback", "1", "--ring", "default", "--sign", &signers[0], "--sign", &signers[1]];
    own.trial.json(&rollback);
    machine.wait_for_policy(3);
    assert!(!machine.call("publish now") && machine.call("deploy now"));
    // Machines never go back.
    let refused = own.trial.run_as("default", &["policy", "rollout", "2"]);
    assert!(!refused.status.success());
    own.trial.json(&["policy", "halt", "default"]);
    assert_eq!(own.stage(), "halted");
}

#[test]
fn a_bundle_that_only_the_server_vouches_for_is_refused_recorded_and_reported() {
    let Some(own) = PolicyTrial::start() else { return };
    let Some(machine) = GuardedMachine::join(&own.trial, &own.trial.token("default", 1)) else { return };
    let first = own.push(&["ann", "bob"]);
    own.rollout(first, &["--skip-replay"]);
    machine.wait_for_policy(1);
    // Too few signatures are refused by the command and by the server already.
    own.write_rules("version: 1\nrules: []\n");
    let arguments = ["policy", "push", &own.text("policy"), "--sign", &own.text("ann")];
    let refused = own.trial.run_as("default", &arguments);
    assert!(!refused.status.success());
    assert!(String::from_utf8_lossy(&refused.stderr).contains("signed by 1 of 2 signers"), "{refused:?}");
    // An attacker that controls the server and its database can offer any bytes.
    let out = own.text("weak.thb");
    own.trial.json(&["policy", "push", &own.text("policy"), "--sign", &own.text("ann"), "--out", &out]);
    let bytes = std::fs::read(&out).unwrap();
    let hex = bytes.iter().fold(String::new(), |hex, byte| hex + &format!("{byte:02x}"));
    let digest = tenterhook_fleet_bundle::Bundle::digest(&bytes);
    own.trial.query(&format!(
        "insert into policy_bundles (tenant, version, sha256, min_version, not_after, signed_by, bytes, pushed_by) \
         values ('default', 2, '{digest}', 1, now() + interval '1 day', '{{ann,bob}}', '\\x{hex}', 'thief')"
    ));
    own.rollout(2, &["--skip-replay"]);
    let alert = own.trial.wait_for_alert(&machine.id, "policy-refused");
    assert_eq!(alert["detail"]["version"], 2, "{alert}");
    assert!(alert["detail"]["reason"].as_str().unwrap().contains("signed by 1 of 2"), "{alert}");
    let recorded = machine.changes("fleet policy refused");
    assert_eq!((recorded.len(), &recorded[0]["detail"]["kind"]), (1, &json!("signature")));
    assert_eq!(machine.policy_version(), 1);
    assert!(machine.call("deploy now"), "the policy before stays in force");
}

#[test]
fn an_approver_answers_from_another_computer_and_a_stolen_server_cannot() {
    let Some(own) = PolicyTrial::start() else { return };
    let Some(machine) = GuardedMachine::join(&own.trial, &own.trial.token("default", 1)) else { return };
    let first = own.push(&["ann", "bob"]);
    own.rollout(first, &["--skip-replay"]);
    machine.wait_for_policy(1);
    std::thread::scope(|scope| {
        let call = scope.spawn(|| machine.call("make all"));
        let approval = machine.waiting_approval();
        let id = approval["id"].as_str().unwrap().to_owned();
        let listed = wait_until("the approval reaches the server", || {
            std::thread::sleep(Duration::from_millis(100));
            let listed = own.trial.json(&["approve"]);
            listed["approvals"].get(0).cloned()
        });
        assert_eq!(listed["approval"], id.as_str());
        // The call is shown from its signed text.
        let shown = own.trial.run_as("default", &["approve", &id]);
        let shown = String::from_utf8_lossy(&shown.stdout).into_owned();
        assert!(shown.contains("make all") && shown.contains("rule:org/make"), "{shown}");
        // The thief of the server has its database, its keys and the message bus, but no approver's key.
        let forged = forged_answer(&listed, "olga");
        let keys = FleetKeys::load(&own.trial.state().join("keys")).unwrap();
        let mailbox =
            Mailbox::derive(&keys.accounts("default").unwrap().machines, &machine.id.parse().unwrap());
        publish_as_server(&own.trial, &Subject::Answer(&mailbox).to_string(), &forged);
        wait_until("the forged answer is refused", || (!machine.changes("refused").is_empty()).then_some(()));
        let refused = machine.changes("refused");
        assert!(refused[0]["detail"]["why"].as_str().unwrap().contains("signature"), "{refused:?}");
        assert_eq!(machine.waiting_approval()["id"], id.as_str(), "the call still waits");
        // A call that the server altered is not signed for what the machine would run.
        let alter = |from: &str, to: &str| {
            own.trial.query(&format!(
                "update approvals set call = replace(call, '{from}', '{to}'), answered = null where approval = '{id}'"
            ));
            own.trial.query(&format!(
                "update approvals set digest = encode(sha256(convert_to(E'tenterhook-call/1\\n' || call, 'UTF8')), 'hex') \
                 where approval = '{id}'"
            ));
        };
        alter("make all", "make tea");
        own.trial.json(&["approve", &id, "--sign", &own.text("olga"), "--yes"]);
        wait_until("the altered call is refused", || (machine.changes("refused").len() == 2).then_some(()));
        let refused = machine.changes("refused");
        assert!(refused[1]["detail"]["why"].as_str().unwrap().contains("for another call"), "{refused:?}");
        assert_eq!(machine.waiting_approval()["id"], id.as_str());
        alter("make tea", "make all");
        // The server refuses the answer of a key that is not an approver's, and the call still waits.
        own.trial.json_unsigned(&["key", "sign", "mallory", "--out", &own.text("mallory")]);
        let stranger =
            own.trial.run_as("default", &["approve", &id, "--sign", &own.text("mallory"), "--yes"]);
        assert_eq!(stranger.status.code(), Some(1));
        let text = String::from_utf8_lossy(&stranger.stderr).into_owned();
        assert!(text.contains("`mallory` is not an approver in the policy in force"), "{text}");
        assert_eq!(own.trial.json(&["approve"])["approvals"][0]["approval"], id.as_str());
        own.trial.json(&["approve", &id, "--sign", &own.text("olga"), "--yes"]);
        assert!(!call.join().unwrap(), "the call was approved");
        let recorded = machine.changes("approve");
        assert_eq!(recorded[0]["detail"]["authority"]["approver"], "olga");
        // The same answer again, from the stream in which it is stored.
        let again = own.trial.run_as("default", &["approve", &id, "--sign", &own.text("olga"), "--yes"]);
        assert!(!again.status.success(), "it does not wait any more");
    });
}

/// An answer that names the approver and is signed with another key.
fn forged_answer(listed: &Value, approver: &str) -> Vec<u8> {
    let request = ApprovalRequest {
        machine: listed["machine"].as_str().unwrap().parse().unwrap(),
        approval: listed["approval"].as_str().unwrap().to_owned(),
        call: listed["call"].as_str().unwrap().to_owned(),
        expires: 0,
        closed: false,
    };
    let key = ApproverKey::from_seed(approver, &[66; 32]).unwrap();
    serde_json::to_vec(&key.answer(&request, AnswerDecision::Allow, crate::machine::now() + 300)).unwrap()
}

/// Publishes with the keys of the server.
fn publish_as_server(trial: &Trial, subject: &str, payload: &[u8]) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let client = trial.server_bus().await;
        // The context waits for the answer, so it is kept.
        let context = jetstream::new(client);
        let stored = context.publish(subject.to_owned(), payload.to_vec().into()).await.unwrap();
        stored.await.unwrap();
    });
}
