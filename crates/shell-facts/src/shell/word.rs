// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Represents the words of a command after expansion, as far as they are known before run time.

use serde::Serialize;

use super::braces::expand_brace_atoms;

/// Maximum length of an expanded text. A longer one, as in `x=$x$x`, becomes unknown.
pub(super) const MAX_EXPANSION_BYTES: usize = 64 * 1024;

/// A word of a command.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct ShellWord {
    /// The text with quoting and known variables resolved; unknown parts as written.
    pub text: String,
    /// Whether part of the word is only known at run time.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub dynamic: bool,
    /// Whether `*`, `?` or `[…]` in the word form a pattern.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub pattern: bool,
    /// The text with `*` for each unknown part.
    #[serde(skip)]
    pub shape: String,
    /// Indices of the commands whose output is part of the text.
    #[serde(skip)]
    pub(crate) from: Vec<usize>,
    /// Whether the word is `<(…)`: a file with the output of those commands.
    #[serde(skip)]
    pub(crate) is_process: bool,
    /// Whether the word may become several words at run time, including options.
    #[serde(skip)]
    pub(crate) may_split: bool,
    /// Whether the word starts with an unknown part, so that it may be an option.
    #[serde(skip)]
    pub(crate) may_be_option: bool,
}

/// An element of a word before word splitting.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum WordAtom {
    /// A character that the shell may still interpret.
    Plain(char),
    /// A quoted character.
    Quoted(char),
    /// A pattern character that stays a pattern in quotes, because a loop variable stands for each match.
    Glob(char),
    /// A character at which a changed `IFS` splits.
    Soft(char),
    /// A word boundary that also applies in quotes: `"$@"`.
    Break,
    /// The opening brace of `{a,b}`.
    BraceOpen,
    BraceComma,
    BraceClose,
    /// A part that is only known at run time, as written. A `list` is several words even in quotes.
    Unknown {
        source: String,
        quoted: bool,
        list: bool,
    },
}

/// The expansion of an expression, before word splitting.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct ExpandedText {
    pub(super) atoms: Vec<WordAtom>,
    /// Indices of the commands whose output is part of the text.
    pub(super) from: Vec<usize>,
    pub(super) is_process: bool,
    /// Whether an empty text still forms a word.
    pub(super) keeps_empty: bool,
}

// === impl ShellWord ===

impl ShellWord {
    /// Creates a word that is completely known.
    pub fn literal(text: &str) -> Self {
        Self { text: text.to_owned(), shape: text.to_owned(), ..Self::default() }
    }

    /// Converts the word to the value of a variable.
    pub(super) fn to_value(&self) -> ExpandedText {
        let value = if self.dynamic {
            ExpandedText::unknown(&self.text, false)
        } else if self.pattern {
            ExpandedText::each(&self.text)
        } else {
            ExpandedText::literal(&self.text)
        };
        ExpandedText { from: self.from.clone(), is_process: self.is_process, ..value }
    }

    /// Returns the rest of the word after this many bytes.
    pub(crate) fn skip_bytes(&self, from: usize) -> Self {
        let text = self.text.get(from..).unwrap_or_default().to_owned();
        // Text and shape are equal up to the first unknown part.
        let same = self.shape.get(..from) == self.text.get(..from);
        let shape = if same { self.shape.get(from..).unwrap_or_default().to_owned() } else { "*".to_owned() };
        Self { text, shape, ..self.clone() }
    }

    pub(crate) fn is(&self, text: &str) -> bool {
        !self.dynamic && self.text == text
    }
}

// === impl WordAtom ===

impl WordAtom {
    /// Returns the character; `None` for an unknown part.
    pub(super) fn letter(&self) -> Option<char> {
        match self {
            Self::Plain(letter) | Self::Quoted(letter) | Self::Glob(letter) | Self::Soft(letter) => {
                Some(*letter)
            }
            Self::Break => Some(' '),
            Self::BraceOpen => Some('{'),
            Self::BraceComma => Some(','),
            Self::BraceClose => Some('}'),
            Self::Unknown { .. } => None,
        }
    }
}

