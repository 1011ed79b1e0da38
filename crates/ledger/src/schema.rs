// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The JSON Schema of an envelope, generated from the types that are written.

use serde::Serialize;
use tenterhook_event::{EventId, Timestamp};

use crate::entry::EntryBody;
use crate::envelope::{LeafKind, LeafOrigin};

/// The envelope of a record.
#[derive(Serialize, schemars::JsonSchema)]
#[schemars(title = "Leaf")]
struct LeafEnvelope {
    /// Format version: 1.
    v: u32,
    /// Number of the record, from 0.
    seq: u64,
    /// Kind of the record.
    kind: LeafKind,
    /// Id of the event.
    id: EventId,
    /// Time of the event.
    ts: Timestamp,
    /// Time of recording.
    recorded: Timestamp,
    /// Program that recorded it.
    origin: LeafOrigin,
    #[serde(flatten)]
    body: EntryBody,
    /// Id of the key that signed the log at that point.
    signer: String,
}

/// The JSON Schema of an envelope.
pub fn schema() -> schemars::Schema {
    schemars::generate::SchemaSettings::default()
        .for_serialize()
        .into_generator()
        .into_root_schema_for::<LeafEnvelope>()
}
