// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Text that was not understood. All that can be said of it is which words it mentions.

use std::collections::{BTreeSet, HashMap};

use serde::{Serialize, Serializer};

/// Reason for text that is not valid shell.
pub(super) const SYNTAX: &str = "the syntax was not understood";
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
    /// The words it mentions, each once: every rule looks at all of them.
    #[serde(skip)]
    words: Vec<String>,
    /// In which order they stand, by their numbers; not of shell text, where a word may be hidden.
    #[serde(skip)]
    order: Option<Vec<usize>>,
    /// Whether what it does to files is known; only what it hides in texts is not.
    #[serde(skip)]
    pub seen: bool,
    /// Whether it has any way to start another program.
    #[serde(skip)]
    pub may_run: bool,
    /// Whether nothing in it was read, or not even looked at: it may be about anything.
    #[serde(skip)]
    pub whole: bool,
    /// Whether there is more of it than is kept.
    #[serde(skip)]
    cut: bool,
}

impl Unread {
    /// Of a text longer than `most` only so much is kept, and it may be about anything.
    pub fn new(why: &'static str, text: &str, shell: bool, most: usize) -> Self {
        let kept = text.get(..text.floor_char_boundary(most)).unwrap_or_default();
        let bare: String = kept.chars().filter(|c| !matches!(c, '\\' | '\'' | '"' | '\0')).collect();
        let (words, order) = if shell {
            let words: BTreeSet<&str> = words_of(kept).chain(words_of(&bare)).collect();
            (words.into_iter().map(str::to_owned).collect(), None)
        } else {
            let (words, order) = in_order(kept);
            (words, Some(order))
        };
        let cut = kept.len() < text.len();
        Self { why, text: bare, words, order, seen: false, may_run: true, whole: cut, cut }
    }

    /// A text that nobody looks at: it may be about anything.
    pub fn any(why: &'static str, text: &str) -> Self {
        Self { whole: true, cut: true, ..Self::new(why, text, false, EXCERPT) }
    }

    /// Whether it may be about anything.
    pub fn is_whole(&self) -> bool {
        self.whole
    }

    /// The text, without the quotes and backslashes that words are hidden behind.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The words it mentions: letters, digits, `_`, `-` and `.`.
    pub fn words(&self) -> impl Iterator<Item = &str> {
        self.words.iter().map(|word| word.trim_matches('-'))
    }

    /// A word with an option soon after it; in shell text, where the option may be hidden, the word alone.
    pub fn followed_by(&self, word: impl Fn(&str) -> bool, option: impl Fn(&str) -> bool) -> Option<&str> {
        let Some(order) = &self.order else { return self.words().find(|found| word(found)) };
        let of = |fits: &dyn Fn(&str) -> bool| self.words.iter().map(|word| fits(word)).collect::<Vec<_>>();
        let fits = of(&word);
        if !fits.contains(&true) {
            return None;
        }
        let options = of(&option);
        let is = |which: &[bool], word: &usize| which.get(*word).copied().unwrap_or_default();
        let near = |at: usize| order.iter().skip(at + 1).take(NEAR - 1).any(|next| is(&options, next));
        let mut found = order.iter().enumerate();
        let (_, first) = found.find(|(at, first)| is(&fits, first) && near(*at))?;
        self.words.get(*first).map(String::as_str)
    }

    /// Whether the letters occur anywhere in it, or may.
    pub fn contains(&self, part: &str) -> bool {
        self.cut || self.text.contains(part)
    }
}

/// The words of a text, each once, and in which order they stand.
fn in_order(text: &str) -> (Vec<String>, Vec<usize>) {
    let (mut words, mut numbers) = (Vec::new(), HashMap::new());
    let order = words_of(text).map(|word| {
        *numbers.entry(word).or_insert_with(|| {
            words.push(word.to_owned());
            words.len() - 1
        })
    });
    let order = order.collect();
    (words, order)
}

fn words_of(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !(c.is_alphanumeric() || matches!(c, '_' | '-' | '.')))
        .map(|word| word.trim_matches('.').trim_end_matches('-'))
        .filter(|word| !word.is_empty() && word.len() <= 64)
}

fn excerpt<S: Serializer>(text: &str, serializer: S) -> Result<S::Ok, S::Error> {
    let mut short: String = text.chars().take(EXCERPT).collect();
    if short.len() < text.len() {
        short.push('…');
    }
    serializer.serialize_str(&short)
}
