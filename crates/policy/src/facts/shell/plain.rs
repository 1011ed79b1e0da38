// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Scripts of nothing but plain words: `cargo test 2>&1 | tail -n 40`, `cd web && npm ci`.
//!
//! Most of what agents run is of this kind, and no tree is needed to read it: the tables of a whole
//! grammar cost a call more than the rest of the judging. Whatever is not plain, down to a single letter,
//! is left to the grammar; a test holds both ways of reading against each other.

use super::Reader;
use super::chain::{Link, never_fails, never_returns};
use super::invoke::Redirections;
use super::prepare::RESERVED;
use super::scope::Scope;
use super::word::Word;

/// Longer texts, pipelines and commands are for the grammar, which counts its steps.
const LONGEST: usize = 2048;
const MOST_STAGES: usize = 16;
const MOST_WORDS: usize = 128;

/// Words that the grammar reads in their own ways where a command may stand.
const OWN_WAYS: &[&str] = &["declare", "typeset", "export", "readonly", "local", "unset", "unsetenv", "let"];

/// A script of plain words: chains one after another.
pub(super) struct Plain(Vec<Vec<Link<Pipeline>>>);

/// `a | b | c`
type Pipeline = Vec<Simple>;

/// One command.
#[derive(Default)]
struct Simple {
    words: Vec<Word>,
    /// The signs, without the numbers before them, and what stands behind.
    redirects: Vec<(&'static str, Word)>,
}

impl Plain {
    /// Reads a text; `None` if anything in it is not plain.
    pub(super) fn read(text: &str) -> Option<Self> {
        if text.len() > LONGEST {
            return None;
        }
        let mut letters = Letters(text.as_bytes());
        let mut chains = Vec::new();
        loop {
            letters.pass(b" \t\n");
            if letters.0.is_empty() {
                return (!chains.is_empty()).then_some(Self(chains));
            }
            chains.push(letters.chain()?);
            match letters.0.split_first() {
                None => {}
                // `;;` belongs to a `case`.
                Some((b';', rest)) if rest.first() != Some(&b';') => letters.0 = rest,
                Some((b'\n', rest)) => letters.0 = rest,
                Some(_) => return None,
            }
        }
    }
}

/// What is left of a text.
struct Letters<'t>(&'t [u8]);

impl Letters<'_> {
    /// `a && b || c`
    fn chain(&mut self) -> Option<Vec<Link<Pipeline>>> {
        let mut links = Vec::new();
        let mut or_else = false;
        loop {
            let step = self.pipeline()?;
            // A script is read to its end before it is walked, so that the last one is known.
            let joint = self.0.get(..2).unwrap_or_default();
            let more = matches!(joint, b"&&" | b"||");
            let program = alone(&step, !more);
            links.push(Link {
                or_else,
                sure: program.is_some_and(never_fails),
                leaves: program.is_some_and(never_returns),
                step,
            });
            if !more {
                return Some(links);
            }
            or_else = joint == b"||";
            self.0 = self.0.get(2..)?;
        }
    }

    fn pipeline(&mut self) -> Option<Pipeline> {
        let mut stages = vec![self.simple()?];
        while let [b'|', rest @ ..] = self.0 {
            match rest.first() {
                Some(b'|') => break,
                Some(b'&') => return None,
                _ => self.0 = rest,
            }
            stages.push(self.simple()?);
        }
        (stages.len() <= MOST_STAGES).then_some(stages)
    }

    /// Words and redirections, up to what ends a command.
    fn simple(&mut self) -> Option<Simple> {
        let mut simple = Simple::default();
        loop {
            self.pass(b" \t");
            match self.0.first() {
                None | Some(b';' | b'|' | b'\n') => break,
                Some(b'&') if self.0.get(1) == Some(&b'&') => break,
                _ => {}
            }
            if let Some(sign) = self.sign() {
                self.pass(b" \t");
                simple.redirects.push((sign, self.word()?));
            } else {
                simple.words.push(self.word()?);
            }
        }
        let name = simple.words.first()?.text.as_str();
        let usual = name.starts_with(|c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '/' | '_'));
        let own = name.contains('=') || RESERVED.contains(&name) || OWN_WAYS.contains(&name);
        (usual && !own && simple.words.len() <= MOST_WORDS).then_some(simple)
    }

    /// A sign of a redirection with the number before it, if one stands here. Behind longer signs than
    /// these no word begins.
    fn sign(&mut self) -> Option<&'static str> {
        let digits = usize::from(matches!(self.0, [b'0'..=b'9', b'>' | b'<', ..]));
        let rest = self.0.get(digits..)?;
        let (sign, len) = match rest {
            [b'>', b'&', b'0'..=b'9', ..] => (">&", 2),
            [b'>', b'>', ..] => (">>", 2),
            [b'>', ..] => (">", 1),
            [b'<', ..] => ("<", 1),
            _ => return None,
        };
        self.0 = rest.get(len..)?;
        Some(sign)
    }

    /// A word that is plain from end to end, or quoted from end to end.
    fn word(&mut self) -> Option<Word> {
        let (text, rest) = match self.0 {
            [quote @ (b'\'' | b'"'), rest @ ..] => {
                let len = rest.iter().position(|letter| letter == quote)?;
                let (text, rest) = rest.split_at_checked(len)?;
                let plain = |letter: &u8| matches!(letter, b' '..=b'~') && !b"$`\\!".contains(letter);
                if !text.iter().all(plain) {
                    return None;
                }
                (text, rest.get(1..)?)
            }
            letters => {
                let len = letters.iter().position(|letter| !is_plain(*letter)).unwrap_or(letters.len());
                letters.split_at_checked(len).filter(|_| len > 0)?
            }
        };
        let ends = |letter: &u8| matches!(letter, b' ' | b'\t' | b'\n' | b';' | b'|' | b'&');
        if !rest.first().is_none_or(ends) {
            return None;
        }
        self.0 = rest;
        Some(Word::literal(std::str::from_utf8(text).ok()?))
    }

    fn pass(&mut self, blanks: &[u8]) {
        let len = self.0.iter().position(|letter| !blanks.contains(letter)).unwrap_or(self.0.len());
        self.0 = self.0.get(len..).unwrap_or_default();
    }
}

/// Whether a letter is only itself, wherever it stands in a word.
fn is_plain(letter: u8) -> bool {
    letter.is_ascii_alphanumeric() || b"_-./:=,@%+".contains(&letter)
}

/// The program of a command that stands alone; the redirections of a last one belong to its chain.
fn alone(stages: &[Simple], last: bool) -> Option<&str> {
    let [only] = stages else { return None };
    only.words.first().filter(|_| last || only.redirects.is_empty()).map(|word| word.text.as_str())
}

impl Reader {
    pub(super) fn walk_plain(&mut self, script: Plain, scope: &mut Scope) {
        for links in script.0 {
            let walk = |reader: &mut Self, stages: Pipeline, _, scope: &mut Scope| match stages.as_slice() {
                [only] => reader.plain_command(only, scope),
                stages => {
                    let walk = |reader: &mut Self, command: &Simple, _, inner: &mut Scope| {
                        reader.plain_command(command, inner);
                    };
                    reader.piped(stages, walk, scope);
                }
            };
            self.linked(links, walk, scope);
        }
    }

    fn plain_command(&mut self, command: &Simple, scope: &mut Scope) {
        let outer = scope.stdin.clone();
        let mut io = Redirections::default();
        for (sign, target) in &command.redirects {
            self.open(sign, target, &mut io, scope);
        }
        self.run(&command.words, &io, scope);
        scope.stdin = outer;
    }
}

#[cfg(test)]
mod tests;
