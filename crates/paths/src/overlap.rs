// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Decides whether two glob patterns can match the same path. For example, `cat ~/.ssh/*` reads files that
//! `~/.ssh/id_*` guards.

/// Maximum length of a pattern that is compared. Longer patterns are assumed to overlap, because the comparison is
/// quadratic and real patterns are short.
const MAX_PATTERN_TOKENS: usize = 2048;

/// Characters that are wildcards, or part of one.
const WILDCARDS: [char; 4] = ['*', '?', '[', ']'];

#[derive(Clone, Copy, PartialEq)]
enum GlobToken {
    Letter(char),
    /// `?` or a character set.
    AnyLetter,
    /// `*`
    Star,
    /// `**`
    DoubleStar,
}

/// Whether some path matches both a rule's pattern and a shell's pattern. As in a shell, a wildcard in `shell` does
/// not match a leading dot. `**` does match it, because `**` represents a directory walk such as `find`.
pub fn globs_overlap(rule: &str, shell: &str) -> bool {
    // Most pairs of patterns begin or end differently, and comparing their ends is far cheaper than filling the
    // table. What they have in common at the ends matches itself, so only the rest is compared.
    let Some(start) = common_length(literal_start(rule).bytes(), literal_start(shell).bytes()) else {
        return false;
    };
    let before = rule.get(..start).and_then(|common| common.chars().next_back());
    let (rule, shell) = (rule.get(start..).unwrap_or(rule), shell.get(start..).unwrap_or(shell));
    let Some(end) = common_length(literal_end(rule).bytes().rev(), literal_end(shell).bytes().rev()) else {
        return false;
    };
    let rule = rule.get(..rule.len() - end).unwrap_or(rule);
    let shell = shell.get(..shell.len() - end).unwrap_or(shell);
    if let (Some(mine), Some(theirs)) = (count_slashes(rule), count_slashes(shell))
        && mine != theirs
    {
        return false;
    }
    let (rule, shell) = (tokens(rule), tokens(shell));
    rule.len().max(shell.len()) > MAX_PATTERN_TOKENS || tokens_overlap(before, &rule, &shell)
}

/// Whether the remaining parts of a rule's pattern and of a shell's pattern can match the same text. `before` is the
/// letter before both parts, if there is one.
fn tokens_overlap(before: Option<char>, rule: &[GlobToken], shell: &[GlobToken]) -> bool {
    // A row of the table, for one token of `rule`. For each position in `shell`, it tells whether the remaining parts
    // of both patterns can match the same text. The next row replaces it in place.
    let mut row = vec![false; shell.len() + 1];
    for i in (0..=rule.len()).rev() {
        let mine = rule.get(i).copied();
        let follows_slash = match i.checked_sub(1) {
            Some(i) => rule.get(i) == Some(&GlobToken::Letter('/')),
            None => before.is_none_or(|before| before == '/'),
        };
        let hidden = mine == Some(GlobToken::Letter('.')) && follows_slash;
        // The next position of this row and of the row below.
        let (mut right, mut right_below) = (false, false);
        let mut is_possible = false;
        let theirs = std::iter::once(None).chain(shell.iter().rev().map(|token| Some(*token)));
        for (cell, theirs) in row.iter_mut().rev().zip(theirs) {
            let below = *cell;
            *cell = match (mine, theirs) {
                (None, None) => true,
                (Some(many @ (GlobToken::Star | GlobToken::DoubleStar)), theirs) => {
                    let passes = |token| {
                        wildcard_matches(many, token)
                            || matches!(token, GlobToken::Star | GlobToken::DoubleStar)
                    };
                    below || right && theirs.is_some_and(passes)
                }
                (mine, Some(many @ (GlobToken::Star | GlobToken::DoubleStar))) => {
                    let takes = |token| wildcard_matches(many, token) && !(hidden && many == GlobToken::Star);
                    right || below && mine.is_some_and(takes)
                }
                (Some(mine), Some(theirs)) => {
                    let same = mine == theirs
                        || wildcard_matches(mine, theirs)
                        || wildcard_matches(theirs, mine) && !(hidden && theirs == GlobToken::AnyLetter);
                    same && right_below
                }
                _ => false,
            };
            (right, right_below) = (*cell, below);
            is_possible |= *cell;
        }
        // Every row follows from the row below.
        if !is_possible {
            return false;
        }
    }
    row.first().copied().unwrap_or(false)
}

/// Returns the text before the first wildcard.
fn literal_start(pattern: &str) -> &str {
    pattern.split(WILDCARDS).next().unwrap_or_default()
}

/// Returns the text after the last wildcard.
fn literal_end(pattern: &str) -> &str {
    pattern.rsplit(WILDCARDS).next().unwrap_or_default()
}

/// Returns the length of the shorter text, if the texts agree up to there.
fn common_length(
    one: impl ExactSizeIterator<Item = u8>,
    other: impl ExactSizeIterator<Item = u8>,
) -> Option<usize> {
    let length = one.len().min(other.len());
    one.zip(other).all(|(one, other)| one == other).then_some(length)
}

