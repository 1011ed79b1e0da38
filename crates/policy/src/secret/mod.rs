// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Secrets in texts: which kind, and where.

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
    let _ = text;
    Vec::new()
}
