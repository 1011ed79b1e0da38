// SPDX-License-Identifier: Apache-2.0 OR MIT

//! One transaction for a group of messages, and what follows from it: cosignatures and commands.

use std::collections::{BTreeMap, BTreeSet};

use async_nats::jetstream::Message;
use futures_util::future::join_all;
use serde_json::json;
use tenterhook_fleet_protocol::{CosignMessage, MachineCommand, StreamName, Subject, UploadBatch};
use tenterhook_ledger::checkpoint::Checkpoint;

use super::IngestContext;
use super::decision::read_records;
use super::machine_state::{
    AlertKind, BatchOutcome, EvidenceMessage, KnownCheckpoint, MachineState, StreamPosition,
};
use crate::bus::TenantBus;
use crate::error::FleetError;
use crate::store::{EvidenceWrites, evidence, raise_alert, unix_seconds};

/// Fate of a message after its transaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum MessageFate {
    /// It is acknowledged.
    Done,
    /// It is delivered again.
    Later,
}

/// Messages to machines after the commit.
#[derive(Default)]
struct Replies {
    /// Machines whose acknowledgement is published.
    acknowledge: BTreeSet<String>,
    /// Machines that send their records again, from the cursor.
    resend: BTreeSet<String>,
}

/// Processes messages in order, in one transaction. Returns one fate for each message.
pub(super) async fn process_group(
    context: &IngestContext,
    bus: &TenantBus,
    epoch: i64,
    messages: &[&Message],
) -> Result<Vec<MessageFate>, FleetError> {
    let machines: Vec<_> = messages.iter().map(|message| Subject::machine_of(&message.subject)).collect();
    let ids: BTreeSet<&str> =
        machines.iter().flatten().map(tenterhook_fleet_protocol::MachineId::as_str).collect();
    let ids: Vec<&str> = ids.into_iter().collect();
    let mut client = context.store.client().await?;
    let transaction = client.transaction().await?;
    let mut states = evidence::lock_machines(&transaction, &bus.tenant, &ids).await?;
    let writes = EvidenceWrites { queues_decisions: context.has_collector, ..EvidenceWrites::default() };
    let (mut writes, mut replies) = (writes, Replies::default());
    let mut to_compare = Vec::new();
    let mut fates = Vec::with_capacity(messages.len());
    for (message, machine) in messages.iter().zip(&machines) {
        let state = machine.as_ref().and_then(|machine| states.get_mut(machine.as_str()));
        let Some(state) = state else {
            // For example, a database that was restored without the machine.
            tracing::warn!(subject = %message.subject, "evidence of an unknown machine");
            fates.push(MessageFate::Done);
            continue;
        };
        let evidence = read_message(message, epoch)?;
        let was_unverified = state.unverified_from.is_some();
        match state.apply(&evidence) {
            BatchOutcome::Compare(batch) => {
                to_compare.push(*batch);
                fates.push(MessageFate::Done);
            }
            outcome => fates.push(note_outcome(context, state, outcome, &mut writes, &mut replies)?),
        }
        if was_unverified && state.unverified_from.is_none() {
            writes.verified.push(state.machine.to_string());
        }
    }
    let changed: Vec<&MachineState> = states.values().collect();
    let excessive = evidence::update_machines(&transaction, &changed, context.max_upload_bytes).await?;
    for machine in &excessive {
        let detail = json!({ "limit": context.max_upload_bytes });
        writes.alerts.push((machine.clone(), AlertKind::UploadLimit, detail));
        evidence::suspend_machine(&transaction, machine).await?;
    }
    writes.write(&transaction, &bus.tenant).await?;
    transaction.commit().await?;
    // The messages are read without a lock and without a connection to the database.
    drop(client);
    for batch in to_compare {
        let Some(state) = states.get_mut(batch.machine.as_str()) else { continue };
        let outcome = compare_stored(context, bus, state, batch).await?;
        let mut writes = EvidenceWrites::default();
        note_outcome(context, state, outcome, &mut writes, &mut replies)?;
        let client = context.store.client().await?;
        for (machine, kind, detail) in &writes.alerts {
            raise_alert(&client, &bus.tenant, machine, *kind, detail).await?;
        }
    }
    send_replies(bus, &states, &replies).await?;
    suspend(context, bus, &states, &excessive).await;
    Ok(fates)
}

