// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Finds secrets in text: their kind and position.
//!
//! Most tokens have a well-known prefix. One pass over the text finds every prefix. The forms in the table are
//! checked only at these positions. Passwords have no prefix; they are found by the name to which they are assigned.

mod check;
mod context;
mod scan;
mod shape;
mod table;

use std::ops::Range;

/// A secret in a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Secret {
    /// Kind of secret, such as `github-token`.
    pub kind: &'static str,
    /// Byte range of the secret in the text.
    pub span: Range<usize>,
}

/// Finds the secrets in a text, in order and without overlaps.
pub fn find_secrets(text: &str) -> Vec<Secret> {
    scan::scan(text)
}

/// Returns every kind of secret with its description. A kind with several forms is listed once.
pub fn secret_kinds() -> impl Iterator<Item = (&'static str, &'static str)> {
    let first =
        |at: usize, kind: &str| table::TOKEN_FORMS.iter().position(|form| form.kind == kind) == Some(at);
    let forms = table::TOKEN_FORMS.iter().enumerate().filter(move |(at, form)| first(*at, form.kind));
    forms.map(|(_, form)| (form.kind, form.about))
}

#[cfg(test)]
mod tests;