// === impl ExpandedText ===

impl ExpandedText {
    pub(super) fn literal(text: &str) -> Self {
        Self { atoms: atoms_of(text, WordAtom::Plain), ..Self::default() }
    }

    pub(super) fn quoted(text: &str) -> Self {
        Self { atoms: atoms_of(text, WordAtom::Quoted), keeps_empty: true, ..Self::default() }
    }

    pub(super) fn unknown(source: &str, quoted: bool) -> Self {
        let source = source.to_owned();
        Self { atoms: vec![WordAtom::Unknown { source, quoted, list: false }], ..Self::default() }
    }

    /// Creates a value for an unknown number of unknown words.
    pub(super) fn list(source: &str) -> Self {
        let source = source.to_owned();
        Self { atoms: vec![WordAtom::Unknown { source, quoted: false, list: true }], ..Self::default() }
    }

    /// Creates a value that represents each match of a pattern.
    pub(super) fn each(pattern: &str) -> Self {
        let atom = |c| if matches!(c, '*' | '?' | '[') { WordAtom::Glob(c) } else { WordAtom::Plain(c) };
        Self { atoms: atoms_of(pattern, atom), ..Self::default() }
    }

    pub(super) fn append(&mut self, other: Self) {
        if self.atoms.len() + other.atoms.len() > MAX_EXPANSION_BYTES {
            self.atoms = Self::list("…").atoms;
        } else if self.atoms.is_empty() {
            self.atoms = other.atoms;
        } else {
            self.atoms.extend(other.atoms);
        }
        merge_sources(&mut self.from, &other.from);
        self.is_process |= other.is_process;
        self.keeps_empty |= other.keeps_empty;
    }

    /// Adds `{a,b}`: the word is read once for each alternative.
    pub(super) fn append_alternatives(&mut self, all: impl Iterator<Item = Self>) {
        self.atoms.push(WordAtom::BraceOpen);
        for (at, each) in all.enumerate() {
            if at > 0 {
                self.atoms.push(WordAtom::BraceComma);
            }
            self.append(each);
        }
        self.atoms.push(WordAtom::BraceClose);
    }

    /// Quotes the text, so that it is not split and contains no patterns.
    pub(super) fn in_quotes(mut self) -> Self {
        for atom in &mut self.atoms {
            match atom {
                WordAtom::Plain(letter) | WordAtom::Soft(letter) => *atom = WordAtom::Quoted(*letter),
                WordAtom::Unknown { quoted, list, .. } => *quoted = !*list,
                WordAtom::Quoted(_)
                | WordAtom::Glob(_)
                | WordAtom::Break
                | WordAtom::BraceOpen
                | WordAtom::BraceComma
                | WordAtom::BraceClose => {}
            }
        }
        self.keeps_empty = true;
        self
    }

    /// Converts the text to the value of a variable. Its quoting applied only to the assignment and is removed.
    pub(super) fn into_value(mut self) -> Self {
        for atom in &mut self.atoms {
            match atom {
                WordAtom::Quoted(letter) | WordAtom::Soft(letter) => *atom = WordAtom::Plain(*letter),
                WordAtom::Break => *atom = WordAtom::Plain(' '),
                WordAtom::Unknown { quoted, list, .. } => (*quoted, *list) = (false, false),
                WordAtom::BraceOpen => *atom = WordAtom::Plain('{'),
                WordAtom::BraceComma => *atom = WordAtom::Plain(','),
                WordAtom::BraceClose => *atom = WordAtom::Plain('}'),
                WordAtom::Plain(_) | WordAtom::Glob(_) => {}
            }
        }
        self.keeps_empty = false;
        self
    }

