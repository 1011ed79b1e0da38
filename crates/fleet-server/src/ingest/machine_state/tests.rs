// SPDX-License-Identifier: Apache-2.0 OR MIT

use tenterhook_fleet_protocol::{NkeyKind, NkeyPair};
use tenterhook_ledger::tree::{self, Nodes};
use tenterhook_ledger::{Signer as _, SoftwareKey};

use super::*;

const ORIGIN: &str = "log";
const EPOCH: i64 = 7;

#[derive(Clone)]
struct Records(Vec<Vec<u8>>);

impl Nodes for Records {
    type Error = std::convert::Infallible;

    fn node(&self, level: u32, index: u64) -> Result<Hash, Self::Error> {
        let from = usize::try_from(index << level).unwrap();
        let leaves = &self.0[from..from + (1 << level)];
        let mut layer: Vec<Hash> = leaves.iter().map(|record| Hash::of_leaf(record)).collect();
        while layer.len() > 1 {
            layer = layer.chunks(2).map(|pair| Hash::of_node(pair[0], pair[1])).collect();
        }
        Ok(layer[0])
    }
}

/// A ledger of this many records that differs from others with another mark from record `fork` on.
fn ledger(size: u64, fork: u64, mark: &str) -> Records {
    let record = |seq: u64| if seq < fork { format!("r{seq}") } else { format!("r{seq}{mark}") };
    Records((0..size).map(|seq| record(seq).into_bytes()).collect())
}

fn machine_id() -> MachineId {
    MachineId::of_key(&NkeyPair::from_seed(NkeyKind::User, &[1; 32]).public())
}

fn key(seed: u8) -> SoftwareKey {
    SoftwareKey::from_seed(ORIGIN, &[seed; 32]).unwrap()
}

fn state() -> MachineState {
    MachineState {
        machine: machine_id(),
        host: "host".to_owned(),
        instance: InstanceId([1; 16]),
        origin: ORIGIN.to_owned(),
        keys: vec![key(1).key().clone()],
        frontier: Frontier::new(),
        signed: (0, String::new()),
        pending: None,
        witnessed: None,
        position: StreamPosition { epoch: EPOCH, sequence: 0 },
        unverified_from: None,
        received_bytes: 0,
    }
}

/// A batch of the records `first..end` with a checkpoint of the whole ledger.
fn batch(records: &Records, first: usize, end: usize, signer: &SoftwareKey) -> UploadBatch {
    let size = u64::try_from(records.0.len()).unwrap();
    let Ok(root) = tree::root(records, size);
    let checkpoint = Checkpoint { origin: ORIGIN.to_owned(), size, root };
    let Ok(proof) = tree::consistency_proof(records, u64::try_from(end).unwrap(), size);
    UploadBatch {
        machine: machine_id(),
        instance: InstanceId([1; 16]),
        origin: ORIGIN.to_owned(),
        first: u64::try_from(first).unwrap(),
        records: records.0[first..end].iter().cloned().map(BatchRecord::Envelope).collect(),
        checkpoint: checkpoint.sign(&[signer]).unwrap().to_string(),
        proof: proof.unwrap(),
    }
}

/// Applies a batch as the next message.
fn apply(state: &mut MachineState, batch: &UploadBatch) -> BatchOutcome {
    let previous = state.position.sequence;
    apply_at(state, batch, previous + 1, Some(previous))
}

fn apply_at(
    state: &mut MachineState,
    batch: &UploadBatch,
    sequence: u64,
    previous: Option<u64>,
) -> BatchOutcome {
    let payload = batch.encode().unwrap();
    let position = StreamPosition { epoch: EPOCH, sequence };
    state.apply(&EvidenceMessage { position, previous, deliveries: 1, payload: &payload })
}

fn why(outcome: &BatchOutcome) -> &str {
    match outcome {
        BatchOutcome::Alert(_, detail) => detail["why"].as_str().unwrap(),
        other => panic!("not an alert: {other:?}"),
    }
}

fn witnessed(state: &MachineState) -> u64 {
    state.witnessed.as_ref().map_or(0, |known| known.size)
}

