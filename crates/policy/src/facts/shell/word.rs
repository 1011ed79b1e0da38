// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Words of a command line: what a shell makes of them, as far as it can be known beforehand.

use serde::Serialize;

/// `{a,b}{c,d}…` grows quickly; what lies beyond is not known.
const MOST_BRACES: usize = 64;
/// A longer word is not searched for braces: finding them is quadratic.
const LONGEST_BRACES: usize = 1024;

/// What grows beyond this, as `x=$x$x` does, is not known any more.
const LARGEST: usize = 64 * 1024;

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
    pub(crate) shape: String,
    /// The commands whose output is part of it, by their index.
    #[serde(skip)]
    pub(super) from: Vec<usize>,
    /// Whether it is `<(…)`: a file that holds the output of those commands.
    #[serde(skip)]
    pub(super) process: bool,
    /// Whether it may turn into several words, options among them, when it runs.
    #[serde(skip)]
    pub(super) splits: bool,
}

/// A piece of a word before the shell has split it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Atom {
    /// A letter that may still mean something to the shell.
    Plain(char),
    /// A letter that is only itself.
    Quoted(char),
    /// Something only known when it runs, as written.
    Unknown { source: String, quoted: bool },
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
    pub(super) fn literal(text: &str) -> Self {
        Self { text: text.to_owned(), shape: text.to_owned(), ..Self::default() }
    }

    /// As the value of a variable.
    pub(super) fn to_value(&self) -> Expansion {
        let value =
            if self.dynamic { Expansion::unknown(&self.text, false) } else { Expansion::literal(&self.text) };
        Expansion { from: self.from.clone(), ..value }
    }

    pub(super) fn is(&self, text: &str) -> bool {
        !self.dynamic && self.text == text
    }
}

// === impl Expansion ===

impl Expansion {
    pub(super) fn literal(text: &str) -> Self {
        Self { atoms: text.chars().map(Atom::Plain).collect(), ..Self::default() }
    }

    pub(super) fn quoted(text: &str) -> Self {
        Self { atoms: text.chars().map(Atom::Quoted).collect(), kept: true, ..Self::default() }
    }

    pub(super) fn unknown(source: &str, quoted: bool) -> Self {
        Self { atoms: vec![Atom::Unknown { source: source.to_owned(), quoted }], ..Self::default() }
    }

    pub(super) fn append(&mut self, other: Self) {
        if self.atoms.len() + other.atoms.len() > LARGEST {
            self.atoms = vec![Atom::Unknown { source: "…".to_owned(), quoted: false }];
        } else {
            self.atoms.extend(other.atoms);
        }
        self.from.extend(other.from);
        self.process |= other.process;
        self.kept |= other.kept;
    }

    /// As inside double quotes: nothing in it is split or a pattern.
    pub(super) fn in_quotes(mut self) -> Self {
        for atom in &mut self.atoms {
            match atom {
                Atom::Plain(letter) => *atom = Atom::Quoted(*letter),
                Atom::Unknown { quoted, .. } => *quoted = true,
                Atom::Quoted(_) => {}
            }
        }
        self.kept = true;
        self
    }

