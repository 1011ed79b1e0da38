// SPDX-License-Identifier: Apache-2.0 OR MIT

//! What machines and tenants can reach, and which tokens are accepted.

use std::time::Duration;

use futures_util::StreamExt as _;
use serde_json::Value;
use tenterhook_fleet_protocol::{EnrolRequest, InstanceId, LeaveRequest, StreamName, Subject};

use crate::machine::{Machine, block_on, enrol_request, now, post};
use crate::trial::Trial;

#[test]
fn a_machine_reaches_only_its_own_subjects_and_a_tenant_sees_nothing_of_another() {
    let Some(trial) = Trial::start(&["default", "labs"], &[]) else { return };
    let url = trial.url();
    let (first, labs) = (trial.token("default", 2), trial.token("labs", 1));
    let ids = block_on(async {
        let mut alice = Machine::join(&url, &first, 1).await;
        let mut bob = Machine::join(&url, &first, 2).await;
        let mut other = Machine::join(&url, &labs, 3).await;
        bob.records.add(10, "b");
        bob.upload(0, 5).await;
        let own = bob.get_last(StreamName::Evidence(bob.id.partition()), &Subject::Evidence(&bob.id)).await;
        assert!(own.is_some(), "a machine reads its own last message");

        // Alice cannot read what Bob wrote, nor what is for him.
        let evidence = StreamName::Evidence(bob.id.partition());
        assert!(alice.get_last(evidence, &Subject::Evidence(&bob.id)).await.is_none());
        assert!(alice.get_last(StreamName::Cosign, &Subject::Cosign(bob.mailbox())).await.is_none());
        let mut overheard = Vec::new();
        for subject in [
            "th.>",
            ">",
            "th.cmd.*",
            &Subject::Command(bob.mailbox()).to_string(),
            &Subject::Answer(bob.mailbox()).to_string(),
        ] {
            overheard.push(alice.nats.subscribe(subject.to_owned()).await.unwrap());
        }
        // Alice cannot publish as Bob, answer for him or change streams.
        let batch = bob.batch(5, 5).encode().unwrap();
        for subject in [
            Subject::Evidence(&bob.id).to_string(),
            Subject::Status(&bob.id).to_string(),
            Subject::Answer(bob.mailbox()).to_string(),
            Subject::Answer(alice.mailbox()).to_string(),
            Subject::Cosign(alice.mailbox()).to_string(),
            Subject::Command(bob.mailbox()).to_string(),
            "th.pol.default".to_owned(),
        ] {
            alice.nats.publish(subject, batch.clone().into()).await.unwrap();
        }
        for request in
            ["$JS.API.STREAM.DELETE.EV_0", "$JS.API.STREAM.INFO.EV_0", "$JS.API.CONSUMER.LIST.EV_0"]
        {
            let answer =
                tokio::time::timeout(Duration::from_millis(500), alice.nats.request(request, "".into()))
                    .await;
            assert!(!matches!(answer, Ok(Ok(_))), "{request}");
        }
        // Bob publishes after his own message: nothing else is on his subject.
        let sequence = bob.last_sequence;
        assert!(bob.upload(5, 5).await > sequence);
        // A gap makes the server send a command to Bob, which Alice must not see.
        let mut commands = bob.nats.subscribe(Subject::Command(bob.mailbox()).to_string()).await.unwrap();
        bob.nats.flush().await.unwrap();
        bob.records.add(10, "b");
        bob.upload(15, 5).await;
        let command = tokio::time::timeout(Duration::from_secs(20), commands.next()).await;
        assert!(command.is_ok_and(|command| command.is_some()));
        for mut subscription in overheard {
            let heard = tokio::time::timeout(Duration::from_millis(100), subscription.next()).await;
            assert!(!matches!(heard, Ok(Some(_))), "{heard:?}");
        }
        // The other tenant has streams of its own.
        other.records.add(3, "c");
        other.upload(0, 3).await;
        alice.records.add(4, "a");
        alice.upload(0, 4).await;
        (alice.id.to_string(), bob.id.to_string(), other.id.to_string())
    });
    trial.wait_for_records("default", &ids.0, 4);
    trial.wait_for_records("default", &ids.1, 10);
    trial.wait_for_records("labs", &ids.2, 3);
    let names = |rows: &Value| -> Vec<String> {
        rows["machines"]
            .as_array()
            .unwrap()
            .iter()
            .map(|row| row["machine"].as_str().unwrap().to_owned())
            .collect()
    };
    assert_eq!(names(&trial.json_as("labs", &["machines"])), std::slice::from_ref(&ids.2));
    assert!(!names(&trial.json(&["machines"])).contains(&ids.2));
    assert!(trial.json_as("labs", &["decisions"])["decisions"].as_array().unwrap().is_empty());
}

