// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Regular expressions that are built when they are first needed: building one takes longer than
//! judging a call by all rules. Most texts lack the letters that a pattern cannot do without, and
//! then it is never built at all.

use std::fmt;
use std::sync::OnceLock;

use regex::{Regex, RegexBuilder};
use regex_syntax::ast::parse::Parser;
use regex_syntax::ast::{Ast, RepetitionKind, RepetitionRange};
use serde::de::{Deserialize, Deserializer, Error};
use serde::ser::{Serialize, Serializer};
use tenterhook_shell_facts::LetterPairs;

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

    /// Whether it matches somewhere in the text. One that cannot be built matches everything: a rule
    /// that cannot be asked counts as matched.
    pub(crate) fn is_match(&self, text: &str) -> bool {
        if self.letters().is_some_and(|letters| text.is_ascii() && !has(text, letters)) {
            return false;
        }
        let built = self.built.get_or_init(|| build(&self.text).ok());
        built.as_ref().is_none_or(|pattern| pattern.is_match(text))
    }

    /// Whether it may match one of the texts that these pairs of letters are from.
    pub(crate) fn may_match(&self, pairs: &LetterPairs) -> bool {
        self.letters().is_none_or(|groups| groups.iter().any(|letters| pairs.may_contain(letters)))
    }
}

/// Whether a text has one of these groups of letters, small or large. `pairs` are those of the text.
pub(crate) fn has_letters(text: &str, pairs: &LetterPairs, groups: &[String]) -> bool {
    let mut left = groups.iter().filter(|letters| pairs.may_contain(letters)).peekable();
    // Beyond ASCII, other letters may count as the same.
    !text.is_ascii() || left.peek().is_some() && has(text, left)
}

fn build(text: &str) -> Result<Regex, regex::Error> {
    RegexBuilder::new(text).size_limit(LARGEST).build()
}

/// Whether a text has one of these groups of letters, small or large.
fn has<'g>(text: &str, groups: impl IntoIterator<Item = &'g String>) -> bool {
    // Writing a short text anew takes longer than looking at each place of it.
    if text.len() > SHORT {
        let small = text.to_ascii_lowercase();
        return groups.into_iter().any(|letters| small.contains(letters.to_ascii_lowercase().as_str()));
    }
    groups.into_iter().any(|letters| within(text.as_bytes(), letters.as_bytes()))
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

// A rule file has the expression alone; it is built to see whether it can be used. The compiled form also has the
// letters, so that the expression is not parsed before a text has them.

impl Serialize for Pattern {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        (&self.text, self.letters()).serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Pattern {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        if deserializer.is_human_readable() {
            let text = String::deserialize(deserializer)?;
            Self::attempt(&text).map_err(Error::custom)?;
            return Ok(Self::new(&text));
        }
        let (text, letters): (Box<str>, Option<Vec<String>>) = Deserialize::deserialize(deserializer)?;
        Ok(Self { text, letters: OnceLock::from(letters), built: OnceLock::new() })
    }
}

#[cfg(feature = "schema")]
impl schemars::JsonSchema for Pattern {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> std::borrow::Cow<'static, str> {
        String::schema_name()
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        String::json_schema(generator)
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
                let pairs = LetterPairs::new([text]);
                let may = lazy.letters().is_none_or(|letters| has_letters(text, &pairs, letters));
                assert!(may || !whole.is_match(text), "{pattern} on {text}");
                let pairs = LetterPairs::new([text, "other"]);
                assert!(lazy.may_match(&pairs) || !whole.is_match(text), "{pattern} on {text}");
            }
        }
    }

    #[test]
    fn most_texts_lack_the_letters_and_then_nothing_is_looked_for() {
        let text = "cargo test --workspace 2>&1 | tail -n 40";
        let pairs = LetterPairs::new([text]);
        let may = |group: &str| has_letters(text, &pairs, &[group.to_owned()]);
        assert!(may("cargo") && may("TEST --Work") && may("40"));
        assert!(!may("terraform") && !may("cargo build") && !may("41"));
        assert!(!pairs.may_contain("terraform"));
    }
}
