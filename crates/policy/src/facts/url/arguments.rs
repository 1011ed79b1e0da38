// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The words of a command, told apart by a program's own table of options.

use crate::facts::Word;

/// A word, or the part of one that is a value.
#[derive(Debug, Clone, Copy)]
pub(in crate::facts) struct Piece<'a> {
    pub(in crate::facts) text: &'a str,
    /// With `*` for whatever is not known.
    pub(in crate::facts) shape: &'a str,
    pub(in crate::facts) dynamic: bool,
}

/// One option, with the value it takes.
#[derive(Debug, Clone, Copy)]
pub(in crate::facts) struct Given<'a> {
    /// Without dashes: one letter or a long name.
    pub(in crate::facts) name: &'a str,
    pub(in crate::facts) value: Option<Piece<'a>>,
    /// Whether it is cut short, as getopt allows, for all one can tell.
    cut: bool,
}

/// What a command was given.
#[derive(Debug, Default)]
pub(in crate::facts) struct Arguments<'a> {
    pub(in crate::facts) operands: Vec<Piece<'a>>,
    pub(in crate::facts) options: Vec<Given<'a>>,
}

// === impl Piece ===

impl<'a> From<&'a Word> for Piece<'a> {
    fn from(word: &'a Word) -> Self {
        Self { text: &word.text, shape: &word.shape, dynamic: word.dynamic }
    }
}

impl Piece<'_> {
    /// What is left after so many bytes.
    pub(in crate::facts) fn after(self, bytes: usize) -> Self {
        let text = self.text.get(bytes..).unwrap_or_default();
        // Up to the first unknown part both are the same.
        let same = self.shape.get(..bytes) == self.text.get(..bytes);
        let shape = if same { self.shape.get(bytes..).unwrap_or_default() } else { "*" };
        Self { text, shape, dynamic: self.dynamic }
    }

    /// What follows the first `=`.
    pub(in crate::facts) fn value(self) -> Option<Self> {
        Some(self.after(self.text.find('=')? + 1))
    }
}

// === impl Arguments ===

impl<'a> Arguments<'a> {
    /// Reads words. `letters` and `names`, with blanks between them, are the options that take a
    /// value; a name with a dash in front is written with only one (`-connect`).
    pub(in crate::facts) fn read(words: &'a [Word], letters: &str, names: &str) -> Self {
        Self::read_some(words, letters, names, usize::MAX)
    }

    /// Reads words up to so many operands: what follows belongs to another program.
    pub(in crate::facts) fn read_some(words: &'a [Word], letters: &str, names: &str, most: usize) -> Self {
        let mut read = Self::default();
        let mut words = words.iter().map(Piece::from);
        while read.operands.len() < most
            && let Some(word) = words.next()
        {
            let text = word.text;
            if text == "--" {
                let left = most - read.operands.len();
                read.operands.extend(words.take(left));
                break;
            }
            if let Some(long) = text.strip_prefix("--") {
                let name = long.split('=').next().unwrap_or(long);
                let (exact, cut) = names.split(' ').fold((false, false), |(exact, cut), known| {
                    (exact || known == name, cut || begins(name, known))
                });
                let value = word.value().or_else(|| (exact || cut).then(|| words.next()).flatten());
                read.options.push(Given { name, value, cut: !exact });
                continue;
            }
            let Some(cluster) = text.strip_prefix('-').filter(|cluster| !cluster.is_empty()) else {
                read.operands.push(word);
                continue;
            };
            if names.split(' ').any(|name| name.strip_prefix('-') == Some(cluster)) {
                read.options.push(Given { name: cluster, value: words.next(), cut: false });
                continue;
            }
            for (at, letter) in cluster.char_indices() {
                let end = at + letter.len_utf8();
                let name = cluster.get(at..end).unwrap_or_default();
                if !letters.contains(letter) {
                    read.options.push(Given { name, value: None, cut: false });
                    continue;
                }
                let rest = word.after(1 + end);
                let value = if rest.text.is_empty() { words.next() } else { Some(rest) };
                read.options.push(Given { name, value, cut: false });
                break;
            }
        }
        read
    }

    /// Whether one of these options is given.
    pub(in crate::facts) fn has(&self, names: &[&str]) -> bool {
        self.options.iter().any(|given| given.is_one_of(names))
    }

    /// The values of these options.
    pub(in crate::facts) fn values(&self, names: &[&str]) -> impl Iterator<Item = Piece<'a>> {
        let given = self.options.iter().filter(|given| given.is_one_of(names));
        given.filter_map(|given| given.value)
    }
}

// === impl Given ===

impl Given<'_> {
    fn is_one_of(&self, names: &[&str]) -> bool {
        let mut names = names.iter().map(|name| name.trim_start_matches('-'));
        names.any(|name| self.name == name || self.cut && begins(self.name, name))
    }
}

/// Whether a name as written may be that option, cut short.
fn begins(written: &str, option: &str) -> bool {
    written.len() > 1 && option.starts_with(written)
}
