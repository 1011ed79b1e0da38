// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The walk over a text: what is remembered on the way, and how far it goes.

use std::collections::HashMap;

use super::language::description::{Description, ReaderKind, Syntax};
use super::lex::{self, Kind, Token};
use super::value::Value;
use super::{Act, Language};

/// So many acts are reported.
const ACTS: usize = 200;
/// So deep brackets are followed.
pub(super) const DEPTH: usize = 48;
/// So often code inside code is read.
const LEVELS: usize = 4;
/// Values deeper than this are not kept.
const DEEPEST: usize = 12;
/// Names longer than this are nobody's.
pub(super) const LONGEST_NAME: usize = 160;

/// What is remembered on the way.
pub(super) struct Reader {
    language: Language,
    pub(super) description: &'static Description<&'static str>,
    pub(super) acts: Vec<Act>,
    variables: HashMap<String, Value>,
    /// What the parameter of the next function stands for.
    pub(super) element: Option<Value>,
    pub(super) depth: usize,
    level: usize,
    /// How much may still be copied and read again. It grows with the text, so the whole stays linear.
    budget: usize,
    /// Whether something was passed over because it was too much.
    pub(super) passed_over: bool,
    /// Whether a socket was opened, and whether a shell was started or joined to something.
    pub(super) socket: bool,
    pub(super) shell: bool,
    /// Whether paths that are objects are used at all.
    pub(super) paths: bool,
}

/// A place in a text.
pub(super) struct Code<'t> {
    pub(super) tokens: &'t [Token<'t>],
    pub(super) pairs: &'t [usize],
    pub(super) at: usize,
    pub(super) end: usize,
}

/// Reads a whole text.
pub(super) fn read(language: Language, text: &str) -> Vec<Act> {
    let mut reader = Reader::new(language, text.len());
    reader.paths = ["Path", "pathlib", "Pathname"].iter().any(|name| text.contains(name));
    reader.text(text);
    reader.finish()
}

// === impl Reader ===

impl Reader {
    pub(super) fn new(language: Language, length: usize) -> Self {
        Self {
            language,
            description: language.description(),
            acts: Vec::new(),
            variables: HashMap::new(),
            element: None,
            depth: 0,
            level: 0,
            budget: 16 * length + 64 * 1024,
            passed_over: false,
            socket: false,
            shell: false,
            paths: false,
        }
    }

    /// How the language is written.
    pub(super) fn syntax(&self) -> &'static Syntax<&'static str> {
        &self.description.syntax
    }

    /// Whether parts of the language are read by Rust code of its own.
    pub(super) fn has_reader(&self, kind: ReaderKind) -> bool {
        self.description.reader == kind
    }

    pub(super) fn finish(mut self) -> Vec<Act> {
        // These must be said even when the list is full.
        if self.socket && self.shell {
            self.acts.push(Act::ReverseShell);
        }
        if self.passed_over {
            self.acts.push(Act::Unread);
        }
        self.acts
    }

    /// Reads a text from its beginning to its end; gives the value of what stands last.
    pub(super) fn text(&mut self, text: &str) -> Value {
        if self.level >= LEVELS {
            self.passed_over = true;
        }
        if self.level >= LEVELS || !self.spend(text.len()) {
            return Value::unknown();
        }
        self.level += 1;
        let tokens = lex::tokens(self.language, text);
        let pairs = lex::pairs(&tokens);
        let mut code = Code { tokens: &tokens, pairs: &pairs, at: 0, end: tokens.len() };
        let mut last = Value::unknown();
        while code.at < code.end {
            let before = code.at;
            let value = self.statement(&mut code);
            if code.at == before {
                code.at += 1;
            } else {
                last = value;
            }
        }
        self.level -= 1;
        last
    }

    /// Whether code can be read one level further down.
    pub(super) fn can_go_deeper(&self) -> bool {
        self.level < LEVELS
    }

    pub(super) fn act(&mut self, act: Act) {
        if self.acts.last() == Some(&act) {
            return;
        }
        if self.acts.len() < ACTS {
            self.acts.push(act);
        } else {
            self.passed_over = true;
        }
    }

    /// Takes from what may still be done. False when there is no more.
    pub(super) fn spend(&mut self, cost: usize) -> bool {
        let left = self.budget.checked_sub(cost);
        self.budget = left.unwrap_or(0);
        self.passed_over |= left.is_none();
        left.is_some()
    }

    pub(super) fn variable(&mut self, name: &str) -> Option<Value> {
        let weight = self.variables.get(name)?.weight();
        if !self.spend(weight) {
            return Some(Value::unknown());
        }
        self.variables.get(name).cloned()
    }

    pub(super) fn set(&mut self, name: &str, value: Value) {
        // A name stands for itself until it is given a value.
        let value = if value.depth() > DEEPEST { Value::from(value.from) } else { value };
        if name.len() <= LONGEST_NAME && !(value.kind == super::value::Kind::Name && value.shape == name) {
            self.variables.insert(name.to_owned(), value);
        }
    }

    /// A value given in a branch or a loop is one of two.
    pub(super) fn set_nested(&mut self, name: &str, value: Value, nested: bool) {
        match self.variable(name) {
            Some(old) if nested && old.kind != super::value::Kind::Name => self.set(name, old.or(value)),
            _ => self.set(name, value),
        }
    }
}

// === impl Code ===

impl<'t> Code<'t> {
    pub(super) fn peek(&self) -> Option<&'t Token<'t>> {
        self.ahead(0)
    }

    pub(super) fn ahead(&self, by: usize) -> Option<&'t Token<'t>> {
        let at = self.at + by;
        if at < self.end { self.tokens.get(at) } else { None }
    }

    pub(super) fn is_sign(&self, sign: &str) -> bool {
        self.sign_ahead(0, sign)
    }

    pub(super) fn sign_ahead(&self, by: usize, sign: &str) -> bool {
        self.ahead(by).is_some_and(|token| token.kind == Kind::Sign && token.text == sign)
    }

    pub(super) fn is_word(&self, word: &str) -> bool {
        self.word_ahead(0) == Some(word)
    }

    pub(super) fn word_ahead(&self, by: usize) -> Option<&'t str> {
        self.ahead(by).filter(|token| token.kind == Kind::Word).map(|token| token.text)
    }

    /// Goes past a sign, if it stands here.
    pub(super) fn eat(&mut self, sign: &str) -> bool {
        let is = self.is_sign(sign);
        self.at += usize::from(is);
        is
    }

    /// Where the bracket that opens here closes.
    pub(super) fn close(&self) -> usize {
        self.pairs.get(self.at).copied().unwrap_or(self.end).min(self.end)
    }

    pub(super) fn skip_newlines(&mut self) {
        while self.peek().is_some_and(|token| token.kind == Kind::Newline) {
            self.at += 1;
        }
    }

    /// Whether the token before this one starts a line that is indented, or stands in a block.
    pub(super) fn nested(&self, statement: usize) -> bool {
        let first = self.tokens.get(statement);
        let after_newline = statement
            .checked_sub(1)
            .and_then(|before| self.tokens.get(before))
            .is_some_and(|token| token.kind == Kind::Newline || token.text == ":");
        self.end < self.tokens.len() || after_newline && first.is_some_and(|token| token.space)
    }
}
