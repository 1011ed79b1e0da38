// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Expressions of the tree → what they stand for.

use tree_sitter::Node;

use super::Reader;
use super::scope::Scope;
use super::word::{Atom, Expansion, Word};

impl Reader {
    /// The words a shell would make of an argument.
    pub(super) fn words(&mut self, node: Node<'_>, src: &str, scope: &mut Scope) -> Vec<Word> {
        self.expand(node, src, scope).into_words()
    }

    /// What an expression at the start of a word stands for.
    pub(super) fn expand(&mut self, node: Node<'_>, src: &str, scope: &mut Scope) -> Expansion {
        self.piece(node, src, scope, true)
    }

    fn piece(&mut self, node: Node<'_>, src: &str, scope: &mut Scope, first: bool) -> Expansion {
        if !self.spend(1) || !self.enter() {
            return Expansion::unknown(slice(node, src), true);
        }
        let value = self.piece_here(node, src, scope, first);
        self.leave();
        value
    }

    fn piece_here(&mut self, node: Node<'_>, src: &str, scope: &mut Scope, first: bool) -> Expansion {
        let text = slice(node, src);
        match node.kind() {
            "string" => self.string(node, src, scope),
            "raw_string" => Expansion::quoted(text.trim_start_matches('\'').trim_end_matches('\'')),
            "ansi_c_string" => {
                let inner = text.strip_prefix("$'").and_then(|rest| rest.strip_suffix('\''));
                Expansion::quoted(&unescape(inner.unwrap_or(text)))
            }
            "simple_expansion" => {
                let value = scope.get(text.trim_start_matches('$'));
                let value = value.unwrap_or_else(|| Expansion::unknown(text, false));
                self.spend(value.atoms.len() / 4);
                scope.separated(value)
            }
            "expansion" => {
                let value = self.parameter(node, src, scope);
                self.spend(value.atoms.len() / 4);
                scope.separated(value)
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
            _ if node.named_child_count() == 0 => Self::plain(text, scope, first),
            _ => self.sequence(node, src, scope, first),
        }
    }

    fn sequence(&mut self, node: Node<'_>, src: &str, scope: &mut Scope, first: bool) -> Expansion {
        self.part(node, node.byte_range(), src, scope, first)
    }

    /// Pieces side by side, in a part of a node; what lies between its children is text too.
    pub(super) fn part(
        &mut self,
        node: Node<'_>,
        range: std::ops::Range<usize>,
        src: &str,
        scope: &mut Scope,
        first: bool,
    ) -> Expansion {
        let mut whole = Expansion::default();
        let mut at = range.start;
        for child in named_children(node).into_iter().filter(|child| child.start_byte() >= range.start) {
            let gap = src.get(at..child.start_byte()).unwrap_or_default();
            whole.append(Self::plain(gap, scope, false));
            let starts = first && child.start_byte() == range.start;
            whole.append(self.piece(child, src, scope, starts));
            at = child.end_byte();
        }
        whole.append(Self::plain(src.get(at..range.end).unwrap_or_default(), scope, false));
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
    fn plain(text: &str, scope: &Scope, first: bool) -> Expansion {
        let mut atoms = Vec::with_capacity(text.len());
        let mut rest = text;
        if first && let Some(after) = text.strip_prefix('~') {
            let user = after.split('/').next().unwrap_or_default();
            let home = match user {
                "" => Some(scope.place.ground.home.clone()),
                "+" => scope.cwd.known().map(str::to_owned),
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
