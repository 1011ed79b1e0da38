// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Text that was not understood. All that can be said of it is which words it mentions.

use std::collections::BTreeSet;

use serde::{Serialize, Serializer};

const EXCERPT: usize = 200;

/// A text that was not understood, or that is not shell.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Unread {
    /// Why it was not read.
    pub why: &'static str,
    /// The text, without the quotes and backslashes that words are hidden behind.
    #[serde(serialize_with = "excerpt")]
    text: String,
    #[serde(skip)]
    words: BTreeSet<String>,
}

impl Unread {
    pub(crate) fn new(why: &'static str, text: &str) -> Self {
        let bare: String = text.chars().filter(|c| !matches!(c, '\\' | '\'' | '"' | '\0')).collect();
        let words = [text, &bare].into_iter().flat_map(words_of).collect();
        Self { why, text: bare, words }
    }

    /// The words it mentions: letters, digits, `_`, `-` and `.`.
    pub(crate) fn words(&self) -> impl Iterator<Item = &str> {
        self.words.iter().map(String::as_str)
    }

    /// Whether the letters occur anywhere in it.
    pub(crate) fn contains(&self, part: &str) -> bool {
        self.text.contains(part)
    }
}

fn words_of(text: &str) -> impl Iterator<Item = String> + '_ {
    text.split(|c: char| !(c.is_alphanumeric() || matches!(c, '_' | '-' | '.')))
        .map(|word| word.trim_matches(['.', '-']))
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
