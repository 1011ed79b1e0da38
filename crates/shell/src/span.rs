// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Represents positions in the source text.

use std::ops::Range;

/// A range of bytes of the source text.
///
/// Nodes inside backticks with escapes are parsed from an unescaped copy; their spans still refer to the
/// original text.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct Span {
    /// Offset of the first byte.
    pub start: u32,
    /// Offset after the last byte.
    pub end: u32,
}

impl Span {
    /// Creates a span from byte offsets. Offsets beyond 4 GiB saturate, but the parser rejects such long scripts
    /// earlier.
    pub fn new(start: usize, end: usize) -> Self {
        let narrow = |offset: usize| u32::try_from(offset).unwrap_or(u32::MAX);
        Self { start: narrow(start), end: narrow(end) }
    }

    /// Returns the span as a range of offsets.
    pub fn range(self) -> Range<usize> {
        let widen = |offset: u32| usize::try_from(offset).unwrap_or(usize::MAX);
        widen(self.start)..widen(self.end)
    }

    /// Returns the text of the node; empty if the span does not belong to `source`.
    pub fn text(self, source: &str) -> &str {
        source.get(self.range()).unwrap_or_default()
    }

    /// Returns the number of bytes.
    pub fn len(self) -> usize {
        self.range().len()
    }

    /// Whether the span has no bytes.
    pub fn is_empty(self) -> bool {
        self.start >= self.end
    }

    /// Whether `other` is within this span.
    pub fn contains(self, other: Self) -> bool {
        self.start <= other.start && other.end <= self.end
    }
}
