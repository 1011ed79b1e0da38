// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The one compiled form of rules, encoded with postcard. The build compiles the baseline to it, rule files are
//! compiled to it when they are loaded, and a snapshot has it.
//!
//! A header, then a body. Rules and their alternatives are slices of the body and are decoded when they could
//! match; the keys of the index are found by a hash table in the same bytes. What takes long to build (regular
//! expressions, conditions in CEL) is kept as text and built when it is first needed.
//!
//! The form is for the program that wrote it: another version does not read it. Whether the bytes can be trusted
//! is for the caller to know; damaged ones never panic, and a rule or index that cannot be read denies.

mod body;
mod lazy_rule;
mod segment;
mod write;

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use tenterhook_event::EventKind;

use crate::index::{KeyTable, KindForm};
use crate::source::{Layer, Source};
pub(crate) use body::{Body, BodyWriter, Section, WriteError};
use body::{PLACE_BYTES, place_at};
pub(crate) use lazy_rule::unreadable;
pub(crate) use segment::Segment;
pub(crate) use write::{compile, text_digest};

/// Changes when the header or the layout of the body does.
const FORMAT: u32 = 1;

/// The bytes of compiled rules.
#[derive(Clone)]
pub enum RuleBytes {
    /// Part of the program.
    Static(&'static [u8]),
    /// Shared with others, from this place on.
    Shared(Arc<Vec<u8>>, usize),
}

/// Rules in their compiled form, opened.
pub struct CompiledRules {
    bytes: RuleBytes,
    /// Where the body begins.
    start: usize,
    pub(crate) header: Header,
}

/// What is known of the rules without decoding any.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Header {
    format: u32,
    /// A hash of the body.
    fingerprint: u64,
    body_bytes: usize,
    /// The files that the rules come from, in order.
    pub(crate) files: Vec<FileForm>,
    /// Where each rule begins in `records`.
    places: Section,
    records: Section,
    /// The numbers of rules by id.
    ids: KeyTable,
    /// The index, by kind of event.
    kinds: Vec<(EventKind, KindForm)>,
    pub(crate) notable: NotableRules,
}

/// A file of rules.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct FileForm {
    pub(crate) name: String,
    pub(crate) layer: Layer,
    /// A hash of its text.
    pub(crate) digest: u64,
    /// The numbers of its rules: the first, and the one after the last.
    pub(crate) rules: (u32, u32),
    /// The kinds of events that its rules are about.
    pub(crate) kinds: Vec<EventKind>,
}

/// The numbers of rules of which something must be known before they are decoded.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct NotableRules {
    /// Rules that no layer below may disable or set aside.
    pub(crate) locked: Vec<u32>,
    /// Rules that ask for the groups of the account.
    pub(crate) by_group: Vec<u32>,
    /// Rules with a budget.
    pub(crate) budgets: Vec<u32>,
    /// Rules that count all sessions together.
    pub(crate) all_sessions: Vec<u32>,
    /// Rules that expire.
    pub(crate) expiring: Vec<u32>,
    /// Rules that depend on, or change, what is remembered of a session, by kind of event.
    pub(crate) stateful: Vec<(EventKind, Vec<u32>)>,
}

impl CompiledRules {
    /// Opens rules that this program compiled. `None` if the bytes are cut, or of another version.
    pub fn open(bytes: RuleBytes) -> Option<Self> {
        let all = bytes.as_slice();
        let (header, body) = postcard::take_from_bytes::<Header>(all).ok()?;
        if header.format != FORMAT || header.body_bytes != body.len() {
            return None;
        }
        let start = all.len() - body.len();
        Some(Self { bytes, start, header })
    }

    /// A hash of all rules in their compiled form.
    pub fn fingerprint(&self) -> u64 {
        self.header.fingerprint
    }

    /// How many rules of a file there are.
    pub fn rules_of(&self, file: &str) -> Option<usize> {
        let file = self.header.files.iter().find(|form| form.name == file)?;
        usize::try_from(file.rules.1.checked_sub(file.rules.0)?).ok()
    }

    /// The number of the file that was compiled from this very text.
    pub(crate) fn file_of(&self, source: &Source<'_>, digest: u64) -> Option<usize> {
        let same =
            |form: &FileForm| form.layer == source.layer && form.name == source.name && form.digest == digest;
        self.header.files.iter().position(same)
    }

    pub(crate) fn body(&self) -> Body<'_> {
        Body(self.bytes().get(self.start..).unwrap_or_default())
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        self.bytes.as_slice()
    }

    /// How many rules there are.
    pub(crate) fn count(&self) -> usize {
        (self.body().bytes(self.header.places).len() / PLACE_BYTES).saturating_sub(1)
    }

    /// The bytes of a rule.
    pub(crate) fn record(&self, number: usize) -> Option<&[u8]> {
        let places = self.body().bytes(self.header.places);
        let (start, end) = (place_at(places, number)?, place_at(places, number + 1)?);
        self.body().bytes(self.header.records).get(start..end)
    }

    /// The number of the rule of this id.
    pub(crate) fn number(&self, id: &str) -> Option<u32> {
        let mut found = Vec::new();
        self.header.ids.find(self.body(), id, &mut found);
        found.first().map(|(number, _)| *number)
    }

    pub(crate) fn kinds(&self) -> &[(EventKind, KindForm)] {
        &self.header.kinds
    }
}

// === impl RuleBytes ===

impl RuleBytes {
    fn as_slice(&self) -> &[u8] {
        match self {
            Self::Static(bytes) => bytes,
            Self::Shared(bytes, start) => bytes.get(*start..).unwrap_or_default(),
        }
    }
}

impl From<Vec<u8>> for RuleBytes {
    fn from(bytes: Vec<u8>) -> Self {
        Self::Shared(Arc::new(bytes), 0)
    }
}

impl fmt::Debug for CompiledRules {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CompiledRules").field("rules", &self.count()).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
