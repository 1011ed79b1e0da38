// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Tracks the state and limits of the walk over code.

use std::collections::{HashMap, HashSet};

use super::language::description::{LanguageDescription, LanguageSyntax, ReaderKind};
use super::lex::{self, Token, TokenKind};
use super::value::CodeValue;
use super::{CodeEffect, CodeLanguage};

/// Maximum number of reported effects.
const MAX_EFFECTS: usize = 200;
/// Maximum nesting depth of brackets that is read.
pub(super) const MAX_BRACKET_DEPTH: usize = 48;
/// Maximum nesting depth of code inside code.
const MAX_CODE_LEVELS: usize = 4;
/// Maximum nesting depth of a value. Deeper values become unknown.
const MAX_VALUE_DEPTH: usize = 12;
/// Maximum number of arguments of a call that are remembered.
const MAX_NOTED_ARGUMENTS: usize = 16;
/// Maximum length of a name. Longer names are ignored.
pub(super) const MAX_NAME_BYTES: usize = 160;

/// State of the walk over a text.
pub(super) struct CodeReader {
    language: CodeLanguage,
    pub(super) description: &'static LanguageDescription<&'static str>,
    pub(super) effects: Vec<CodeEffect>,
    variables: HashMap<String, CodeValue>,
    /// Value of the first parameter of the next function.
    pub(super) element: Option<CodeValue>,
    /// Names of the functions that the code defines.
    pub(super) defined: HashSet<String>,
    /// Arguments of calls to functions that are not described, by name.
    pub(super) passed: HashMap<String, Vec<CodeValue>>,
    /// Arguments that calls elsewhere in the code pass to its functions; known only when the code is read again.
    pub(super) parameters: HashMap<String, Vec<CodeValue>>,
    pub(super) depth: usize,
    level: usize,
    /// Remaining budget for copying values and for reading code again. The budget is proportional to the length of the
    /// code, so that the total time stays linear.
    budget: usize,
    /// Whether a limit was reached and code was skipped.
    pub(super) passed_over: bool,
    /// Whether a socket was opened.
    pub(super) socket: bool,
    /// Whether a shell was started, or connected to something.
    pub(super) shell: bool,
    /// Whether the code uses path objects.
    pub(super) paths: bool,
}

/// A position in a list of tokens, and the end of the part that is read.
pub(super) struct TokenCursor<'t> {
    pub(super) tokens: &'t [Token<'t>],
    pub(super) pairs: &'t [usize],
    pub(super) at: usize,
    pub(super) end: usize,
}

/// Reads a whole text.
pub(super) fn read(language: CodeLanguage, text: &str) -> Vec<CodeEffect> {
    let read_once = |parameters| {
        let mut reader = CodeReader::new(language, text.len());
        reader.parameters = parameters;
        reader.paths = ["Path", "pathlib", "Pathname"].iter().any(|name| text.contains(name));
        reader.read_text(text);
        reader
    };
    let mut reader = read_once(HashMap::new());
    // A function is usually defined before it is called, so its parameters are known only after the whole text.
    let mut parameters = std::mem::take(&mut reader.passed);
    parameters.retain(|name, values| {
        let is_known = |value: &CodeValue| value.each().iter().any(|one| one.known_text().is_some());
        reader.defined.contains(name) && values.iter().any(is_known)
    });
    if parameters.is_empty() { reader.finish() } else { read_once(parameters).finish() }
}

// === impl Reader ===

impl CodeReader {
    pub(super) fn new(language: CodeLanguage, length: usize) -> Self {
        Self {
            language,
            description: language.description(),
            effects: Vec::new(),
            variables: HashMap::new(),
            element: None,
            defined: HashSet::new(),
            passed: HashMap::new(),
            parameters: HashMap::new(),
            depth: 0,
            level: 0,
            budget: 16 * length + 64 * 1024,
            passed_over: false,
            socket: false,
            shell: false,
            paths: false,
        }
    }

    /// Returns the syntax of the language.
    pub(super) fn syntax(&self) -> &'static LanguageSyntax<&'static str> {
        &self.description.syntax
    }

    /// Whether Rust code of this kind reads parts of the language.
    pub(super) fn has_reader(&self, kind: ReaderKind) -> bool {
        self.description.reader == kind
    }

    pub(super) fn finish(mut self) -> Vec<CodeEffect> {
        // These effects are reported even if the list is full.
        if self.socket && self.shell {
            self.effects.push(CodeEffect::ReverseShell);
        }
        if self.passed_over {
            self.effects.push(CodeEffect::Unread);
        }
        self.effects
    }