    /// Converts the text to one word, without splitting.
    pub(super) fn into_word(self) -> ShellWord {
        word(&self.atoms, &self)
    }

    /// Splits the text into words, as a shell does.
    pub(super) fn into_words(mut self) -> Vec<ShellWord> {
        let mut words = Vec::new();
        for atoms in expand_brace_atoms(std::mem::take(&mut self.atoms)) {
            let fields = atoms.split(|atom| match atom {
                WordAtom::Plain(letter) => letter.is_whitespace(),
                atom => matches!(atom, WordAtom::Soft(_) | WordAtom::Break),
            });
            words.extend(fields.filter(|field| !field.is_empty()).map(|field| word(field, &self)));
        }
        if words.is_empty() && self.keeps_empty {
            words.push(word(&[], &self));
        }
        words
    }
}

/// Converts the characters of a string to atoms, in one allocation.
pub(super) fn atoms_of(text: &str, atom: impl Fn(char) -> WordAtom) -> Vec<WordAtom> {
    let mut atoms = Vec::with_capacity(text.len());
    atoms.extend(text.chars().map(atom));
    atoms
}

/// Adds command indices without duplicates, so that repeated merging does not grow the list.
pub(super) fn merge_sources(from: &mut Vec<usize>, more: &[usize]) {
    if from.is_empty() || more.is_empty() {
        return from.extend_from_slice(more);
    }
    from.extend_from_slice(more);
    from.sort_unstable();
    from.dedup();
}

pub(super) fn word(atoms: &[WordAtom], whole: &ExpandedText) -> ShellWord {
    let text = || String::with_capacity(atoms.len());
    let mut word =
        ShellWord { text: text(), shape: text(), is_process: whole.is_process, ..ShellWord::default() };
    for atom in atoms {
        match atom {
            WordAtom::Plain(letter) => {
                word.pattern |= matches!(letter, '*' | '?' | '[');
                word.text.push(*letter);
                word.shape.push(*letter);
            }
            WordAtom::Quoted(letter) | WordAtom::Soft(letter) => {
                word.text.push(*letter);
                word.shape.push(*letter);
            }
            WordAtom::Glob(letter) => {
                word.pattern = true;
                word.text.push(*letter);
                word.shape.push(*letter);
            }
            WordAtom::Break | WordAtom::BraceOpen | WordAtom::BraceComma | WordAtom::BraceClose => {
                let letter = atom.letter().unwrap_or_default();
                word.text.push(letter);
                word.shape.push(letter);
            }
            WordAtom::Unknown { source, quoted, .. } => {
                word.may_split |= !quoted && word.text.is_empty();
                word.may_be_option |= word.text.is_empty();
                word.dynamic = true;
                word.text.push_str(source);
                word.shape.push('*');
            }
        }
    }
    word.from.clone_from(&whole.from);
    word
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(expansion: ExpandedText) -> Vec<String> {
        expansion.into_words().into_iter().map(|word| word.text).collect()
    }

    #[test]
    fn a_word_with_alternatives_becomes_several() {
        let mut inner = ExpandedText::literal("c");
        inner.append_alternatives([ExpandedText::literal("d"), ExpandedText::literal("")].into_iter());
        let mut word = ExpandedText::literal("a");
        word.append_alternatives([ExpandedText::literal("b"), inner].into_iter());
        word.append(ExpandedText::literal("e"));
        assert_eq!(texts(word), ["abe", "acde", "ace"]);
        // Braces in a value are plain text.
        assert_eq!(texts(ExpandedText::literal("{a,b}")), ["{a,b}"]);
    }

    #[test]
    fn an_unquoted_value_is_split_and_an_empty_one_is_gone() {
        assert_eq!(texts(ExpandedText::literal("-rf /")), ["-rf", "/"]);
        assert_eq!(texts(ExpandedText::literal("")), [""; 0]);
        assert_eq!(texts(ExpandedText::quoted("")), [""]);
    }
}
