// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Secrets in identifiers. Detectors look for the beginning of a word, and identifiers join words: a token in
//! `mcp__vault__TOKEN` or `session-TOKEN` begins behind a `_` or `-`.

use std::ops::Range;

use crate::bound;
use crate::payload::Redactor;

/// The shortest text that is searched again behind a joint; no known token is shorter.
const MIN_SECRET_BYTES: usize = 16;
const MARK: &str = "[[redacted:";

/// Where secrets are in an identifier, and of which kind.
pub fn secrets_in_identifier<'a>(text: &'a str, redactor: Redactor<'_>) -> Vec<(Range<usize>, &'a str)> {
    // Most identifiers are too short; every call has several, and each is searched.
    if text.len() < MIN_SECRET_BYTES {
        return Vec::new();
    }
    // A text that is longer than a name may be is not an identifier. It is replaced whole instead of being cut in the
    // record, so that an event has the same one before and after it was recorded, and different ones stay different. And
    // each joint is a place to search from: without a limit a caller could make one call search for minutes.
    if bound::is_longer(text, bound::NAME) {
        return vec![(0..text.len(), "long-identifier")];
    }
    let marks = marks(text);
    let is_marked = |at: usize| marks.iter().any(|mark| mark.contains(&at));
    let joints = text.bytes().enumerate().filter(|(_, byte)| matches!(byte, b'_' | b'-'));
    let starts = std::iter::once(0).chain(joints.map(|(at, _)| at + 1));
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

/// The marks of secrets that were taken out already.
fn marks(text: &str) -> Vec<Range<usize>> {
    // Setting up a search for a text costs more than this look at the bytes.
    if !text.contains('[') {
        return Vec::new();
    }
    let ends = |start: usize| Some(start + text.get(start..)?.find("]]")? + 2);
    text.match_indices(MARK).filter_map(|(start, _)| Some(start..ends(start)?)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Finds `secret` and sixteen letters at the beginning of a word.
    fn words(text: &str) -> Vec<(Range<usize>, &str)> {
        let whole = text.match_indices("secret").filter(|(at, _)| {
            let before = text.get(..*at).and_then(|before| before.chars().last());
            !before.is_some_and(|before| before.is_alphanumeric() || "_-".contains(before))
        });
        whole.filter(|(at, _)| text.len() >= at + 22).map(|(at, _)| (at..at + 22, "kind")).collect()
    }

    thread_local! {
        static SEARCHES: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
    }

    fn counted_words(text: &str) -> Vec<(Range<usize>, &str)> {
        SEARCHES.set(SEARCHES.get() + 1);
        words(text)
    }

    #[test]
    fn a_text_that_is_no_identifier_is_replaced_whole_and_not_searched() {
        for long in ["-".repeat(1 << 20), "-".repeat(bound::NAME + 1), "\u{1}".repeat(bound::NAME / 6 + 1)] {
            assert_eq!(secrets_in_identifier(&long, &counted_words), [(0..long.len(), "long-identifier")]);
            assert_eq!(SEARCHES.get(), 0);
        }
        let most = "-".repeat(bound::NAME);
        assert!(secrets_in_identifier(&most, &counted_words).is_empty());
        assert!((1..=bound::NAME).contains(&SEARCHES.get()), "{}", SEARCHES.get());
    }

    #[test]
    fn a_secret_is_found_behind_every_joint_of_an_identifier() {
        let secret = "secretabcdefghijklmnop";
        for before in ["", "s-", "mcp__vault__", "a b-c_"] {
            let text = format!("{before}{secret}-x");
            let found = secrets_in_identifier(&text, &words);
            assert_eq!(found, [(before.len()..before.len() + 22, "kind")], "{before}");
        }
        assert!(secrets_in_identifier("mcp__vault__read", &words).is_empty());
        let marked = format!("s-[[redacted:kind:-{secret}]]");
        assert!(secrets_in_identifier(&marked, &words).is_empty(), "a mark is not a secret");
        assert_eq!(secrets_in_identifier(&format!("{marked}_{secret}"), &words).len(), 1);
    }
}
