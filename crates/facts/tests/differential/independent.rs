// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The simple commands that another parser finds anywhere in a script.

use rable::{Node, NodeKind};

/// A simple command. Words whose value is not literal in the text are `None`.
#[derive(Debug, Default)]
pub(crate) struct SimpleCommand {
    pub(crate) words: Vec<Option<String>>,
}

/// The commands and redirections that the other parser found.
#[derive(Debug, Default)]
pub(crate) struct ParsedScript {
    pub(crate) commands: Vec<SimpleCommand>,
    /// Files that input is redirected from or output to.
    pub(crate) files: Vec<String>,
}

/// Parses a script; `None` if it is not valid.
pub(crate) fn parse_script(text: &str) -> Option<ParsedScript> {
    let nodes = rable::parse(text, false).ok()?;
    let mut found = ParsedScript::default();
    found.nodes(&nodes);
    Some(found)
}

impl ParsedScript {
    fn nodes(&mut self, nodes: &[Node]) {
        for node in nodes {
            self.node(node);
        }
    }

    fn node(&mut self, node: &Node) {
        use NodeKind as Is;
        match &node.kind {
            Is::Command { assignments, words, redirects } => {
                self.commands.push(SimpleCommand { words: words.iter().map(word_text).collect() });
                self.nodes(assignments);
                self.nodes(words);
                self.nodes(redirects);
            }
            Is::Word { parts, .. } | Is::Array { elements: parts } => self.nodes(parts),
            Is::Pipeline { commands, .. } => self.nodes(commands),
            Is::List { items } => items.iter().for_each(|item| self.node(&item.command)),
            Is::If { condition, then_body, else_body, redirects } => {
                self.node(condition);
                self.node(then_body);
                if let Some(body) = else_body {
                    self.node(body);
                }
                self.nodes(redirects);
            }
            Is::While { condition, body, redirects } | Is::Until { condition, body, redirects } => {
                self.node(condition);
                self.node(body);
                self.nodes(redirects);
            }
            Is::For { words, body, redirects, .. } | Is::Select { words, body, redirects, .. } => {
                if let Some(words) = words {
                    self.nodes(words);
                }
                self.node(body);
                self.nodes(redirects);
            }
            Is::ForArith { body, redirects, .. }
            | Is::Subshell { body, redirects }
            | Is::BraceGroup { body, redirects } => {
                self.node(body);
                self.nodes(redirects);
            }
            Is::Case { word, patterns, redirects } => {
                self.node(word);
                patterns.iter().filter_map(|pattern| pattern.body.as_ref()).for_each(|body| self.node(body));
                self.nodes(redirects);
            }
            Is::Function { body: inner, .. }
            | Is::Coproc { command: inner, .. }
            | Is::CommandSubstitution { command: inner, .. }
            | Is::ProcessSubstitution { command: inner, .. }
            | Is::Negation { pipeline: inner }
            | Is::Time { pipeline: inner, .. } => self.node(inner),
            Is::Redirect { op, target, .. } => self.redirect(op, target),
            Is::ConditionalExpr { redirects, .. } | Is::ArithmeticCommand { redirects, .. } => {
                self.nodes(redirects);
            }
            _ => {}
        }
    }

    fn redirect(&mut self, op: &str, target: &Node) {
        self.node(target);
        let file = matches!(op, ">" | ">>" | "<" | ">|" | "&>" | "&>>" | "<>");
        // `>&2` and `>&-` refer to descriptors, `>& log` to a file.
        let number = |name: &String| name.trim_end_matches('-').chars().all(|c| c.is_ascii_digit());
        self.files.extend(word_text(target).filter(|name| file || op == ">&" && !number(name)));
    }
}

fn word_text(node: &Node) -> Option<String> {
    match &node.kind {
        NodeKind::Word { value, .. } => literal(value),
        _ => None,
    }
}

/// The text of a word after quote removal; `None` if part of it is expanded.
fn literal(raw: &str) -> Option<String> {
    let mut text = String::new();
    let mut letters = raw.chars().peekable();
    if raw.starts_with('~') {
        return None;
    }
    while let Some(letter) = letters.next() {
        match letter {
            '\'' => text.extend(letters.by_ref().take_while(|c| *c != '\'')),
            '"' => loop {
                match letters.next()? {
                    '"' => break,
                    '\\' => match letters.next()? {
                        '\n' => {}
                        c @ ('"' | '\\' | '$' | '`') => text.push(c),
                        c => text.extend(['\\', c]),
                    },
                    '$' if letters.peek().is_some_and(|c| expands(*c)) => return None,
                    '`' => return None,
                    c => text.push(c),
                }
            },
            '\\' => text.extend(letters.next().filter(|c| *c != '\n')),
            '$' if letters.peek().is_some_and(|c| expands(*c) || matches!(c, '\'' | '"')) => return None,
            '`' | '{' | '*' | '?' | '[' | '<' | '>' | '(' => return None,
            c => text.push(c),
        }
    }
    Some(text)
}

fn expands(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '{' | '(' | '[' | '@' | '*' | '#' | '?' | '-' | '$' | '!')
}
