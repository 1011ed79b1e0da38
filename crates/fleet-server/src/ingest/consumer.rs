// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Consumes the streams of a tenant: evidence in groups, other messages one by one.

use std::time::Duration;

use async_nats::jetstream::consumer::{AckPolicy, Consumer, pull};
use async_nats::jetstream::{AckKind, Message};
use futures_util::StreamExt as _;
use serde_json::json;
use tenterhook_fleet_protocol::{Partition, StreamName, Subject};

use super::group::{MessageFate, process_group};
use super::{AlertKind, IngestContext, RETRY_DELAY};
use crate::bus::{EVIDENCE_CONSUMER, TenantBus};
use crate::error::{FleetError, FleetErrorKind, nats_error};
use crate::store::raise_alert;

/// Maximum number of messages in one transaction.
const MAX_GROUP: usize = 64;
/// Number of messages that are requested in advance, and their maximum length.
const REQUEST_MESSAGES: usize = 256;
const REQUEST_BYTES: usize = 16 << 20;
/// How long a message may be processed before it is delivered again. This is also how long the messages of a killed
/// server wait. A message that is delivered twice is recognised.
const ACK_WAIT: Duration = Duration::from_secs(5);
/// Delay before a message is delivered again that arrived before its predecessor.
const EARLY_DELAY: Duration = Duration::from_millis(500);

/// Opens the durable consumer of a stream. Returns it with the time at which the stream was created.
async fn open_consumer(
    bus: &TenantBus,
    stream: StreamName,
) -> Result<(Consumer<pull::Config>, i64), FleetError> {
    let opened = bus.jetstream.get_stream(stream.to_string()).await;
    let opened = opened.map_err(|error| nats_error("stream", &error))?;
    let epoch = i64::try_from(opened.cached_info().created.unix_timestamp_nanos()).unwrap_or(i64::MAX);
    let config = pull::Config {
        durable_name: Some(EVIDENCE_CONSUMER.to_owned()),
        ack_policy: AckPolicy::Explicit,
        ack_wait: ACK_WAIT,
        max_ack_pending: 4096,
        ..pull::Config::default()
    };
    let consumer = opened.create_consumer(config).await;
    Ok((consumer.map_err(|error| nats_error("consumer", &error))?, epoch))
}

/// Consumes the evidence of one partition.
pub(super) async fn consume_evidence(
    context: &IngestContext,
    bus: &TenantBus,
    partition: Partition,
) -> Result<(), FleetError> {
    let (consumer, epoch) = open_consumer(bus, StreamName::Evidence(partition)).await?;
    let messages = consumer
        .stream()
        .max_messages_per_batch(REQUEST_MESSAGES)
        .max_bytes_per_batch(REQUEST_BYTES)
        .heartbeat(Duration::from_secs(5))
        .expires(Duration::from_secs(15))
        .messages()
        .await
        .map_err(|error| nats_error("consumer", &error))?;
    // Messages that arrived in the meantime share a transaction.
    let mut groups = messages.ready_chunks(MAX_GROUP);
    while let Some(group) = groups.next().await {
        let mut received = Vec::with_capacity(group.len());
        let mut failed = None;
        for message in group {
            match message {
                Ok(message) => received.push(message),
                Err(error) => failed = Some(nats_error("consumer", &error)),
            }
        }
        process_received(context, bus, epoch, received).await?;
        if let Some(error) = failed {
            return Err(error);
        }
    }
    Err(FleetError::unavailable("NATS: the consumer ended"))
}

/// Consumes the messages of a stream one by one.
pub(super) async fn consume_each<F: Future<Output = Result<(), FleetError>>>(
    bus: &TenantBus,
    stream: StreamName,
    process: impl Fn(Message) -> F,
) -> Result<(), FleetError> {
    let (consumer, _) = open_consumer(bus, stream).await?;
    let stream = consumer.stream().heartbeat(Duration::from_secs(5)).expires(Duration::from_secs(15));
    let mut messages = stream.messages().await.map_err(|error| nats_error("consumer", &error))?;
    while let Some(message) = messages.next().await {
        let message = message.map_err(|error| nats_error("consumer", &error))?;
        let kind = match process(message.clone()).await {
            Ok(()) => AckKind::Ack,
            // It would hold up the messages of other machines.
            Err(error) if error.kind() == FleetErrorKind::Invalid => {
                tracing::warn!(subject = %message.subject, %error, "refused a message that cannot be stored");
                AckKind::Term
            }
            Err(error) => return Err(error),
        };
        message.ack_with(kind).await.map_err(|error| nats_error("acknowledge", error.as_ref()))?;
    }
    Err(FleetError::unavailable("NATS: the consumer ended"))
}

/// Processes messages together. If that fails, each one alone, so that one message cannot hold up the others.
async fn process_received(
    context: &IngestContext,
    bus: &TenantBus,
    epoch: i64,
    messages: Vec<Message>,
) -> Result<(), FleetError> {
    let messages: Vec<&Message> = messages.iter().collect();
    if let Ok(fates) = process_group(context, bus, epoch, &messages).await {
        return settle(&messages, &fates).await;
    }
    let mut last_error = None;
    for message in &messages {
        let one = [*message];
        let result = match process_group(context, bus, epoch, &one).await {
            Ok(fates) => settle(&one, &fates).await,
            Err(error) if error.kind() == FleetErrorKind::Invalid => {
                refuse(context, bus, message, &error).await
            }
            Err(error) => give_back(&one, error).await,
        };
        last_error = result.err().or(last_error);
    }
    last_error.map_or(Ok(()), Err)
}

/// Refuses evidence that PostgreSQL cannot store, for good.
async fn refuse(
    context: &IngestContext,
    bus: &TenantBus,
    message: &Message,
    error: &FleetError,
) -> Result<(), FleetError> {
    tracing::warn!(subject = %message.subject, %error, "refused evidence that cannot be stored");
    if let Some(machine) = Subject::machine_of(&message.subject) {
        let client = context.store.client().await?;
        let detail = json!({ "why": "a batch cannot be stored" });
        raise_alert(&client, &bus.tenant, machine.as_str(), AlertKind::EvidenceRefused, &detail).await?;
    }
    message.ack_with(AckKind::Term).await.map_err(|error| nats_error("acknowledge", error.as_ref()))
}

/// Asks for another delivery of messages that could not be processed.
async fn give_back(messages: &[&Message], error: FleetError) -> Result<(), FleetError> {
    for message in messages {
        // If this fails, the message is delivered again after `ACK_WAIT`.
        drop(message.ack_with(AckKind::Nak(Some(RETRY_DELAY))).await);
    }
    Err(error)
}

async fn settle(messages: &[&Message], fates: &[MessageFate]) -> Result<(), FleetError> {
    for (message, fate) in messages.iter().zip(fates) {
        let kind = match fate {
            MessageFate::Done => AckKind::Ack,
            MessageFate::Later => AckKind::Nak(Some(EARLY_DELAY)),
        };
        message.ack_with(kind).await.map_err(|error| nats_error("acknowledge", error.as_ref()))?;
    }
    Ok(())
}