/// Disconnects machines that uploaded too much, and removes their processed messages from the stream, which all machines
/// of a partition share. Their records stay in the database and in their ledgers.
async fn suspend(
    context: &IngestContext,
    bus: &TenantBus,
    states: &BTreeMap<String, MachineState>,
    machines: &[String],
) {
    if machines.is_empty() {
        return;
    }
    context.revocations.send_soon(&bus.tenant).await;
    for state in machines.iter().filter_map(|machine| states.get(machine)) {
        let stream = StreamName::Evidence(state.machine.partition()).to_string();
        let Ok(stream) = bus.jetstream.get_stream_no_info(&stream).await else { continue };
        let subject = Subject::Evidence(&state.machine).to_string();
        let purge = stream.purge().filter(subject).sequence(state.position.sequence);
        match purge.await {
            Ok(purged) => {
                tracing::warn!(machine = %state.machine, messages = purged.purged, "suspended a machine that uploaded too much");
            }
            Err(error) => tracing::warn!(machine = %state.machine, %error, "messages cannot be removed"),
        }
    }
}

fn read_message(message: &Message, epoch: i64) -> Result<EvidenceMessage<'_>, FleetError> {
    let info = message.info().map_err(|error| FleetError::internal(error.to_string()))?;
    let headers = message.headers.as_ref();
    let previous = headers.and_then(|headers| headers.get("Nats-Expected-Last-Subject-Sequence"));
    Ok(EvidenceMessage {
        position: StreamPosition { epoch, sequence: info.stream_sequence },
        previous: previous.and_then(|value| value.as_str().parse().ok()),
        deliveries: info.delivered,
        payload: &message.payload,
    })
}

/// Adds the rows and replies of an outcome.
fn note_outcome(
    context: &IngestContext,
    state: &mut MachineState,
    outcome: BatchOutcome,
    writes: &mut EvidenceWrites,
    replies: &mut Replies,
) -> Result<MessageFate, FleetError> {
    let machine = state.machine.to_string();
    match outcome {
        BatchOutcome::Stored { from, root, records } => {
            let counts = writes.counts.entry(machine.clone()).or_default();
            let rows = read_records(from, &records, counts);
            if counts.is_empty() {
                writes.counts.remove(&machine);
            }
            writes.decisions.extend(rows.into_iter().map(|row| (machine.clone(), state.host.clone(), row)));
            writes.batches.push((machine.clone(), from, state.cursor(), root, state.position));
            if let Some(known) = &mut state.witnessed {
                cosign(context, known)?;
            }
            if state.has_many_unverified() {
                let detail = json!({
                    "why": "records came under a key that the server does not know",
                    "from": state.unverified_from, "cursor": state.cursor(),
                });
                writes.alerts.push((machine.clone(), AlertKind::EvidenceUnverified, detail));
            }
            replies.acknowledge.insert(machine);
        }
        BatchOutcome::Duplicate | BatchOutcome::AlreadyProcessed => {
            // The acknowledgement may have been lost with the server that processed the message first.
            replies.acknowledge.insert(machine);
        }
        BatchOutcome::TooEarly => return Ok(MessageFate::Later),
        BatchOutcome::Gap | BatchOutcome::Compare(_) => {
            tracing::info!(machine, cursor = state.cursor(), "records are missing, asking for them");
            replies.resend.insert(machine);
        }
        BatchOutcome::Alert(kind, detail) => {
            tracing::warn!(machine, kind = kind.as_str(), "alert");
            writes.alerts.push((machine, kind, detail));
        }
    }
    Ok(MessageFate::Done)
}

