// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Detects secrets in identifiers. Detectors match at the beginning of a word, but identifiers join words: a token
//! in `mcp__vault__TOKEN` or `session-TOKEN` begins after a `_` or `-`.

use std::ops::Range;

use crate::field_limits::{MAX_NAME_BYTES, exceeds_limit};
use crate::payload::Redactor;

/// Minimum length of a string that is searched after a separator; no known token is shorter.
const MIN_SECRET_BYTES: usize = 16;
const MARK_PREFIX: &str = "[[redacted:";

/// Returns the secrets found in an identifier, each with its kind.
pub fn secrets_in_identifier<'a>(text: &'a str, redactor: Redactor<'_>) -> Vec<(Range<usize>, &'a str)> {
    // Fast path: most identifiers are too short to contain a secret.
    if text.len() < MIN_SECRET_BYTES {
        return Vec::new();
    }
    // A string that exceeds the limit for names is replaced completely instead of being truncated in the record. An
    // event thus keeps its identifier when it is recorded, and different identifiers stay different. The limit also
    // bounds the run time, because each separator starts a search.
    if exceeds_limit(text, MAX_NAME_BYTES) {
        return vec![(0..text.len(), "long-identifier")];
    }
    let marks = find_marks(text);
    let is_marked = |at: usize| marks.iter().any(|mark| mark.contains(&at));
    let separators = text.bytes().enumerate().filter(|(_, byte)| matches!(byte, b'_' | b'-'));
    let starts = std::iter::once(0).chain(separators.map(|(at, _)| at + 1));
    let mut found: Vec<(Range<usize>, &str)> = Vec::new();
    for start in starts.take_while(|start| text.len() >= start + MIN_SECRET_BYTES) {
        let is_known = found.iter().any(|(span, _)| span.contains(&start));
        let Some(rest) = text.get(start..).filter(|_| !is_known && !is_marked(start)) else { continue };
        let secrets = redactor(rest).into_iter();
        let moved = secrets.map(|(span, kind)| (span.start + start..span.end + start, kind));
        found.extend(moved.filter(|(span, _)| !is_marked(span.start)));
    }
    found
}

/// Finds the placeholders of secrets that have already been replaced.
fn find_marks(text: &str) -> Vec<Range<usize>> {
    // This check is cheaper than setting up a substring search.
    if !text.contains('[') {
        return Vec::new();
    }
    let ends = |start: usize| Some(start + text.get(start..)?.find("]]")? + 2);
    text.match_indices(MARK_PREFIX).filter_map(|(start, _)| Some(start..ends(start)?)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Finds `secret` followed by sixteen letters at the beginning of a word.
    fn find_words(text: &str) -> Vec<(Range<usize>, &str)> {
        let whole = text.match_indices("secret").filter(|(at, _)| {
            let before = text.get(..*at).and_then(|before| before.chars().last());
            !before.is_some_and(|before| before.is_alphanumeric() || "_-".contains(before))
        });
        whole.filter(|(at, _)| text.len() >= at + 22).map(|(at, _)| (at..at + 22, "kind")).collect()
    }

    thread_local! {
        static SEARCHES: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
    }

    fn count_words(text: &str) -> Vec<(Range<usize>, &str)> {
        SEARCHES.set(SEARCHES.get() + 1);
        find_words(text)
    }

    #[test]
    fn a_text_that_is_too_long_for_an_identifier_is_replaced_and_not_searched() {
        for long in
            ["-".repeat(1 << 20), "-".repeat(MAX_NAME_BYTES + 1), "\u{1}".repeat(MAX_NAME_BYTES / 6 + 1)]
        {
            assert_eq!(secrets_in_identifier(&long, &count_words), [(0..long.len(), "long-identifier")]);
            assert_eq!(SEARCHES.get(), 0);
        }
        let longest = "-".repeat(MAX_NAME_BYTES);
        assert!(secrets_in_identifier(&longest, &count_words).is_empty());
        assert!((1..=MAX_NAME_BYTES).contains(&SEARCHES.get()), "{}", SEARCHES.get());
    }

    #[test]
    fn a_secret_is_found_behind_every_joint_of_an_identifier() {
        let secret = "secretabcdefghijklmnop";
        for before in ["", "s-", "mcp__vault__", "a b-c_"] {
            let text = format!("{before}{secret}-x");
            let found = secrets_in_identifier(&text, &find_words);
            assert_eq!(found, [(before.len()..before.len() + 22, "kind")], "{before}");
        }
        assert!(secrets_in_identifier("mcp__vault__read", &find_words).is_empty());
        let marked = format!("s-[[redacted:kind:-{secret}]]");
        assert!(secrets_in_identifier(&marked, &find_words).is_empty(), "a mark is not a secret");
        assert_eq!(secrets_in_identifier(&format!("{marked}_{secret}"), &find_words).len(), 1);
    }
}
