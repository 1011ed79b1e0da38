// SPDX-License-Identifier: Apache-2.0 OR MIT

//! A script → the same script in the few forms that the grammar reads right.
//!
//! The grammar loses commands at the ends of lines, behind `!` and `time`, and around redirections
//! and here-documents. So the script is read here first, as a shell reads it, and written anew: on
//! one line, words before redirections, here-documents as `<<<`, nothing before a compound command.
//! Patterns and arithmetic matter to nobody and are left out, apart from what runs within them.
//!
//! It reads every byte once (texts in backquotes and here-documents twice) and says how many
//! commands it wrote, so that the reader can tell whether the grammar found them all.

mod compound;
mod document;
mod simple;
mod word;

use document::Pending;

/// Nesting; deeper texts are not read.
const DEEPEST: usize = 64;
/// Stages of one pipeline; the grammar takes quadratic time over them.
const LONGEST_PIPELINE: usize = 128;
/// Words that begin or end something where a command may stand.
pub(super) const RESERVED: &[&str] = &[
    "if", "then", "elif", "else", "fi", "for", "select", "while", "until", "do", "done", "case", "esac", "{",
    "}", "!", "[[", "function", "time", "coproc",
];

/// A script as the grammar reads it right.
pub(super) struct Prepared {
    pub(super) text: String,
    /// The commands in it, at any depth.
    pub(super) commands: usize,
}

/// Writes a script anew; `None` when it is no script, or one this cannot read.
pub(super) fn prepare(text: &str) -> Option<Prepared> {
    // They mark the places of here-documents.
    if text.contains([document::OPEN, document::CLOSE]) {
        return None;
    }
    let mut script = Script::new(text, 0);
    let text = script.whole().ok()?;
    Some(Prepared { text, commands: script.commands })
}

/// It is no script, or one this cannot read.
struct Wrong;

type Outcome<T = ()> = Result<T, Wrong>;

/// What kind of command was written.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Simple,
    /// Behind it a closing word may stand without a `;`.
    Compound,
}

/// A place in a script.
struct Script<'s> {
    src: &'s str,
    at: usize,
    depth: usize,
    commands: usize,
    /// Here-documents whose text follows at the end of the line.
    pending: Vec<Pending>,
    /// Their texts, as words.
    documents: Vec<String>,
    /// Bytes read in vain.
    wasted: usize,
}

impl<'s> Script<'s> {
    fn new(src: &'s str, depth: usize) -> Self {
        Self { src, at: 0, depth, commands: 0, pending: Vec::new(), documents: Vec::new(), wasted: 0 }
    }

    fn whole(&mut self) -> Outcome<String> {
        let mut out = String::with_capacity(self.src.len() + self.src.len() / 4);
        self.list(&mut out, &[])?;
        if self.peek().is_some() {
            return Err(Wrong);
        }
        self.read_documents()?;
        Ok(self.filled(out))
    }

    // === commands ===

    /// Commands up to one of these words, a `)`, a `;;` or the end; how many.
    fn list(&mut self, out: &mut String, ends: &[&str]) -> Outcome<usize> {
        let mut count = 0;
        loop {
            self.gap()?;
            if self.ended(ends) {
                return Ok(count);
            }
            let kind = self.chain(out)?;
            count += 1;
            self.blanks();
            match self.peek() {
                None | Some(b')') => {
                    out.push_str("; ");
                    return Ok(count);
                }
                Some(b';') if matches!(self.peek_at(1), Some(b';' | b'&')) => {
                    out.push_str("; ");
                    return Ok(count);
                }
                Some(b';') => {
                    self.at += 1;
                    out.push_str("; ");
                }
                Some(b'&') => {
                    self.at += 1;
                    out.push_str(" & ");
                }
                Some(b'\n') => {
                    self.newline()?;
                    out.push_str("; ");
                }
                _ if kind == Kind::Compound && ends.contains(&self.keyword()) => {
                    out.push_str("; ");
                    return Ok(count);
                }
                _ => return Err(Wrong),
            }
        }
    }