#[test]
fn only_roots_whose_records_have_all_arrived_are_witnessed() {
    let (mut state, signer) = (state(), key(1));
    let first = ledger(30, 0, "");
    assert!(matches!(apply(&mut state, &batch(&first, 0, 10, &signer)), BatchOutcome::Stored { .. }));
    assert_eq!((state.cursor(), witnessed(&state)), (10, 0), "the checkpoint of 30 records waits");
    assert!(matches!(
        apply(&mut state, &batch(&ledger(40, 0, ""), 10, 35, &signer)),
        BatchOutcome::Stored { .. }
    ));
    assert_eq!((state.cursor(), witnessed(&state)), (35, 30), "the records passed 30 on their way");
    assert!(matches!(
        apply(&mut state, &batch(&ledger(40, 0, ""), 35, 40, &signer)),
        BatchOutcome::Stored { .. }
    ));
    assert_eq!(witnessed(&state), 40);
}

#[test]
fn two_different_futures_are_never_both_witnessed() {
    let (mut state, signer) = (state(), key(1));
    // Both checkpoints continue the stored ten records, but contradict each other.
    apply(&mut state, &batch(&ledger(20, 10, "a"), 0, 10, &signer));
    let outcome = apply(&mut state, &batch(&ledger(30, 10, "b"), 10, 30, &signer));
    assert_eq!(why(&outcome), "the records differ from an earlier checkpoint");
    assert_eq!((state.cursor(), witnessed(&state)), (10, 0));
}

#[test]
fn each_kind_of_rewritten_history_is_named() {
    let signer = key(1);
    let stored = || {
        let mut state = state();
        apply(&mut state, &batch(&ledger(20, 0, ""), 0, 20, &signer));
        state
    };
    let edited = apply(&mut stored(), &batch(&ledger(25, 5, "x"), 20, 25, &signer));
    assert_eq!(why(&edited), "the records do not continue the stored ones");
    let shorter = apply(&mut stored(), &batch(&ledger(15, 0, ""), 10, 15, &signer));
    assert_eq!(why(&shorter), "the ledger was rolled back");
    let same_size = apply(&mut stored(), &batch(&ledger(20, 19, "x"), 19, 20, &signer));
    assert_eq!(why(&same_size), "the ledger has other records");
    let other = UploadBatch { origin: "other".to_owned(), ..batch(&ledger(25, 0, ""), 20, 25, &signer) };
    assert_eq!(why(&apply(&mut stored(), &other)), "the ledger has another origin");
    let again = apply(&mut stored(), &batch(&ledger(20, 0, ""), 15, 20, &signer));
    assert!(matches!(again, BatchOutcome::Duplicate));
    let below = apply(&mut stored(), &batch(&ledger(25, 0, ""), 5, 10, &signer));
    assert!(matches!(below, BatchOutcome::Compare(_)), "only the stored messages can decide");
    let overlap = apply(&mut stored(), &batch(&ledger(25, 0, ""), 15, 25, &signer));
    assert!(matches!(overlap, BatchOutcome::Stored { from: 20, .. }));
}

#[test]
fn messages_are_applied_once_and_in_order() {
    let (mut state, signer) = (state(), key(1));
    let records = ledger(30, 0, "");
    let (one, two) = (batch(&records, 0, 10, &signer), batch(&records, 10, 20, &signer));
    assert!(matches!(apply_at(&mut state, &two, 9, Some(4)), BatchOutcome::TooEarly));
    assert!(matches!(apply_at(&mut state, &one, 4, Some(0)), BatchOutcome::Stored { .. }));
    assert!(matches!(apply_at(&mut state, &one, 4, Some(0)), BatchOutcome::AlreadyProcessed));
    assert!(matches!(apply_at(&mut state, &two, 9, Some(4)), BatchOutcome::Stored { .. }));
    let later = batch(&records, 25, 30, &signer);
    assert!(matches!(apply_at(&mut state, &later, 12, Some(9)), BatchOutcome::Gap));
    // A stream that was created again starts at one.
    let payload = batch(&records, 20, 30, &signer).encode().unwrap();
    let position = StreamPosition { epoch: EPOCH + 1, sequence: 1 };
    let outcome =
        state.apply(&EvidenceMessage { position, previous: Some(0), deliveries: 1, payload: &payload });
    assert!(matches!(outcome, BatchOutcome::Stored { from: 20, .. }));
}

