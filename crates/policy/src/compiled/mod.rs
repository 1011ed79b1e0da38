// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The compiled form of rules, encoded with postcard. The build compiles the built-in rule packs to this form. Rule
//! files are compiled to it when they are loaded, and snapshots contain it.
//!
//! The form is a header followed by a body. Rules and their alternatives are slices of the body and are decoded only
//! when they could match. The keys of the index are in a hash table in the body. Values that take long to build
//! (regular expressions, CEL conditions) are stored as text and built when they are first needed.
//!
//! Only the version of the program that wrote the form can read it. Callers decide whether the bytes can be trusted.
//! Damaged bytes never cause a panic; a rule or index that cannot be decoded denies the call.

mod body;
mod lazy_rule;
mod segment;
mod write;

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use tenterhook_event::EventKind;

use crate::index::{KeyTable, KindForm};
use crate::path_rule::RuleAboutPaths;
use crate::source::{RuleSource, SourceLayer};
pub(crate) use body::{BodyBytes, BodySection, BodyWriter, WriteError};
use body::{OFFSET_BYTES, offset_at};
pub(crate) use lazy_rule::undecodable_rule;
pub(crate) use segment::RuleSegment;
pub(crate) use write::{compile, text_digest};

/// Incremented when the header or the layout of the body changes.
const COMPILED_FORMAT: u32 = 5;

/// The bytes of compiled rules.
#[derive(Clone)]
pub enum RuleBytes {
    /// Bytes that are compiled into the program.
    Static(&'static [u8]),
    /// Shared bytes; the rules start at this offset.
    Shared(Arc<Vec<u8>>, usize),
}

/// Compiled rules with a decoded header.
pub struct CompiledRules {
    bytes: RuleBytes,
    /// Offset at which the body begins.
    start: usize,
    pub(crate) header: CompiledHeader,
}

/// Data about the rules that is available without decoding them.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct CompiledHeader {
    format: u32,
    /// A hash of the body.
    fingerprint: u64,
    body_bytes: usize,
    /// The files of the rules, in order.
    pub(crate) files: Vec<FileForm>,
    /// Offsets at which the rules begin in `records`.
    offsets: BodySection,
    records: BodySection,
    /// Position of each rule, by its id.
    ids: KeyTable,
    /// The index of each kind of event.
    kinds: Vec<(EventKind, KindForm)>,
    pub(crate) notable: NotableRules,
    /// The parts about paths of rules, by rule number.
    about_paths: BodySection,
}

/// One rule file.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct FileForm {
    pub(crate) name: String,
    pub(crate) layer: SourceLayer,
    /// A hash of the file's text.
    pub(crate) digest: u64,
    /// Range of its rule numbers: the first, and one past the last.
    pub(crate) rules: (u32, u32),
    /// Kinds of events that its rules handle.
    pub(crate) kinds: Vec<EventKind>,
}

/// Numbers of rules with properties that must be known before the rules are decoded.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct NotableRules {
    /// Rules that later layers cannot disable or override.
    pub(crate) locked: Vec<u32>,
    /// Rules with a condition on the groups of the account.
    pub(crate) by_group: Vec<u32>,
    /// Rules with a budget.
    pub(crate) budgets: Vec<u32>,
    /// Rules that count matches across all sessions.
    pub(crate) all_sessions: Vec<u32>,
    /// Rules with an expiry date.
    pub(crate) expiring: Vec<u32>,
    /// Rules that read or change the session's state, by kind of event.
    pub(crate) stateful: Vec<(EventKind, Vec<u32>)>,
}

impl CompiledRules {
    /// Opens rules that this version of the program compiled; `None` if the bytes are truncated or were written by
    /// another version.
    pub fn open(bytes: RuleBytes) -> Option<Self> {
        let all = bytes.as_slice();
        let (header, body) = postcard::take_from_bytes::<CompiledHeader>(all).ok()?;
        if header.format != COMPILED_FORMAT || header.body_bytes != body.len() {
            return None;
        }
        let start = all.len() - body.len();
        Some(Self { bytes, start, header })
    }

    /// Returns a hash of all rules in the compiled form.
    pub fn fingerprint(&self) -> u64 {
        self.header.fingerprint
    }

    /// Returns the number of rules of a file.
    pub fn rule_count_of(&self, file: &str) -> Option<usize> {
        let file = self.header.files.iter().find(|form| form.name == file)?;
        usize::try_from(file.rules.1.checked_sub(file.rules.0)?).ok()
    }

    /// Returns the number of the file with this source and text digest.
    pub(crate) fn find_file(&self, source: &RuleSource<'_>, digest: u64) -> Option<usize> {
        let same =
            |form: &FileForm| form.layer == source.layer && form.name == source.name && form.digest == digest;
        self.header.files.iter().position(same)
    }

    pub(crate) fn body(&self) -> BodyBytes<'_> {
        BodyBytes(self.bytes().get(self.start..).unwrap_or_default())
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        self.bytes.as_slice()
    }

    /// Returns the number of rules.
    pub(crate) fn count(&self) -> usize {
        (self.body().bytes(self.header.offsets).len() / OFFSET_BYTES).saturating_sub(1)
    }

    /// Returns the encoded bytes of a rule.
    pub(crate) fn record(&self, number: usize) -> Option<&[u8]> {
        let offsets = self.body().bytes(self.header.offsets);
        let (start, end) = (offset_at(offsets, number)?, offset_at(offsets, number + 1)?);
        self.body().bytes(self.header.records).get(start..end)
    }

    /// Returns the number of the rule with this id.
    pub(crate) fn find_rule(&self, id: &str) -> Option<u32> {
        let mut found = Vec::new();
        self.header.ids.find(self.body(), id, &mut found);
        found.first().map(|(number, _)| *number)
    }

    /// Returns the parts about paths of rules, by rule number; `None` if they are damaged.
    fn rules_about_paths(&self) -> Option<Vec<(u32, RuleAboutPaths)>> {
        self.body().read(self.header.about_paths)
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
