// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Regular expressions that are built when they are first needed: building one takes longer than
//! judging a call by all rules. Most texts lack the letters that a pattern cannot do without, and
//! then it is never built at all.

use std::fmt;
use std::sync::OnceLock;

use regex::{Regex, RegexBuilder};
use regex_syntax::ast::parse::Parser;
use regex_syntax::ast::{Ast, RepetitionKind, RepetitionRange};

/// A built pattern may take this much memory; only a repetition of repetitions takes more.
const LARGEST: usize = 1 << 20;

/// Texts up to this length are searched where they are.
const SHORT: usize = 256;

/// A regular expression.
pub(crate) struct Pattern {
    text: Box<str>,
    /// Small letters of which at least one group is in every text that matches; none if unknown.
    letters: OnceLock<Option<Vec<String>>>,
    built: OnceLock<Option<Regex>>,
}

impl Pattern {
    /// A pattern that has been tried, or is going to be.
    pub(crate) fn new(text: &str) -> Self {
        Self { text: text.into(), letters: OnceLock::new(), built: OnceLock::new() }
    }

    /// Builds it and says what is wrong with it.
    pub(crate) fn attempt(text: &str) -> Result<(), String> {
        build(text).map(drop).map_err(|error| {
            // The library draws a picture of several lines; its last line says what is wrong.
            let long = error.to_string();
            let last = long.lines().last().unwrap_or_default();
            let what = last.trim().trim_start_matches("error: ").to_ascii_lowercase();
            format!("`{text}` is no regular expression: {what}")
        })
    }

    /// Small letters of which at least one group is in every text that matches; `None` if that is not known.
    pub(crate) fn letters(&self) -> Option<&[String]> {
        let letters = self.letters.get_or_init(|| {
            Parser::new()
                .parse(&self.text)
                .ok()
                .and_then(|ast| needed(&ast))
                .filter(|needed| !needed.is_empty())
        });
        letters.as_deref()
    }

    /// Whether a text may match, by the letters of some patterns.
    pub(crate) fn may_match(text: &str, letters: &[String]) -> bool {
        // Beyond ASCII, other letters may count as the same.
        !text.is_ascii() || has(text, letters)
    }

    /// Whether it matches somewhere in the text. One that cannot be built matches everything: a rule
    /// that cannot be asked counts as matched.
    pub(crate) fn is_match(&self, text: &str) -> bool {
        if self.letters().is_some_and(|letters| !Self::may_match(text, letters)) {
            return false;
        }
        let built = self.built.get_or_init(|| build(&self.text).ok());
        built.as_ref().is_none_or(|pattern| pattern.is_match(text))
    }
}

fn build(text: &str) -> Result<Regex, regex::Error> {
    RegexBuilder::new(text).size_limit(LARGEST).build()
}

/// Whether a text has one of these groups of letters, small or large.
fn has(text: &str, groups: &[String]) -> bool {
    // Writing a short text anew takes longer than looking at each place of it.
    if text.len() > SHORT {
        let small = text.to_ascii_lowercase();
        return groups.iter().any(|letters| small.contains(letters.to_ascii_lowercase().as_str()));
    }
    groups.iter().any(|letters| within(text.as_bytes(), letters.as_bytes()))
}

/// Whether letters, small or large, are somewhere in a text. Most places have another first letter.
fn within(text: &[u8], letters: &[u8]) -> bool {
    // Small and large letters differ in this bit; so do some signs, which the whole look tells apart.
    const CASE: u8 = b'a' ^ b'A';
    let Some(first) = letters.first().map(|first| first | CASE) else { return true };
    let mut rest = text;
    while let Some(at) = rest.iter().position(|byte| byte | CASE == first) {
        let here = rest.get(at..).unwrap_or_default();
        if here.get(..letters.len()).is_some_and(|part| part.eq_ignore_ascii_case(letters)) {
            return true;
        }
        rest = here.get(1..).unwrap_or_default();
    }
    false
}

/// Letters of which one group is in everything that matches. Shorter ones than two say nothing, and
/// letters beyond ASCII may be written otherwise where small and large are alike.
fn needed(ast: &Ast) -> Option<Vec<String>> {
    const MOST: usize = 64;
    let groups = match ast {
        Ast::Literal(literal) => vec![literal.c.to_string()],
        Ast::Group(group) => needed(&group.ast)?,
        Ast::Repetition(repetition) if at_least_once(&repetition.op.kind) => needed(&repetition.ast)?,
        Ast::Alternation(either) => {
            let groups: Option<Vec<_>> = either.asts.iter().map(needed).collect();
            groups?.concat()
        }
        Ast::Concat(all) => {
            let mut found: Vec<Vec<String>> = Vec::new();
            let mut run = String::new();
            for part in &all.asts {
                if let Ast::Literal(literal) = part {
                    run.push(literal.c);
                    continue;
                }
                found.push(vec![std::mem::take(&mut run)]);
                found.extend(needed(part));
            }
            found.push(vec![run]);
            // The group whose shortest member is the longest says most.
            let shortest = |groups: &Vec<String>| groups.iter().map(String::len).min().unwrap_or_default();
            found.into_iter().max_by_key(shortest)?
        }
        _ => return None,
    };
    let telling = groups.len() <= MOST && groups.iter().all(|group| group.len() >= 2 && group.is_ascii());
    let single = matches!(ast, Ast::Literal(_));
    (telling || single).then_some(groups)
}

fn at_least_once(kind: &RepetitionKind) -> bool {
    match kind {
        RepetitionKind::OneOrMore => true,
        RepetitionKind::Range(range) => match range {
            RepetitionRange::Exactly(least)
            | RepetitionRange::AtLeast(least)
            | RepetitionRange::Bounded(least, _) => *least > 0,
        },
        RepetitionKind::ZeroOrOne | RepetitionKind::ZeroOrMore => false,
    }
}

impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl fmt::Debug for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Pattern({:?})", self.text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn letters(text: &str) -> Option<Vec<String>> {
        needed(&Parser::new().parse(text).unwrap())
    }

    #[test]
    fn what_every_match_has_is_known() {
        assert_eq!(letters(r"\bkill\b"), Some(vec!["kill".to_owned()]));
        assert_eq!(letters("(ab|cde)x?f+"), Some(vec!["ab".to_owned(), "cde".to_owned()]));
        assert_eq!(letters("a|bc"), None);
        assert_eq!(letters("(abc)?d*"), None);
        assert_eq!(letters("[ab]c"), None);
    }

    #[test]
    fn a_pattern_that_is_not_built_would_not_have_matched() {
        let texts =
            ["", "kill -9", "KILL", "skill", "ab f", "cdeff", "drop  table x", "$0 & $0", "\u{212a}ill"];
        let patterns = [
            r"(?i)\bkill\b",
            "(ab|cde)x?f+",
            r"(?is)\bdrop\s+(table|schema)\b",
            r"\$0\s*&",
            "a|bc",
            "(?i)kill",
        ];
        for pattern in patterns {
            let (lazy, whole) = (Pattern::new(pattern), build(pattern).unwrap());
            for text in texts {
                assert_eq!(lazy.is_match(text), whole.is_match(text), "{pattern} on {text}");
                let long = format!("{} {text} ", "-".repeat(SHORT));
                assert_eq!(lazy.is_match(&long), whole.is_match(&long), "{pattern} on {long}");
            }
        }
    }
}
