// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The connection with a real `nats-server` and real credentials.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use async_nats::jetstream::stream::{Config, DiscardPolicy};
use futures_util::StreamExt as _;
use tenterhook_fleet_protocol::{
    AccountRole, Mailbox, NkeyKind, NkeyPair, account_jwt, machine_permissions, operator_jwt, user_jwt,
};
use tenterhook_test_support::{skip_test, wait_until};

use super::*;

const EXPIRES: u64 = 4_000_000_000;

/// A running `nats-server` with two tenants.
struct TestBus {
    child: Child,
    url: String,
    /// The accounts with the streams of each tenant and with its machines.
    tenants: [[NkeyPair; 2]; 2],
    _dir: tempfile::TempDir,
}

impl Drop for TestBus {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

#[expect(clippy::disallowed_methods, reason = "tests have no command line to pass the program's path")]
fn nats_server() -> Option<PathBuf> {
    let installed = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/fleet-tools/nats-server-2.15.1");
    std::env::var_os("TENTERHOOK_NATS_SERVER")
        .map(PathBuf::from)
        .or(Some(installed))
        .filter(|path| path.exists())
}

fn pair(kind: NkeyKind, seed: u8) -> NkeyPair {
    NkeyPair::from_seed(kind, &[seed; 32])
}

impl TestBus {
    fn start() -> Option<Self> {
        let Some(program) = nats_server() else {
            skip_test("`nats-server` is not installed");
            return None;
        };
        let dir = tempfile::tempdir().unwrap();
        let (operator, system) = (pair(NkeyKind::Operator, 1), pair(NkeyKind::Account, 2));
        let tenants = [[3, 4], [5, 6]].map(|seeds| seeds.map(|seed| pair(NkeyKind::Account, seed)));
        let mut accounts = String::new();
        let mut add = |account: &NkeyPair, role| {
            let jwt = account_jwt(&operator, &account.public(), "account", role, 1).unwrap();
            accounts += &format!("  {}: {jwt}\n", account.public());
        };
        add(&system, AccountRole::System);
        for [streams, machines] in &tenants {
            add(streams, AccountRole::Streams);
            add(machines, AccountRole::Machines { streams: streams.public(), revoked: &[] });
        }
        let config = format!(
            "listen: \"127.0.0.1:-1\"\nports_file_dir: {dir:?}\njetstream {{ store_dir: {store:?} }}\noperator: {operator}\nsystem_account: {system}\nresolver: MEMORY\nresolver_preload: {{\n{accounts}}}\n",
            dir = dir.path(),
            store = dir.path().join("store"),
            operator = operator_jwt(&operator, "fleet", &system.public(), &operator.public(), 1).unwrap(),
            system = system.public(),
        );
        let path = dir.path().join("nats.conf");
        std::fs::write(&path, config).unwrap();
        let mut command = Command::new(&program);
        let child = command.arg("-c").arg(path).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        let name = program.file_name().unwrap().display();
        let ports = dir.path().join(format!("{name}_{}.ports", child.id()));
        let url = wait_until("the ports of nats-server", || {
            let text = std::fs::read(&ports).ok()?;
            let ports: serde_json::Value = serde_json::from_slice(&text).ok()?;
            Some(ports["nats"][0].as_str()?.to_owned())
        });
        Some(Self { child, url, tenants, _dir: dir })
    }

    /// Connects as the fleet server of a tenant.
    async fn server(&self, tenant: usize) -> async_nats::jetstream::Context {
        let user = Arc::new(pair(NkeyKind::User, 100));
        let jwt = user_jwt(&self.tenants[tenant][0], &user.public(), "server", None, (1, EXPIRES)).unwrap();
        let options = ConnectOptions::with_auth_callback(move |nonce| {
            let (jwt, user) = (jwt.clone(), Arc::clone(&user));
            async move {
                let mut auth = Auth::new();
                (auth.jwt, auth.signature) = (Some(jwt), Some(user.sign(&nonce).to_vec()));
                Ok(auth)
            }
        });
        async_nats::jetstream::new(options.connect(&self.url).await.unwrap())
    }

    /// Returns the mailbox of a machine of the first tenant.
    fn mailbox(&self, machine: &MachineId) -> Mailbox {
        Mailbox::derive(&self.tenants[0][1], machine)
    }

