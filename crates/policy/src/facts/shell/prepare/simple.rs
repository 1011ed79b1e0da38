// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Simple commands: assignments, words, redirections.

use std::fmt::Write;

use super::compound::runs;
use super::document::{Pending, place};
use super::{Kind, Outcome, RESERVED, Script, Wrong, ends_word};

/// Commands whose words may be assignments of arrays.
const DECLARING: &[&str] = &["declare", "typeset", "export", "local", "readonly", "eval", "let", "alias"];

/// The redirections of one command.
#[derive(Default)]
pub(super) struct Redirects {
    /// Texts that it gets, as words.
    texts: Vec<String>,
    /// Files, with the signs before them.
    files: String,
}

/// The signs of redirections, longer ones first.
const SIGNS: &[&str] = &["<<<", "<<-", "<<", "<&", "<>", "<", ">>", ">&", ">|", ">", "&>>", "&>"];

impl Script<'_> {
    pub(super) fn simple(&mut self, out: &mut String) -> Outcome<Kind> {
        let start = self.at;
        let mut line = String::new();
        let (mut words, mut assigned, mut declares) = (0usize, false, false);
        let mut redirects = Redirects::default();
        loop {
            if self.redirect(&mut redirects)? {
                continue;
            }
            match self.peek() {
                None | Some(b'\n' | b';' | b'|' | b')' | b'&') => break,
                Some(b'(') => {
                    let bare = words == 1 && !assigned && redirects.is_empty();
                    self.at += 1;
                    self.blanks();
                    self.expect(")")?;
                    if !bare || line.contains(['$', '`', '"', '\'', '=']) {
                        return Err(Wrong);
                    }
                    return self.define(&line, out);
                }
                _ => {}
            }
            let before = line.len();
            if !line.is_empty() {
                line.push(' ');
            }
            if (words == 0 || declares) && self.assignment(&mut line)? {
                assigned |= words == 0;
                continue;
            }
            let from = line.len();
            self.word(&mut line)?;
            let word = line.get(from..).unwrap_or_default();
            if words == 0 {
                // A word that was put together from two lines.
                if RESERVED.contains(&word) {
                    return Err(Wrong);
                }
                declares = DECLARING.contains(&word);
            }
            if word.is_empty() {
                line.truncate(before);
            } else {
                words += 1;
            }
        }
        if self.at == start {
            return Err(Wrong);
        }
        if words > 0 {
            self.commands += 1;
            out.push_str(&line);
            redirects.after(out);
        } else if !assigned {
            // Somebody must take the text, or it would not be read.
            if !redirects.texts.is_empty() {
                self.commands += 1;
                out.push(':');
            }
            redirects.after(out);
        } else if redirects.is_empty() {
            out.push_str(&line);
        } else {
            out.push_str("{ ");
            out.push_str(&line);
            out.push_str("; ");
            if !redirects.texts.is_empty() {
                self.commands += 1;
                out.push(':');
            }
            redirects.after(out);
            out.push_str("; }");
        }
        Ok(Kind::Simple)
    }

    /// `NAME=`, `NAME+=`, `NAME[…]=` and the value; false when there is none.
    fn assignment(&mut self, out: &mut String) -> Outcome<bool> {
        let rest = self.rest();
        let name = rest
            .find(|letter: char| !(letter.is_ascii_alphanumeric() || letter == '_'))
            .and_then(|end| rest.get(..end))
            .unwrap_or_default();
        if name.is_empty() || name.starts_with(|letter: char| letter.is_ascii_digit()) {
            return Ok(false);
        }
        let (start, commands, length) = (self.at, self.commands, out.len());
        self.at += name.len();
        out.push_str(name);
        if self.peek() == Some(b'[') {
            self.copy(1, out)?;
            if !self.subscript(out)? {
                (self.at, self.commands) = (start, commands);
                out.truncate(length);
                return Ok(false);
            }
        }
        let sign = if self.starts("=") {
            "="
        } else if self.starts("+=") {
            "+="
        } else {
            (self.at, self.commands) = (start, commands);
            out.truncate(length);
            return Ok(false);
        };
        self.copy(sign.len(), out)?;
        if self.peek() != Some(b'(') {
            // Nothing may be behind the sign.
            self.pieces(out)?;
            return Ok(true);
        }
        self.copy(1, out)?;
        loop {
            self.gap()?;
            if self.peek() == Some(b')') {
                self.copy(1, out)?;
                return Ok(true);
            }
            if !out.ends_with('(') {
                out.push(' ');
            }
            self.word(out)?;
        }
    }

    /// Up to the `]` of a subscript; false when there is none.
    fn subscript(&mut self, out: &mut String) -> Outcome<bool> {
        let mut open = 1usize;
        loop {
            match self.peek() {
                None | Some(b'\n' | b';') => return Ok(false),
                Some(b'[') => open += 1,
                Some(b']') => open -= 1,
                Some(b'\'' | b'"' | b'$' | b'`' | b'\\') => {
                    self.piece(out)?;
                    continue;
                }
                _ => {}
            }
            self.copy_letter(out)?;
            if open == 0 {
                return Ok(true);
            }
        }
    }

    /// One redirection; false when there is none.
    pub(super) fn redirect(&mut self, redirects: &mut Redirects) -> Outcome<bool> {
        self.blanks();
        let number = self.descriptor();
        let rest = self.rest().get(number..).unwrap_or_default();
        let Some(sign) = SIGNS.iter().find(|sign| rest.starts_with(**sign)) else { return Ok(false) };
        if matches!(*sign, "<" | ">") && rest.get(1..).is_some_and(|rest| rest.starts_with('(')) {
            return Ok(false);
        }
        self.at += number + sign.len();
        self.blanks();
        if self.rest().starts_with(ends_word) && !self.starts("<(") && !self.starts(">(")
            || self.peek().is_none()
        {
            return Err(Wrong);
        }
        if sign.starts_with("<<") && *sign != "<<<" {
            return self.begin_document(*sign == "<<-", redirects);
        }
        let mut word = String::new();
        self.word(&mut word)?;
        let plain = word.trim_end_matches('-');
        let duplicates = sign.ends_with('&') && plain.bytes().all(|byte| byte.is_ascii_digit());
        let files = &mut redirects.files;
        // Writing to a `String` cannot fail.
        _ = match *sign {
            "<<<" => {
                redirects.texts.push(word);
                Ok(())
            }
            // `2>&1`, `<&-`: no file.
            _ if duplicates => Ok(()),
            "<" | "<&" => write!(files, " < {word}"),
            "<>" if runs(&word) => write!(files, " >> {word}"),
            "<>" => write!(files, " < {word} >> {word}"),
            ">&" if !word.contains('$') => write!(files, " &> {word}"),
            ">" | ">|" | ">&" => write!(files, " > {word}"),
            sign => write!(files, " {sign} {word}"),
        };
        Ok(true)
    }

    /// The length of the number, or the `{name}`, before a sign.
    fn descriptor(&self) -> usize {
        let rest = self.rest();
        let length = match rest.strip_prefix('{') {
            Some(inner) => {
                let end = inner.find(|letter: char| !(letter.is_ascii_alphanumeric() || letter == '_'));
                end.filter(|end| inner.get(*end..).is_some_and(|rest| rest.starts_with('}')))
                    .map_or(0, |end| end + 2)
            }
            None => rest.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(0),
        };
        let signed = rest.get(length..).is_some_and(|rest| rest.starts_with(['<', '>']));
        if signed { length } else { 0 }
    }

    /// `<<E`: its text comes at the end of the line.
    fn begin_document(&mut self, tabs: bool, redirects: &mut Redirects) -> Outcome<bool> {
        let (end, quoted) = self.delimiter()?;
        let number = self.documents.len();
        self.documents.push(String::new());
        self.pending.push(Pending { number, end, tabs, quoted });
        redirects.texts.push(place(number));
        Ok(true)
    }

    /// Puts the redirections of a compound command behind it.
    pub(super) fn around(&mut self, redirects: &Redirects, out: &mut String) {
        for text in &redirects.texts {
            self.commands += 1;
            _ = write!(out, " < <(: <<< {text})");
        }
        out.push_str(&redirects.files);
    }
}

impl Redirects {
    fn is_empty(&self) -> bool {
        self.texts.is_empty() && self.files.is_empty()
    }

    /// Behind the words of a simple command.
    fn after(&self, out: &mut String) {
        for text in &self.texts {
            out.push_str(" <<< ");
            out.push_str(text);
        }
        out.push_str(&self.files);
    }
}
