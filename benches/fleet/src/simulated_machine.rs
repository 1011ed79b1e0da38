// SPDX-License-Identifier: Apache-2.0 OR MIT

//! A machine that speaks the real protocol: its own key and credentials, its own subjects, signed checkpoints. Its
//! ledger is in memory and keeps only the right edge of the tree.

use std::sync::Arc;
use std::time::Duration;

use tenterhook_fleet_machine::{Bus, PublishOutcome, ServerClient};
use tenterhook_fleet_protocol::{
    BatchRecord, CosignMessage, ENROLMENT_VERSION, EnrolRequest, EnrolResponse, FleetMessage as _,
    InstanceId, MachineId, Mailbox, MessageId, NkeyKind, NkeyPair, Subject, UploadBatch,
};
use tenterhook_ledger::checkpoint::Checkpoint;
use tenterhook_ledger::tree::Frontier;
use tenterhook_ledger::{Hash, Signer as _, SoftwareKey};

use crate::error::BenchError;

/// Of this many records, one is a denied call, which becomes a row.
const DENIED_SHARE: u64 = 33;
/// Pause after a batch that was not stored.
const RETRY_PAUSE: Duration = Duration::from_millis(200);

/// A batch that is ready to be published.
pub(crate) struct ReadyBatch {
    pub(crate) id: MessageId,
    pub(crate) bytes: Vec<u8>,
    pub(crate) end: u64,
}

/// The ledger of a simulated machine.
pub(crate) struct SimulatedLedger {
    machine: MachineId,
    instance: InstanceId,
    origin: String,
    signer: SoftwareKey,
    tree: Frontier,
    day: String,
}

/// A machine that is enrolled.
pub(crate) struct SimulatedMachine {
    pub(crate) ledger: SimulatedLedger,
    key: Arc<NkeyPair>,
    enrolled: EnrolResponse,
}

/// A connected machine, without its ledger.
pub(crate) struct Uplink {
    pub(crate) bus: Bus,
    mailbox: Mailbox,
    last_sequence: u64,
}

impl SimulatedMachine {
    /// Enrols a machine. Blocks the thread.
    pub(crate) fn enrol(server: &ServerClient, token: &str, number: usize) -> Result<Self, BenchError> {
        let (mut seed, mut instance) = ([0; 32], [0; 16]);
        getrandom::fill(&mut seed).map_err(BenchError::new)?;
        getrandom::fill(&mut instance).map_err(BenchError::new)?;
        let key = NkeyPair::from_seed(NkeyKind::User, &seed);
        let origin = format!("simulated-{number}");
        let signer = SoftwareKey::from_seed(&origin, &seed).map_err(BenchError::new)?;
        let now = jiff::Timestamp::now();
        let request = EnrolRequest {
            v: ENROLMENT_VERSION,
            token: token.to_owned(),
            machine_key: key.public(),
            instance: InstanceId(instance),
            host: origin.clone(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            origin: origin.clone(),
            ledger_key: signer.key().to_string(),
            checkpoint: String::new(),
            time: u64::try_from(now.as_second()).unwrap_or_default(),
            proof: String::new(),
        };
        let enrolled: EnrolResponse =
            server.post(EnrolRequest::PATH, &request.signed(&key)).map_err(BenchError::new)?;
        let ledger = SimulatedLedger {
            machine: enrolled.machine.clone(),
            instance: InstanceId(instance),
            origin,
            signer,
            tree: Frontier::new(),
            day: now.strftime("%Y-%m-%dT%H:%M").to_string(),
        };
        Ok(Self { ledger, key: Arc::new(key), enrolled })
    }

    /// Connects to the message bus. Returns the connection and the ledger.
    pub(crate) async fn connect(self) -> Result<(Uplink, SimulatedLedger), BenchError> {
        let credentials = &self.enrolled.credentials;
        let login = (credentials.user_jwt.clone(), self.key);
        let bus = Bus::connect(&credentials.nats, None, &self.enrolled.machine, login).await;
        let mailbox = credentials.mailbox.clone();
        Ok((Uplink { bus: bus.map_err(BenchError::new)?, mailbox, last_sequence: 0 }, self.ledger))
    }
}

impl SimulatedLedger {
    /// Appends records and returns the batch that uploads them. `noise_bytes` of each record do not compress, as the ids
    /// and hashes of a real record.
    pub(crate) fn next_batch(&mut self, records: u64, noise_bytes: usize) -> Result<ReadyBatch, BenchError> {
        let first = self.tree.size();
        let mut completed = Vec::new();
        let mut envelopes = Vec::new();
        for number in first..first.saturating_add(records) {
            let envelope = self.envelope(number, noise_bytes);
            self.tree.push(Hash::of_leaf(&envelope), &mut completed);
            completed.clear();
            envelopes.push(BatchRecord::Envelope(envelope));
        }
        let checkpoint =
            Checkpoint { origin: self.origin.clone(), size: self.tree.size(), root: self.tree.root() };
        let batch = UploadBatch {
            machine: self.machine.clone(),
            instance: self.instance,
            origin: self.origin.clone(),
            first,
            records: envelopes,
            checkpoint: checkpoint.sign(&[&self.signer]).map_err(BenchError::new)?.to_string(),
            // The checkpoint ends with the batch.
            proof: Vec::new(),
        };
        let bytes = batch.encode().map_err(BenchError::new)?;
        Ok(ReadyBatch { id: batch.message_id(), bytes, end: batch.end() })
    }

