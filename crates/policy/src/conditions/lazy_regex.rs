// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Builds regular expressions when they are first needed: building one takes longer than evaluating all rules on a
//! call. Every match of a pattern contains certain letters. Texts without these letters, which are most, are rejected
//! without building the pattern.

use std::fmt;
use std::sync::OnceLock;

use regex::{Regex, RegexBuilder};
use regex_syntax::ast::parse::Parser;
use regex_syntax::ast::{Ast, RepetitionKind, RepetitionRange};
use serde::de::{Deserialize, Deserializer, Error};
use serde::ser::{Serialize, Serializer};
use tenterhook_shell_facts::LetterPairs;

/// Maximum size of a built pattern in bytes. Only nested repetitions exceed this limit.
const MAX_REGEX_BYTES: usize = 1 << 20;

/// Maximum length in bytes of a text that is searched without copying it.
const MAX_UNCOPIED_BYTES: usize = 256;

/// A regular expression that is built when it is first needed.
pub(crate) struct LazyRegex {
    text: Box<str>,
    /// Lower-case letter groups, at least one of which is in every matching text; `None` if unknown.
    letters: OnceLock<Option<Vec<String>>>,
    built: OnceLock<Option<Regex>>,
}

/// Why a string is not a valid regular expression.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("invalid regular expression `{text}`: {cause}")]
pub(crate) struct RegexError {
    text: String,
    cause: String,
}

impl LazyRegex {
    /// Creates a pattern from text that is valid, or that the caller validates.
    pub(crate) fn new(text: &str) -> Self {
        Self { text: text.into(), letters: OnceLock::new(), built: OnceLock::new() }
    }

    /// Returns the text of the pattern.
    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// Checks that a string is a valid regular expression.
    pub(crate) fn validate(text: &str) -> Result<(), RegexError> {
        build_regex(text).map(drop).map_err(|error| {
            // The library's message shows the expression on several lines; the last line states the error.
            let long = error.to_string();
            let last = long.lines().last().unwrap_or_default();
            let cause = last.trim().trim_start_matches("error: ").to_ascii_lowercase();
            RegexError { text: text.to_owned(), cause }
        })
    }

    /// Returns lower-case letter groups, at least one of which is in every matching text; `None` if unknown.
    pub(crate) fn letters(&self) -> Option<&[String]> {
        let letters = self.letters.get_or_init(|| {
            Parser::new()
                .parse(&self.text)
                .ok()
                .and_then(|ast| required_letters(&ast))
                .filter(|letters| !letters.is_empty())
        });
        letters.as_deref()
    }

    /// Whether the pattern matches somewhere in the text. A pattern that cannot be built matches every text, so that a
    /// rule with it is not skipped silently.
    pub(crate) fn is_match(&self, text: &str) -> bool {
        if self.letters().is_some_and(|letters| text.is_ascii() && !contains_any(text, letters)) {
            return false;
        }
        let built = self.built.get_or_init(|| build_regex(&self.text).ok());
        built.as_ref().is_none_or(|pattern| pattern.is_match(text))
    }

    /// Whether the pattern may match one of the texts that these letter pairs were collected from.
    pub(crate) fn may_match(&self, pairs: &LetterPairs) -> bool {
        self.letters().is_none_or(|groups| groups.iter().any(|letters| pairs.may_contain(letters)))
    }
}

/// Whether a text contains one of these letter groups in any case. `pairs` are the letter pairs of the text.
pub(crate) fn contains_letters(text: &str, pairs: &LetterPairs, groups: &[String]) -> bool {
    let mut left = groups.iter().filter(|letters| pairs.may_contain(letters)).peekable();
    // Outside ASCII, different letters may be equal when case is ignored.
    !text.is_ascii() || left.peek().is_some() && contains_any(text, left)
}

fn build_regex(text: &str) -> Result<Regex, regex::Error> {
    RegexBuilder::new(text).size_limit(MAX_REGEX_BYTES).build()
}

/// Whether a text contains one of these letter groups in any case.
fn contains_any<'g>(text: &str, groups: impl IntoIterator<Item = &'g String>) -> bool {
    // Lower-casing a short text takes longer than comparing at every position.
    if text.len() > MAX_UNCOPIED_BYTES {
        let small = text.to_ascii_lowercase();
        return groups.into_iter().any(|letters| small.contains(letters.to_ascii_lowercase().as_str()));
    }
    groups.into_iter().any(|letters| contains_ignoring_case(text.as_bytes(), letters.as_bytes()))
}

