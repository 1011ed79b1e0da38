// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Represents text that was not understood or not read. Rules can only search it for words.

use std::collections::{BTreeSet, HashMap};

use serde::{Serialize, Serializer};

/// Reason for text with a syntax error.
pub const SYNTAX_NOT_UNDERSTOOD: &str = "the syntax was not understood";
const EXCERPT_CHARS: usize = 200;
/// Maximum distance in words between a program and its option.
const MAX_OPTION_DISTANCE: usize = 4;

/// Words after which a shell starts a command.
const COMMAND_STARTERS: &[&str] = &[
    "then", "do", "else", "elif", "if", "while", "until", "time", "sudo", "doas", "env", "exec", "command",
    "builtin", "eval", "nohup", "nice", "ionice", "setsid", "stdbuf", "timeout", "xargs", "parallel",
    "watch", "busybox", "su", "sh", "bash", "zsh", "dash", "ssh",
];

/// Text that was not understood, or that is not shell code.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct UnreadText {
    /// Reason why the text was not read.
    pub why: &'static str,
    /// The text without quotes and backslashes, which can hide words.
    #[serde(serialize_with = "excerpt")]
    text: String,
    /// Distinct words in the text. Duplicates are removed because every rule checks all words.
    #[serde(skip)]
    words: Vec<String>,
    /// Order of the words, as indices into `words`; `None` for shell text, where quoting may hide a word.
    #[serde(skip)]
    order: Option<Vec<usize>>,
    /// Whether nothing of the text was read, so that it may do anything.
    #[serde(skip)]
    pub is_opaque: bool,
    /// Whether only a part of the text is kept.
    #[serde(skip)]
    cut: bool,
}

impl UnreadText {
    /// Creates an unread text. Text after `max_bytes` is dropped; a truncated text counts as one that may do
    /// anything.
    pub fn new(why: &'static str, text: &str, shell: bool, max_bytes: usize) -> Self {
        let kept = text.get(..text.floor_char_boundary(max_bytes)).unwrap_or_default();
        let bare: String = kept.chars().filter(|c| !matches!(c, '\\' | '\'' | '"' | '\0')).collect();
        let (words, order) = if shell {
            let words: BTreeSet<&str> = words_of(kept).chain(words_of(&bare)).collect();
            (words.into_iter().map(str::to_owned).collect(), None)
        } else {
            let (words, order) = words_in_order(kept);
            (words, Some(order))
        };
        let cut = kept.len() < text.len();
        Self { why, text: bare, words, order, is_opaque: cut, cut }
    }

    /// Creates a text that is not read at all and may therefore do anything.
    pub fn opaque(why: &'static str, text: &str) -> Self {
        Self { is_opaque: true, cut: true, ..Self::new(why, text, false, EXCERPT_CHARS) }
    }

    /// Whether the text may do anything.
    pub fn is_opaque(&self) -> bool {
        self.is_opaque
    }

    /// Returns the text without quotes and backslashes, which can hide words.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Returns the words of the text: sequences of letters, digits, `_`, `-` and `.`.
    pub fn words(&self) -> impl Iterator<Item = &str> {
        self.words.iter().map(|word| word.trim_matches('-'))
    }

    /// Finds a word that is soon followed by an option. In shell text, where the option may be hidden, the word alone
    /// is enough.
    pub fn followed_by(&self, word: impl Fn(&str) -> bool, option: impl Fn(&str) -> bool) -> Option<&str> {
        let Some(order) = &self.order else { return self.words().find(|found| word(found)) };
        let of = |fits: &dyn Fn(&str) -> bool| self.words.iter().map(|word| fits(word)).collect::<Vec<_>>();
        let fits = of(&word);
        if !fits.contains(&true) {
            return None;
        }
        let options = of(&option);
        let is = |which: &[bool], word: &usize| which.get(*word).copied().unwrap_or_default();
        let near = |at: usize| {
            order.iter().skip(at + 1).take(MAX_OPTION_DISTANCE - 1).any(|next| is(&options, next))
        };
        let mut found = order.iter().enumerate();
        let (_, first) = found.find(|(at, first)| is(&fits, first) && near(*at))?;
        self.words.get(*first).map(String::as_str)
    }

    /// Whether a word may be a command or a function: it is at the start of a command, after a word that starts
    /// commands, or in front of `(`. Words of prose and of addresses are not.
    pub fn may_run(&self, word: &str) -> bool {
        let mut places = self.text.match_indices(word);
        self.cut || places.any(|(at, _)| self.is_run_at(at, word.len()))
    }

    fn is_run_at(&self, at: usize, length: usize) -> bool {
        let is_in_word = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-');
        let (before, rest) = self.text.split_at_checked(at).unwrap_or_default();
        let after = rest.get(length..).unwrap_or_default();
        if after.starts_with(is_in_word) || before.ends_with(is_in_word) {
            return false;
        }
        if after.trim_start_matches(' ').starts_with('(') {
            return true;
        }
        // `/usr/bin/at`
        let before = match before.rsplit_once(char::is_whitespace) {
            Some((earlier, path)) if path.ends_with('/') && !path.contains(':') => earlier,
            None if before.ends_with('/') => "",
            _ => before,
        };
        // In code of other languages, a command is often the first string of a call or a list.
        let opening: &[char] = match self.order {
            None => &['\n', ';', '&', '|', '(', '{', '`', '!'],
            Some(_) => &['\n', ';', '&', '|', '(', '{', '`', '!', '[', ',', '='],
        };
        let line = before.trim_end_matches([' ', '\t']);
        if line.is_empty() || line.ends_with(opening) {
            return true;
        }
        let previous = line.rsplit(char::is_whitespace).next().unwrap_or_default();
        let previous = previous.rsplit(['/', ';', '(', '|', '&']).next().unwrap_or_default();
        line.len() < before.len()
            && (COMMAND_STARTERS.contains(&previous) || previous.starts_with('-') || previous.contains('='))
    }

    /// Whether the text contains a substring, or may contain it in a dropped part.
    pub fn contains(&self, part: &str) -> bool {
        self.cut || self.text.contains(part)
    }
}

/// Returns the distinct words of a text, and their order as indices.
fn words_in_order(text: &str) -> (Vec<String>, Vec<usize>) {
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
    let mut short: String = text.chars().take(EXCERPT_CHARS).collect();
    if short.len() < text.len() {
        short.push('…');
    }
    serializer.serialize_str(&short)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_runs_only_where_a_command_can_be() {
        let runs = |text: &str| UnreadText::new("", text, true, 1024).may_run("at");
        for text in [
            "at now",
            "x; at now",
            "a && at now",
            "sudo at now",
            "A=1 at now",
            "$(at now)",
            "/usr/bin/at x",
            "at(1)",
        ] {
            assert!(runs(text), "{text}");
        }
        for text in
            ["# look at it", "https://x.io/?state=at", "echo data at", "x = cat at_y", "print at night"]
        {
            assert!(!runs(text), "{text}");
        }
    }
}
