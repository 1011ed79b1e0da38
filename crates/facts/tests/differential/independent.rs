// SPDX-License-Identifier: Apache-2.0 OR MIT

//! What another parser finds in a script: the simple commands, wherever they stand.

use rable::{Node, NodeKind};

/// A simple command as it is written. Words whose value is not plain from the text are `None`.
#[derive(Debug, Default)]
pub(crate) struct Simple {
    pub(crate) words: Vec<Option<String>>,
}

/// What was found.
#[derive(Debug, Default)]
pub(crate) struct Found {
    pub(crate) commands: Vec<Simple>,
    /// Files that something is redirected from or to.
    pub(crate) files: Vec<String>,
}

/// Reads a script; `None` when it is no script.
pub(crate) fn read(text: &str) -> Option<Found> {
    let nodes = rable::parse(text, false).ok()?;
    let mut found = Found::default();
    found.nodes(&nodes);
    Some(found)
}

impl Found {
    fn nodes(&mut self, nodes: &[Node]) {
        for node in nodes {
            self.node(node);
        }
    }

    fn node(&mut self, node: &Node) {
        use NodeKind as Is;
        match &node.kind {
            Is::Command { assignments, words, redirects } => {
                self.commands.push(Simple { words: words.iter().map(of_word).collect() });
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
        // `>&2` and `>&-` are about descriptors, `>& log` is about a file.
        let number = |name: &String| name.trim_end_matches('-').chars().all(|c| c.is_ascii_digit());
        self.files.extend(of_word(target).filter(|name| file || op == ">&" && !number(name)));
    }
}

fn of_word(node: &Node) -> Option<String> {
    match &node.kind {
        NodeKind::Word { value, .. } => literal(value),
        _ => None,
    }
}

/// The text of a word after quote removal; `None` when something in it is expanded.
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
