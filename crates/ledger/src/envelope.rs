// SPDX-License-Identifier: Apache-2.0 OR MIT

//! A leaf's envelope: one line of JSON. Its bytes are hashed when they are written, and never serialized again.

use std::borrow::Cow;
use std::fmt::Write as _;

use serde::{Deserialize, Serialize};
use tenterhook_event::Timestamp;

/// Version of the envelope format that this crate writes.
pub const ENVELOPE_VERSION: u32 = 1;
/// Maximum length of an envelope: tile bundles store an entry's length in 16 bits.
pub const MAX_ENVELOPE_BYTES: usize = 65_535;

macro_rules! named_variants {
    ($(#[$doc:meta])* $name:ident $schema:literal { $($(#[$about:meta])* $variant:ident $word:literal)* }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
        #[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = $schema))]
        pub enum $name { $($(#[$about])* #[serde(rename = $word)] $variant,)* }

        impl $name {
            /// All values, in declaration order.
            pub const ALL: &[Self] = &[$(Self::$variant,)*];

            /// Returns the name used in the envelope.
            pub fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $word,)* }
            }
        }
    };
}

named_variants! {
    /// A record's kind.
    LeafKind "Kind" {
        /// The first record, with the log's origin and its first key.
        Start "start"
        /// An event and its outcome.
        Decision "decision"
        /// An event from an imported transcript, for which no rules were evaluated.
        Seen "seen"
        /// A change of protection: mode, policy, hooks, trust, approvals, installation.
        Change "change"
        /// Payloads were erased.
        Erase "erase"
        /// A key rotation: a new key signs from here on.
        Rotate "rotate"
        /// Records were pruned; their hashes are kept.
        Prune "prune"
    }
}

named_variants! {
    /// The program that wrote a record.
    LeafOrigin "Origin" {
        /// A hook that recorded without a daemon.
        Hook "hook"
        /// The daemon, on behalf of a hook call.
        Daemon "daemon"
        /// The spool: the decision was made while the ledger was not available, so `recorded` is later than `ts`.
        Spool "spool"
        /// A command run by a user.
        Cli "cli"
        /// A harness's transcript, which is also the source of `ts`.
        Transcript "transcript"
    }
}

/// How much of a payload is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "Stored"))]
pub enum PayloadStorage {
    /// The complete payload is stored.
    Whole,
    /// Only the commitment is stored, because the payload is too large.
    Hash,
}

/// What an envelope states about its payload.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PayloadMark<'a> {
    /// Salted commitment to the payload, in base64.
    #[serde(borrow)]
    pub sha256: Cow<'a, str>,
    /// Length of the payload in bytes.
    pub bytes: u64,
    /// Whether the payload is stored.
    pub stored: PayloadStorage,
    /// Number of secrets that were replaced by placeholders.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub redacted: u64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_zero(number: &u64) -> bool {
    *number == 0
}

/// The tool of a call, without its arguments, which are part of the payload.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct ToolMark<'a> {
    /// Name of the tool in the harness.
    #[serde(borrow)]
    pub name: Cow<'a, str>,
    /// Class of the tool, such as `shell`.
    #[serde(borrow, default, deserialize_with = "borrowed_text")]
    pub class: Option<Cow<'a, str>>,
}

/// Deserializes an optional string without copying it, which serde does not do by default.
fn borrowed_text<'de: 'a, 'a, D: serde::Deserializer<'de>>(
    from: D,
) -> Result<Option<Cow<'a, str>>, D::Error> {
    #[derive(Deserialize)]
    struct BorrowedText<'a>(#[serde(borrow)] Cow<'a, str>);

    Ok(Option::<BorrowedText<'a>>::deserialize(from)?.map(|text| text.0))
}

