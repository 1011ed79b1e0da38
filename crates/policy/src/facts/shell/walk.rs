// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The tree of a script, walked in the order in which it would run.

use std::sync::Arc;

use tree_sitter::Node;

use super::Reader;
use super::expand::{named_children, slice};
use super::invoke::Redirections;
use super::narrow::{narrowed_by, narrowed_by_item};
use super::scope::{Scope, Stream, from_all};
use super::word::{Expansion, Word};

/// A loop over this many known words is walked once for each.
const MOST_ROUNDS: usize = 16;

/// Which of several values a command is read with.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Choice {
    pub(super) taken: usize,
    /// How many there are.
    pub(super) ways: usize,
}

impl Reader {
    pub(super) fn walk(&mut self, node: Node<'_>, src: &str, scope: &mut Scope) {
        if !self.spend(1) || !self.enter() {
            return;
        }
        let mut endless = None;
        match node.kind() {
            "command" => self.command(node, src, &Redirections::default(), &[], scope),
            "list" => self.chain(node, &[], src, scope),
            "pipeline" => self.pipeline(&named_children(node), &[], src, scope),
            "redirected_statement" => self.redirected(node, src, scope),
            "subshell" | "command_substitution" | "process_substitution" => {
                self.subshell(node, src, scope);
            }
            "variable_assignment" => self.assign(node, src, scope),
            "declaration_command" => self.declare(node, src, scope),
            "unset_command" => {
                for name in named_children(node) {
                    scope.set(slice(name, src), Expansion::default());
                }
            }
            "for_statement" => self.each(node, src, scope),
            "if_statement" | "case_statement" => self.branches(node, src, scope),
            "while_statement" | "c_style_for_statement" => {
                if starts_without_end(node, src) {
                    endless = Some(self.commands.len());
                }
                self.rounds(scope, |reader, scope| reader.branches(node, src, scope));
            }
            "function_definition" => self.define(node, src, scope),
            "comment" | "word" | "raw_string" | "heredoc_start" | "heredoc_end" => {}
            _ => self.walk_children(node, src, scope),
        }
        self.mark(endless, "fork-bomb");
        self.leave();
    }

