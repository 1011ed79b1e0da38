// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Creates the streams of a tenant. NATS ignores settings that it does not know, so the settings that it reports are
//! compared with those that were sent.

use std::time::Duration;

use async_nats::jetstream::Context;
use async_nats::jetstream::stream::{Config, DiscardPolicy, RetentionPolicy, StorageType};
use tenterhook_fleet_protocol::{MAX_BATCH_BYTES, MAX_MESSAGE_BYTES, Partition, StreamName};

use crate::error::{FleetError, nats_error};

/// Extra bytes of a message: headers of a batch.
const MAX_HEADER_BYTES: usize = 4 << 10;
/// Maximum length of a policy bundle with its headers.
const MAX_BUNDLE_BYTES: usize = 1000 << 10;

/// Maximum number of messages of one machine in its stream of evidence: two weeks of one in ten seconds, day and night.
const MAX_MACHINE_MESSAGES: i64 = 131_072;
/// Maximum number of approval requests of one machine, and of answers to it, within two hours.
const MAX_MACHINE_APPROVALS: i64 = 500;

/// Limits of the streams.
#[derive(Debug, Clone)]
pub struct StreamLimits {
    /// Number of copies of each stream: 1, 3 or 5.
    pub replicas: usize,
    /// How long evidence is kept in its stream.
    pub retention: Duration,
    /// Maximum length of each of the eight streams of evidence.
    pub max_bytes: i64,
    /// How long NATS remembers message ids.
    pub duplicate_window: Duration,
}

impl Default for StreamLimits {
    fn default() -> Self {
        Self {
            replicas: 1,
            retention: Duration::from_hours(14 * 24),
            max_bytes: 32 << 30,
            duplicate_window: Duration::from_mins(10),
        }
    }
}

/// Returns the settings of a stream.
fn stream_config(name: StreamName, limits: &StreamLimits) -> Config {
    let last_only = Config {
        max_messages_per_subject: 1,
        discard: DiscardPolicy::Old,
        max_message_size: i32::try_from(MAX_BUNDLE_BYTES).unwrap_or(i32::MAX),
        ..Config::default()
    };
    let config = match name {
        StreamName::Evidence(_) => Config {
            max_bytes: limits.max_bytes,
            max_age: limits.retention,
            // A full stream refuses batches, which slows uploads down. Records stay in the machines' ledgers.
            discard: DiscardPolicy::New,
            // One machine cannot fill the stream with many small messages. The server watches the bytes.
            max_messages_per_subject: MAX_MACHINE_MESSAGES,
            discard_new_per_subject: true,
            duplicate_window: limits.duplicate_window,
            max_message_size: i32::try_from(MAX_BATCH_BYTES + MAX_HEADER_BYTES).unwrap_or(i32::MAX),
            ..Config::default()
        },
        StreamName::Approvals => Config {
            // A call waits for minutes. A machine that sends more requests than these is refused until they are old.
            max_age: Duration::from_hours(2),
            max_messages_per_subject: MAX_MACHINE_APPROVALS,
            discard: DiscardPolicy::New,
            discard_new_per_subject: true,
            max_bytes: limits.max_bytes,
            max_message_size: i32::try_from(MAX_MESSAGE_BYTES + MAX_HEADER_BYTES).unwrap_or(i32::MAX),
            ..Config::default()
        },
        StreamName::Status => Config {
            max_bytes: limits.max_bytes,
            max_message_size: i32::try_from(MAX_MESSAGE_BYTES + MAX_HEADER_BYTES).unwrap_or(i32::MAX),
            ..last_only
        },
        StreamName::Cosign | StreamName::Policy | StreamName::Bundle => last_only,
    };
    Config {
        name: name.to_string(),
        subjects: name.subjects(),
        retention: RetentionPolicy::Limits,
        storage: StorageType::File,
        num_replicas: limits.replicas,
        allow_direct: true,
        ..config
    }
}

/// Creates all streams, or updates their settings.
pub(super) async fn create_streams(jetstream: &Context, limits: &StreamLimits) -> Result<(), FleetError> {
    let evidence = Partition::all().map(StreamName::Evidence);
    let others = [
        StreamName::Status,
        StreamName::Approvals,
        StreamName::Cosign,
        StreamName::Policy,
        StreamName::Bundle,
    ];
    for name in evidence.chain(others) {
        let sent = stream_config(name, limits);
        let info = jetstream.create_or_update_stream(sent.clone()).await;
        let info = info.map_err(|error| nats_error(&format!("cannot create the stream `{name}`"), &error))?;
        check_settings(&sent, &info.config)?;
    }
    Ok(())
}

/// Compares the settings that matter with those that the server reports.
fn check_settings(sent: &Config, reported: &Config) -> Result<(), FleetError> {
    let differs: &[(&str, bool)] = &[
        ("subjects", sent.subjects != reported.subjects),
        ("discard", sent.discard != reported.discard),
        ("allow_direct", sent.allow_direct != reported.allow_direct),
        ("num_replicas", sent.num_replicas != reported.num_replicas),
        ("max_age", sent.max_age != reported.max_age),
        ("storage", sent.storage != reported.storage),
        ("max_msg_size", sent.max_message_size != reported.max_message_size),
        (
            "max_msgs_per_subject",
            sent.max_messages_per_subject.max(0) != reported.max_messages_per_subject.max(0),
        ),
        ("discard_new_per_subject", sent.discard_new_per_subject != reported.discard_new_per_subject),
        ("max_bytes", sent.max_bytes.max(0) != reported.max_bytes.max(0)),
    ];
    let wrong: Vec<&str> = differs.iter().filter(|(_, differs)| *differs).map(|(name, _)| *name).collect();
    if wrong.is_empty() {
        return Ok(());
    }
    let message = format!("NATS did not accept settings of the stream `{}`: {}", sent.name, wrong.join(", "));
    Err(FleetError::incompatible(message).with_hint("use nats-server 2.11 or newer on every node"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_setting_that_the_server_ignored_is_named() {
        let sent = stream_config(StreamName::Cosign, &StreamLimits::default());
        assert!(check_settings(&sent, &sent).is_ok());
        let reported = Config { allow_direct: false, max_messages_per_subject: -1, ..sent.clone() };
        let error = check_settings(&sent, &reported).unwrap_err().to_string();
        assert!(error.ends_with("the stream `COSIGN`: allow_direct, max_msgs_per_subject"), "{error}");
    }
}