/// Cosigns a checkpoint whose records were all verified, if it was not cosigned before.
fn cosign(context: &IngestContext, known: &mut KnownCheckpoint) -> Result<(), FleetError> {
    let (checkpoint, mut note) =
        Checkpoint::parse(&known.note).map_err(|error| FleetError::internal(error.to_string()))?;
    let witness = context.witness.public();
    let is_own = |line: &tenterhook_ledger::note::SignatureLine| {
        line.name == witness.name() && line.key_id == witness.key_id()
    };
    // A line that the machine added under the witness's name is not the witness's.
    let verified = |line: &tenterhook_ledger::note::SignatureLine| {
        witness.cosignature_time(&note.text, &line.signature).is_some()
    };
    if note.signatures.iter().any(|line| is_own(line) && verified(line)) {
        return Ok(());
    }
    note.signatures.retain(|line| !is_own(line));
    note.signatures.push(context.witness.cosign(&checkpoint, unix_seconds()));
    known.note = note.to_string();
    Ok(())
}

/// Maximum number of stored messages that are read to compare a batch. If there are more, the machine uploads again from
/// the cursor, and the proof of that batch decides.
const MAX_COMPARED_MESSAGES: i64 = 64;

/// Compares a batch below the cursor with the messages that stored these records.
async fn compare_stored(
    context: &IngestContext,
    bus: &TenantBus,
    state: &MachineState,
    batch: UploadBatch,
) -> Result<BatchOutcome, FleetError> {
    let mut known = BTreeMap::new();
    let stream = StreamName::Evidence(state.machine.partition()).to_string();
    let client = context.store.client().await?;
    let range = (batch.first, batch.end());
    let positions =
        evidence::batches_in_range(&client, state.machine.as_str(), range, MAX_COMPARED_MESSAGES).await?;
    drop(client);
    let positions: Vec<StreamPosition> =
        positions.into_iter().filter(|position| position.epoch == state.position.epoch).collect();
    if let Ok(stream) = bus.jetstream.get_stream_no_info(&stream).await {
        let read = positions.iter().map(|position| stream.direct_get(position.sequence));
        // A message that was removed by the retention cannot be compared.
        for stored in join_all(read).await.into_iter().flatten() {
            let Ok(stored) = UploadBatch::decode(&stored.payload) else { continue };
            known.extend(
                (stored.first..).zip(stored.records.iter().map(tenterhook_fleet_protocol::BatchRecord::hash)),
            );
        }
    }
    let mut numbered = (batch.first..).zip(&batch.records);
    if numbered.clone().any(|(number, record)| known.get(&number).is_some_and(|hash| *hash != record.hash()))
    {
        return Ok(state.rewritten("the ledger has other records", &batch));
    }
    if numbered.all(|(number, _)| known.contains_key(&number)) {
        return Ok(BatchOutcome::Duplicate);
    }
    // The next batch continues at the cursor, and its proof decides.
    Ok(BatchOutcome::Compare(Box::new(batch)))
}

/// Publishes acknowledgements and commands. The acknowledgement is stored before the message is acknowledged.
async fn send_replies(
    bus: &TenantBus,
    states: &BTreeMap<String, MachineState>,
    replies: &Replies,
) -> Result<(), FleetError> {
    let find = |machine: &String| states.get(machine);
    let acknowledge = replies.acknowledge.iter().filter_map(find).map(|state| async move {
        let message = CosignMessage {
            machine: state.machine.clone(),
            cursor: state.cursor(),
            note: state.witnessed.as_ref().map_or_else(String::new, |known| known.note.clone()),
            collects: Vec::new(),
        };
        bus.store(&Subject::Cosign(&bus.mailbox(&state.machine)), &message).await
    });
    for result in join_all(acknowledge).await {
        result?;
    }
    for state in replies.resend.iter().filter_map(find) {
        let mailbox = bus.mailbox(&state.machine);
        bus.send(&Subject::Command(&mailbox), &MachineCommand::Resend { from: state.cursor() }).await?;
    }
    Ok(())
}

/// Raises an alert about a status message.
pub(super) fn cloned_by_status(instance: &str, registered: &str) -> (AlertKind, serde_json::Value) {
    (
        AlertKind::MachineKeyCloned,
        json!({ "registered_instance": registered, "instance": instance, "by": "status" }),
    )
}
