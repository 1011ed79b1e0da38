// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Scans text in one pass and checks token forms at every known prefix.

use std::ops::Range;
use std::sync::LazyLock;

use super::Secret;
use super::shape::{can_begin_at, can_end_at, match_parts, span_bytes};
use super::table::{FormShape, TOKEN_FORMS, TokenForm};

/// All prefixes, indexed by their first two bytes. Most texts contain few of these pairs, and one table lookup per
/// byte is about as fast as reading the text.
struct PrefixIndex {
    /// The number of the group for each pair of bytes; 0 for pairs that do not begin a prefix.
    groups: Box<[u8; 1 << 16]>,
    members: Vec<Vec<TokenPrefix>>,
}

/// A prefix and the index of its form in the table.
struct TokenPrefix {
    text: &'static [u8],
    form: usize,
}

static PREFIXES: LazyLock<PrefixIndex> = LazyLock::new(|| {
    let mut groups = Box::new([0u8; 1 << 16]);
    let mut members = vec![Vec::new()];
    for (form, row) in TOKEN_FORMS.iter().enumerate() {
        for text in row.starts.iter().map(|start| start.as_bytes()) {
            let [first, second, ..] = text else { continue };
            let Some(group) = groups.get_mut(pair_index(*first, *second)) else { continue };
            if *group == 0 {
                // INVARIANT: fewer than 256 groups; a test looks up every prefix.
                *group = u8::try_from(members.len()).unwrap_or_default();
                members.push(Vec::new());
            }
            members
                .get_mut(usize::from(*group))
                .into_iter()
                .for_each(|list| list.push(TokenPrefix { text, form }));
        }
    }
    PrefixIndex { groups, members }
});

fn pair_index(first: u8, second: u8) -> usize {
    usize::from(u16::from_be_bytes([first, second]))
}

/// A match of a form, before overlaps are resolved.
struct Candidate {
    span: Range<usize>,
    form: &'static TokenForm,
    /// Length of the prefix.
    prefix_len: usize,
}

pub(super) fn scan(text: &str) -> Vec<Secret> {
    let PrefixIndex { groups, members } = &*PREFIXES;
    let bytes = text.as_bytes();
    let mut found: Vec<Candidate> = Vec::new();
    // How far each form has read. A prefix before that position is part of a run that was already read.
    let mut read = [0usize; TOKEN_FORMS.len()];
    let mut first = bytes.first().copied().unwrap_or_default();
    for (at, second) in bytes.iter().skip(1).enumerate() {
        let group = groups.get(pair_index(first, *second)).copied().unwrap_or_default();
        first = *second;
        if group == 0 {
            continue;
        }
        let rest = bytes.get(at..).unwrap_or_default();
        for start in members.get(usize::from(group)).into_iter().flatten() {
            let (Some(form), Some(read)) = (TOKEN_FORMS.get(start.form), read.get_mut(start.form)) else {
                continue;
            };
            if !rest.starts_with(start.text) || at < *read {
                continue;
            }
            if let Some(span) = form.find(bytes, at..at + start.text.len(), read) {
                found.push(Candidate { span, form, prefix_len: start.text.len() });
            }
        }
    }
    resolve_overlaps(found, text)
}

/// Chooses among overlapping candidates. A known form takes precedence over a guess, then the first candidate in the
/// text, then the candidate with the longer prefix.
fn resolve_overlaps(mut found: Vec<Candidate>, text: &str) -> Vec<Secret> {
    found.sort_by_key(|one| {
        (one.span.start, one.form.is_guess(), usize::MAX - one.prefix_len, usize::MAX - one.span.end)
    });
    let known: Vec<_> = found.iter().filter(|one| !one.form.is_guess()).map(|one| one.span.clone()).collect();
    let mut secrets: Vec<Secret> = Vec::new();
    let mut next_known = 0;
    for one in found {
        let free = secrets.last().is_none_or(|last| last.span.end <= one.span.start);
        while known.get(next_known).is_some_and(|span| span.end <= one.span.start) {
            next_known += 1;
        }
        let outranked =
            one.form.is_guess() && known.get(next_known).is_some_and(|span| span.start < one.span.end);
        if free && !outranked && text.get(one.span.clone()).is_some_and(|secret| !secret.is_empty()) {
            secrets.push(Secret { kind: one.form.kind, span: one.span });
        }
    }
    secrets
}

// === impl TokenForm ===

impl TokenForm {
    /// Returns the secret that the prefix at `start` belongs to, if the form matches there.
    pub(super) fn find(&self, bytes: &[u8], start: Range<usize>, read: &mut usize) -> Option<Range<usize>> {
        match self.shape {
            FormShape::Token(parts, check) => {
                let end = can_begin_at(bytes, start.start)
                    .then(|| match_parts(bytes, start.end, parts, read))??;
                (can_end_at(bytes, end) && check.passes(span_bytes(bytes, start.end..end)))
                    .then_some(start.start..end)
            }
            FormShape::Value(parts, check) => {
                let end = can_begin_at(bytes, start.start)
                    .then(|| match_parts(bytes, start.end, parts, read))??;
                (can_end_at(bytes, end) && check.passes(span_bytes(bytes, start.end..end)))
                    .then_some(start.end..end)
            }
            FormShape::Context(find) | FormShape::Guess(find) => find(bytes, start, read),
        }
    }

    /// Whether the form recognizes a secret only by the surrounding text.
    fn is_guess(&self) -> bool {
        matches!(self.shape, FormShape::Guess(_))
    }
}