    /// A command with redirections that the grammar has put elsewhere.
    pub(super) fn walk_with(&mut self, node: Node<'_>, redirects: &[Node<'_>], src: &str, scope: &mut Scope) {
        if redirects.is_empty() {
            self.walk(node, src, scope);
        } else if self.spend(1) && self.enter() {
            self.redirected_body(Some(node), redirects, src, scope);
            self.leave();
        }
    }

    pub(super) fn walk_children(&mut self, node: Node<'_>, src: &str, scope: &mut Scope) {
        for child in named_children(node) {
            self.walk(child, src, scope);
        }
    }

    /// Walks the children in a copy of the scope; returns the commands found, by their index.
    pub(super) fn subshell(&mut self, node: Node<'_>, src: &str, scope: &Scope) -> Vec<usize> {
        let start = self.commands.len();
        if self.spend(scope.size()) && self.enter() {
            let mut inner = scope.clone();
            let whole =
                node.child_by_field_name("redirect").filter(|_| node.kind() == "command_substitution");
            match whole {
                // `$(<file)` prints the file without any program.
                Some(redirect) => {
                    let mut io = Redirections::default();
                    let more = self.redirect(redirect, src, &mut io, &mut inner);
                    self.bare(&io, &more, &inner);
                }
                None => self.walk_children(node, src, &mut inner),
            }
            self.leave();
        }
        (start..self.commands.len()).collect()
    }

    pub(super) fn pipeline(&mut self, stages: &[Node<'_>], redirects: &[Node<'_>], src: &str, scope: &Scope) {
        let walk = |reader: &mut Self, stage: &Node<'_>, last: bool, inner: &mut Scope| {
            reader.walk_with(*stage, if last { redirects } else { &[] }, src, inner);
        };
        self.piped(stages, walk, scope);
    }

    /// Every stage gets what all stages before it may have printed; which is the last one is said.
    pub(super) fn piped<S>(
        &mut self,
        stages: &[S],
        mut walk: impl FnMut(&mut Self, &S, bool, &mut Scope),
        scope: &Scope,
    ) {
        let mut stream = scope.stdin.clone();
        for (at, stage) in stages.iter().enumerate() {
            let start = self.commands.len();
            if !self.spend(scope.size() + stream.from.len() / 8) {
                return;
            }
            let mut inner = scope.fed(&stream);
            walk(self, stage, at + 1 == stages.len(), &mut inner);
            // Behind a pipe there is no terminal, unless the one before passes on what is typed.
            stream.typed = false;
            self.flow(start, &mut stream);
        }
    }

    /// Adds what the commands since `start` print.
    pub(super) fn flow(&self, start: usize, stream: &mut Stream) {
        for (index, command) in self.commands.iter().enumerate().skip(start) {
            stream.from.push(index);
            stream.typed |= command.typed;
            for text in &command.said {
                if !stream.texts.contains(text) {
                    stream.texts.push(Arc::clone(text));
                }
            }
        }
    }

    /// A simple command, as often as an unknown key of a known array leaves it open.
    pub(super) fn command(
        &mut self,
        node: Node<'_>,
        src: &str,
        io: &Redirections,
        more: &[Word],
        scope: &mut Scope,
    ) {
        let outer = self.choice.replace(Choice::default());
        let before = scope.clone();
        self.one_command(node, src, io.clone(), more.to_vec(), scope);
        let ways = self.choice.map_or(0, |choice| choice.ways).min(MOST_ROUNDS);
        for taken in 1..ways {
            if !self.spend(before.size()) {
                break;
            }
            self.choice = Some(Choice { taken, ways: 0 });
            let mut other = before.clone();
            self.one_command(node, src, io.clone(), more.to_vec(), &mut other);
            scope.meet(&other);
        }
        self.choice = outer;
    }

    fn one_command(
        &mut self,
        node: Node<'_>,
        src: &str,
        mut io: Redirections,
        more: Vec<Word>,
        scope: &mut Scope,
    ) {
        let outer = scope.stdin.clone();
        let mut words = Vec::new();
        let (mut outputs, mut sinks) = (Vec::new(), Vec::new());
        let mut pairs = Vec::new();
        let start = self.commands.len();
        let mut at = None;
        let mut separators = None;
        for child in named_children(node) {
            // The grammar breaks some words, such as `-rf$IFS/`, into two.
            if at.is_some_and(|at| {
                !src.get(at..child.start_byte()).unwrap_or_default().contains(char::is_whitespace)
            }) && !child.kind().ends_with("redirect")
            {
                self.give_up("the words could not be told apart", slice(node, src));
            }
            at = (!child.kind().ends_with("redirect")).then(|| child.end_byte());
            match child.kind() {
                "command_name" => {
                    let name = named_children(child).into_iter().next().unwrap_or(child);
                    words.extend(self.words(name, src, scope));
                }
                "file_redirect" | "herestring_redirect" => {
                    words.extend(self.redirect(child, src, &mut io, scope));
                    outputs.push(child);
                }
                // Only for this command's environment: `$NAME` on the same line is the older value.
                "variable_assignment" if slice(child, src).starts_with("CDPATH=") => {
                    self.assign(child, src, scope);
                }
                "variable_assignment" => {
                    pairs.push(unquoted(slice(child, src)));
                    let mut environment = scope.clone();
                    self.assign(child, src, &mut environment);
                    if slice(child, src).starts_with("IFS=") {
                        separators = environment.get("IFS");
                    }
                }
                "subshell" => self.walk(child, src, scope),
                "comment" => {}
                // `>(…)` runs on what the command writes, so after it.
                "process_substitution" if slice(child, src).starts_with('>') => {
                    words.extend(Expansion::unknown(slice(child, src), true).into_words());
                    sinks.push(child);
                }
                _ => words.extend(self.words(child, src, scope)),
            }
        }
        words.extend(more);
        if words.is_empty() {
            self.bare(&io, &[], scope);
        } else {
            // `IFS=, read a b`: the shell itself looks at them.
            let before = scope.get("IFS");
            let reads = words.first().is_some_and(|word| word.is("read"));
            let separators = separators.filter(|_| reads);
            let changed = separators.is_some();
            if let Some(separators) = separators {
                scope.set("IFS", separators);
            }
            self.run(&words, &io, scope);
            if changed {
                scope.put_back("IFS", before.filter(|before| *before != Expansion::literal(" ")));
            }
            self.started_with(start, &pairs);
        }
        if !sinks.is_empty() {
            let mut written = scope.stdin.clone();
            self.flow(start, &mut written);
            let fed = scope.fed(&written);
            for sink in sinks {
                self.subshell(sink, src, &fed);
            }
        }
        let mut printed = Stream::default();
        if !outputs.is_empty() {
            self.flow(start, &mut printed);
        }
        scope.stdin = outer;
        for redirect in outputs {
            self.after_redirect(redirect, src, &printed, scope);
        }
    }

    fn each(&mut self, node: Node<'_>, src: &str, scope: &mut Scope) {
        let name =
            node.child_by_field_name("variable").map(|name| slice(name, src).to_owned()).unwrap_or_default();
        let values: Vec<_> = node.children_by_field_name("value", &mut node.walk()).collect();
        let mut words = Vec::new();
        for value in values {
            words.extend(self.words(value, src, scope));
        }
        let Some(body) = node.child_by_field_name("body") else { return };
        if words.is_empty() || words.len() > MOST_ROUNDS || words.iter().any(|word| word.dynamic) {
            let from = from_all(&words);
            scope.forget(&name, &from);
            return self.rounds(scope, |reader, scope| reader.walk(body, src, scope));
        }
        for word in words {
            scope.set(&name, word.to_value());
            self.walk(body, src, scope);
        }
    }

    /// What a round leaves behind is there in the next one.
    fn rounds(&mut self, scope: &mut Scope, mut round: impl FnMut(&mut Self, &mut Scope)) {
        if !self.spend(scope.size()) {
            return;
        }
        let before = scope.clone();
        round(self, scope);
        if scope.differs(&before) {
            scope.meet(&before);
            round(self, scope);
        }
    }

    /// What is behind a condition may or may not have happened afterwards.
    fn branches(&mut self, node: Node<'_>, src: &str, scope: &mut Scope) {
        let before = scope.clone();
        let condition = node.child_by_field_name("condition");
        let mut ends = Vec::new();
        let mut narrowed = None;
        for child in named_children(node) {
            if matches!(child.kind(), "elif_clause" | "else_clause" | "case_item")
                && self.spend(before.size())
            {
                let mut branch = before.clone();
                let names = narrowed_by_item(node, child, src);
                let whole = branch.narrow(&names);
                self.walk(child, src, &mut branch);
                branch.widen(whole);
                ends.push(branch);
            } else {
                self.walk(child, src, scope);
            }
            if condition == Some(child) {
                scope.cwd.worked();
                let names = if node.kind() == "if_statement" { narrowed_by(child, src) } else { Vec::new() };
                narrowed = Some(scope.narrow(&names));
            }
        }
        if let Some(whole) = narrowed {
            scope.widen(whole);
        }
        for end in ends.iter().chain([&before]) {
            if !self.spend(end.size()) {
                return;
            }
            scope.meet(end);
        }
    }

    /// A function's body is read where it is called, with what is known there.
    fn define(&mut self, node: Node<'_>, src: &str, scope: &mut Scope) {
        let (Some(name), Some(body)) = (node.child_by_field_name("name"), node.child_by_field_name("body"))
        else {
            return;
        };
        let body: Arc<str> = slice(body, src).into();
        self.defined.push((Arc::clone(&body), scope.clone()));
        scope.define(slice(name, src), body);
    }
}

