// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The JSON Schema of an envelope, made from what is written.

use serde::Serialize;
use tenterhook_event::{EventId, Timestamp};

use crate::entry::Body;
use crate::record::{Kind, Origin};

/// A leaf's envelope.
#[derive(Serialize, schemars::JsonSchema)]
#[schemars(title = "Leaf")]
struct Leaf {
    /// The version of the form: 1.
    v: u32,
    /// The leaf's place, from 0.
    seq: u64,
    /// What the leaf is about.
    kind: Kind,
    /// The event's id.
    id: EventId,
    /// When it happened.
    ts: Timestamp,
    /// When it was recorded.
    recorded: Timestamp,
    /// Who brought it.
    origin: Origin,
    #[serde(flatten)]
    body: Body,
    /// The id of the key that signs the log then.
    signer: String,
}

/// The JSON Schema of an envelope.
pub fn schema() -> schemars::Schema {
    schemars::generate::SchemaSettings::default()
        .for_serialize()
        .into_generator()
        .into_root_schema_for::<Leaf>()
}