    /// Connects as a machine of a tenant.
    async fn machine(&self, tenant: usize, seed: u8) -> (Bus, MachineId) {
        let key = Arc::new(pair(NkeyKind::User, seed));
        let machine = MachineId::of_key(&key.public());
        let [_, machines] = &self.tenants[tenant];
        let permissions = machine_permissions(&Mailbox::derive(machines, &machine), &"all".parse().unwrap());
        let jwt =
            user_jwt(machines, &key.public(), machine.as_str(), Some(&permissions), (1, EXPIRES)).unwrap();
        let bus = Bus::connect(std::slice::from_ref(&self.url), None, &machine, (jwt, key)).await.unwrap();
        (bus, machine)
    }
}

/// Creates the stream of a machine's evidence.
async fn create_stream(server: &async_nats::jetstream::Context, machine: &MachineId, max_messages: i64) {
    let name = StreamName::Evidence(machine.partition());
    let config = Config {
        name: name.to_string(),
        subjects: name.subjects(),
        allow_direct: true,
        discard: DiscardPolicy::New,
        max_messages,
        duplicate_window: Duration::from_millis(200),
        ..Config::default()
    };
    server.create_or_update_stream(config).await.unwrap();
}

fn id(machine: &MachineId, first: u64) -> MessageId {
    MessageId { machine: machine.clone(), first, end: first + 1, digest: 7, attempt: 0 }
}

#[tokio::test]
async fn a_batch_is_stored_once_however_often_it_is_published() {
    let Some(nats) = TestBus::start() else { return };
    let server = nats.server(0).await;
    let (bus, machine) = nats.machine(0, 10).await;
    create_stream(&server, &machine, 3).await;
    assert!(bus.last_batch().await.unwrap().is_none());
    let publish = |first, after| {
        let (bus, id) = (bus.clone(), id(&machine, first));
        async move { bus.publish_batch(b"batch".to_vec(), &id, after).await }
    };
    let stored = publish(0, 0).await;
    assert_eq!(stored, PublishOutcome::Stored { sequence: 1 });
    // Which check comes first differs between servers; neither stores the batch again.
    let again = publish(0, 0).await;
    assert!(again == stored || again == PublishOutcome::OtherLastMessage, "{again:?}");
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert_eq!(publish(0, 0).await, PublishOutcome::OtherLastMessage, "after the window");
    let last = bus.last_batch().await.unwrap().unwrap();
    assert_eq!((last.sequence, last.id, last.payload.as_slice()), (1, Some(id(&machine, 0)), &b"batch"[..]));
    assert_eq!(publish(1, 1).await, PublishOutcome::Stored { sequence: 2 });
    assert_eq!(publish(2, 2).await, PublishOutcome::Stored { sequence: 3 });
    assert_eq!(publish(3, 3).await, PublishOutcome::Full);
}

#[tokio::test]
async fn a_machine_reaches_neither_another_machine_nor_another_tenant() {
    let Some(nats) = TestBus::start() else { return };
    let server = nats.server(0).await;
    let (bus, own) = nats.machine(0, 10).await;
    let (victim_bus, victim) = nats.machine(0, 11).await;
    for machine in [&own, &victim] {
        create_stream(&server, machine, 100).await;
    }
    victim_bus.publish_batch(b"secret".to_vec(), &id(&victim, 0), 0).await;
    let mut answers = victim_bus.subscribe(Subject::Answer(&nats.mailbox(&victim))).await.unwrap();
    victim_bus.client.flush().await.unwrap();

    // Publishing, reading and answering for the other machine is refused without a reply.
    let short = Duration::from_secs(2);
    let evidence = Request::new().payload("x".into()).timeout(Some(short));
    assert!(bus.client.send_request(Subject::Evidence(&victim).to_string(), evidence).await.is_err());
    let stream = StreamName::Evidence(victim.partition());
    for subject in [
        stream.last_message_request(&Subject::Evidence(&victim)),
        format!("$JS.API.DIRECT.GET.{stream}"),
        format!("$JS.API.STREAM.MSG.GET.{stream}"),
        format!("$JS.API.STREAM.INFO.{stream}"),
        format!("$JS.API.STREAM.DELETE.{stream}"),
        "$JS.API.CONSUMER.CREATE.EV_0".to_owned(),
    ] {
        let request = Request::new().payload(r#"{"seq":1}"#.into()).timeout(Some(short));
        assert!(bus.client.send_request(subject.clone(), request).await.is_err(), "{subject}");
    }
    bus.publish(Subject::Answer(&nats.mailbox(&victim)), b"allow".to_vec()).await.unwrap();
    let mut everything = bus.client.subscribe("th.>").await.unwrap();
    let mut inbox = bus.client.subscribe(format!("{}.>", Subject::inbox_prefix(&victim))).await.unwrap();
    bus.client.flush().await.unwrap();
    server
        .publish(Subject::Command(&nats.mailbox(&victim)).to_string(), "resend".into())
        .await
        .unwrap()
        .await
        .unwrap_err();
    for stolen in [everything.next(), inbox.next(), answers.next()] {
        assert!(tokio::time::timeout(short, stolen).await.map_or(true, |message| message.is_none()));
    }
    let stored =
        server.get_stream(stream.to_string()).await.unwrap().get_info().await.unwrap().state.messages;
    assert_eq!(stored, 1);

    // A machine of another tenant with the same id finds no stream.
    let (foreign, _) = nats.machine(1, 11).await;
    assert!(foreign.last_batch().await.is_err());
    let published = foreign.publish_batch(b"forged".to_vec(), &id(&victim, 1), 1).await;
    assert!(matches!(published, PublishOutcome::Unavailable(_)), "{published:?}");
}

/// What a machine tries to reach with the answers to its requests: the API of the streams, and other machines.
#[tokio::test]
async fn an_answer_stays_among_the_machines_whatever_subject_was_named_for_it() {
    let Some(nats) = TestBus::start() else { return };
    let server = nats.server(0).await;
    let (bus, own) = nats.machine(0, 10).await;
    let (victim_bus, victim) = nats.machine(0, 11).await;
    for machine in [&own, &victim] {
        create_stream(&server, machine, 10_000).await;
    }
    let published = victim_bus.publish_batch(b"secret".to_vec(), &id(&victim, 0), 0).await;
    let PublishOutcome::Stored { sequence } = published else { panic!("{published:?}") };
    let stream = StreamName::Evidence(victim.partition());
    let mut stored = server.client().subscribe("th.>").await.unwrap();
    server.client().flush().await.unwrap();
    let request = Subject::Evidence(&own).to_string();
    let last = StreamName::Evidence(own.partition()).last_message_request(&Subject::Evidence(&own));
    for target in [
        Subject::Evidence(&victim).to_string(),
        Subject::Ask(&victim).to_string(),
        format!("$JS.API.STREAM.PURGE.{stream}"),
        format!("$JS.API.STREAM.DELETE.{stream}"),
        format!("$JS.API.STREAM.MSG.DELETE.{stream}"),
    ] {
        for content in ["{}", r#"{"seq":1}"#, ""] {
            bus.client.publish_with_reply(request.clone(), target.clone(), content.into()).await.unwrap();
            bus.client.publish_with_reply(last.clone(), target.clone(), "".into()).await.unwrap();
        }
    }
    bus.client.flush().await.unwrap();
    // All of the machine's own messages are stored, and nothing else.
    let mut own_stream = server.get_stream(StreamName::Evidence(own.partition()).to_string()).await.unwrap();
    let expected = 15 + u64::from(own.partition() == victim.partition());
    for _ in 0..300 {
        if own_stream.info().await.unwrap().state.messages == expected {
            break;
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    assert_eq!(own_stream.info().await.unwrap().state.messages, expected);
    let kept = victim_bus.last_batch().await.unwrap().unwrap();
    assert_eq!((kept.sequence, kept.payload.as_slice()), (sequence, &b"secret"[..]));
    while let Ok(Some(message)) = tokio::time::timeout(Duration::from_millis(500), stored.next()).await {
        assert_eq!(message.subject.as_str(), request);
    }
}

#[tokio::test]
async fn expired_credentials_and_another_key_are_refused_as_such() {
    let Some(nats) = TestBus::start() else { return };
    let (key, other) = (pair(NkeyKind::User, 10), Arc::new(pair(NkeyKind::User, 11)));
    let machine = MachineId::of_key(&key.public());
    let mailbox = nats.mailbox(&machine);
    let permissions = machine_permissions(&mailbox, &"all".parse().unwrap());
    let jwt = |expires| {
        user_jwt(&nats.tenants[0][1], &key.public(), "m", Some(&permissions), (1, expires)).unwrap()
    };
    let urls = std::slice::from_ref(&nats.url);
    let refused = Bus::connect(urls, None, &machine, (jwt(2), Arc::new(key.clone()))).await.unwrap_err();
    assert!(refused.is_authorization, "{refused}");
    let refused = Bus::connect(urls, None, &machine, (jwt(EXPIRES), other)).await.unwrap_err();
    assert!(refused.is_authorization, "{refused}");
}
