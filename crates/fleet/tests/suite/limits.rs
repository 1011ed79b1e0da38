// SPDX-License-Identifier: Apache-2.0 OR MIT

//! What one machine or client can do to the others: it is removed, suspended or disconnected.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::time::Duration;

use async_nats::connection::State;
use serde_json::json;
use tenterhook_fleet_protocol::{EnrolRequest, Subject};
use tenterhook_test_support::wait_until;

use crate::machine::{Machine, block_on, enrol_request, post};
use crate::trial::Trial;

/// Waits until the message bus has closed the connection of a machine and lets it in no more.
async fn wait_until_refused(machine: &Machine) {
    let connect = |machine: &Machine| {
        let (jwt, key) = (machine.enrolled.credentials.user_jwt.clone(), machine.key.clone());
        let options = async_nats::ConnectOptions::with_auth_callback(move |nonce| {
            let mut auth = async_nats::Auth::new();
            (auth.jwt, auth.signature) = (Some(jwt.clone()), Some(key.sign(&nonce).to_vec()));
            async move { Ok(auth) }
        });
        options.connect(machine.enrolled.credentials.nats.clone())
    };
    for _ in 0..300 {
        if machine.nats.connection_state() != State::Connected && connect(machine).await.is_err() {
            return;
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    panic!("the message bus still accepts the machine");
}

#[test]
fn a_removed_machine_is_disconnected_and_refused_and_its_evidence_stays() {
    let Some(trial) = Trial::start(&["default"], &[]) else { return };
    let (url, token) = (trial.url(), trial.token("default", 5));
    block_on(async {
        let mut stolen = Machine::join(&url, &token, 1).await;
        let mut other = Machine::join(&url, &token, 2).await;
        stolen.records.add(20, "a");
        stolen.upload(0, 20).await;
        trial.wait_for_records("default", stolen.id.as_str(), 20);
        let unknown = trial.run_as("default", &["machines", "revoke", "host-9"]);
        assert!(
            String::from_utf8_lossy(&unknown.stderr).contains("there is no machine `host-9`"),
            "{unknown:?}"
        );
        let removed = trial.json(&["machines", "revoke", "host-1", "--reason", "stolen"]);
        assert_eq!(removed, json!({ "machine": stolen.id, "disconnected": true }));
        wait_until_refused(&stolen).await;
        let (status, answer) = stolen.renew(&url, stolen.instance);
        assert_eq!(
            (status, &answer["error"]["message"]),
            (403, &json!("the machine was removed from the fleet"))
        );
        // Its key cannot enrol again, not even with a valid token.
        let (request, ..) = enrol_request(&token, 1, 1);
        assert_eq!(post(&url, EnrolRequest::PATH, &serde_json::to_value(&request).unwrap()).0, 409);
        // The other machine was not disturbed, and the evidence stays.
        other.records.add(5, "b");
        other.upload(0, 5).await;
        trial.wait_for_records("default", other.id.as_str(), 5);
        let row = trial.wait_for_records("default", stolen.id.as_str(), 20);
        assert!(row["revoked"].is_string() && row["left"].is_string(), "{row}");
        let denied = trial.json(&["decisions", "--machine", stolen.id.as_str()]);
        assert_eq!(denied["decisions"].as_array().unwrap().len(), 2);
        let again = trial.run_as("default", &["machines", "remove", stolen.id.as_str()]);
        assert_eq!(again.status.code(), Some(1), "it was removed before");
        let recorded =
            trial.query("select actor, detail->>'reason' from actions where action = 'machine-revoke'");
        assert_eq!(recorded[0][1].as_deref(), Some("stolen"));

        // A restarted NATS has the old configuration; the server sends the removal again.
        trial.engine_pids("nats-server").into_iter().for_each(crate::trial::kill_now);
        other.records.add(1, "b");
        other.upload(5, 1).await;
        wait_until_refused(&stolen).await;
    });
}

#[test]
fn a_machine_that_uploads_too_much_is_suspended_and_others_go_on() {
    let Some(trial) = Trial::start(&["default"], &["--machine-bytes", "1000000"]) else { return };
    let (url, token) = (trial.url(), trial.token("default", 9));
    block_on(async {
        let mut flood = Machine::join(&url, &token, 1).await;
        // A machine of the same partition shares the stream.
        let mut other = loop {
            let seed =
                2 + u8::try_from(trial.json(&["machines"])["machines"].as_array().unwrap().len()).unwrap();
            let machine = Machine::join(&url, &token, seed).await;
            if machine.id.partition() == flood.id.partition() || seed > 8 {
                break machine;
            }
        };
        // Random records do not compress.
        for batch in 0..6 {
            let mut noise = [0; 800];
            let mut records = Vec::new();
            for _ in 0..500 {
                getrandom_fill(&mut noise);
                records.push(noise.to_vec());
            }
            flood.records.0.extend(records);
            // The machine may be suspended before its last batch, which then gets no answer.
            let uploaded = tokio::time::timeout(Duration::from_secs(10), flood.upload(batch * 500, 500));
            if uploaded.await.is_err() {
                break;
            }
        }
        trial.wait_for_alert(flood.id.as_str(), "upload-limit");
        wait_until_refused(&flood).await;
        let (status, answer) = flood.renew(&url, flood.instance);
        assert_eq!(status, 403, "{answer}");
        assert!(
            answer["error"]["message"].as_str().unwrap().contains("uploaded more than it may in a day"),
            "{answer}"
        );
        other.records.add(5, "b");
        other.upload(0, 5).await;
        trial.wait_for_records("default", other.id.as_str(), 5);
        // When the time is over, it continues where it was.
        trial.query("update machines set suspended_until = now() - interval '1 second', quota_bytes = 0, suspended_at = now() - interval '1 hour'");
        let (status, renewed) = flood.renew(&url, flood.instance);
        assert_eq!(status, 200, "{renewed}");
    });
}

fn getrandom_fill(bytes: &mut [u8]) {
    std::fs::File::open("/dev/urandom").unwrap().read_exact(bytes).unwrap();
}

#[test]
fn a_stream_refuses_the_messages_of_a_machine_beyond_its_share() {
    let Some(trial) = Trial::start(&["default"], &[]) else { return };
    let (url, token) = (trial.url(), trial.token("default", 1));
    block_on(async {
        let machine = Machine::join(&url, &token, 1).await;
        // The number of approval requests of one machine is limited, and so are the bytes of the streams.
        let subject = Subject::Ask(&machine.id).to_string();
        for _ in 0..500 {
            machine.nats.publish(subject.clone(), "{}".into()).await.unwrap();
        }
        let refused = async_nats::jetstream::new(machine.nats.clone())
            .publish(subject, "{}".into())
            .await
            .unwrap()
            .await;
        let error = refused.unwrap_err().to_string();
        assert!(error.contains("maximum messages per subject exceeded"), "{error}");
    });
    block_on(async {
        let bus = async_nats::jetstream::new(trial.server_bus().await);
        for name in
            (0..8).map(|partition| format!("EV_{partition}")).chain(["STATUS".into(), "APPROVALS".into()])
        {
            let stream = bus.get_stream(&name).await.unwrap();
            let config = &stream.cached_info().config;
            assert!(config.max_bytes > 0 && config.max_messages_per_subject > 0, "{name}: {config:?}");
            assert_eq!(config.discard_new_per_subject, name != "STATUS", "{name}");
        }
    });
}

#[test]
fn machines_that_enrol_at_once_do_not_wait_for_each_others_connections() {
    let Some(trial) = Trial::start(&["default"], &["--postgres-connections", "2"]) else { return };
    let (url, token) = (trial.url(), trial.token("default", 16));
    let statuses: Vec<u16> = std::thread::scope(|scope| {
        let enrol = |seed: u8| {
            let (url, token) = (&url, &token);
            scope.spawn(move || {
                let (request, ..) = enrol_request(token, seed, seed);
                post(url, EnrolRequest::PATH, &serde_json::to_value(&request).unwrap()).0
            })
        };
        let started: Vec<_> = (1..=16).map(enrol).collect();
        started.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    assert_eq!(statuses, [200; 16]);
    assert_eq!(trial.json(&["machines"])["machines"].as_array().unwrap().len(), 16);
}

#[test]
fn clients_that_send_slowly_lose_their_connection_and_others_are_served() {
    let Some(trial) = Trial::start(&["default"], &[]) else { return };
    let address = trial.url().trim_start_matches("http://").to_owned();
    let open = |text: &str| {
        let mut stream = TcpStream::connect(&address).unwrap();
        stream.write_all(text.as_bytes()).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(90))).unwrap();
        stream
    };
    // Nothing, a head that does not end, and a body that does not come.
    let body = "POST /v1/enrol HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: 500\r\n\r\n{";
    let slow: Vec<TcpStream> = ["", "GET /v1/health HTTP/1.1\r\nhost: x\r\nx: ", body]
        .into_iter()
        .flat_map(|text| std::iter::repeat_n(text, 40).map(open).collect::<Vec<_>>())
        .collect();
    assert_eq!(post(&trial.url(), "/v1/health", &json!({})).0, 405, "others are served");
    assert!(trial.run_as("default", &["machines"]).status.success());
    for mut stream in slow {
        // The end, or an error if the server resets the connection; not a timeout.
        let mut answer = Vec::new();
        match stream.read_to_end(&mut answer) {
            Ok(_) => {}
            Err(error) => assert_eq!(error.kind(), std::io::ErrorKind::ConnectionReset, "{error}"),
        }
        let answer = String::from_utf8_lossy(&answer);
        assert!(answer.is_empty() || answer.starts_with("HTTP/1.1 408 "), "{answer}");
    }
    wait_until("the server serves on", || {
        trial.run_as("default", &["machines"]).status.success().then_some(())
    });
}

#[test]
fn statements_and_locks_of_the_database_have_time_limits() {
    let Some(trial) = Trial::start(&["default"], &[]) else { return };
    // A lock that is never released stands for a database that hangs.
    let (url, token) = (trial.url(), trial.token("default", 2));
    block_on(async {
        let machine = Machine::join(&url, &token, 1).await;
        let blocker = trial.database().await;
        blocker.batch_execute("begin; lock table machines in access exclusive mode").await.unwrap();
        let began = std::time::Instant::now();
        let (status, _) = machine.renew(&url, machine.instance);
        assert!((500..600).contains(&status) || status == 408, "{status}");
        assert!(began.elapsed() < Duration::from_mins(1));
    });
    let row = trial.query("select count(*) from machines");
    assert_eq!(row[0][0].as_deref(), Some("1"));
}
