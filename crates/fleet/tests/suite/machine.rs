// SPDX-License-Identifier: Apache-2.0 OR MIT

//! A machine whose ledger is in memory, so that tests can fork it, roll it back and copy it.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use async_nats::jetstream::{self, context::PublishErrorKind};
use async_nats::{Auth, ConnectOptions, HeaderMap};
use serde_json::{Value, json};
use tenterhook_fleet_protocol::{
    BatchRecord, EnrolRequest, EnrolResponse, InstanceId, MachineCredentials, MachineId, Mailbox, NkeyKind,
    NkeyPair, RenewRequest, StreamName, Subject, UploadBatch,
};
use tenterhook_ledger::checkpoint::Checkpoint;
use tenterhook_ledger::tree::{self, Frontier, Nodes};
use tenterhook_ledger::{Hash, Signer as _, SoftwareKey};

/// The records of a ledger.
#[derive(Clone, Default)]
pub(crate) struct Records(pub(crate) Vec<Vec<u8>>);

impl Nodes for Records {
    type Error = std::convert::Infallible;

    fn node(&self, level: u32, index: u64) -> Result<Hash, Self::Error> {
        let from = usize::try_from(index << level).unwrap();
        let mut layer: Vec<Hash> =
            self.0[from..from + (1 << level)].iter().map(|record| Hash::of_leaf(record)).collect();
        while layer.len() > 1 {
            layer = layer.chunks(2).map(|pair| Hash::of_node(pair[0], pair[1])).collect();
        }
        Ok(layer[0])
    }
}

impl Records {
    pub(crate) fn root(&self) -> Hash {
        let (mut tree, mut completed) = (Frontier::new(), Vec::new());
        self.0.iter().for_each(|record| tree.push(Hash::of_leaf(record), &mut completed));
        tree.root()
    }

    /// Appends decisions; every tenth is denied.
    pub(crate) fn add(&mut self, count: usize, mark: &str) {
        for _ in 0..count {
            let seq = self.0.len();
            let verdict = if seq % 10 == 9 { "deny" } else { "allow" };
            let record = json!({
                "v": 1, "seq": seq, "kind": "decision", "id": format!("{seq:026}"), "ts": "2026-11-15T07:59:59.991Z",
                "recorded": "2026-11-15T08:00:00.000Z", "origin": "daemon", "source": "claude-code", "event": "pre-tool",
                "tool": {"name": "Bash", "class": "shell"}, "cwd": "/home/dev/shop", "verdict": verdict,
                "policy_rule_id": "remote-code", "reason": mark, "agent": {"user": "dev"}, "signer": "00000000",
            });
            self.0.push(record.to_string().into_bytes());
        }
    }
}

/// A machine that is enrolled and connected.
pub(crate) struct Machine {
    pub(crate) id: MachineId,
    pub(crate) key: NkeyPair,
    pub(crate) instance: InstanceId,
    pub(crate) origin: String,
    pub(crate) signer: std::sync::Arc<SoftwareKey>,
    pub(crate) records: Records,
    pub(crate) enrolled: EnrolResponse,
    pub(crate) nats: async_nats::Client,
    pub(crate) last_sequence: u64,
}

pub(crate) fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs()
}

/// Sends a request of a machine. Returns the status and the response.
pub(crate) fn post(url: &str, path: &str, body: &Value) -> (u16, Value) {
    let config = ureq::Agent::config_builder()
        .http_status_as_error(false)
        .timeout_global(Some(Duration::from_secs(20)));
    let agent: ureq::Agent = config.build().into();
    let request = agent.post(format!("{url}{path}")).header("content-type", "application/json");
    let mut response = request.send(body.to_string()).unwrap();
    let text = response.body_mut().read_to_string().unwrap();
    (response.status().as_u16(), serde_json::from_str(&text).unwrap_or(Value::String(text)))
}

/// Returns a request to enrol a machine with this seed.
pub(crate) fn enrol_request(
    token: &str,
    seed: u8,
    instance: u8,
) -> (EnrolRequest, NkeyPair, std::sync::Arc<SoftwareKey>) {
    let key = NkeyPair::from_seed(NkeyKind::User, &[seed; 32]);
    let origin = format!("tenterhook-test-{seed}");
    let signer = SoftwareKey::from_seed(&origin, &[seed; 32]).unwrap();
    let request = EnrolRequest {
        v: 0,
        token: token.to_owned(),
        machine_key: key.public(),
        instance: InstanceId([instance; 16]),
        host: format!("host-{seed}"),
        version: "0.1.0".to_owned(),
        origin,
        ledger_key: signer.key().to_string(),
        checkpoint: String::new(),
        time: now(),
        proof: String::new(),
    };
    (request.signed(&key), key, std::sync::Arc::new(signer))
}

