// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The envelope of a leaf: one line of JSON, hashed as it is written and never written anew.

use std::borrow::Cow;
use std::fmt::Write as _;

use serde::{Deserialize, Serialize};
use tenterhook_event::Timestamp;

/// The version of the envelope written by this crate.
pub const FORMAT: u32 = 1;
/// No envelope is longer, in bytes: a tile's entry has sixteen bits for its length.
pub const MAX_ENVELOPE: usize = 65_535;

macro_rules! words {
    ($(#[$doc:meta])* $name:ident { $($(#[$about:meta])* $variant:ident $word:literal)* }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
        #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
        pub enum $name { $($(#[$about])* #[serde(rename = $word)] $variant,)* }

        impl $name {
            /// The word on the wire.
            pub fn word(self) -> &'static str {
                match self { $(Self::$variant => $word,)* }
            }
        }
    };
}

words! {
    /// What a leaf is about.
    Kind {
        /// The first leaf: which log this is, and who signs it.
        Start "start"
        /// An event and what was decided about it.
        Decision "decision"
        /// An event that a transcript tells of: it happened, and nothing was decided about it.
        Seen "seen"
        /// Something that changes protection: mode, policy, hooks, trust, approvals, installation.
        Change "change"
        /// Payloads were erased.
        Erase "erase"
        /// Another key signs from here on.
        Rotate "rotate"
        /// Leaves were pruned; their hashes remain.
        Prune "prune"
    }
}

words! {
    /// Who brought the leaf.
    Origin {
        /// A hook that recorded by itself.
        Hook "hook"
        /// The daemon.
        Daemon "daemon"
        /// A decision made while nobody could record; `ts` and `recorded` lie apart.
        Spool "spool"
        /// A command of a person.
        Cli "cli"
        /// What a harness had written down by itself; `ts` is its word.
        Transcript "transcript"
    }
}

/// How much of a payload is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Stored {
    /// All of it.
    Whole,
    /// Only its commitment: it was too large.
    Hash,
}

/// The envelope's word about its payload.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PayloadMark<'a> {
    /// The salted commitment, in base 64.
    #[serde(borrow)]
    pub sha256: Cow<'a, str>,
    /// How long the payload is.
    pub bytes: u64,
    /// How much of it is stored.
    pub stored: Stored,
    /// How many secrets were replaced by marks.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub redacted: u64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_zero(number: &u64) -> bool {
    *number == 0
}

/// The tool of a call, without its arguments: those are payload.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct ToolMark<'a> {
    /// The native name.
    #[serde(borrow)]
    pub name: Cow<'a, str>,
    /// What it does.
    #[serde(borrow, default, deserialize_with = "text")]
    pub class: Option<Cow<'a, str>>,
}

/// By itself, serde would copy a text that may be absent.
fn text<'de: 'a, 'a, D: serde::Deserializer<'de>>(from: D) -> Result<Option<Cow<'a, str>>, D::Error> {
    #[derive(Deserialize)]
    struct Text<'a>(#[serde(borrow)] Cow<'a, str>);

    Ok(Option::<Text<'a>>::deserialize(from)?.map(|text| text.0))
}

/// An envelope, read. What a kind has no use for is absent.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[expect(missing_docs, reason = "docs/spec/ledger.md says what each field means")]
pub struct Envelope<'a> {
    pub v: u32,
    pub seq: u64,
    pub kind: Kind,
    #[serde(borrow)]
    pub id: Cow<'a, str>,
    #[serde(borrow)]
    pub ts: Cow<'a, str>,
    #[serde(borrow)]
    pub recorded: Cow<'a, str>,
    pub origin: Origin,
    #[serde(borrow, default, deserialize_with = "text")]
    pub source: Option<Cow<'a, str>>,
    #[serde(borrow, default, deserialize_with = "text")]
    pub event: Option<Cow<'a, str>>,
    #[serde(borrow, default, deserialize_with = "text")]
    pub native_event: Option<Cow<'a, str>>,
    #[serde(borrow, default, deserialize_with = "text")]
    pub harness_session_id: Option<Cow<'a, str>>,
    #[serde(borrow, default, deserialize_with = "text")]
    pub tool_use_id: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    pub tool: Option<ToolMark<'a>>,
    #[serde(borrow, default, deserialize_with = "text")]
    pub cwd: Option<Cow<'a, str>>,
    #[serde(borrow, default, deserialize_with = "text")]
    pub verdict: Option<Cow<'a, str>>,
    #[serde(borrow, default, deserialize_with = "text")]
    pub reason: Option<Cow<'a, str>>,
    #[serde(borrow, default, deserialize_with = "text")]
    pub policy_rule_id: Option<Cow<'a, str>>,
    #[serde(borrow, default, deserialize_with = "text")]
    pub nudge: Option<Cow<'a, str>>,
    #[serde(borrow, default, deserialize_with = "text")]
    pub generation: Option<Cow<'a, str>>,
    #[serde(default)]
    pub took_us: Option<u64>,
    #[serde(borrow, default, deserialize_with = "text")]
    pub what: Option<Cow<'a, str>>,
    #[serde(borrow, default, deserialize_with = "text")]
    pub who: Option<Cow<'a, str>>,
    #[serde(borrow, default, deserialize_with = "text")]
    pub log: Option<Cow<'a, str>>,
    #[serde(borrow, default, deserialize_with = "text")]
    pub key: Option<Cow<'a, str>>,
    #[serde(borrow, default, deserialize_with = "text")]
    pub new_key: Option<Cow<'a, str>>,
    #[serde(borrow, default, deserialize_with = "text")]
    pub old_signature: Option<Cow<'a, str>>,
    #[serde(borrow, default, deserialize_with = "text")]
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
    /// Reads an envelope. The bytes stay what counts; nothing is ever hashed from this.
    pub fn parse(bytes: &'a [u8]) -> Result<Self, serde_json::Error> {
        // Looked at once as a whole, not text by text.
        match str::from_utf8(bytes) {
            Ok(text) => serde_json::from_str(text),
            Err(_) => serde_json::from_slice(bytes),
        }
    }
}

/// What the writer puts in front of an entry's own fields, and behind them.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Frame<'a> {
    pub(crate) seq: u64,
    pub(crate) kind: Kind,
    pub(crate) id: &'a str,
    pub(crate) ts: Timestamp,
    /// When it was recorded, as text.
    pub(crate) recorded: &'a str,
    pub(crate) origin: Origin,
    pub(crate) signer: &'a str,
}

impl Frame<'_> {
    /// The bytes of the leaf, in place of what `line` had: `fields` are JSON members without their
    /// braces, maybe none.
    pub(crate) fn write(self, fields: &str, line: &mut String) {
        let Self { seq, kind, id, ts, recorded, origin, signer } = self;
        let (kind, origin) = (kind.word(), origin.word());
        let comma = if fields.is_empty() { "" } else { "," };
        line.clear();
        // Writing to a text cannot fail.
        let _ = write!(
            line,
            r#"{{"v":{FORMAT},"seq":{seq},"kind":"{kind}","id":"{id}","ts":"{ts}","recorded":"{recorded}","origin":"{origin}"{comma}{fields},"signer":"{signer}"}}"#
        );
    }
}
