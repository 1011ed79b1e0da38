// SPDX-License-Identifier: Apache-2.0 OR MIT

//! One pass over a text.

use std::ops::Range;
use std::sync::LazyLock;

use super::Secret;
use super::shape::{begins, ends, follow, part};
use super::table::{ROWS, Row, Shape};

/// Every beginning, found by its first two bytes: few texts have many of those pairs, and one look
/// at a table for each byte is as fast as reading gets.
struct Starts {
    /// For each pair of bytes the number of its group; none has 0.
    groups: Box<[u8; 1 << 16]>,
    members: Vec<Vec<Start>>,
}

/// One beginning, and the row it belongs to, by its place in the table.
struct Start {
    text: &'static [u8],
    row: usize,
}

static STARTS: LazyLock<Starts> = LazyLock::new(|| {
    let mut groups = Box::new([0u8; 1 << 16]);
    let mut members = vec![Vec::new()];
    for (row, one) in ROWS.iter().enumerate() {
        for text in one.starts.iter().map(|start| start.as_bytes()) {
            let [first, second, ..] = text else { continue };
            let Some(group) = groups.get_mut(pair(*first, *second)) else { continue };
            if *group == 0 {
                // INVARIANT: fewer than 256 groups; a test looks every beginning up.
                *group = u8::try_from(members.len()).unwrap_or_default();
                members.push(Vec::new());
            }
            members.get_mut(usize::from(*group)).into_iter().for_each(|list| list.push(Start { text, row }));
        }
    }
    Starts { groups, members }
});

fn pair(first: u8, second: u8) -> usize {
    usize::from(u16::from_be_bytes([first, second]))
}

/// Something that may be a secret.
struct Candidate {
    span: Range<usize>,
    row: &'static Row,
    /// How much of it its row is sure of.
    anchor: usize,
}

pub(super) fn scan(text: &str) -> Vec<Secret> {
    let Starts { groups, members } = &*STARTS;
    let bytes = text.as_bytes();
    let mut found: Vec<Candidate> = Vec::new();
    // How far each row has read: what begins inside a run was read with it.
    let mut read = [0usize; ROWS.len()];
    let mut first = bytes.first().copied().unwrap_or_default();
    for (at, second) in bytes.iter().skip(1).enumerate() {
        let group = groups.get(pair(first, *second)).copied().unwrap_or_default();
        first = *second;
        if group == 0 {
            continue;
        }
        let rest = bytes.get(at..).unwrap_or_default();
        for start in members.get(usize::from(group)).into_iter().flatten() {
            let (Some(row), Some(read)) = (ROWS.get(start.row), read.get_mut(start.row)) else { continue };
            if !rest.starts_with(start.text) || at < *read {
                continue;
            }
            if let Some(span) = row.find(bytes, at..at + start.text.len(), read) {
                found.push(Candidate { span, row, anchor: start.text.len() });
            }
        }
    }
    chosen(found, text)
}

/// Of those that overlap: a token of a known form before what only stands where a secret would,
/// then the first, then the one with the longer prefix.
fn chosen(mut found: Vec<Candidate>, text: &str) -> Vec<Secret> {
    found.sort_by_key(|one| {
        (one.span.start, one.row.is_guess(), usize::MAX - one.anchor, usize::MAX - one.span.end)
    });
    let known: Vec<_> = found.iter().filter(|one| !one.row.is_guess()).map(|one| one.span.clone()).collect();
    let mut secrets: Vec<Secret> = Vec::new();
    let mut next_known = 0;
    for one in found {
        let free = secrets.last().is_none_or(|last| last.span.end <= one.span.start);
        while known.get(next_known).is_some_and(|span| span.end <= one.span.start) {
            next_known += 1;
        }
        let outranked =
            one.row.is_guess() && known.get(next_known).is_some_and(|span| span.start < one.span.end);
        if free && !outranked && text.get(one.span.clone()).is_some_and(|secret| !secret.is_empty()) {
            secrets.push(Secret { kind: one.row.kind, span: one.span });
        }
    }
    secrets
}

// === impl Row ===

impl Row {
    /// The secret that this beginning is part of.
    pub(super) fn find(&self, bytes: &[u8], start: Range<usize>, read: &mut usize) -> Option<Range<usize>> {
        match self.shape {
            Shape::Token(parts, check) => {
                let end = begins(bytes, start.start).then(|| follow(bytes, start.end, parts, read))??;
                (ends(bytes, end) && check.passes(part(bytes, start.end..end))).then_some(start.start..end)
            }
            Shape::Value(parts, check) => {
                let end = begins(bytes, start.start).then(|| follow(bytes, start.end, parts, read))??;
                (ends(bytes, end) && check.passes(part(bytes, start.end..end))).then_some(start.end..end)
            }
            Shape::Context(find) | Shape::Guess(find) => find(bytes, start, read),
        }
    }

    /// Whether it knows a secret only by where it stands.
    fn is_guess(&self) -> bool {
        matches!(self.shape, Shape::Guess(_))
    }
}