    fn envelope(&self, number: u64, noise_bytes: usize) -> Vec<u8> {
        let verdict = if number.is_multiple_of(DENIED_SHARE) { "deny" } else { "none" };
        let mut noise = String::new();
        for part in 0..noise_bytes.div_ceil(44).max(1) {
            let seed = format!("{}{number}{part}", self.origin);
            noise += &Hash::of_leaf(seed.as_bytes()).to_string();
        }
        noise.truncate(noise_bytes);
        format!(
            r#"{{"v":1,"seq":{number},"kind":"decision","id":"{number:026}","ts":"{day}:00.000Z","recorded":"{day}:00.001Z","origin":"daemon","source":"claude-code","event":"pre-tool","tool":{{"name":"Bash","class":"shell"}},"cwd":"/home/dev/shop","verdict":"{verdict}","policy_rule_id":"remote-code","reason":"{noise}","agent":{{"user":"dev"}},"signer":"00000000"}}"#,
            day = self.day,
        )
        .into_bytes()
    }
}

impl Uplink {
    /// Returns the subject of the machine's acknowledgements.
    pub(crate) fn acknowledgements(&self) -> Subject<'_> {
        Subject::Cosign(&self.mailbox)
    }

    /// Publishes a batch until the message bus has stored it.
    pub(crate) async fn publish(&mut self, batch: &ReadyBatch) -> Result<(), BenchError> {
        loop {
            match self.bus.publish_batch(batch.bytes.clone(), &batch.id, self.last_sequence).await {
                PublishOutcome::Stored { sequence } => {
                    self.last_sequence = sequence;
                    return Ok(());
                }
                PublishOutcome::OtherLastMessage => {
                    if let Ok(Some(last)) = self.bus.last_batch().await {
                        self.last_sequence = last.sequence;
                        if last.id.as_ref() == Some(&batch.id) {
                            return Ok(());
                        }
                    }
                }
                PublishOutcome::Refused(why) => {
                    return Err(BenchError(format!("a batch was refused: {why}")));
                }
                PublishOutcome::Full | PublishOutcome::Unavailable(_) => {}
            }
            tokio::time::sleep(RETRY_PAUSE).await;
        }
    }
}

/// Returns the cursor in an acknowledgement of the server.
pub(crate) fn acknowledged(payload: &[u8]) -> Option<u64> {
    CosignMessage::decode(payload).ok().map(|message| message.cursor)
}
