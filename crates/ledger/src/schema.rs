// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The envelope's JSON Schema, generated from the types that are written.

use serde::Serialize;
use tenterhook_event::{EventId, Timestamp};

use crate::entry::EntryBody;
use crate::envelope::{LeafKind, LeafOrigin};

/// A record's envelope.
#[derive(Serialize, schemars::JsonSchema)]
#[schemars(title = "Leaf")]
struct LeafEnvelope {
    /// Format version: 1.
    v: u32,
    /// Number of the record, counted from 0.
    seq: u64,
    /// Kind of the record.
    kind: LeafKind,
    /// Id of the event.
    id: EventId,
    /// Time of the event.
    ts: Timestamp,
    /// Time at which the record was written.
    recorded: Timestamp,
    /// Program that wrote the record.
    origin: LeafOrigin,
    #[serde(flatten)]
    body: EntryBody,
    /// Id of the key that signed the log at this point.
    signer: String,
}

/// Returns the envelope's JSON Schema.
pub fn schema() -> schemars::Schema {
    schemars::generate::SchemaSettings::default()
        .for_serialize()
        .into_generator()
        .into_root_schema_for::<LeafEnvelope>()
}