    /// As the value of a variable: quoting was for the assignment and is gone.
    pub(super) fn into_value(mut self) -> Self {
        for atom in &mut self.atoms {
            match atom {
                Atom::Quoted(letter) => *atom = Atom::Plain(*letter),
                Atom::Unknown { quoted, .. } => *quoted = false,
                Atom::Plain(_) => {}
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
    pub(super) fn into_words(self) -> Vec<Word> {
        let mut words = Vec::new();
        for atoms in braces(&self.atoms) {
            let fields = atoms.split(|atom| matches!(atom, Atom::Plain(letter) if letter.is_whitespace()));
            words.extend(fields.filter(|field| !field.is_empty()).map(|field| word(field, &self)));
        }
        if words.is_empty() && self.kept {
            words.push(word(&[], &self));
        }
        words
    }
}

fn word(atoms: &[Atom], whole: &Expansion) -> Word {
    let mut word = Word { process: whole.process, ..Word::default() };
    for atom in atoms {
        match atom {
            Atom::Plain(letter) => {
                word.pattern |= matches!(letter, '*' | '?' | '[');
                word.text.push(*letter);
                word.shape.push(*letter);
            }
            Atom::Quoted(letter) => {
                word.text.push(*letter);
                word.shape.push(*letter);
            }
            Atom::Unknown { source, quoted } => {
                word.splits |= !quoted && word.text.is_empty();
                word.dynamic = true;
                word.text.push_str(source);
                word.shape.push('*');
            }
        }
    }
    word.from.clone_from(&whole.from);
    word
}

/// Brace expansion of a text without quoting. `None` when it would grow too large.
pub(crate) fn expand_braces(text: &str) -> Option<Vec<String>> {
    let expansion = Expansion::literal(text);
    let words = braces(&expansion.atoms).into_iter().map(|atoms| word(&atoms, &expansion));
    words.map(|word| (!word.dynamic).then_some(word.text)).collect()
}

/// Brace expansion: `a{b,c}` is `ab ac`. What is not a list in braces stays as it is.
fn braces(atoms: &[Atom]) -> Vec<Vec<Atom>> {
    if !atoms.contains(&Atom::Plain('{')) {
        return vec![atoms.to_vec()];
    }
    let unknown = || vec![Atom::Unknown { source: "{…}".to_owned(), quoted: false }];
    if atoms.len() > LONGEST_BRACES {
        return vec![unknown()];
    }
    let mut done = Vec::new();
    let mut open = vec![atoms.to_vec()];
    while let Some(next) = open.pop() {
        match first_list(&next) {
            Some((before, items, after)) if done.len() + open.len() + items.len() <= MOST_BRACES => {
                for item in items.iter().rev() {
                    open.push([before, item, after].concat());
                }
            }
            Some(_) => done.push(unknown()),
            None => done.push(next),
        }
    }
    done
}

type List<'a> = (&'a [Atom], Vec<&'a [Atom]>, &'a [Atom]);

fn first_list(atoms: &[Atom]) -> Option<List<'_>> {
    let starts = atoms.iter().enumerate().filter(|(_, atom)| **atom == Atom::Plain('{')).map(|(at, _)| at);
    for start in starts {
        let (mut depth, mut cut, mut items) = (0usize, start + 1, Vec::new());
        for (at, atom) in atoms.iter().enumerate().skip(start) {
            match atom {
                Atom::Plain('{') => depth += 1,
                Atom::Plain(',') if depth == 1 => {
                    items.push(atoms.get(cut..at)?);
                    cut = at + 1;
                }
                Atom::Plain('}') if depth == 1 => {
                    if items.is_empty() {
                        break;
                    }
                    items.push(atoms.get(cut..at)?);
                    return Some((atoms.get(..start)?, items, atoms.get(at + 1..)?));
                }
                Atom::Plain('}') => depth = depth.saturating_sub(1),
                _ => {}
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(expansion: Expansion) -> Vec<String> {
        expansion.into_words().into_iter().map(|word| word.text).collect()
    }

    #[test]
    fn braces_are_expanded_and_quoted_ones_are_not() {
        assert_eq!(texts(Expansion::literal("a{b,c{d,}}e")), ["abe", "acde", "ace"]);
        assert_eq!(texts(Expansion::literal("{}")), ["{}"]);
        assert_eq!(texts(Expansion::literal("{x")), ["{x"]);
        assert_eq!(texts(Expansion::quoted("{a,b} c")), ["{a,b} c"]);
    }

    #[test]
    fn brace_bombs_stay_small() {
        assert!(texts(Expansion::literal(&"{a,b}".repeat(40))).len() <= MOST_BRACES);
    }

    #[test]
    fn an_unquoted_value_is_split_and_an_empty_one_is_gone() {
        assert_eq!(texts(Expansion::literal("-rf /")), ["-rf", "/"]);
        assert_eq!(texts(Expansion::literal("")), [""; 0]);
        assert_eq!(texts(Expansion::quoted("")), [""]);
    }
}