/// Connects to the message bus with the credentials of a machine.
pub(crate) async fn connect(
    credentials: &MachineCredentials,
    machine: &MachineId,
    key: &NkeyPair,
) -> async_nats::Client {
    let (jwt, key) = (credentials.user_jwt.clone(), key.clone());
    let options = ConnectOptions::with_auth_callback(move |nonce| {
        let (jwt, key) = (jwt.clone(), key.clone());
        async move {
            let mut auth = Auth::new();
            (auth.jwt, auth.signature) = (Some(jwt), Some(key.sign(&nonce).to_vec()));
            Ok(auth)
        }
    });
    let options = options.custom_inbox_prefix(Subject::inbox_prefix(machine)).retry_on_initial_connect();
    let options = options.reconnect_delay_callback(|_| Duration::from_millis(100));
    options.connect(credentials.nats.clone()).await.unwrap()
}

impl Machine {
    /// Enrols a machine and connects it.
    pub(crate) async fn join(url: &str, token: &str, seed: u8) -> Self {
        let (request, key, signer) = enrol_request(token, seed, seed);
        let (status, response) = post(url, EnrolRequest::PATH, &serde_json::to_value(&request).unwrap());
        assert_eq!(status, 200, "{response}");
        let enrolled: EnrolResponse = serde_json::from_value(response).unwrap();
        let nats = connect(&enrolled.credentials, &enrolled.machine, &key).await;
        Self {
            id: enrolled.machine.clone(),
            key,
            instance: request.instance,
            origin: request.origin,
            signer,
            records: Records::default(),
            enrolled,
            nats,
            last_sequence: 0,
        }
    }

    /// Returns where the machine receives messages that are for it alone.
    pub(crate) fn mailbox(&self) -> &Mailbox {
        &self.enrolled.credentials.mailbox
    }

    /// Returns a batch of records with a checkpoint of the whole ledger.
    pub(crate) fn batch(&self, first: usize, count: usize) -> UploadBatch {
        let (end, size) =
            (u64::try_from(first + count).unwrap(), u64::try_from(self.records.0.len()).unwrap());
        let checkpoint = Checkpoint { origin: self.origin.clone(), size, root: self.records.root() };
        let Ok(proof) = tree::consistency_proof(&self.records, end, size);
        UploadBatch {
            machine: self.id.clone(),
            instance: self.instance,
            origin: self.origin.clone(),
            first: u64::try_from(first).unwrap(),
            records: self.records.0[first..first + count]
                .iter()
                .cloned()
                .map(BatchRecord::Envelope)
                .collect(),
            checkpoint: checkpoint.sign(&[&*self.signer]).unwrap().to_string(),
            proof: proof.unwrap(),
        }
    }

    /// Publishes a batch until it is stored once. Returns its sequence number.
    pub(crate) async fn publish(&mut self, batch: &UploadBatch) -> u64 {
        let mut context = jetstream::new(self.nats.clone());
        context.set_timeout(Duration::from_secs(2));
        let (id, payload) = (batch.message_id().to_string(), batch.encode().unwrap());
        loop {
            let mut headers = HeaderMap::new();
            headers.insert("Nats-Msg-Id", id.as_str());
            headers.insert("Nats-Expected-Last-Subject-Sequence", self.last_sequence.to_string().as_str());
            let subject = Subject::Evidence(&self.id).to_string();
            let sent = context.publish_with_headers(subject, headers, payload.clone().into()).await;
            let result = match sent {
                Ok(ack) => ack.await,
                Err(error) => Err(error),
            };
            match result {
                Ok(ack) => {
                    self.last_sequence = ack.sequence;
                    return ack.sequence;
                }
                Err(error) => {
                    assert!(!matches!(error.kind(), PublishErrorKind::StreamNotFound), "{error}");
                    if let Some((sequence, stored)) = self.last_message().await {
                        self.last_sequence = sequence;
                        if stored == id {
                            return sequence;
                        }
                    }
                    tokio::time::sleep(Duration::from_millis(100)).await;
                }
            }
        }
    }

    /// Publishes new records of the ledger.
    pub(crate) async fn upload(&mut self, first: usize, count: usize) -> u64 {
        let batch = self.batch(first, count);
        self.publish(&batch).await
    }

    /// Returns the sequence number and the id of the last message on the machine's own subject.
    async fn last_message(&self) -> Option<(u64, String)> {
        let message =
            self.get_last(StreamName::Evidence(self.id.partition()), &Subject::Evidence(&self.id)).await?;
        let headers = message.headers?;
        let sequence = headers.get("Nats-Sequence")?.as_str().parse().ok()?;
        Some((sequence, headers.get("Nats-Msg-Id")?.as_str().to_owned()))
    }

    /// Reads the last message of a subject as machines do it.
    pub(crate) async fn get_last(
        &self,
        stream: StreamName,
        subject: &Subject<'_>,
    ) -> Option<async_nats::Message> {
        let request = self.nats.request(stream.last_message_request(subject), "".into());
        let message = tokio::time::timeout(Duration::from_secs(2), request).await.ok()?.ok()?;
        message.status.is_none().then_some(message)
    }

    /// Asks for new credentials. Returns the status and the response.
    pub(crate) fn renew(&self, url: &str, instance: InstanceId) -> (u16, Value) {
        let request = RenewRequest::new(&self.key, instance, now());
        post(url, RenewRequest::PATH, &serde_json::to_value(&request).unwrap())
    }
}

/// Runs a test's asynchronous part.
pub(crate) fn block_on<T>(work: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap().block_on(work)
}