/// Returns the sequence number of the last message on a machine's subject.
async fn last_sequence(machine: &Machine) -> u64 {
    let stream = StreamName::Evidence(machine.id.partition());
    let last = machine.get_last(stream, &Subject::Evidence(&machine.id)).await.unwrap();
    last.headers.unwrap().get("Nats-Sequence").unwrap().as_str().parse().unwrap()
}

#[test]
fn answers_to_a_machines_requests_reach_neither_streams_nor_other_machines() {
    let Some(trial) = Trial::start(&["default"], &[]) else { return };
    let (url, token) = (trial.url(), trial.token("default", 2));
    let (alice, bob) = block_on(async {
        let mut alice = Machine::join(&url, &token, 1).await;
        let mut bob = Machine::join(&url, &token, 2).await;
        bob.records.add(10, "b");
        bob.upload(0, 5).await;
        let (commands, answers) = (Subject::Command(bob.mailbox()), Subject::Answer(bob.mailbox()));
        let mut heard = bob.nats.subscribe(commands.to_string()).await.unwrap();
        let mut answered = bob.nats.subscribe(answers.to_string()).await.unwrap();
        bob.nats.flush().await.unwrap();
        // The content of Alice's own last message is hers to choose, and the message bus sends it as an answer.
        let own = Subject::Evidence(&alice.id).to_string();
        let last =
            StreamName::Evidence(alice.id.partition()).last_message_request(&Subject::Evidence(&alice.id));
        let none = StreamName::Cosign.last_message_request(&Subject::Cosign(alice.mailbox()));
        let status = Subject::Status(&alice.id).to_string();
        let guess = format!("{}.{}", bob.id, "a".repeat(32));
        let targets = (0..8).flat_map(|partition| {
            let verbs = ["PURGE", "DELETE", "UPDATE"];
            verbs.map(|verb| format!("$JS.API.STREAM.{verb}.EV_{partition}"))
        });
        let others = [
            Subject::Evidence(&bob.id).to_string(),
            Subject::Status(&bob.id).to_string(),
            Subject::Ask(&bob.id).to_string(),
            format!("th.cmd.{}", bob.id),
            format!("th.cmd.{guess}"),
            format!("th.ans.{guess}"),
            format!("th.cosign.{guess}"),
            "$JS.API.STREAM.DELETE.COSIGN".to_owned(),
            "$JS.API.STREAM.DELETE.APPROVALS".to_owned(),
            format!("$JS.API.CONSUMER.DELETE.EV_{}.fleet", bob.id.partition()),
            format!("_R_.{}", bob.id),
        ];
        let content = r#"{"command":"resend","from":0}"#;
        for target in targets.chain(others) {
            for payload in ["{}", content] {
                for request in [&own, &last, &none, &status] {
                    let (request, target) = (request.clone(), target.clone());
                    alice.nats.publish_with_reply(request, target, payload.into()).await.unwrap();
                }
            }
        }
        alice.nats.flush().await.unwrap();
        // Nothing was added to Bob's subject or removed from it, and he heard nothing.
        assert_eq!(last_sequence(&bob).await, bob.last_sequence);
        bob.upload(5, 5).await;
        for subscription in [&mut heard, &mut answered] {
            let message = tokio::time::timeout(Duration::from_millis(500), subscription.next()).await;
            assert!(!matches!(message, Ok(Some(_))), "{message:?}");
        }
        alice.records.add(4, "a");
        alice.last_sequence = last_sequence(&alice).await;
        alice.upload(0, 4).await;
        (alice.id.to_string(), bob.id.to_string())
    });
    assert_eq!(trial.wait_for_records("default", &bob, 10)["alerts"], 0);
    trial.wait_for_records("default", &alice, 4);
    // Her own messages were no batches, which is an alert about her.
    trial.wait_for_alert(&alice, "evidence-refused");
}

