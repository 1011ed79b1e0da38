// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Batches are read back as they were written, and nothing else is read.

use proptest::collection::vec;
use proptest::prelude::*;
use tenterhook_fleet_protocol::{
    BatchError, BatchRecord, InstanceId, MAX_BATCH_BYTES, MachineId, MessageId, NkeyKind, NkeyPair,
    UploadBatch,
};
use tenterhook_ledger::Hash;

fn machine(seed: u8) -> MachineId {
    MachineId::of_key(&NkeyPair::from_seed(NkeyKind::User, &[seed; 32]).public())
}

fn record() -> impl Strategy<Value = BatchRecord> {
    prop_oneof![
        vec(any::<u8>(), 1..600).prop_map(BatchRecord::Envelope),
        any::<[u8; 32]>().prop_map(|hash| BatchRecord::Pruned(Hash(hash))),
    ]
}

prop_compose! {
    fn batch()(
        seed: u8, instance: [u8; 16], origin in ".{0,40}", first in 0..u64::MAX / 2,
        records in vec(record(), 1..40), checkpoint in "\\PC{0,300}", proof in vec(any::<[u8; 32]>(), 0..20),
    ) -> UploadBatch {
        let proof = proof.into_iter().map(Hash).collect();
        UploadBatch { machine: machine(seed), instance: InstanceId(instance), origin, first, records, checkpoint, proof }
    }
}

proptest! {
    #[test]
    fn batches_are_read_back_as_they_were_written(batch in batch()) {
        let bytes = batch.encode().unwrap();
        prop_assert_eq!(UploadBatch::decode(&bytes).unwrap(), batch);
    }

    #[test]
    fn a_batch_that_is_cut_or_extended_is_refused(batch in batch(), cut in 0.0..1.0f64) {
        let mut bytes = batch.encode().unwrap();
        #[expect(clippy::cast_precision_loss, clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a position in a short text")]
        let at = (bytes.len() as f64 * cut) as usize;
        prop_assert!(UploadBatch::decode(&bytes[..at]).is_err());
        bytes.push(0);
        prop_assert!(UploadBatch::decode(&bytes).is_err());
    }

    #[test]
    fn changed_bytes_never_make_the_decoder_fail(batch in batch(), changes in vec((any::<prop::sample::Index>(), any::<u8>()), 1..8)) {
        let mut bytes = batch.encode().unwrap();
        for (at, byte) in changes {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        if let Ok(read) = UploadBatch::decode(&bytes) {
            prop_assert_eq!(UploadBatch::decode(&read.encode().unwrap()).unwrap(), read);
        }
    }

    #[test]
    fn random_bytes_never_make_the_decoder_fail(bytes in vec(any::<u8>(), 0..2000)) {
        let marked: Vec<u8> = b"THB1".iter().chain(&bytes).copied().collect();
        drop((UploadBatch::decode(&bytes), UploadBatch::decode(&marked)));
    }

    #[test]
    fn the_id_of_a_message_depends_on_its_records_alone(batch in batch(), other in batch()) {
        let id = batch.message_id();
        prop_assert_eq!(id.to_string().parse::<MessageId>().unwrap(), id.clone());
        let later = UploadBatch { checkpoint: other.checkpoint, proof: other.proof, ..batch.clone() };
        prop_assert_eq!(later.message_id(), id.clone());
        let different = UploadBatch { records: other.records.clone(), ..batch.clone() };
        prop_assert_eq!(different.message_id() == id, other.records == batch.records);
    }
}

fn sample(records: Vec<BatchRecord>) -> UploadBatch {
    let (machine, instance) = (machine(1), InstanceId([2; 16]));
    UploadBatch {
        machine,
        instance,
        origin: "o".into(),
        first: 3,
        records,
        checkpoint: "c".into(),
        proof: vec![],
    }
}

#[test]
fn a_decompression_bomb_is_refused() {
    let batch = sample(vec![BatchRecord::Envelope(vec![b'a'; 200])]);
    let bytes = batch.encode().unwrap();
    let head = 4 + 1 + 27 + 16 + 2 + 1 + 8 + 4 + 4 + 1 + 1;
    // Replaces the compressed records, and their stated lengths.
    let with_frame = |raw_length: u32, frame: &[u8]| {
        let length = u32::try_from(frame.len()).unwrap();
        [&bytes[..head], &raw_length.to_be_bytes(), &length.to_be_bytes(), frame].concat()
    };
    let raw = [&200u32.to_be_bytes()[..], &[b'a'; 200]].concat();
    let honest = with_frame(204, &zstd::bulk::compress(&raw, 3).unwrap());
    assert_eq!(UploadBatch::decode(&honest), Ok(batch.clone()), "the test knows where the records start");

    let bomb = zstd::bulk::compress(&vec![0; 300 << 20], 3).unwrap();
    assert!(bomb.len() < MAX_BATCH_BYTES);
    let stated = with_frame(u32::try_from(300 << 20).unwrap(), &bomb);
    assert_eq!(UploadBatch::decode(&stated), Err(BatchError::TooLarge("records before compression")));
    for hidden in [204, 4 << 20] {
        assert!(matches!(UploadBatch::decode(&with_frame(hidden, &bomb)), Err(BatchError::Form(_))));
    }
    let short = with_frame(4 << 20, &zstd::bulk::compress(&raw, 3).unwrap());
    assert!(matches!(UploadBatch::decode(&short), Err(BatchError::Form(_))));
}

#[test]
fn an_empty_batch_and_one_that_is_too_large_are_not_written() {
    assert_eq!(sample(vec![]).encode(), Err(BatchError::Form("no records")));
    let empty = sample(vec![BatchRecord::Envelope(vec![])]);
    assert!(empty.encode().is_err());
    let long = sample(vec![BatchRecord::Envelope(vec![0; 70_000])]);
    assert_eq!(long.encode(), Err(BatchError::TooLarge("record")));
    let many = sample(vec![BatchRecord::Pruned(Hash([0; 32])); 9000]);
    assert!(many.encode().is_err());
}

#[test]
fn ids_of_messages_have_one_spelling() {
    let id = sample(vec![BatchRecord::Envelope(vec![1])]).message_id().to_string();
    for text in
        ["", ":::", &id.replace(":3:", ":03:"), &id.to_uppercase(), &format!("{id}:"), &format!("{id}0")]
    {
        assert!(text.parse::<MessageId>().is_err(), "{text}");
    }
}
