// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The words of a command as its row in the table tells them apart.

use super::super::Word;
use super::programs::Row;
use super::{Does, Side};

/// Something a program does to a path it names.
#[derive(Debug, Clone)]
pub(crate) struct Touch {
    pub(crate) does: Does,
    pub(crate) path: Word,
    /// Whether everything below it, too.
    pub(crate) deep: bool,
    /// Whether it is only a part of a word (`of=~/x`): no shell has looked for a `~` in it.
    pub(crate) inner: bool,
    /// Where, if not where the program runs.
    pub(crate) on: Option<Side>,
}

/// One option with its value.
#[derive(Debug)]
pub(super) struct Opt<'a> {
    /// A letter, or a long name without its dashes.
    pub(super) name: &'a str,
    pub(super) long: bool,
    pub(super) value: Option<Word>,
    /// Whether the value stands in the option's own word.
    pub(super) inner: bool,
}

/// The words of a command, told apart.
#[derive(Debug)]
pub(super) struct Given<'a> {
    pub(super) program: &'a str,
    /// All of them, as written.
    pub(super) words: &'a [Word],
    pub(super) options: Vec<Opt<'a>>,
    pub(super) operands: Vec<&'a Word>,
    /// Whether the row's options for going below are given.
    pub(super) deep: bool,
}

// === impl Touch ===

impl Touch {
    pub(crate) fn new(does: Does, path: &Word) -> Self {
        Self { does, path: path.clone(), deep: false, inner: false, on: None }
    }

    pub(crate) fn deep(self, deep: bool) -> Self {
        Self { deep, ..self }
    }

    pub(super) fn inner(self, inner: bool) -> Self {
        Self { inner, ..self }
    }
}

// === impl Given ===

impl<'a> Given<'a> {
    pub(super) fn new(row: &Row, program: &'a str, words: &'a [Word]) -> Self {
        let mut given = Self { program, words, options: Vec::new(), operands: Vec::new(), deep: false };
        let mut rest = words;
        let mut options_are_over = false;
        while let Some((word, after)) = rest.split_first() {
            rest = after;
            let text = word.text.as_str();
            if options_are_over || !text.starts_with('-') || text.len() == 1 || word.opens {
                given.operands.push(word);
            } else if text == "--" {
                options_are_over = true;
            } else if let Some(long) = text.strip_prefix("--") {
                rest = given.long(row, word, long, after);
            } else {
                rest = given.letters(row, word, after);
            }
        }
        given.deep = given.has(row.deep);
        given
    }

    fn long(&mut self, row: &Row, word: &Word, long: &'a str, after: &'a [Word]) -> &'a [Word] {
        if let Some((name, _)) = long.split_once('=') {
            let value = Some(word.tail(name.len() + 3));
            self.options.push(Opt { name, long: true, value, inner: true });
            return after;
        }
        let takes = row.long_values.contains(&long) || row.given.iter().any(|(name, _)| *name == long);
        let value = after.first().filter(|_| takes).cloned();
        self.options.push(Opt { name: long, long: true, value, inner: false });
        after.get(usize::from(takes)..).unwrap_or_default()
    }

    fn letters(&mut self, row: &Row, word: &'a Word, after: &'a [Word]) -> &'a [Word] {
        for (at, letter) in word.text.char_indices().skip(1) {
            let end = at + letter.len_utf8();
            let name = word.text.get(at..end).unwrap_or_default();
            let takes = row.values.contains(letter) || row.given.iter().any(|(given, _)| *given == name);
            if !takes {
                self.options.push(Opt { name, long: false, value: None, inner: false });
                continue;
            }
            let inner = end < word.text.len();
            let value = if inner { Some(word.tail(end)) } else { after.first().cloned() };
            self.options.push(Opt { name, long: false, value, inner });
            return after.get(usize::from(!inner)..).unwrap_or_default();
        }
        after
    }

    /// Whether one of these options is given; long ones may be cut short, as getopt takes them.
    pub(super) fn has(&self, names: &[&str]) -> bool {
        self.options.iter().any(|option| names.iter().any(|name| option.is(name)))
    }

    /// The value of the last of these options.
    pub(super) fn value(&self, names: &[&str]) -> Option<&Word> {
        let last = self.options.iter().rev().find(|option| names.iter().any(|name| option.is(name)));
        last.and_then(|option| option.value.as_ref())
    }

    /// The values of options that name paths.
    pub(super) fn by_options(&self, row: &Row) -> Vec<Touch> {
        let mut touches = Vec::new();
        for option in &self.options {
            let Some((_, does)) = row.given.iter().find(|(name, _)| option.is(name)) else { continue };
            let Some(value) = &option.value else { continue };
            touches.push(Touch::new(*does, value).inner(option.inner));
        }
        touches
    }

    /// The word behind this one, for programs whose options are words (`-in FILE`).
    pub(super) fn behind(&self, word: &str) -> Option<&'a Word> {
        let at = self.words.iter().position(|given| given.is(word))?;
        self.words.get(at + 1)
    }

    /// Every word behind one of these.
    pub(super) fn all_behind(&self, words: &[&str]) -> impl Iterator<Item = &'a Word> {
        let pairs = self.words.windows(2).filter_map(|pair| match pair {
            [option, value] if words.contains(&option.text.as_str()) => Some(value),
            _ => None,
        });
        pairs.collect::<Vec<_>>().into_iter()
    }
}

// === impl Opt ===

impl Opt<'_> {
    fn is(&self, name: &str) -> bool {
        let one_letter = name.len() == 1;
        match (self.long, one_letter) {
            (true, false) => self.name.len() > 1 && name.starts_with(self.name),
            (false, true) => self.name == name,
            _ => false,
        }
    }
}