/// Returns the number of slashes in every text that a pattern matches; `None` if the number may differ.
fn count_slashes(pattern: &str) -> Option<usize> {
    let (mut slashes, mut previous) = (0, b' ');
    for byte in pattern.bytes() {
        match byte {
            // A set of letters may contain a slash.
            b'[' => return None,
            b'*' if previous == b'*' => return None,
            b'/' => slashes += 1,
            _ => {}
        }
        previous = byte;
    }
    Some(slashes)
}

/// Whether a wildcard can match a token.
fn wildcard_matches(wildcard: GlobToken, token: GlobToken) -> bool {
    match wildcard {
        GlobToken::DoubleStar => true,
        GlobToken::Star | GlobToken::AnyLetter => {
            token != GlobToken::Letter('/') && token != GlobToken::DoubleStar
        }
        GlobToken::Letter(_) => false,
    }
}

fn tokens(pattern: &str) -> Vec<GlobToken> {
    let mut tokens = Vec::with_capacity(pattern.len());
    let mut letters = pattern.chars().peekable();
    while let Some(letter) = letters.next() {
        tokens.push(match letter {
            '?' => GlobToken::AnyLetter,
            '*' if letters.next_if_eq(&'*').is_some() => GlobToken::DoubleStar,
            '*' => GlobToken::Star,
            '[' if letters.clone().any(|letter| letter == ']') => {
                letters.by_ref().find(|letter| *letter == ']');
                GlobToken::AnyLetter
            }
            letter => GlobToken::Letter(letter),
        });
    }
    tokens
}

#[cfg(test)]
mod tests {
    use super::{GlobToken, globs_overlap, tokens, wildcard_matches};

    /// Tries every way in which the patterns can match the same text.
    fn overlap_somehow(rule: &[GlobToken], at: usize, shell: &[GlobToken], to: usize) -> bool {
        use GlobToken::{AnyLetter, DoubleStar, Letter, Star};
        let hidden = rule.get(at) == Some(&Letter('.')) && (at == 0 || rule[at - 1] == Letter('/'));
        let is_many = |token: Option<&GlobToken>| matches!(token, Some(Star | DoubleStar));
        let (mine, theirs) = (rule.get(at), shell.get(to));
        if is_many(mine) {
            let takes = |token: &GlobToken| wildcard_matches(rule[at], *token) || is_many(Some(token));
            return overlap_somehow(rule, at + 1, shell, to)
                || theirs.is_some_and(takes) && overlap_somehow(rule, at, shell, to + 1);
        }
        if is_many(theirs) {
            let takes =
                |token: &GlobToken| wildcard_matches(shell[to], *token) && !(hidden && shell[to] == Star);
            return overlap_somehow(rule, at, shell, to + 1)
                || mine.is_some_and(takes) && overlap_somehow(rule, at + 1, shell, to);
        }
        let (Some(mine), Some(theirs)) = (mine, theirs) else { return mine.is_none() && theirs.is_none() };
        let same = mine == theirs
            || wildcard_matches(*mine, *theirs)
            || wildcard_matches(*theirs, *mine) && !(hidden && *theirs == AnyLetter);
        same && overlap_somehow(rule, at + 1, shell, to + 1)
    }

    #[test]
    fn short_patterns_overlap_exactly_when_some_text_fits_both() {
        let parts = ["a", "ä", ".", "/", "?", "*", "**", "[ab]"];
        let mut patterns = vec![String::new()];
        for length in 0..3 {
            let longest: Vec<_> =
                patterns.iter().filter(|text| tokens(text).len() == length).cloned().collect();
            patterns.extend(longest.iter().flat_map(|text| parts.map(|part| format!("{text}{part}"))));
        }
        let mut overlaps = 0;
        for rule in &patterns {
            for shell in &patterns {
                let expected = overlap_somehow(&tokens(rule), 0, &tokens(shell), 0);
                assert_eq!(globs_overlap(rule, shell), expected, "{rule} and {shell}");
                overlaps += usize::from(expected);
            }
        }
        assert!(overlaps > 10_000 && overlaps < patterns.len().pow(2) / 2, "{overlaps}");
    }

    #[test]
    fn patterns_overlap_when_some_path_fits_both() {
        let guarded = "~/.ssh/id_*";
        for shell in ["~/.ssh/*", "~/.ssh/id_rsa", "~/.ssh/id_r?a", "~/.ssh/[i]d_*", "~/.s*/*", "~/.ssh/i*"] {
            assert!(globs_overlap(guarded, shell), "{shell}");
        }
        for shell in ["~/.ssh/k*", "~/*/id_rsa", "~/*", "~/.ssh/sub/*", "~/.ssh", "~/.aws/*", "*"] {
            assert!(!globs_overlap(guarded, shell), "{shell}");
        }
        assert!(globs_overlap("~/.gnupg/private-keys-v1.d/**", "~/.gnupg/*/*"));
        assert!(globs_overlap("**/*.pem", "/etc/*/server.pem"));
    }
}