#[test]
fn checkpoints_with_foreign_or_wrong_signatures_are_refused() {
    let (mut state, signer) = (state(), key(1));
    let unknown = apply(&mut state, &batch(&ledger(10, 0, ""), 0, 10, &key(2)));
    assert_eq!(why(&unknown), "the checkpoint is signed by an unknown key");
    let mut forged = batch(&ledger(10, 0, ""), 0, 10, &signer);
    forged.checkpoint = forged.checkpoint.replace("log\n10\n", "log\n11\n");
    assert!(why(&apply(&mut state, &forged)).contains("does not match the text"));
    let cut = UploadBatch { proof: vec![Hash([0; 32])], ..batch(&ledger(12, 0, ""), 0, 10, &signer) };
    assert_eq!(why(&apply(&mut state, &cut)), "the records do not continue the stored ones");
    assert_eq!((state.cursor(), state.signed.0), (0, 12));
    let other = UploadBatch { instance: InstanceId([2; 16]), ..batch(&ledger(12, 0, ""), 0, 12, &signer) };
    assert!(matches!(apply(&mut state, &other), BatchOutcome::Alert(AlertKind::MachineKeyCloned, _)));
    let garbage = EvidenceMessage {
        position: StreamPosition { epoch: EPOCH, sequence: 99 },
        previous: None,
        deliveries: 1,
        payload: b"garbage",
    };
    assert!(matches!(state.apply(&garbage), BatchOutcome::Alert(AlertKind::EvidenceRefused, _)));
    assert!(matches!(
        apply_at(&mut state, &batch(&ledger(12, 0, ""), 0, 12, &signer), 100, Some(99)),
        BatchOutcome::Stored { .. }
    ));
}

#[test]
fn records_under_an_unknown_key_are_counted_and_refused_beyond_a_limit() {
    let (mut state, stranger) = (state(), key(9));
    let all = ledger(60, 0, "");
    // The checkpoint covers more than the batch, so that its signature is not needed yet.
    assert!(matches!(apply(&mut state, &batch(&all, 0, 10, &stranger)), BatchOutcome::Stored { .. }));
    assert_eq!((state.unverified_from, state.has_many_unverified()), (Some(0), false));
    assert!(matches!(apply(&mut state, &batch(&all, 10, 20, &stranger)), BatchOutcome::Stored { .. }));
    assert_eq!(state.unverified_from, Some(0));
    // As if a long run had been stored before.
    let mut long = state.clone();
    let many = ALERT_UNVERIFIED_RECORDS + 30;
    long.frontier = Frontier::new();
    let mut completed = Vec::new();
    (0..many).for_each(|seq| long.frontier.push(Hash::of_leaf(format!("r{seq}").as_bytes()), &mut completed));
    assert!(long.has_many_unverified());
    long.unverified_from = None;
    assert!(!long.has_many_unverified());
    // One more record than the limit allows is refused, and nothing changes.
    let first = usize::try_from(MAX_UNVERIFIED_RECORDS).unwrap();
    let far = UploadBatch { first: MAX_UNVERIFIED_RECORDS, ..batch(&ledger(60, 0, ""), 0, 1, &stranger) };
    let far = UploadBatch {
        checkpoint: batch(&ledger(first as u64 + 2, 0, ""), 0, 1, &stranger).checkpoint,
        ..far
    };
    let outcome = apply(&mut state, &far);
    assert!(matches!(outcome, BatchOutcome::Alert(AlertKind::EvidenceUnverified, _)), "{outcome:?}");
    assert_eq!(state.cursor(), 20);
    // A batch under the known key ends the run.
    assert!(matches!(apply(&mut state, &batch(&all, 20, 60, &key(1))), BatchOutcome::Stored { .. }));
    assert_eq!((state.unverified_from, state.cursor()), (None, 60));
}
