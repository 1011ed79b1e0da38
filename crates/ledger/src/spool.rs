// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Sealed entries as lines of text, for the spool and for pending entries.

use serde::{Deserialize, Serialize};
use tenterhook_event::{EventId, Timestamp};

use crate::entry::{LookupColumns, SealedEntry};
use crate::envelope::{Envelope, EnvelopeFrame, LeafKind, LeafOrigin, MAX_ENVELOPE_BYTES, PayloadStorage};
use crate::hash::{Hash, decode_base64, encode_base64};
use crate::payload::SealedPayload;

/// Error for an invalid line.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("not a spooled entry: {0}")]
pub struct SpoolError(String);

#[derive(Serialize, Deserialize)]
struct SpoolLine {
    spool: u32,
    kind: LeafKind,
    id: EventId,
    ts: Timestamp,
    fields: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    salt: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    payload: Option<String>,
}

impl SealedEntry {
    /// Returns the event's id.
    pub fn id(&self) -> EventId {
        self.id
    }

    /// Whether the envelope contains this entry's fields.
    pub fn is_recorded_in(&self, envelope: &[u8]) -> bool {
        std::str::from_utf8(envelope).is_ok_and(|text| text.contains(&self.fields))
    }

    /// Converts this decision into one that supersedes another decision about the same event. The harness
    /// received this decision, so it gets its own leaf, which names the other one. The new id is derived from
    /// the entry, so that a second import does not record it again. Returns `None` if the entry is not a
    /// decision or already supersedes one.
    pub fn into_superseding(mut self) -> Option<Self> {
        if self.kind != LeafKind::Decision || self.supersedes.is_some() {
            return None;
        }
        let old = self.id;
        let number = Hash::of_leaf(self.fields.as_bytes()).0;
        let number = number.iter().take(16).fold(0, |number, byte| number << 8 | u128::from(*byte));
        self.id = EventId::from_parts(self.ts.unix_ms(), number);
        let comma = if self.fields.is_empty() { "" } else { "," };
        self.fields += &format!(r#"{comma}"detail":{{"supersedes":"{old}"}},"links":["{old}"]"#);
        self.supersedes = Some(old);
        Some(self)
    }

    /// Serializes the entry to one line of JSON, without a newline.
    pub fn to_spool(&self) -> Result<String, SpoolError> {
        let payload = self.payload.as_ref().and_then(|payload| payload.bytes.clone());
        let line = SpoolLine {
            spool: 1,
            kind: self.kind,
            id: self.id,
            ts: self.ts,
            fields: self.fields.clone(),
            salt: self.payload.as_ref().map(|payload| encode_base64(&payload.salt)),
            // Payloads are JSON and therefore valid text.
            payload: payload
                .map(String::from_utf8)
                .transpose()
                .map_err(|error| SpoolError(error.to_string()))?,
        };
        serde_json::to_string(&line).map_err(|error| SpoolError(error.to_string()))
    }

    /// Parses an entry. The origin is `spool` or `transcript`. Values that can be computed from others are not read
    /// from the line.
    pub fn from_spool(line: &str) -> Result<Self, SpoolError> {
        let refuse = |why: &str| SpoolError(why.to_owned());
        let line: SpoolLine = serde_json::from_str(line).map_err(|error| SpoolError(error.to_string()))?;
        if line.fields.len() > MAX_ENVELOPE_BYTES - 1024 {
            return Err(refuse("longer than a record can be"));
        }
        if line.spool != 1 || !matches!(line.kind, LeafKind::Decision | LeafKind::Seen | LeafKind::Change) {
            return Err(refuse("unknown version, or a kind that is not spooled"));
        }
        let SpoolLine { kind, id, ts, fields, .. } = line;
        let origin = if kind == LeafKind::Seen { LeafOrigin::Transcript } else { LeafOrigin::Spool };
        let text = id.to_string();
        let frame = EnvelopeFrame { seq: 0, kind, id: &text, ts, recorded: "", origin, signer: "" };
        let mut envelope = String::new();
        frame.write(&fields, &mut envelope);
        let read = Envelope::parse(envelope.as_bytes()).map_err(|error| SpoolError(error.to_string()))?;
        if read.seq != 0 || read.kind != kind || envelope.contains('\n') {
            return Err(refuse("has fields that only the ledger may set"));
        }
        let text =
            |value: &Option<std::borrow::Cow<'_, str>>| value.as_ref().map(|value| value.as_ref().to_owned());
        let columns = LookupColumns {
            source: text(&read.source),
            session: text(&read.harness_session_id),
            tool: read.tool.as_ref().map(|tool| tool.name.as_ref().to_owned()),
            verdict: text(&read.verdict),
            rule: text(&read.policy_rule_id),
        };
        let payload = match (&read.payload, line.salt) {
            (None, None) => None,
            (Some(mark), Some(salt)) => {
                let salt = decode_base64(&salt).and_then(|salt| salt.try_into().ok());
                let salt: [u8; 32] = salt.ok_or_else(|| refuse("invalid salt"))?;
                let bytes = line.payload.map(String::into_bytes);
                let commitment: Hash = mark.sha256.parse().map_err(|_| refuse("invalid commitment"))?;
                let fits = bytes.as_ref().map_or(mark.stored == PayloadStorage::Hash, |bytes| {
                    mark.stored == PayloadStorage::Whole && Hash::of_payload(&salt, bytes) == commitment
                });
                if !fits {
                    return Err(refuse("payload does not match its commitment"));
                }
                Some(SealedPayload { salt, bytes, commitment })
            }
            _ => return Err(refuse("has a payload or a salt, but not both")),
        };
        Ok(Self { id, ts, origin, kind, columns, payload, fields, supersedes: None })
    }
}