    /// Reads a whole text; returns the value of the last statement.
    pub(super) fn read_text(&mut self, text: &str) -> CodeValue {
        if self.level >= MAX_CODE_LEVELS {
            self.passed_over = true;
        }
        if self.level >= MAX_CODE_LEVELS || !self.spend_budget(text.len()) {
            return CodeValue::unknown();
        }
        self.level += 1;
        let tokens = lex::tokens(self.language, text);
        let pairs = lex::pairs(&tokens);
        let mut code = TokenCursor { tokens: &tokens, pairs: &pairs, at: 0, end: tokens.len() };
        let mut last = CodeValue::unknown();
        while code.at < code.end {
            let before = code.at;
            let value = self.read_statement(&mut code);
            if code.at == before {
                code.at += 1;
            } else {
                last = value;
            }
        }
        self.level -= 1;
        last
    }

    /// Whether nested code can be read.
    pub(super) fn can_go_deeper(&self) -> bool {
        self.level < MAX_CODE_LEVELS
    }

    pub(super) fn push_effect(&mut self, act: CodeEffect) {
        if self.effects.last() == Some(&act) {
            return;
        }
        if self.effects.len() < MAX_EFFECTS {
            self.effects.push(act);
        } else {
            self.passed_over = true;
        }
    }

    /// Uses up budget; returns false if none is left.
    pub(super) fn spend_budget(&mut self, cost: usize) -> bool {
        let left = self.budget.checked_sub(cost);
        self.budget = left.unwrap_or(0);
        self.passed_over |= left.is_none();
        left.is_some()
    }

    pub(super) fn variable(&mut self, name: &str) -> Option<CodeValue> {
        let weight = self.variables.get(name)?.weight();
        if !self.spend_budget(weight) {
            return Some(CodeValue::unknown());
        }
        self.variables.get(name).cloned()
    }

    pub(super) fn set_variable(&mut self, name: &str, value: CodeValue) {
        // A name without an assigned value evaluates to itself.
        let value = if value.depth() > MAX_VALUE_DEPTH { CodeValue::from(value.from) } else { value };
        if name.len() <= MAX_NAME_BYTES
            && !(value.kind == super::value::ValueKind::Name && value.shape == name)
        {
            self.variables.insert(name.to_owned(), value);
        }
    }

    /// Remembers the arguments of a call to a function that the code may define.
    pub(super) fn note_call(&mut self, name: &str, items: &[CodeValue]) {
        let weight = items.iter().map(CodeValue::weight).sum();
        if name.len() > MAX_NAME_BYTES || items.len() > MAX_NOTED_ARGUMENTS || !self.spend_budget(weight) {
            return;
        }
        let noted = self.passed.entry(name.to_owned()).or_default();
        for (place, item) in items.iter().enumerate() {
            match noted.get_mut(place) {
                Some(old) => *old = std::mem::take(old).or(item.clone()),
                None => noted.push(item.clone()),
            }
        }
    }

    /// Sets a variable. In a branch or loop, the old value remains possible.
    pub(super) fn set_nested(&mut self, name: &str, value: CodeValue, nested: bool) {
        match self.variable(name) {
            Some(old) if nested && old.kind != super::value::ValueKind::Name => {
                self.set_variable(name, old.or(value));
            }
            _ => self.set_variable(name, value),
        }
    }
}

// === impl Code ===

impl<'t> TokenCursor<'t> {
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
        self.ahead(by).is_some_and(|token| token.kind == TokenKind::Sign && token.text == sign)
    }

    pub(super) fn is_word(&self, word: &str) -> bool {
        self.word_ahead(0) == Some(word)
    }

    pub(super) fn word_ahead(&self, by: usize) -> Option<&'t str> {
        self.ahead(by).filter(|token| token.kind == TokenKind::Word).map(|token| token.text)
    }

    /// Consumes an operator, if it is next.
    pub(super) fn eat(&mut self, sign: &str) -> bool {
        let is = self.is_sign(sign);
        self.at += usize::from(is);
        is
    }

    /// Returns the index of the token that closes the bracket at this position.
    pub(super) fn close(&self) -> usize {
        self.pairs.get(self.at).copied().unwrap_or(self.end).min(self.end)
    }

    pub(super) fn skip_newlines(&mut self) {
        while self.peek().is_some_and(|token| token.kind == TokenKind::Newline) {
            self.at += 1;
        }
    }

    /// Whether a statement is indented or inside a block.
    pub(super) fn nested(&self, statement: usize) -> bool {
        let first = self.tokens.get(statement);
        let after_newline = statement
            .checked_sub(1)
            .and_then(|before| self.tokens.get(before))
            .is_some_and(|token| token.kind == TokenKind::Newline || token.text == ":");
        self.end < self.tokens.len() || after_newline && first.is_some_and(|token| token.space)
    }
}
