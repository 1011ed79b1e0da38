// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Commands of commands: loops, branches, groups, functions.

use super::super::narrow::{narrowed_by_words, picks};
use super::simple::Redirects;
use super::{Kind, Outcome, RESERVED, Script, Wrong, trim_list};

impl Script<'_> {
    /// One command with its redirections.
    pub(super) fn command(&mut self, out: &mut String) -> Outcome<Kind> {
        self.deeper(|script| script.command_here(out))
    }

    fn command_here(&mut self, out: &mut String) -> Outcome<Kind> {
        let start = out.len();
        match self.keyword() {
            _ if self.peek() == Some(b'(') => self.parenthesis(out)?,
            "{" => {
                self.at += 1;
                out.push_str("{ ");
                self.list_to(out, &["}"])?;
                out.push('}');
            }
            "if" => self.branches(out)?,
            word @ ("while" | "until") => {
                self.at += word.len();
                out.push_str(word);
                out.push(' ');
                self.list_to(out, &["do"])?;
                self.body(out)?;
            }
            word @ ("for" | "select") => {
                self.at += word.len();
                self.each(out)?;
            }
            "case" => self.case(out)?,
            "[[" => self.test(out)?,
            "function" => return self.function(out),
            "coproc" => return self.coprocess(out),
            word if RESERVED.contains(&word) => return Err(Wrong),
            _ => return self.simple(out),
        }
        let mut redirects = Redirects::default();
        while self.redirect(&mut redirects)? {}
        self.around(&redirects, out);
        // A function's name, or a word, cannot follow.
        self.blanks();
        if self.peek() == Some(b'(') || out.len() == start {
            return Err(Wrong);
        }
        Ok(Kind::Compound)
    }

    /// `do … done` behind a `do` that was passed.
    fn body(&mut self, out: &mut String) -> Outcome {
        out.push_str("do ");
        self.list_to(out, &["done"])?;
        out.push_str("done");
        Ok(())
    }

    /// `((…))` or `(…)`
    fn parenthesis(&mut self, out: &mut String) -> Outcome {
        let (start, commands) = (self.at, self.commands);
        if self.starts("((")
            && let Some(found) = self.arithmetic_command()?
            && let text = self.src.get(start..self.at).unwrap_or_default()
            && !like_a_command(text)
        {
            self.commands += 1;
            if matches!(text.trim_matches(['(', ')', ' ']), "1" | "true") {
                out.push_str("((1))");
            } else {
                out.push_str("[[ -n x");
                out.push_str(&found);
                out.push_str(" ]]");
            }
            return Ok(());
        }
        (self.at, self.commands) = (start + 1, commands);
        out.push_str("( ");
        if self.list(out, &[])? == 0 {
            return Err(Wrong);
        }
        trim_list(out);
        out.push_str(" )");
        self.expect(")")
    }

    fn branches(&mut self, out: &mut String) -> Outcome {
        self.at += "if".len();
        out.push_str("if ");
        self.list_to(out, &["then"])?;
        loop {
            out.push_str("then ");
            match self.list_to(out, &["elif", "else", "fi"])? {
                "elif" => {
                    out.push_str("elif ");
                    self.list_to(out, &["then"])?;
                }
                "else" => {
                    out.push_str("else ");
                    self.list_to(out, &["fi"])?;
                    break;
                }
                _ => break,
            }
        }
        out.push_str("fi");
        Ok(())
    }

    /// `for NAME in …; do …; done`, `for ((…)); do …; done`
    fn each(&mut self, out: &mut String) -> Outcome {
        self.blanks();
        let mut first = String::new();
        if self.starts("((") {
            let start = self.at;
            let found = self.arithmetic_command()?.ok_or(Wrong)?;
            let head = self.src.get(start..self.at).unwrap_or_default();
            let endless = head.split(';').nth(1).is_some_and(|condition| condition.trim().is_empty());
            out.push_str(if endless { "for ((;;)); " } else { "for ((x;x;x)); " });
            if !found.is_empty() {
                self.commands += 1;
                first = format!("[[ -n x{found} ]]; ");
            }
        } else {
            let name = self.keyword();
            if name.is_empty() || !name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_') {
                return Err(Wrong);
            }
            self.at += name.len();
            out.push_str("for ");
            out.push_str(name);
            self.gap()?;
            if self.keyword() == "in" {
                self.at += "in".len();
                let mut words = String::new();
                loop {
                    self.blanks();
                    if matches!(self.peek(), None | Some(b';' | b'\n' | b'&' | b'|' | b')')) {
                        break;
                    }
                    words.push(' ');
                    self.word(&mut words)?;
                }
                if !words.is_empty() {
                    out.push_str(" in");
                    out.push_str(&words);
                }
            }
            out.push_str("; ");
        }
        self.blanks();
        if self.peek() == Some(b';') {
            self.at += 1;
        }
        self.gap()?;
        let end = match self.keyword() {
            "do" => "done",
            "{" => "}",
            _ => return Err(Wrong),
        };
        self.at += self.keyword().len();
        out.push_str("do ");
        out.push_str(&first);
        self.list_to(out, &[end])?;
        out.push_str("done");
        Ok(())
    }

    fn case(&mut self, out: &mut String) -> Outcome {
        self.at += "case".len();
        self.blanks();
        out.push_str("case ");
        self.word(out)?;
        out.push_str(" in ");
        self.gap()?;
        if self.keyword() != "in" {
            return Err(Wrong);
        }
        self.at += "in".len();
        loop {
            self.gap()?;
            if self.keyword() == "esac" {
                break;
            }
            self.patterns(out)?;
            let start = out.len();
            self.list(out, &["esac"])?;
            trim_list(out);
            if out.len() > start {
                out.push(' ');
            }
            out.push_str(";; ");
            match self.peek() {
                Some(b';') => {
                    let signs = [";;&", ";;", ";&"];
                    let sign = signs.into_iter().find(|sign| self.starts(sign)).ok_or(Wrong)?;
                    self.at += sign.len();
                }
                _ if self.keyword() == "esac" => {}
                _ => return Err(Wrong),
            }
        }
        self.at += "esac".len();
        out.push_str("esac");
        Ok(())
    }

    /// `(a|b*)`: what runs within matters, and whether it is about all there is.
    fn patterns(&mut self, out: &mut String) -> Outcome {
        if self.peek() == Some(b'(') {
            self.at += 1;
        }
        let mut found = String::new();
        let mut all_pick = true;
        loop {
            self.blanks();
            let mut pattern = String::new();
            let before = self.rest();
            self.word(&mut pattern)?;
            all_pick &= picks(taken(before, self.rest()));
            if runs(&pattern) {
                found.push_str(&pattern);
            }
            self.blanks();
            match self.peek() {
                Some(b'|') => self.at += 1,
                Some(b')') => break,
                _ => return Err(Wrong),
            }
        }
        self.at += 1;
        let plain = if all_pick { "x" } else { "*" };
        out.push_str(if found.is_empty() { plain } else { &found });
        out.push_str(") ");
        Ok(())
    }

    /// `[[ … ]]`: what runs within matters, and which variable it is about.
    fn test(&mut self, out: &mut String) -> Outcome {
        self.at += "[[".len();
        self.commands += 1;
        // A loop on it has no end.
        let endless = self
            .rest()
            .trim_start()
            .strip_prefix('1')
            .is_some_and(|rest| rest.trim_start().starts_with("]]"));
        let (start, plain) = (out.len(), if endless { "[[ 1" } else { "[[ -n x" });
        out.push_str(plain);
        let mut open = 0usize;
        let mut some = false;
        let mut words: Vec<&str> = Vec::new();
        loop {
            self.gap()?;
            if self.keyword() == "]]" {
                break;
            }
            some = true;
            let before = self.rest();
            match self.peek().ok_or(Wrong)? {
                b'(' => open += 1,
                b')' => open = open.checked_sub(1).ok_or(Wrong)?,
                b'<' | b'>' if self.peek_at(1) != Some(b'(') => {}
                b'&' | b'|' if self.peek() == self.peek_at(1) => {
                    words.push(if self.peek() == Some(b'&') { "&&" } else { "||" });
                    self.at += 1;
                }
                b';' | b'&' | b'|' => return Err(Wrong),
                _ if self.keyword() == "=~" => {
                    self.at += "=~".len();
                    self.blanks();
                    let before = self.rest();
                    self.regular_expression(out)?;
                    words.extend(["=~", taken(before, self.rest())]);
                    continue;
                }
                _ => {
                    let mut word = String::new();
                    self.word(&mut word)?;
                    if runs(&word) {
                        out.push_str(&word);
                    }
                    words.push(taken(before, self.rest()));
                    continue;
                }
            }
            self.at += 1;
        }
        if open > 0 || !some {
            return Err(Wrong);
        }
        self.at += "]]".len();
        // Which variable it leaves only some of is still to be seen.
        if let Some(name) = narrowed_by_words(&words).into_iter().next()
            && out.get(start..) == Some(plain)
        {
            out.truncate(start);
            out.push_str(&format!("[[ ${name} == x"));
        }
        out.push_str(" ]]");
        Ok(())
    }

    fn function(&mut self, out: &mut String) -> Outcome<Kind> {
        self.at += "function".len();
        self.blanks();
        let name = self.keyword();
        self.at += name.len();
        self.blanks();
        if self.peek() == Some(b'(') {
            self.at += 1;
            self.blanks();
            self.expect(")")?;
        }
        self.define(name, out)
    }

    /// The body of a function, and the redirections at each of its calls.
    pub(super) fn define(&mut self, name: &str, out: &mut String) -> Outcome<Kind> {
        self.gap()?;
        let compound = ["{", "if", "while", "until", "for", "select", "case", "[["];
        if name.is_empty() || !compound.contains(&self.keyword()) && self.peek() != Some(b'(') {
            return Err(Wrong);
        }
        let mut body = String::new();
        self.command(&mut body)?;
        out.push_str(name);
        out.push_str("() ");
        if body.starts_with("{ ") && body.ends_with('}') {
            out.push_str(&body);
        } else {
            out.push_str("{ ");
            out.push_str(&body);
            out.push_str("; }");
        }
        Ok(Kind::Compound)
    }

    /// `coproc a`, `coproc { …; }`, `coproc NAME { …; }`
    fn coprocess(&mut self, out: &mut String) -> Outcome<Kind> {
        self.at += "coproc".len();
        self.blanks();
        let compound = |script: &Self| {
            script.peek() == Some(b'(') || RESERVED.contains(&script.keyword()) && script.keyword() != "}"
        };
        if !compound(self) {
            let start = self.at;
            self.at += self.keyword().len();
            self.blanks();
            if self.at == start || !compound(self) {
                self.at = start;
                out.push_str("coproc ");
            }
        }
        self.command(out)
    }
}

/// What was read between two states of a text.
fn taken<'s>(before: &'s str, after: &str) -> &'s str {
    before.get(..before.len().saturating_sub(after.len())).unwrap_or_default()
}

/// Whether a shell expands something in the word that may run a command or hold one.
pub(super) fn runs(word: &str) -> bool {
    word.contains("$(") || word.contains("${") || word.contains("<(") || word.contains(">(")
}

/// Whether what stands in `((…))` reads more like a command, which it is to shells without arithmetic.
fn like_a_command(text: &str) -> bool {
    let inner = text.trim_matches(['(', ')', ' ', '\t', '\n']);
    let operand =
        |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$' | b'"' | b'\'' | b'.' | b'~');
    let bytes = inner.as_bytes();
    // `a b` and `a -b` with nothing between them.
    let apart = bytes.windows(3).any(|three| match three {
        [before, b' ' | b'\t', after] => operand(*before) && operand(*after),
        [b' ' | b'\t', b'-', after] => after.is_ascii_alphabetic(),
        _ => false,
    });
    apart || inner.ends_with(['/', '*', '%', '.'])
}
