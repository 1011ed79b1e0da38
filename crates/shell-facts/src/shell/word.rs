// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Words of a command line: what a shell makes of them, as far as it can be known beforehand.

use serde::Serialize;

use super::braces::braces;

/// What grows beyond this, as `x=$x$x` does, is not known any more.
pub(super) const MAX_EXPANSION_BYTES: usize = 64 * 1024;

/// One word of a command.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Word {
    /// The text with quoting and known variables resolved; unknown parts as written.
    pub text: String,
    /// Whether part of it is only known when it runs.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub dynamic: bool,
    /// Whether `*`, `?` or `[…]` in it are a pattern.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub pattern: bool,
    /// The text with `*` for whatever is not known.
    #[serde(skip)]
    pub shape: String,
    /// The commands whose output is part of it, by their index.
    #[serde(skip)]
    pub(crate) from: Vec<usize>,
    /// Whether it is `<(…)`: a file that holds the output of those commands.
    #[serde(skip)]
    pub(crate) process: bool,
    /// Whether it may turn into several words, options among them, when it runs.
    #[serde(skip)]
    pub(crate) splits: bool,
    /// Whether it starts with something unknown, and so may turn out to be an option.
    #[serde(skip)]
    pub(crate) opens: bool,
}

/// A piece of a word before the shell has split it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Atom {
    /// A letter that may still mean something to the shell.
    Plain(char),
    /// A letter that is only itself.
    Quoted(char),
    /// A letter of a pattern, which it stays even in quotes: a loop's variable is each thing that fits.
    Glob(char),
    /// A letter at which a changed `IFS` splits.
    Soft(char),
    /// The border between two words, also in quotes: `"$@"`.
    Break,
    /// The braces and commas of `{a,b}`.
    BraceOpen,
    BraceComma,
    BraceClose,
    /// Something only known when it runs, as written; a `list` is several words even in quotes.
    Unknown {
        source: String,
        quoted: bool,
        list: bool,
    },
}

/// What an expression stands for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Expansion {
    pub(super) atoms: Vec<Atom>,
    /// The commands whose output is part of it, by their index.
    pub(super) from: Vec<usize>,
    pub(super) process: bool,
    /// Whether there is a word here even if it is empty.
    pub(super) kept: bool,
}

// === impl Word ===

impl Word {
    /// A word that is known to the letter.
    pub fn literal(text: &str) -> Self {
        Self { text: text.to_owned(), shape: text.to_owned(), ..Self::default() }
    }

    /// As the value of a variable.
    pub(super) fn to_value(&self) -> Expansion {
        let value = if self.dynamic {
            Expansion::unknown(&self.text, false)
        } else if self.pattern {
            Expansion::each(&self.text)
        } else {
            Expansion::literal(&self.text)
        };
        Expansion { from: self.from.clone(), process: self.process, ..value }
    }

    /// What is left of it after so many bytes.
    pub(crate) fn tail(&self, from: usize) -> Self {
        let text = self.text.get(from..).unwrap_or_default().to_owned();
        // Up to the first unknown part both are the same.
        let same = self.shape.get(..from) == self.text.get(..from);
        let shape = if same { self.shape.get(from..).unwrap_or_default().to_owned() } else { "*".to_owned() };
        Self { text, shape, ..self.clone() }
    }

    pub(crate) fn is(&self, text: &str) -> bool {
        !self.dynamic && self.text == text
    }
}

// === impl Atom ===

impl Atom {
    /// The letter it is; `None` when nobody knows.
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

// === impl Expansion ===

impl Expansion {
    pub(super) fn literal(text: &str) -> Self {
        Self { atoms: atoms_of(text, Atom::Plain), ..Self::default() }
    }

    pub(super) fn quoted(text: &str) -> Self {
        Self { atoms: atoms_of(text, Atom::Quoted), kept: true, ..Self::default() }
    }

    pub(super) fn unknown(source: &str, quoted: bool) -> Self {
        let source = source.to_owned();
        Self { atoms: vec![Atom::Unknown { source, quoted, list: false }], ..Self::default() }
    }

    /// Nobody knows which words, nor how many.
    pub(super) fn list(source: &str) -> Self {
        let source = source.to_owned();
        Self { atoms: vec![Atom::Unknown { source, quoted: false, list: true }], ..Self::default() }
    }

    /// Each thing that fits the pattern.
    pub(super) fn each(pattern: &str) -> Self {
        let atom = |c| if matches!(c, '*' | '?' | '[') { Atom::Glob(c) } else { Atom::Plain(c) };
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
        merge(&mut self.from, &other.from);
        self.process |= other.process;
        self.kept |= other.kept;
    }

    /// Adds `{a,b}`: the word is read once with each of them.
    pub(super) fn append_alternatives(&mut self, all: impl Iterator<Item = Self>) {
        self.atoms.push(Atom::BraceOpen);
        for (at, each) in all.enumerate() {
            if at > 0 {
                self.atoms.push(Atom::BraceComma);
            }
            self.append(each);
        }
        self.atoms.push(Atom::BraceClose);
    }

