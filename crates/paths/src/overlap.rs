// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Whether two patterns can name the same path: `cat ~/.ssh/*` reads what `~/.ssh/id_*` guards.

/// Beyond this a pattern is taken to overlap: nobody writes one, and the table is quadratic.
const LONGEST: usize = 2048;

/// Letters that are wildcards, or part of one.
const WILDCARDS: [char; 4] = ['*', '?', '[', ']'];

#[derive(Clone, Copy, PartialEq)]
enum Token {
    Letter(char),
    /// `?` or a set of letters.
    One,
    /// `*`
    Some,
    /// `**`
    Any,
}

/// Whether a rule's pattern and a shell's pattern have a path in common. As in a shell, a
/// wildcard of `shell` does not stand for a leading dot; `**` does, as it is what `find` goes through.
pub fn overlap(rule: &str, shell: &str) -> bool {
    // Most pairs of patterns begin or end differently, and comparing that is far cheaper than the table.
    if !starts_agree(literal_start(rule), literal_start(shell))
        || !ends_agree(literal_end(rule), literal_end(shell))
    {
        return false;
    }
    let (rule, shell) = (tokens(rule), tokens(shell));
    if rule.len().max(shell.len()) > LONGEST {
        return true;
    }
    // `below` holds, for the tokens after the current one of `rule`, from which tokens of `shell`
    // the rest can agree.
    let mut below: Vec<bool> = Vec::new();
    for i in (0..=rule.len()).rev() {
        let mine = rule.get(i).copied();
        let hidden =
            mine == Some(Token::Letter('.')) && (i == 0 || rule.get(i - 1) == Some(&Token::Letter('/')));
        let mut row = vec![false; shell.len() + 1];
        for j in (0..=shell.len()).rev() {
            let theirs = shell.get(j).copied();
            let at = |row: &[bool], j: usize| row.get(j).copied().unwrap_or(false);
            let agrees = match (mine, theirs) {
                (None, None) => true,
                (Some(many @ (Token::Some | Token::Any)), theirs) => {
                    at(&below, j)
                        || theirs.is_some_and(|token| takes(many, token) && at(&row, j + 1))
                        || matches!(theirs, Some(Token::Some | Token::Any)) && at(&row, j + 1)
                }
                (mine, Some(many @ (Token::Some | Token::Any))) => {
                    at(&row, j + 1)
                        || mine.is_some_and(|token| {
                            takes(many, token) && !(hidden && many == Token::Some) && at(&below, j)
                        })
                }
                (Some(mine), Some(theirs)) => {
                    let same = mine == theirs
                        || takes(mine, theirs)
                        || takes(theirs, mine) && !(hidden && theirs == Token::One);
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

/// The letters before the first wildcard.
fn literal_start(pattern: &str) -> &str {
    pattern.split(WILDCARDS).next().unwrap_or_default()
}

/// The letters behind the last wildcard.
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

/// Whether a wildcard can stand for a token.
fn takes(wildcard: Token, token: Token) -> bool {
    match wildcard {
        Token::Any => true,
        Token::Some | Token::One => token != Token::Letter('/') && token != Token::Any,
        Token::Letter(_) => false,
    }
}

fn tokens(pattern: &str) -> Vec<Token> {
    let mut tokens = Vec::with_capacity(pattern.len());
    let mut letters = pattern.chars().peekable();
    while let Some(letter) = letters.next() {
        tokens.push(match letter {
            '?' => Token::One,
            '*' if letters.next_if_eq(&'*').is_some() => Token::Any,
            '*' => Token::Some,
            '[' if letters.clone().any(|letter| letter == ']') => {
                letters.by_ref().find(|letter| *letter == ']');
                Token::One
            }
            letter => Token::Letter(letter),
        });
    }
    tokens
}

#[cfg(test)]
mod tests {
    use super::overlap;

    #[test]
    fn patterns_overlap_when_some_path_fits_both() {
        let guarded = "~/.ssh/id_*";
        for shell in ["~/.ssh/*", "~/.ssh/id_rsa", "~/.ssh/id_r?a", "~/.ssh/[i]d_*", "~/.s*/*", "~/.ssh/i*"] {
            assert!(overlap(guarded, shell), "{shell}");
        }
        for shell in ["~/.ssh/k*", "~/*/id_rsa", "~/*", "~/.ssh/sub/*", "~/.ssh", "~/.aws/*", "*"] {
            assert!(!overlap(guarded, shell), "{shell}");
        }
        assert!(overlap("~/.gnupg/private-keys-v1.d/**", "~/.gnupg/*/*"));
        assert!(overlap("**/*.pem", "/etc/*/server.pem"));
    }
}
