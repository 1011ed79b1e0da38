// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Comparison with `rable`, another bash parser: both find the same simple commands with the same constant words.

use rable::{Node, NodeKind};
use tenterhook_shell::{Dialect, SimpleCommand, TreeVisitor, Word, WordPart, parse, walk_simple};

use crate::corpus;

/// The constant words of each simple command; `None` for a word that is expanded.
type ConstantCommands = Vec<Vec<Option<String>>>;

#[derive(Default)]
struct OwnCommands(ConstantCommands);

impl TreeVisitor for OwnCommands {
    fn simple(&mut self, command: &SimpleCommand) {
        if !command.words.is_empty() {
            self.0.push(command.words.iter().map(constant).collect());
        }
        walk_simple(self, command);
    }
}

/// The value of a word that both parsers consider constant.
fn constant(word: &Word) -> Option<String> {
    let is_plain = |part: &WordPart| !matches!(part, WordPart::AnsiQuoted(_));
    let text = word.literal()?.into_owned();
    (word.parts.iter().all(is_plain) && !text.contains(['{', '[', '*', '?', '~'])).then_some(text)
}

fn commands_of_rable(text: &str) -> Option<ConstantCommands> {
    let nodes = rable::parse(text, false).ok()?;
    let mut found = Vec::new();
    for node in &nodes {
        visit(node, &mut found);
    }
    Some(found)
}

fn visit(node: &Node, found: &mut ConstantCommands) {
    use NodeKind as Is;
    let mut all = |nodes: &[Node]| nodes.iter().for_each(|node| visit(node, found));
    match &node.kind {
        Is::Command { assignments, words, redirects } => {
            if !words.is_empty() {
                found.push(words.iter().map(value_of).collect());
            }
            for node in assignments.iter().chain(words).chain(redirects) {
                visit(node, found);
            }
        }
        Is::Word { parts, .. } | Is::Array { elements: parts } => all(parts),
        Is::Pipeline { commands, .. } => all(commands),
        Is::List { items } => items.iter().for_each(|item| visit(&item.command, found)),
        Is::If { condition, then_body, else_body, .. } => {
            visit(condition, found);
            visit(then_body, found);
            if let Some(body) = else_body {
                visit(body, found);
            }
        }
        Is::While { condition, body, .. } | Is::Until { condition, body, .. } => {
            visit(condition, found);
            visit(body, found);
        }
        Is::For { words, body, .. } | Is::Select { words, body, .. } => {
            words.iter().flatten().for_each(|word| visit(word, found));
            visit(body, found);
        }
        Is::ForArith { body, .. } | Is::Subshell { body, .. } | Is::BraceGroup { body, .. } => {
            visit(body, found);
        }
        Is::Case { word, patterns, .. } => {
            visit(word, found);
            patterns.iter().filter_map(|pattern| pattern.body.as_ref()).for_each(|body| visit(body, found));
        }
        Is::Function { body: inner, .. }
        | Is::Coproc { command: inner, .. }
        | Is::CommandSubstitution { command: inner, .. }
        | Is::ProcessSubstitution { command: inner, .. }
        | Is::Negation { pipeline: inner }
        | Is::Time { pipeline: inner, .. } => visit(inner, found),
        Is::Redirect { target, .. } => visit(target, found),
        _ => {}
    }
}

fn value_of(node: &Node) -> Option<String> {
    let NodeKind::Word { value, .. } = &node.kind else { return None };
    let mut text = String::new();
    let mut letters = value.chars().peekable();
    let expands = |c: char| c.is_ascii_alphanumeric() || "_{([@*#?-$!'\"".contains(c);
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
            '$' if letters.peek().is_some_and(|c| expands(*c)) => return None,
            '`' | '<' | '>' | '(' => return None,
            c => text.push(c),
        }
    }
    (!text.contains(['{', '[', '*', '?', '~'])).then_some(text)
}

#[test]
fn rable_finds_no_command_that_is_missing_here() {
    let mut compared = 0;
    let mut different = Vec::new();
    let mut texts = corpus::commands();
    texts.extend(corpus::generated());
    for text in &texts {
        let Some(theirs) = commands_of_rable(text) else { continue };
        let mut ours = OwnCommands::default();
        ours.script(&parse(text, Dialect::Bash).script);
        compared += 1;
        // Both commands have the same number of words, and words that are constant in both are equal.
        let fits = |one: &Vec<Option<String>>, other: &Vec<Option<String>>| {
            one.len() == other.len()
                && one.iter().zip(other).all(|pair| match pair {
                    (Some(one), Some(other)) => one == other,
                    _ => true,
                })
        };
        for command in &theirs {
            if !ours.0.iter().any(|other| fits(command, other)) {
                different.push((text, command.clone()));
            }
        }
    }
    eprintln!("{compared} texts compared with rable, {} commands differ", different.len());
    assert!(compared > 4_000, "{compared}");
    assert!(different.is_empty(), "{:#?}", &different[..different.len().min(20)]);
}