/// Whether a text contains these letters in any case. At most positions, the first letter already differs.
fn contains_ignoring_case(text: &[u8], letters: &[u8]) -> bool {
    // Upper and lower case differ in this bit; so do some other characters, which the full comparison rules out.
    const CASE_BIT: u8 = b'a' ^ b'A';
    let Some(first) = letters.first().map(|first| first | CASE_BIT) else { return true };
    let mut rest = text;
    while let Some(at) = rest.iter().position(|byte| byte | CASE_BIT == first) {
        let here = rest.get(at..).unwrap_or_default();
        if here.get(..letters.len()).is_some_and(|part| part.eq_ignore_ascii_case(letters)) {
            return true;
        }
        rest = here.get(1..).unwrap_or_default();
    }
    false
}

/// Returns letter groups, at least one of which is in every match. Groups of fewer than two letters are not selective
/// enough, and letters outside ASCII may have several forms where case is ignored.
fn required_letters(ast: &Ast) -> Option<Vec<String>> {
    const MAX_LETTER_GROUPS: usize = 64;
    let groups = match ast {
        Ast::Literal(literal) => vec![literal.c.to_string()],
        Ast::Group(group) => required_letters(&group.ast)?,
        Ast::Repetition(repetition) if occurs_at_least_once(&repetition.op.kind) => {
            required_letters(&repetition.ast)?
        }
        Ast::Alternation(either) => {
            let groups: Option<Vec<_>> = either.asts.iter().map(required_letters).collect();
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
                found.extend(required_letters(part));
            }
            found.push(vec![run]);
            // The group whose shortest member is the longest is the most selective.
            let shortest = |groups: &Vec<String>| groups.iter().map(String::len).min().unwrap_or_default();
            found.into_iter().max_by_key(shortest)?
        }
        _ => return None,
    };
    let telling =
        groups.len() <= MAX_LETTER_GROUPS && groups.iter().all(|group| group.len() >= 2 && group.is_ascii());
    let single = matches!(ast, Ast::Literal(_));
    (telling || single).then_some(groups)
}

fn occurs_at_least_once(kind: &RepetitionKind) -> bool {
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

// A rule file stores the expression alone; it is built to validate it. The compiled form also stores the letters, so
// that the expression is not parsed before a text contains them.

impl Serialize for LazyRegex {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        (&self.text, self.letters()).serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for LazyRegex {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        if deserializer.is_human_readable() {
            let text = String::deserialize(deserializer)?;
            Self::validate(&text).map_err(Error::custom)?;
            return Ok(Self::new(&text));
        }
        let (text, letters): (Box<str>, Option<Vec<String>>) = Deserialize::deserialize(deserializer)?;
        Ok(Self { text, letters: OnceLock::from(letters), built: OnceLock::new() })
    }
}

#[cfg(feature = "schema")]
impl schemars::JsonSchema for LazyRegex {
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

impl fmt::Display for LazyRegex {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl fmt::Debug for LazyRegex {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "LazyRegex({:?})", self.text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn letters(text: &str) -> Option<Vec<String>> {
        required_letters(&Parser::new().parse(text).unwrap())
    }

    #[test]
    fn letters_that_every_match_contains_are_found() {
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
            let (lazy, whole) = (LazyRegex::new(pattern), build_regex(pattern).unwrap());
            for text in texts {
                assert_eq!(lazy.is_match(text), whole.is_match(text), "{pattern} on {text}");
                let long = format!("{} {text} ", "-".repeat(MAX_UNCOPIED_BYTES));
                assert_eq!(lazy.is_match(&long), whole.is_match(&long), "{pattern} on {long}");
                let pairs = LetterPairs::new([text]);
                let may = lazy.letters().is_none_or(|letters| contains_letters(text, &pairs, letters));
                assert!(may || !whole.is_match(text), "{pattern} on {text}");
                let pairs = LetterPairs::new([text, "other"]);
                assert!(lazy.may_match(&pairs) || !whole.is_match(text), "{pattern} on {text}");
            }
        }
    }

    #[test]
    fn most_texts_lack_the_letters_so_nothing_is_searched() {
        let text = "cargo test --workspace 2>&1 | tail -n 40";
        let pairs = LetterPairs::new([text]);
        let may = |group: &str| contains_letters(text, &pairs, &[group.to_owned()]);
        assert!(may("cargo") && may("TEST --Work") && may("40"));
        assert!(!may("terraform") && !may("cargo build") && !may("41"));
        assert!(!pairs.may_contain("terraform"));
    }
}
