// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Expressions of the tree → what they stand for.

use tree_sitter::Node;

use super::Reader;
use super::scope::Scope;
use super::word::{Atom, Expansion, Word};

/// Stands for the name `mktemp` would choose.
const SOME_TEMP: &str = "/tmp/tmp.XXXXXXXXXX";

impl Reader<'_> {
    /// The words a shell would make of an argument.
    pub(super) fn words(&mut self, node: Node<'_>, src: &str, scope: &mut Scope) -> Vec<Word> {
        self.expand(node, src, scope).into_words()
    }

    /// What an expression at the start of a word stands for.
    pub(super) fn expand(&mut self, node: Node<'_>, src: &str, scope: &mut Scope) -> Expansion {
        self.piece(node, src, scope, true)
    }

    fn piece(&mut self, node: Node<'_>, src: &str, scope: &mut Scope, first: bool) -> Expansion {
        if !self.spend(1) {
            return Expansion::unknown(slice(node, src), true);
        }
        let text = slice(node, src);
        match node.kind() {
            "string" => self.string(node, src, scope),
            "raw_string" => Expansion::quoted(text.trim_start_matches('\'').trim_end_matches('\'')),
            "ansi_c_string" => {
                let inner = text.strip_prefix("$'").and_then(|rest| rest.strip_suffix('\''));
                Expansion::quoted(&unescape(inner.unwrap_or(text)))
            }
            "simple_expansion" => {
                let value = known(scope.get(text.trim_start_matches('$')), text);
                self.spend(value.atoms.len() / 16);
                value
            }
            "expansion" => {
                self.walk_children(node, src, scope);
                let value = parameter(text, scope);
                self.spend(value.atoms.len() / 16);
                value
            }
            "command_substitution" => self.substitution(node, src, scope),
            "process_substitution" => {
                let from = self.subshell(node, src, scope);
                Expansion { from, process: true, ..Expansion::unknown(text, true) }
            }
            "arithmetic_expansion" | "array" => {
                self.walk_children(node, src, scope);
                Expansion::unknown(text, true)
            }
            // A word that still has an expansion in it was not understood.
            _ if node.named_child_count() == 0 && expands(text) => {
                self.give_up("the syntax was not understood", text);
                Expansion::unknown(text, false)
            }
            _ if node.named_child_count() == 0 => self.plain(text, scope, first),
            _ => self.sequence(node, src, scope, first),
        }
    }

    /// Pieces side by side; what lies between the nodes is text too.
    fn sequence(&mut self, node: Node<'_>, src: &str, scope: &mut Scope, first: bool) -> Expansion {
        let mut whole = Expansion::default();
        let mut at = node.start_byte();
        for child in named_children(node) {
            let gap = src.get(at..child.start_byte()).unwrap_or_default();
            whole.append(self.plain(gap, scope, false));
            let starts = first && child.start_byte() == node.start_byte();
            whole.append(self.piece(child, src, scope, starts));
            at = child.end_byte();
        }
        whole.append(self.plain(src.get(at..node.end_byte()).unwrap_or_default(), scope, false));
        whole
    }

    fn string(&mut self, node: Node<'_>, src: &str, scope: &mut Scope) -> Expansion {
        let mut whole = Expansion { kept: true, ..Expansion::default() };
        let mut at = node.start_byte() + 1;
        let end = node.end_byte().saturating_sub(1).max(at);
        // The grammar drops spaces at the edges of `string_content`, so the text is taken by place.
        for child in named_children(node).into_iter().filter(|child| child.kind() != "string_content") {
            whole.append(Expansion::quoted(&in_double_quotes(src.get(at..child.start_byte()))));
            whole.append(self.piece(child, src, scope, false).in_quotes());
            at = child.end_byte();
        }
        whole.append(Expansion::quoted(&in_double_quotes(src.get(at..end))));
        whole
    }

    /// Text outside quotes: backslashes, and `~` where a word begins.
    fn plain(&self, text: &str, scope: &Scope, first: bool) -> Expansion {
        let mut atoms = Vec::with_capacity(text.len());
        let mut rest = text;
        if first && let Some(after) = text.strip_prefix('~') {
            let user = after.split('/').next().unwrap_or_default();
            let home = match user {
                "" => Some(self.ground.home.clone()),
                "+" => scope.cwd.clone(),
                "root" => Some("/root".to_owned()),
                user if user.chars().all(|c| c.is_alphanumeric() || c == '_' || c == '-') && user != "-" => {
                    Some(format!("/home/{user}"))
                }
                _ => None,
            };
            if let Some(home) = home {
                atoms.extend(home.chars().map(Atom::Quoted));
                rest = after.strip_prefix(user).unwrap_or_default();
            }
        }
        let mut letters = rest.chars();
        while let Some(letter) = letters.next() {
            match letter {
                '\\' => match letters.next() {
                    Some('\n') | None => {}
                    Some(next) => atoms.push(Atom::Quoted(next)),
                },
                letter => atoms.push(Atom::Plain(letter)),
            }
        }
        Expansion { atoms, ..Expansion::default() }
    }

    /// `$(…)`: its commands run; sometimes what they would print is known.
    fn substitution(&mut self, node: Node<'_>, src: &str, scope: &mut Scope) -> Expansion {
        let from = self.subshell(node, src, scope);
        let value = match from.as_slice() {
            [only] => self.output_of(*only, scope),
            _ => None,
        };
        let value = value
            .map_or_else(|| Expansion::unknown(slice(node, src), false), |text| Expansion::literal(&text));
        Expansion { from, ..value }
    }

    fn output_of(&self, index: usize, scope: &Scope) -> Option<String> {
        let command = self.commands.get(index)?;
        let words = || command.words.iter().all(|word| !word.dynamic && !word.pattern);
        match command.program.as_str() {
            "pwd" => scope.cwd.clone(),
            "mktemp" if command.operands.is_empty() => Some(SOME_TEMP.to_owned()),
            "git" if command.words.iter().any(|word| word.is("--show-toplevel")) => {
                self.ground.project.clone()
            }
            "realpath" | "readlink" => match command.operands.as_slice() {
                [only] if words() => only.resolved.clone(),
                _ => None,
            },
            "echo" | "printf" if words() => match command.said.as_slice() {
                [only] => Some(only.trim_end().to_owned()),
                _ => None,
            },
            _ => None,
        }
    }
}

