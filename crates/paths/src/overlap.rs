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
    // table.
    if !starts_agree(literal_start(rule), literal_start(shell))
        || !ends_agree(literal_end(rule), literal_end(shell))
    {
        return false;
    }
    let (rule, shell) = (tokens(rule), tokens(shell));
    if rule.len().max(shell.len()) > MAX_PATTERN_TOKENS {
        return true;
    }
    // The row of the table for the next token of `rule`. For each position in `shell`, it tells whether the remaining
    // parts of both patterns can match the same text.
    let mut below: Vec<bool> = Vec::new();
    for i in (0..=rule.len()).rev() {
        let mine = rule.get(i).copied();
        let hidden = mine == Some(GlobToken::Letter('.'))
            && (i == 0 || rule.get(i - 1) == Some(&GlobToken::Letter('/')));
        let mut row = vec![false; shell.len() + 1];
        for j in (0..=shell.len()).rev() {
            let theirs = shell.get(j).copied();
            let at = |row: &[bool], j: usize| row.get(j).copied().unwrap_or(false);
            let agrees = match (mine, theirs) {
                (None, None) => true,
                (Some(many @ (GlobToken::Star | GlobToken::DoubleStar)), theirs) => {
                    at(&below, j)
                        || theirs.is_some_and(|token| wildcard_matches(many, token) && at(&row, j + 1))
                        || matches!(theirs, Some(GlobToken::Star | GlobToken::DoubleStar)) && at(&row, j + 1)
                }
                (mine, Some(many @ (GlobToken::Star | GlobToken::DoubleStar))) => {
                    at(&row, j + 1)
                        || mine.is_some_and(|token| {
                            wildcard_matches(many, token)
                                && !(hidden && many == GlobToken::Star)
                                && at(&below, j)
                        })
                }
                (Some(mine), Some(theirs)) => {
                    let same = mine == theirs
                        || wildcard_matches(mine, theirs)
                        || wildcard_matches(theirs, mine) && !(hidden && theirs == GlobToken::AnyLetter);
                    same && at(&below, j + 1)
                }
                _ => false,
            };
            if let Some(cell) = row.get_mut(j) {
                *cell = agrees;
            }
        }
        below = row;
    }
    below.first().copied().unwrap_or(false)
}

/// Returns the text before the first wildcard.
fn literal_start(pattern: &str) -> &str {
    pattern.split(WILDCARDS).next().unwrap_or_default()
}

/// Returns the text after the last wildcard.
fn literal_end(pattern: &str) -> &str {
    pattern.rsplit(WILDCARDS).next().unwrap_or_default()
}

/// Whether one of the texts begins with the other.
fn starts_agree(one: &str, other: &str) -> bool {
    one.bytes().zip(other.bytes()).all(|(one, other)| one == other)
}

/// Whether one of the texts ends with the other.
fn ends_agree(one: &str, other: &str) -> bool {
    one.bytes().rev().zip(other.bytes().rev()).all(|(one, other)| one == other)
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
    use super::globs_overlap;

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