#[test]
fn tokens_that_are_false_used_up_expired_or_revoked_and_replayed_requests_are_refused() {
    let Some(trial) = Trial::start(&["default"], &[]) else { return };
    let url = trial.url();
    let enrol =
        |request: &EnrolRequest| post(&url, EnrolRequest::PATH, &serde_json::to_value(request).unwrap());
    let refused = |request: &EnrolRequest| {
        let (status, response) = enrol(request);
        assert_eq!(status, 403, "{response}");
        response["error"]["message"].as_str().unwrap().to_owned()
    };
    let token = trial.token("default", 1);
    let unusable = "the enrolment token is unknown, expired, revoked or used up";
    let (mut head, _) = token.rsplit_once('.').unwrap();
    assert_eq!(refused(&enrol_request(&format!("{head}.{}", "A".repeat(43)), 1, 1).0), unusable);
    head = "the1.000000000000.x";
    for false_token in ["", "x", head] {
        assert_eq!(refused(&enrol_request(false_token, 1, 1).0), unusable);
    }
    // The proof of possession covers the token and every field.
    let (request, ..) = enrol_request(&token, 1, 1);
    let other_key =
        EnrolRequest { machine_key: enrol_request(&token, 2, 2).0.machine_key, ..request.clone() };
    let other_host = EnrolRequest { host: "other".to_owned(), ..request.clone() };
    let old = EnrolRequest { time: now() - 1000, ..request.clone() };
    for changed in [&other_key, &other_host, &old] {
        refused(changed);
    }
    assert_eq!(enrol(&request).0, 200);
    assert_eq!(refused(&request), unusable, "a replayed request finds the token used up");

    let created = trial.json(&["token", "create", "--uses", "5"]);
    let (id, token) = (created["id"].as_str().unwrap(), created["token"].as_str().unwrap());
    // Another machine with the same ledger is a copy.
    let copy =
        EnrolRequest { machine_key: enrol_request(token, 9, 9).1.public(), ..enrol_request(token, 1, 9).0 };
    let copy = copy.signed(&enrol_request(token, 9, 9).1);
    assert_eq!(enrol(&copy).0, 409);
    assert!(trial.run_as("default", &["token", "revoke", id]).status.success());
    assert_eq!(refused(&enrol_request(token, 4, 4).0), unusable);
    let short = trial.json(&["token", "create", "--uses", "5", "--expires", "1s"]);
    std::thread::sleep(Duration::from_millis(1200));
    assert_eq!(refused(&enrol_request(short["token"].as_str().unwrap(), 5, 5).0), unusable);
    let stored = trial.query("select * from tokens");
    let secret = token.rsplit('.').next().unwrap();
    assert!(
        stored.iter().flatten().flatten().all(|column| !column.contains(secret)),
        "secrets are stored as hashes"
    );
}

#[test]
fn a_machine_that_left_gets_no_credentials_and_its_key_is_not_taken_by_a_copy() {
    let Some(trial) = Trial::start(&["default"], &[]) else { return };
    let (url, token) = (trial.url(), trial.token("default", 2));
    block_on(async {
        let machine = Machine::join(&url, &token, 1).await;
        assert_eq!(machine.renew(&url, machine.instance).0, 200);
        assert_eq!(machine.renew(&url, InstanceId([9; 16])).0, 403);
        let leave = LeaveRequest::new(&machine.key, now());
        assert_eq!(post(&url, LeaveRequest::PATH, &serde_json::to_value(&leave).unwrap()).0, 200);
        assert_eq!(machine.renew(&url, machine.instance).0, 403);
    });
    let kinds = trial.json(&["alerts"]);
    assert_eq!(kinds["alerts"][0]["kind"], "machine-key-cloned");
    let actions = trial.query("select action from actions order by id");
    let actions: Vec<_> = actions.into_iter().filter_map(|row| row.into_iter().next().flatten()).collect();
    assert_eq!(actions, ["key-add", "sign-in-link", "token-create", "enrol", "leave"]);
    let ledger = tenterhook_ledger::Reader::open(&trial.state().join("server/ledger")).unwrap();
    let recorded = ledger.records_from(0, 100).unwrap();
    let text: String = recorded
        .iter()
        .map(|record| String::from_utf8_lossy(record.bytes.as_deref().unwrap_or_default()).into_owned())
        .collect();
    for action in ["fleet-key-add", "fleet-token-create", "fleet-enrol", "fleet-leave"] {
        assert!(text.contains(action), "{action}");
    }
}
