// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Words: quotes and what is expanded in them.

use super::compound::runs;
use super::{Outcome, Script, Wrong, ends_word, trim_list};

/// How often a text may be read again because `((` was not what it seemed.
const MOST_WASTED: usize = 8;

impl Script<'_> {
    /// A word, which must be there.
    pub(super) fn word(&mut self, out: &mut String) -> Outcome {
        let start = self.at;
        // `\rm` is `rm`; the backslash only keeps aliases away.
        if self.peek() == Some(b'\\') && self.peek_at(1).is_some_and(|byte| byte.is_ascii_alphanumeric()) {
            self.at += 1;
        }
        self.pieces(out)?;
        if self.at == start { Err(Wrong) } else { Ok(()) }
    }

    /// The pieces of a word up to its end; there may be none.
    pub(super) fn pieces(&mut self, out: &mut String) -> Outcome {
        loop {
            let rest = self.rest();
            let plain = rest
                .find(|letter| ends_word(letter) || matches!(letter, '\'' | '"' | '$' | '`' | '\\'))
                .unwrap_or(rest.len());
            self.copy(plain, out)?;
            match self.peek() {
                Some(b'<' | b'>') if self.peek_at(1) == Some(b'(') => {
                    self.copy(2, out)?;
                    self.inner_list(out)?;
                }
                // `!(a|b)`: whatever it fits.
                Some(b'(') if out.ends_with(['?', '*', '+', '@', '!']) && plain > 0 => {
                    out.pop();
                    out.push('*');
                    self.at += 1;
                    let mut found = String::new();
                    self.loose(&mut found, b')')?;
                    out.push_str(&found);
                }
                Some(b'\r') if !matches!(self.peek_at(1), Some(b'\n') | None) => self.at += 1,
                Some(b'\'' | b'"' | b'$' | b'`' | b'\\') => self.piece(out)?,
                _ => return Ok(()),
            }
        }
    }

    /// A quote, an expansion or a letter.
    pub(super) fn piece(&mut self, out: &mut String) -> Outcome {
        match self.peek().ok_or(Wrong)? {
            b'\'' => {
                let length = self.rest().get(1..).and_then(|rest| rest.find('\'')).ok_or(Wrong)?;
                self.copy(length + 2, out)
            }
            b'"' => {
                self.copy(1, out)?;
                self.quoted(out, Some(b'"'))
            }
            b'$' if self.peek_at(1) == Some(b'\'') => {
                self.copy(2, out)?;
                loop {
                    match self.peek().ok_or(Wrong)? {
                        b'\\' => {
                            self.copy(1, out)?;
                            self.copy_letter(out)?;
                        }
                        b'\'' => return self.copy(1, out),
                        _ => self.copy_letter(out)?,
                    }
                }
            }
            // Text that would be translated.
            b'$' if self.peek_at(1) == Some(b'"') => {
                self.at += 1;
                self.piece(out)
            }
            b'$' | b'`' => self.expansion(out, false),
            b'\\' if self.peek_at(1) == Some(b'\n') => {
                self.at += 2;
                Ok(())
            }
            b'\\' => {
                self.copy(1, out)?;
                if self.peek().is_some() { self.copy_letter(out) } else { Ok(()) }
            }
            _ => self.copy_letter(out),
        }
    }

    /// The inside of double quotes up to this byte, or of a here-document up to its end.
    pub(super) fn quoted(&mut self, out: &mut String, end: Option<u8>) -> Outcome {
        loop {
            let rest = self.rest();
            let plain = rest.find(['"', '$', '`', '\\']).unwrap_or(rest.len());
            self.copy(plain, out)?;
            match self.peek() {
                None => return if end.is_none() { Ok(()) } else { Err(Wrong) },
                Some(b'"') if end == Some(b'"') => return self.copy(1, out),
                Some(b'"') => {
                    out.push('\\');
                    self.copy(1, out)?;
                }
                Some(b'\\') => match self.peek_at(1) {
                    Some(b'\n') => self.at += 2,
                    // In a here-document it is only a backslash.
                    Some(b'"') | None if end.is_none() => {
                        out.push_str("\\\\");
                        self.at += 1;
                    }
                    _ => {
                        self.copy(1, out)?;
                        self.copy_letter(out)?;
                    }
                },
                Some(_) => self.expansion(out, true)?,
            }
        }
    }

    /// `$…` and backquotes.
    fn expansion(&mut self, out: &mut String, in_quotes: bool) -> Outcome {
        match (self.peek(), self.peek_at(1)) {
            (Some(b'`'), _) => self.backquotes(out, in_quotes),
            (_, Some(b'(')) if self.peek_at(2) == Some(b'(') => {
                let start = self.at;
                self.at += 1;
                let Some(found) = self.arithmetic_command()? else {
                    self.at = start;
                    return self.substitution(out);
                };
                let text = self.src.get(start..self.at).unwrap_or_default();
                let simple = |byte: u8| byte.is_ascii_alphanumeric() || b"$()_+-*/% ".contains(&byte);
                match found.is_empty() {
                    true if text.bytes().all(simple) => out.push_str(text),
                    true => out.push_str("$((x))"),
                    false => {
                        out.push_str("$((x))");
                        out.push_str(&found);
                    }
                }
                Ok(())
            }
            (_, Some(b'(')) => self.substitution(out),
            (_, Some(b'{')) => self.deeper(|script| script.parameter(out, in_quotes)),
            (_, Some(b'[')) => {
                self.at += 2;
                let mut found = String::new();
                self.loose(&mut found, b']')?;
                out.push_str("$((x))");
                out.push_str(&found);
                Ok(())
            }
            // The grammar takes it for two letters where a word ends.
            (_, Some(b'$')) => {
                self.at += 2;
                out.push_str("${$}");
                Ok(())
            }
            _ => self.copy(1, out),
        }
    }

    /// `$(…)`
    fn substitution(&mut self, out: &mut String) -> Outcome {
        self.copy(2, out)?;
        self.inner_list(out)
    }

    /// The commands in `$(…)` and `<(…)`, and the parenthesis.
    fn inner_list(&mut self, out: &mut String) -> Outcome {
        let outer = std::mem::take(&mut self.pending);
        let start = out.len();
        let count = self.deeper(|script| script.list(out, &[]))?;
        // Its text would have to come before the parenthesis.
        if !self.pending.is_empty() {
            return Err(Wrong);
        }
        self.pending = outer;
        if count == 0 {
            self.commands += 1;
            out.push(':');
        }
        trim_list(out);
        // `$( (a) )` is no arithmetic.
        if out.get(start..).is_some_and(|inner| inner.starts_with('(')) {
            out.insert(start, ' ');
        }
        self.expect(")")?;
        out.push(')');
        Ok(())
    }

    /// Backquotes: what is in them is unescaped first.
    fn backquotes(&mut self, out: &mut String, in_quotes: bool) -> Outcome {
        self.at += 1;
        let mut inner = String::new();
        loop {
            match self.peek().ok_or(Wrong)? {
                b'`' => break,
                b'\\' => match self.peek_at(1) {
                    Some(b'`' | b'\\' | b'$') => {
                        self.at += 1;
                        self.copy_letter(&mut inner)?;
                    }
                    Some(b'"') if in_quotes => {
                        self.at += 1;
                        self.copy_letter(&mut inner)?;
                    }
                    _ => self.copy(1, &mut inner)?,
                },
                _ => self.copy_letter(&mut inner)?,
            }
        }
        self.at += 1;
        let mut script = Script::new(&inner, self.depth + 1);
        let mut text = script.deeper(Script::whole)?;
        if script.commands == 0 && text.is_empty() {
            script.commands = 1;
            text.push(':');
        }
        self.commands += script.commands;
        trim_list(&mut text);
        out.push_str(if text.starts_with('(') { "$( " } else { "$(" });
        out.push_str(&text);
        out.push(')');
        Ok(())
    }

    /// `${…}`
    fn parameter(&mut self, out: &mut String, in_quotes: bool) -> Outcome {
        self.copy(2, out)?;
        let start = self.at;
        let mut literal = false;
        loop {
            match self.peek().ok_or(Wrong)? {
                b'}' => return self.copy(1, out),
                // In `"${x:-it's}"` it is no quote.
                b'\'' if in_quotes && literal => self.copy(1, out)?,
                b'\'' | b'"' | b'\\' => self.piece(out)?,
                b'$' | b'`' => self.expansion(out, in_quotes)?,
                byte => {
                    // What comes first after the name says what the rest is.
                    let named = self.src.get(start..self.at).unwrap_or_default();
                    let only_name =
                        named.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_!@*:".contains(&byte));
                    literal |= only_name && self.at > start && b"-=?+".contains(&byte);
                    self.copy_letter(out)?;
                }
            }
        }
    }

    /// `((…))`: what runs within, or nothing when it does not end as it began.
    pub(super) fn arithmetic_command(&mut self) -> Outcome<Option<String>> {
        let (start, commands) = (self.at, self.commands);
        let pending = std::mem::take(&mut self.pending);
        self.at += 2;
        let mut found = String::new();
        let ended = self.loose(&mut found, b')').is_ok();
        self.pending = pending;
        if ended && self.peek() == Some(b')') {
            self.at += 1;
            return Ok(Some(found));
        }
        // Trying both ways at every depth would double the work each time.
        self.wasted += self.at.saturating_sub(start);
        if self.wasted > MOST_WASTED * self.src.len() {
            return Err(Wrong);
        }
        (self.at, self.commands) = (start, commands);
        Ok(None)
    }

    /// A regular expression in `[[ … =~ … ]]`: what runs within.
    pub(super) fn regular_expression(&mut self, out: &mut String) -> Outcome {
        let mut open = 0usize;
        loop {
            match self.peek().ok_or(Wrong)? {
                b' ' | b'\t' | b'\n' | b')' if open == 0 => return Ok(()),
                b'(' => open += 1,
                b')' => open -= 1,
                b'\'' | b'"' | b'$' | b'`' | b'\\' => {
                    let mut piece = String::new();
                    self.piece(&mut piece)?;
                    if runs(&piece) {
                        out.push_str(&piece);
                    }
                    continue;
                }
                _ => {}
            }
            let letter = self.rest().chars().next().map_or(1, char::len_utf8);
            self.at += letter;
        }
    }

    /// What runs within a text that ends at this byte, outside brackets.
    fn loose(&mut self, out: &mut String, end: u8) -> Outcome {
        self.deeper(|script| script.loose_here(out, end))
    }

    fn loose_here(&mut self, out: &mut String, end: u8) -> Outcome {
        let open = if end == b')' { b'(' } else { b'[' };
        let mut depth = 0usize;
        loop {
            match self.peek().ok_or(Wrong)? {
                byte if byte == end && depth == 0 => {
                    self.at += 1;
                    return Ok(());
                }
                byte if byte == end => depth -= 1,
                byte if byte == open => depth += 1,
                b'\'' | b'"' | b'$' | b'`' | b'\\' => {
                    let mut piece = String::new();
                    self.piece(&mut piece)?;
                    if runs(&piece) {
                        out.push_str(&piece);
                    }
                    continue;
                }
                _ => {}
            }
            let letter = self.rest().chars().next().map_or(1, char::len_utf8);
            self.at += letter;
        }
    }
}
