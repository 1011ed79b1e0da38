// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Here-documents: their texts come at the end of the line, and are put where they belong.

use std::fmt::Write;

use super::{Outcome, Script, Wrong, ends_word};

/// Around the number of a document whose text is not known yet. No text has them.
pub(super) const OPEN: char = '\u{fdd0}';
pub(super) const CLOSE: char = '\u{fdd1}';

/// A document whose text follows.
pub(super) struct Pending {
    pub(super) number: usize,
    /// The line that ends it.
    pub(super) end: String,
    /// `<<-`: tabs at the start of its lines are left out.
    pub(super) tabs: bool,
    /// Nothing in it is expanded.
    pub(super) quoted: bool,
}

/// The place of a document.
pub(super) fn place(number: usize) -> String {
    format!("{OPEN}{number}{CLOSE}")
}

impl Script<'_> {
    /// The word behind `<<` without its quotes, and whether it had some.
    pub(super) fn delimiter(&mut self) -> Outcome<(String, bool)> {
        let (mut end, mut quoted) = (String::new(), false);
        loop {
            let rest = self.rest();
            let Some(letter) = rest.chars().next().filter(|letter| !ends_word(*letter)) else { break };
            self.at += letter.len_utf8();
            match letter {
                '\'' | '"' => {
                    quoted = true;
                    let length = self.rest().find(letter).ok_or(Wrong)?;
                    self.copy(length, &mut end)?;
                    self.at += 1;
                }
                '\\' => {
                    quoted = true;
                    self.copy_letter(&mut end)?;
                }
                letter => end.push(letter),
            }
        }
        Ok((end, quoted))
    }

    /// Reads the documents that begin here.
    pub(super) fn read_documents(&mut self) -> Outcome {
        for pending in std::mem::take(&mut self.pending) {
            let text = self.document(&pending);
            let word = if pending.quoted { literal(&text) } else { self.expanded(&text)? };
            if let Some(place) = self.documents.get_mut(pending.number) {
                *place = word;
            }
        }
        Ok(())
    }

    /// The lines of a document. At the end of the script it ends as well.
    fn document(&mut self, pending: &Pending) -> String {
        let mut text = String::new();
        let mut joined = false;
        while self.peek().is_some() {
            let rest = self.rest();
            let length = rest.find('\n').map_or(rest.len(), |end| end + 1);
            let line = rest.get(..length).unwrap_or_default();
            self.at += length;
            let line = if pending.tabs { line.trim_start_matches('\t') } else { line };
            let plain = line.strip_suffix('\n').unwrap_or(line);
            if !joined && (plain == pending.end || plain.strip_suffix('\r') == Some(&pending.end)) {
                break;
            }
            text.push_str(line);
            let slashes = plain.len() - plain.trim_end_matches('\\').len();
            joined = !pending.quoted && !slashes.is_multiple_of(2);
        }
        text
    }

    /// As a text in double quotes.
    fn expanded(&mut self, text: &str) -> Outcome<String> {
        let mut script = Script::new(text, self.depth + 1);
        let mut out = String::from("\"");
        script.deeper(|script| script.quoted(&mut out, None))?;
        self.commands += script.commands;
        out.push('"');
        Ok(script.filled(out))
    }

    /// The script with its documents in their places.
    pub(super) fn filled(&self, out: String) -> String {
        if self.documents.is_empty() {
            return out;
        }
        let mut whole = String::with_capacity(out.len());
        let mut rest = out.as_str();
        while let Some((before, after)) = rest.split_once(OPEN) {
            let (number, after) = after.split_once(CLOSE).unwrap_or((after, ""));
            let document = number.parse::<usize>().ok().and_then(|number| self.documents.get(number));
            _ = write!(whole, "{before}{}", document.map_or("''", |text| text.as_str()));
            rest = after;
        }
        whole.push_str(rest);
        whole
    }
}

/// A text as a word in quotes.
fn literal(text: &str) -> String {
    if !text.contains('\'') {
        return format!("'{text}'");
    }
    let mut word = String::with_capacity(text.len() + 16);
    word.push('"');
    for letter in text.chars() {
        if matches!(letter, '"' | '$' | '`' | '\\') {
            word.push('\\');
        }
        word.push(letter);
    }
    word.push('"');
    word
}