/// A variable's value, or its name when that is all there is.
fn known(value: Option<Expansion>, source: &str) -> Expansion {
    value.unwrap_or_else(|| Expansion::unknown(source, false))
}

/// `${NAME}` and those of its forms that keep a known value as it is.
fn parameter(text: &str, scope: &Scope) -> Expansion {
    let inner = text.strip_prefix("${").and_then(|rest| rest.strip_suffix('}')).unwrap_or_default();
    let end = inner.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(inner.len());
    let (name, operator) = inner.split_at_checked(end).unwrap_or((inner, ""));
    let keeps = [":-", "-", ":=", "=", ":?", "?"].iter().any(|form| operator.starts_with(form));
    match scope.get(name) {
        Some(value) if operator.is_empty() => value,
        Some(value) if keeps && !value.atoms.is_empty() => value,
        Some(value) => Expansion { from: value.from, ..Expansion::unknown(text, false) },
        None => Expansion::unknown(text, false),
    }
}

/// Whether a `$name`, `${`, `$(` or backquote stands in a text, not behind a backslash.
fn expands(text: &str) -> bool {
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            '\\' => {
                letters.next();
            }
            '`' => return true,
            '$' if letters
                .peek()
                .is_some_and(|c| c.is_alphanumeric() || matches!(c, '_' | '{' | '(' | '@' | '*')) =>
            {
                return true;
            }
            _ => {}
        }
    }
    false
}

fn in_double_quotes(text: Option<&str>) -> String {
    let mut out = String::new();
    let mut letters = text.unwrap_or_default().chars();
    while let Some(letter) = letters.next() {
        if letter != '\\' {
            out.push(letter);
            continue;
        }
        match letters.next() {
            Some('\n') => {}
            Some(next @ ('"' | '\\' | '$' | '`')) => out.push(next),
            Some(next) => out.extend(['\\', next]),
            None => out.push('\\'),
        }
    }
    out
}

/// The escapes of `$'…'`, `echo -e` and `printf`.
pub(super) fn unescape(text: &str) -> String {
    let mut out = String::new();
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        if letter != '\\' {
            out.push(letter);
            continue;
        }
        let Some(next) = letters.next() else { break };
        let mut number = |base: u32, most: usize, start: u32| {
            let mut value = start;
            for _ in 0..most {
                let Some(digit) = letters.peek().and_then(|letter| letter.to_digit(base)) else { break };
                value = value.saturating_mul(base).saturating_add(digit);
                letters.next();
            }
            char::from_u32(value)
        };
        match next {
            'n' => out.push('\n'),
            't' => out.push('\t'),
            'r' => out.push('\r'),
            'x' => out.extend(number(16, 2, 0)),
            'u' => out.extend(number(16, 4, 0)),
            'U' => out.extend(number(16, 8, 0)),
            digit @ '0'..='7' => out.extend(number(8, 2, digit.to_digit(8).unwrap_or(0))),
            'a' | 'b' | 'e' | 'E' | 'f' | 'v' => out.push('\u{7f}'),
            other => out.push(other),
        }
    }
    out
}

pub(super) fn slice<'s>(node: Node<'_>, src: &'s str) -> &'s str {
    src.get(node.byte_range()).unwrap_or_default()
}

pub(super) fn named_children(node: Node<'_>) -> Vec<Node<'_>> {
    node.named_children(&mut node.walk()).collect()
}
