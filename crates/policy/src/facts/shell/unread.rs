// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Text that was not understood. All that can be said of it is which words it mentions.

use std::collections::BTreeSet;

use serde::{Serialize, Serializer};

const EXCERPT: usize = 200;
/// A word and the options that belong to it are no further apart.
const NEAR: usize = 4;

/// A text that was not understood, or that is not shell.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Unread {
    /// Why it was not read.
    pub why: &'static str,
    /// The text, without the quotes and backslashes that words are hidden behind.
    #[serde(serialize_with = "excerpt")]
    text: String,
    #[serde(skip)]
    words: Vec<String>,
    /// Whether it is shell text, where a word may be hidden.
    #[serde(skip)]
    shell: bool,
    /// Whether what it does to files is known; only what it hides in texts is not.
    #[serde(skip)]
    pub(crate) seen: bool,
    /// Whether it has any way to start another program.
    #[serde(skip)]
    pub(crate) may_run: bool,
    /// Whether nothing in it was read.
    #[serde(skip)]
    pub(crate) whole: bool,
}

impl Unread {
    pub(crate) fn new(why: &'static str, text: &str, shell: bool) -> Self {
        let bare: String = text.chars().filter(|c| !matches!(c, '\\' | '\'' | '"' | '\0')).collect();
        let words = if shell {
            // Only which words there are matters, and every rule looks at each.
            let words: BTreeSet<String> = [text, &bare].into_iter().flat_map(words_of).collect();
            words.into_iter().collect()
        } else {
            words_of(text).collect()
        };
        Self { why, text: bare, words, shell, seen: false, may_run: true, whole: false }
    }

    /// The text, without the quotes and backslashes that words are hidden behind.
    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// The words it mentions: letters, digits, `_`, `-` and `.`.
    pub(crate) fn words(&self) -> impl Iterator<Item = &str> {
        self.words.iter().map(|word| word.trim_matches('-'))
    }

    /// A word with an option soon after it; in shell text, where the option may be hidden, the word alone.
    pub(crate) fn followed_by(
        &self,
        word: impl Fn(&str) -> bool,
        option: impl Fn(&str) -> bool,
    ) -> Option<&str> {
        if self.shell {
            return self.words().find(|found| word(found));
        }
        let near = |rest: &[String]| rest.iter().skip(1).any(|word| option(word));
        let found = self.words.windows(NEAR).chain(self.words.get(self.words.len().saturating_sub(NEAR)..));
        let mut found = found.flat_map(|rest| (0..rest.len()).filter_map(|at| rest.get(at..)));
        found.find_map(|rest| rest.first().filter(|first| word(first) && near(rest))).map(String::as_str)
    }

    /// Whether the letters occur anywhere in it.
    pub(crate) fn contains(&self, part: &str) -> bool {
        self.text.contains(part)
    }
}

fn words_of(text: &str) -> impl Iterator<Item = String> + '_ {
    text.split(|c: char| !(c.is_alphanumeric() || matches!(c, '_' | '-' | '.')))
        .map(|word| word.trim_matches('.').trim_end_matches('-'))
        .filter(|word| !word.is_empty() && word.len() <= 64)
        .map(str::to_owned)
}

fn excerpt<S: Serializer>(text: &str, serializer: S) -> Result<S::Ok, S::Error> {
    let mut short: String = text.chars().take(EXCERPT).collect();
    if short.len() < text.len() {
        short.push('…');
    }
    serializer.serialize_str(&short)
}
