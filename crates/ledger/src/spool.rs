// SPDX-License-Identifier: Apache-2.0 OR MIT

//! A sealed entry as one line, for the time when nobody can record it.

use serde::{Deserialize, Serialize};
use tenterhook_event::{EventId, Timestamp};

use crate::entry::{Columns, Sealed};
use crate::hash::{Hash, base64, from_base64};
use crate::payload::SealedPayload;
use crate::record::{Envelope, Frame, Kind, MAX_ENVELOPE, Origin, Stored};

/// The line is no spooled entry.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("not a spooled entry: {0}")]
pub struct SpoolError(String);

#[derive(Serialize, Deserialize)]
struct Line {
    spool: u32,
    kind: Kind,
    id: EventId,
    ts: Timestamp,
    fields: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    salt: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    payload: Option<String>,
}

impl Sealed {
    /// The id of the event.
    pub fn id(&self) -> EventId {
        self.id
    }

    /// Whether this very entry is what a leaf's envelope says.
    pub fn is_in(&self, envelope: &[u8]) -> bool {
        std::str::from_utf8(envelope).is_ok_and(|text| text.contains(&self.fields))
    }

    /// What is recorded of an event that was decided twice: this decision is the one that was delivered,
    /// so it gets a leaf of its own, which names the other. `None` for what is no decision. The new id
    /// follows from the entry, so that the same one never comes in twice.
    pub fn superseding(mut self) -> Option<Self> {
        if self.kind != Kind::Decision || self.supersedes.is_some() {
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

    /// The entry as one line of JSON, without a newline.
    pub fn to_spool(&self) -> Result<String, SpoolError> {
        let payload = self.payload.as_ref().and_then(|payload| payload.bytes.clone());
        let line = Line {
            spool: 1,
            kind: self.kind,
            id: self.id,
            ts: self.ts,
            fields: self.fields.clone(),
            salt: self.payload.as_ref().map(|payload| base64(&payload.salt)),
            // Payloads are JSON, so they are text.
            payload: payload
                .map(String::from_utf8)
                .transpose()
                .map_err(|error| SpoolError(error.to_string()))?,
        };
        serde_json::to_string(&line).map_err(|error| SpoolError(error.to_string()))
    }

    /// Reads the entry back. It will say `origin: spool` (or `transcript`), and nothing in the line is believed that
    /// can be worked out from the rest.
    pub fn from_spool(line: &str) -> Result<Self, SpoolError> {
        let refuse = |why: &str| SpoolError(why.to_owned());
        let line: Line = serde_json::from_str(line).map_err(|error| SpoolError(error.to_string()))?;
        if line.fields.len() > MAX_ENVELOPE - 1024 {
            return Err(refuse("it is longer than a leaf can be"));
        }
        if line.spool != 1 || !matches!(line.kind, Kind::Decision | Kind::Seen | Kind::Change) {
            return Err(refuse("its version or kind is not one that is spooled"));
        }
        let Line { kind, id, ts, fields, .. } = line;
        // What a transcript tells of stays that, whichever way it comes.
        let origin = if kind == Kind::Seen { Origin::Transcript } else { Origin::Spool };
        let text = id.to_string();
        let frame = Frame { seq: 0, kind, id: &text, ts, recorded: "", origin, signer: "" };
        let mut whole = String::new();
        frame.write(&fields, &mut whole);
        let read = Envelope::parse(whole.as_bytes()).map_err(|error| SpoolError(error.to_string()))?;
        if read.seq != 0 || read.kind != kind || whole.contains('\n') {
            return Err(refuse("its fields say what only the ledger may say"));
        }
        let text =
            |value: &Option<std::borrow::Cow<'_, str>>| value.as_ref().map(|value| value.as_ref().to_owned());
        let columns = Columns {
            source: text(&read.source),
            session: text(&read.harness_session_id),
            tool: read.tool.as_ref().map(|tool| tool.name.as_ref().to_owned()),
            verdict: text(&read.verdict),
            rule: text(&read.policy_rule_id),
        };
        let payload = match (&read.payload, line.salt) {
            (None, None) => None,
            (Some(mark), Some(salt)) => {
                let salt = from_base64(&salt).and_then(|salt| salt.try_into().ok());
                let salt: [u8; 32] = salt.ok_or_else(|| refuse("its salt is no salt"))?;
                let bytes = line.payload.map(String::into_bytes);
                let commitment: Hash =
                    mark.sha256.parse().map_err(|_| refuse("its commitment is no hash"))?;
                let fits = bytes.as_ref().map_or(mark.stored == Stored::Hash, |bytes| {
                    mark.stored == Stored::Whole && Hash::of_payload(&salt, bytes) == commitment
                });
                if !fits {
                    return Err(refuse("its payload does not match its commitment"));
                }
                Some(SealedPayload { salt, bytes, commitment })
            }
            _ => return Err(refuse("it has a payload or a salt, but not both")),
        };
        Ok(Self { id, ts, origin, kind, columns, payload, fields, supersedes: None })
    }
}