/// `NAME='value'` without its quotes, as far as one can see.
fn unquoted(pair: &str) -> String {
    pair.chars().filter(|c| !matches!(c, '\'' | '"')).collect()
}

/// Whether a loop without an end starts something in the background in each round, and waits for
/// none of it; or makes a file in each.
fn starts_without_end(node: Node<'_>, src: &str) -> bool {
    let condition = node.child_by_field_name("condition").map(|condition| slice(condition, src));
    let forever = |text: &str| {
        let text: String = text.chars().filter(|c| !c.is_whitespace() && *c != ';').collect();
        text.starts_with("sleep0")
            || matches!(
                text.as_str(),
                "true" | ":" | "1" | "[1]" | "[[1]]" | "((1))" | "/bin/true" | "false" | "!false"
            )
    };
    let endless = condition.is_none_or(forever);
    if endless && makes_without_end(node, src) {
        return true;
    }
    let Some(body) = node.child_by_field_name("body").filter(|_| endless) else { return false };
    let children: Vec<_> = body.children(&mut body.walk()).collect();
    let inside = |child: &Node<'_>| child.kind() == "subshell" && slice(*child, src).contains(" &");
    let background = children.iter().any(|child| child.kind() == "&" || inside(child));
    let pauses = |child: &Node<'_>| {
        let text = slice(*child, src).trim_start();
        ["wait", "sleep", "read ", "inotifywait"].iter().any(|word| text.starts_with(word))
    };
    let paused =
        children.windows(2).any(|pair| matches!(pair, [first, next] if pauses(first) && next.kind() != "&"));
    background && !paused
}

/// Whether the rounds of a loop make files, never pause, and nothing in them ends the loop.
fn makes_without_end(node: Node<'_>, src: &str) -> bool {
    let Some(body) = node.child_by_field_name("body") else { return false };
    let text = slice(body, src);
    let mut words = text.split(|c: char| c.is_whitespace() || matches!(c, ';' | '(' | ')' | '{' | '}' | '`'));
    let ends = |word: &str| {
        matches!(
            word,
            "break" | "exit" | "return" | "sleep" | "wait" | "read" | "inotifywait" | "kill" | "usleep"
        )
    };
    if words.clone().any(ends) {
        return false;
    }
    let makes = |word: &str| {
        matches!(word, "mkdir" | "touch" | "mktemp" | "dd" | "fallocate" | "truncate" | "mkfifo" | "cp")
    };
    let says = |word: &str| matches!(word, "echo" | "printf" | "cat" | "head" | "yes" | "date");
    let kept = text.contains('>') && !text.contains("/dev/null") && !text.contains(">&");
    words.any(|word| makes(word) || kept && says(word))
}