    /// Commands up to one of these words, at least one, and the word.
    fn list_to(&mut self, out: &mut String, ends: &[&'static str]) -> Outcome<&'static str> {
        if self.list(out, ends)? == 0 {
            return Err(Wrong);
        }
        let word = self.keyword();
        let end = ends.iter().find(|end| **end == word).ok_or(Wrong)?;
        self.at += end.len();
        Ok(end)
    }

    fn ended(&self, ends: &[&str]) -> bool {
        match self.peek() {
            None | Some(b')') => true,
            Some(b';') => matches!(self.peek_at(1), Some(b';' | b'&')),
            _ => ends.contains(&self.keyword()),
        }
    }

    /// `a && b || c`
    fn chain(&mut self, out: &mut String) -> Outcome<Kind> {
        loop {
            let kind = self.pipeline(out)?;
            self.blanks();
            let joint = match (self.peek(), self.peek_at(1)) {
                (Some(b'&'), Some(b'&')) => " && ",
                (Some(b'|'), Some(b'|')) => " || ",
                _ => return Ok(kind),
            };
            self.at += 2;
            out.push_str(joint);
            self.gap()?;
        }
    }

    /// `! time a | b |& c`
    fn pipeline(&mut self, out: &mut String) -> Outcome<Kind> {
        let mut before = false;
        let mut timed = "";
        loop {
            match self.keyword() {
                "!" => self.at += 1,
                "time" => {
                    self.at += "time".len();
                    self.blanks();
                    timed = "time ";
                    if self.keyword() == "-p" {
                        self.at += "-p".len();
                    }
                }
                _ => break,
            }
            before = true;
            self.blanks();
        }
        // `!` and `time` may stand alone.
        if before && matches!(self.peek(), None | Some(b'\n' | b';' | b')' | b'&' | b'|')) {
            self.commands += 1;
            out.push(':');
            return Ok(Kind::Simple);
        }
        let word = self.keyword();
        if !RESERVED.contains(&word) && !word.is_empty() && !word.contains(['=', '{']) {
            out.push_str(timed);
        }
        for _ in 0..LONGEST_PIPELINE {
            let kind = self.command(out)?;
            self.blanks();
            match (self.peek(), self.peek_at(1)) {
                (Some(b'|'), Some(b'|')) => return Ok(kind),
                (Some(b'|'), Some(b'&')) => self.at += 2,
                (Some(b'|'), _) => self.at += 1,
                _ => return Ok(kind),
            }
            out.push_str(" | ");
            self.gap()?;
        }
        Err(Wrong)
    }

    /// One level deeper.
    fn deeper<T>(&mut self, read: impl FnOnce(&mut Self) -> Outcome<T>) -> Outcome<T> {
        if self.depth >= DEEPEST {
            return Err(Wrong);
        }
        self.depth += 1;
        let outcome = read(self);
        self.depth -= 1;
        outcome
    }

    // === places ===

    fn peek(&self) -> Option<u8> {
        self.peek_at(0)
    }

    fn peek_at(&self, ahead: usize) -> Option<u8> {
        self.src.as_bytes().get(self.at + ahead).copied()
    }

    fn rest(&self) -> &'s str {
        self.src.get(self.at..).unwrap_or_default()
    }

    fn starts(&self, text: &str) -> bool {
        self.rest().starts_with(text)
    }

    /// Copies so many bytes.
    fn copy(&mut self, bytes: usize, out: &mut String) -> Outcome {
        let text = self.rest().get(..bytes).ok_or(Wrong)?;
        out.push_str(text);
        self.at += bytes;
        Ok(())
    }

    /// Copies one letter.
    fn copy_letter(&mut self, out: &mut String) -> Outcome {
        let letter = self.rest().chars().next().ok_or(Wrong)?;
        out.push(letter);
        self.at += letter.len_utf8();
        Ok(())
    }

    /// Passes what is expected here.
    fn expect(&mut self, text: &str) -> Outcome {
        if !self.starts(text) {
            return Err(Wrong);
        }
        self.at += text.len();
        Ok(())
    }

    /// Passes blanks, and the ends of lines that are none.
    fn blanks(&mut self) {
        loop {
            match (self.peek(), self.peek_at(1)) {
                (Some(b' ' | b'\t'), _) | (Some(b'\r'), Some(b'\n') | None) => self.at += 1,
                (Some(b'\\'), Some(b'\n')) => self.at += 2,
                (Some(b'#'), _) if self.at_start() => {
                    self.at += self.rest().find('\n').unwrap_or(self.rest().len());
                }
                _ => return,
            }
        }
    }

    /// Whether a word could begin here: only then `#` begins a comment.
    fn at_start(&self) -> bool {
        let before = self.at.checked_sub(1).and_then(|at| self.src.as_bytes().get(at));
        before.is_none_or(|byte| matches!(byte, b' ' | b'\t' | b'\n' | b';' | b'&' | b'|' | b'(' | b')'))
    }

    /// Passes blanks, comments and lines.
    fn gap(&mut self) -> Outcome {
        loop {
            self.blanks();
            match self.peek() {
                Some(b'\n') => self.newline()?,
                _ => return Ok(()),
            }
        }
    }

    /// Passes the end of a line, and the here-documents behind it.
    fn newline(&mut self) -> Outcome {
        self.at += 1;
        self.read_documents()
    }

    /// The word here, if nothing in it is quoted or expanded.
    fn keyword(&self) -> &'s str {
        let rest = self.rest();
        let end = rest.find(ends_word).unwrap_or(rest.len());
        rest.get(..end).filter(|word| !word.contains(['\'', '"', '$', '`', '\\'])).unwrap_or_default()
    }
}

fn ends_word(letter: char) -> bool {
    matches!(letter, ' ' | '\t' | '\r' | '\n' | ';' | '&' | '|' | '<' | '>' | '(' | ')')
}

/// Takes the `; ` off the end of a list.
fn trim_list(out: &mut String) {
    if out.ends_with("; ") {
        out.truncate(out.len() - 2);
    }
}

#[cfg(test)]
mod tests;