    /// As inside double quotes: nothing in it is split or a pattern.
    pub(super) fn in_quotes(mut self) -> Self {
        for atom in &mut self.atoms {
            match atom {
                Atom::Plain(letter) | Atom::Soft(letter) => *atom = Atom::Quoted(*letter),
                Atom::Unknown { quoted, list, .. } => *quoted = !*list,
                Atom::Quoted(_)
                | Atom::Glob(_)
                | Atom::Break
                | Atom::BraceOpen
                | Atom::BraceComma
                | Atom::BraceClose => {}
            }
        }
        self.kept = true;
        self
    }

    /// As the value of a variable: quoting was for the assignment and is gone.
    pub(super) fn into_value(mut self) -> Self {
        for atom in &mut self.atoms {
            match atom {
                Atom::Quoted(letter) | Atom::Soft(letter) => *atom = Atom::Plain(*letter),
                Atom::Break => *atom = Atom::Plain(' '),
                Atom::Unknown { quoted, list, .. } => (*quoted, *list) = (false, false),
                Atom::BraceOpen => *atom = Atom::Plain('{'),
                Atom::BraceComma => *atom = Atom::Plain(','),
                Atom::BraceClose => *atom = Atom::Plain('}'),
                Atom::Plain(_) | Atom::Glob(_) => {}
            }
        }
        self.kept = false;
        self
    }

    /// As one word, unsplit.
    pub(super) fn into_word(self) -> Word {
        word(&self.atoms, &self)
    }

    /// As the words a shell would make of it.
    pub(super) fn into_words(mut self) -> Vec<Word> {
        let mut words = Vec::new();
        for atoms in braces(std::mem::take(&mut self.atoms)) {
            let fields = atoms.split(|atom| match atom {
                Atom::Plain(letter) => letter.is_whitespace(),
                atom => matches!(atom, Atom::Soft(_) | Atom::Break),
            });
            words.extend(fields.filter(|field| !field.is_empty()).map(|field| word(field, &self)));
        }
        if words.is_empty() && self.kept {
            words.push(word(&[], &self));
        }
        words
    }
}

/// The letters of a text, in one allocation.
pub(super) fn atoms_of(text: &str, atom: impl Fn(char) -> Atom) -> Vec<Atom> {
    let mut atoms = Vec::with_capacity(text.len());
    atoms.extend(text.chars().map(atom));
    atoms
}

/// Adds commands, each once: what is put together often would otherwise grow with every time.
pub(super) fn merge(from: &mut Vec<usize>, more: &[usize]) {
    if from.is_empty() || more.is_empty() {
        return from.extend_from_slice(more);
    }
    from.extend_from_slice(more);
    from.sort_unstable();
    from.dedup();
}

pub(super) fn word(atoms: &[Atom], whole: &Expansion) -> Word {
    let text = || String::with_capacity(atoms.len());
    let mut word = Word { text: text(), shape: text(), process: whole.process, ..Word::default() };
    for atom in atoms {
        match atom {
            Atom::Plain(letter) => {
                word.pattern |= matches!(letter, '*' | '?' | '[');
                word.text.push(*letter);
                word.shape.push(*letter);
            }
            Atom::Quoted(letter) | Atom::Soft(letter) => {
                word.text.push(*letter);
                word.shape.push(*letter);
            }
            Atom::Glob(letter) => {
                word.pattern = true;
                word.text.push(*letter);
                word.shape.push(*letter);
            }
            Atom::Break | Atom::BraceOpen | Atom::BraceComma | Atom::BraceClose => {
                let letter = atom.letter().unwrap_or_default();
                word.text.push(letter);
                word.shape.push(letter);
            }
            Atom::Unknown { source, quoted, .. } => {
                word.splits |= !quoted && word.text.is_empty();
                word.opens |= word.text.is_empty();
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

    fn texts(expansion: Expansion) -> Vec<String> {
        expansion.into_words().into_iter().map(|word| word.text).collect()
    }

    #[test]
    fn a_word_with_alternatives_becomes_several() {
        let mut inner = Expansion::literal("c");
        inner.append_alternatives([Expansion::literal("d"), Expansion::literal("")].into_iter());
        let mut word = Expansion::literal("a");
        word.append_alternatives([Expansion::literal("b"), inner].into_iter());
        word.append(Expansion::literal("e"));
        assert_eq!(texts(word), ["abe", "acde", "ace"]);
        // Braces in a value are text.
        assert_eq!(texts(Expansion::literal("{a,b}")), ["{a,b}"]);
    }

    #[test]
    fn an_unquoted_value_is_split_and_an_empty_one_is_gone() {
        assert_eq!(texts(Expansion::literal("-rf /")), ["-rf", "/"]);
        assert_eq!(texts(Expansion::literal("")), [""; 0]);
        assert_eq!(texts(Expansion::quoted("")), [""]);
    }
}