/// A parsed envelope. Fields that a kind does not use are absent.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[expect(missing_docs, reason = "docs/spec/ledger.md describes each field")]
pub struct Envelope<'a> {
    pub v: u32,
    pub seq: u64,
    pub kind: LeafKind,
    #[serde(borrow)]
    pub id: Cow<'a, str>,
    #[serde(borrow)]
    pub ts: Cow<'a, str>,
    #[serde(borrow)]
    pub recorded: Cow<'a, str>,
    pub origin: LeafOrigin,
    #[serde(borrow, default, deserialize_with = "borrowed_text")]
    pub source: Option<Cow<'a, str>>,
    #[serde(borrow, default, deserialize_with = "borrowed_text")]
    pub event: Option<Cow<'a, str>>,
    #[serde(borrow, default, deserialize_with = "borrowed_text")]
    pub native_event: Option<Cow<'a, str>>,
    #[serde(borrow, default, deserialize_with = "borrowed_text")]
    pub harness_session_id: Option<Cow<'a, str>>,
    #[serde(borrow, default, deserialize_with = "borrowed_text")]
    pub tool_use_id: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    pub tool: Option<ToolMark<'a>>,
    #[serde(borrow, default, deserialize_with = "borrowed_text")]
    pub cwd: Option<Cow<'a, str>>,
    #[serde(borrow, default, deserialize_with = "borrowed_text")]
    pub verdict: Option<Cow<'a, str>>,
    #[serde(borrow, default, deserialize_with = "borrowed_text")]
    pub reason: Option<Cow<'a, str>>,
    #[serde(borrow, default, deserialize_with = "borrowed_text")]
    pub policy_rule_id: Option<Cow<'a, str>>,
    #[serde(borrow, default, deserialize_with = "borrowed_text")]
    pub nudge: Option<Cow<'a, str>>,
    #[serde(borrow, default, deserialize_with = "borrowed_text")]
    pub generation: Option<Cow<'a, str>>,
    #[serde(default)]
    pub took_us: Option<u64>,
    #[serde(borrow, default, deserialize_with = "borrowed_text")]
    pub what: Option<Cow<'a, str>>,
    #[serde(borrow, default, deserialize_with = "borrowed_text")]
    pub who: Option<Cow<'a, str>>,
    #[serde(borrow, default, deserialize_with = "borrowed_text")]
    pub log: Option<Cow<'a, str>>,
    #[serde(borrow, default, deserialize_with = "borrowed_text")]
    pub key: Option<Cow<'a, str>>,
    #[serde(borrow, default, deserialize_with = "borrowed_text")]
    pub new_key: Option<Cow<'a, str>>,
    #[serde(borrow, default, deserialize_with = "borrowed_text")]
    pub old_signature: Option<Cow<'a, str>>,
    #[serde(borrow, default, deserialize_with = "borrowed_text")]
    pub new_signature: Option<Cow<'a, str>>,
    #[serde(default)]
    pub from: Option<u64>,
    #[serde(default)]
    pub to: Option<u64>,
    #[serde(borrow, default)]
    pub payload: Option<PayloadMark<'a>>,
    #[serde(borrow)]
    pub signer: Cow<'a, str>,
}

impl<'a> Envelope<'a> {
    /// Parses an envelope. Hashes are computed from the original bytes only.
    pub fn parse(bytes: &'a [u8]) -> Result<Self, serde_json::Error> {
        // One UTF-8 check of the whole envelope is faster than one per string.
        match str::from_utf8(bytes) {
            Ok(text) => serde_json::from_str(text),
            Err(_) => serde_json::from_slice(bytes),
        }
    }
}

/// Fields that the writer adds before and after the entry's fields.
#[derive(Debug, Clone, Copy)]
pub(crate) struct EnvelopeFrame<'a> {
    pub(crate) seq: u64,
    pub(crate) kind: LeafKind,
    pub(crate) id: &'a str,
    pub(crate) ts: Timestamp,
    /// Time of recording, as text.
    pub(crate) recorded: &'a str,
    pub(crate) origin: LeafOrigin,
    pub(crate) signer: &'a str,
}

impl EnvelopeFrame<'_> {
    /// Writes the envelope to `line`, replacing its content. `fields` are JSON members without braces, and may be
    /// empty.
    pub(crate) fn write(self, fields: &str, line: &mut String) {
        let Self { seq, kind, id, ts, recorded, origin, signer } = self;
        let (kind, origin) = (kind.as_str(), origin.as_str());
        let comma = if fields.is_empty() { "" } else { "," };
        line.clear();
        // Writing to a string cannot fail.
        let _ = write!(
            line,
            r#"{{"v":{ENVELOPE_VERSION},"seq":{seq},"kind":"{kind}","id":"{id}","ts":"{ts}","recorded":"{recorded}","origin":"{origin}"{comma}{fields},"signer":"{signer}"}}"#
        );
    }
}
