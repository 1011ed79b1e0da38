// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Secrets in texts: which kind, and where.
//!
//! Most tokens say what they are by how they begin, so one pass over the text finds every
//! beginning, and only there the row of the table is asked whether a token follows. Passwords have
//! no such sign: they are found by what they are assigned to.

mod check;
mod context;
mod scan;
mod shape;
mod table;

use std::ops::Range;

/// One secret in a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Secret {
    /// What it is, such as `github-token`: the name of its row in the table.
    pub kind: &'static str,
    /// The bytes of the text it covers.
    pub span: Range<usize>,
}

/// Finds the secrets in a text, in order, never overlapping.
pub fn secrets(text: &str) -> Vec<Secret> {
    scan::scan(text)
}

/// Every kind there is, and what it is about; kinds that come in several forms, once.
pub fn kinds() -> impl Iterator<Item = (&'static str, &'static str)> {
    let first = |at: usize, kind: &str| table::ROWS.iter().position(|row| row.kind == kind) == Some(at);
    let rows = table::ROWS.iter().enumerate().filter(move |(at, row)| first(*at, row.kind));
    rows.map(|(_, row)| (row.kind, row.about))
}

#[cfg(test)]
mod tests;
