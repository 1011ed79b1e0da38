// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Redirections: files, here-documents and `<(…)` into a command, its output into files and `>(…)`.

use tree_sitter::Node;

use super::super::effect::Does;
use super::Reader;
use super::command::fact;
use super::expand::{named_children, slice};
use super::invoke::Redirections;
use super::scope::{Scope, Stream};
use super::word::Word;

impl Reader {
    pub(super) fn redirected(&mut self, node: Node<'_>, src: &str, scope: &mut Scope) {
        let redirects: Vec<_> = node.children_by_field_name("redirect", &mut node.walk()).collect();
        self.redirected_body(node.child_by_field_name("body"), &redirects, src, scope);
    }

    /// The grammar puts a redirection around the whole of `a && b > f`; it belongs to the last command.
    pub(super) fn redirected_body(
        &mut self,
        body: Option<Node<'_>>,
        redirects: &[Node<'_>],
        src: &str,
        scope: &mut Scope,
    ) {
        match body {
            Some(list) if list.kind() == "list" => return self.chain(list, redirects, src, scope),
            Some(pipeline) if pipeline.kind() == "pipeline" => {
                return self.pipeline(&named_children(pipeline), redirects, src, scope);
            }
            _ => {}
        }
        let outer = scope.stdin.clone();
        let mut io = Redirections::default();
        let mut more = Vec::new();
        for redirect in redirects {
            more.extend(self.redirect(*redirect, src, &mut io, scope));
        }
        let start = self.commands.len();
        match body {
            Some(body) if body.kind() == "command" => self.command(body, src, &io, &more, scope),
            Some(body) => {
                self.walk(body, src, scope);
                self.bare(&io, &more, scope);
            }
            None => self.bare(&io, &more, scope),
        }
        let mut printed = Stream::default();
        self.flow(start, &mut printed);
        scope.stdin = outer;
        for redirect in redirects {
            self.after_redirect(*redirect, src, &printed, scope);
        }
    }

    /// What a redirection does to the input of the command; returns words that are not its own.
    pub(super) fn redirect(
        &mut self,
        node: Node<'_>,
        src: &str,
        io: &mut Redirections,
        scope: &mut Scope,
    ) -> Vec<Word> {
        let mut more = Vec::new();
        match node.kind() {
            "file_redirect" => {
                let sign = slice(node, src).trim_start_matches(|c: char| c.is_ascii_digit());
                let into = sign.starts_with('<');
                let targets: Vec<_> = node.children_by_field_name("destination", &mut node.walk()).collect();
                for (at, target) in targets.into_iter().enumerate() {
                    // `>(…)` runs after the command and on what it prints.
                    if at == 0 && !into && target.kind() == "process_substitution" {
                        continue;
                    }
                    // The number of `0>&1` is no word.
                    let behind = src.as_bytes().get(target.end_byte());
                    if at > 0
                        && matches!(behind, Some(b'<' | b'>'))
                        && slice(target, src).bytes().all(|c| c.is_ascii_digit())
                    {
                        continue;
                    }
                    let value = self.expand(target, src, scope);
                    // The grammar takes the words after a redirection for more targets.
                    if at > 0 {
                        more.extend(value.into_words());
                    } else if into && value.process {
                        scope.stdin = self.stream(value.from);
                    } else {
                        self.open(sign, &value.into_word(), io, scope);
                    }
                }
            }
            "herestring_redirect" => return self.here_string(node, src, scope),
            "heredoc_redirect" => {
                for child in named_children(node) {
                    match child.kind() {
                        "heredoc_body" => {
                            let start = self.commands.len();
                            self.walk_children(child, src, scope);
                            let from: Vec<_> = (start..self.commands.len()).collect();
                            let typed = self.prints_typed(&from);
                            scope.stdin = Stream { from, texts: vec![slice(child, src).into()], typed };
                        }
                        "file_redirect" | "herestring_redirect" => {
                            more.extend(self.redirect(child, src, io, scope));
                        }
                        _ => {}
                    }
                }
                let arguments: Vec<_> = node.children_by_field_name("argument", &mut node.walk()).collect();
                for argument in arguments {
                    more.extend(self.words(argument, src, scope));
                }
            }
            _ => self.walk_children(node, src, scope),
        }
        more
    }

    /// A file that the shell opens for a command, by the sign before it.
    pub(super) fn open(&mut self, sign: &str, word: &Word, io: &mut Redirections, scope: &mut Scope) {
        // `2>&1`, `>&-`: no file.
        let number = word.text.trim_end_matches('-').chars().all(|c| c.is_ascii_digit());
        if sign.get(1..).is_some_and(|sign| sign.starts_with('&')) && number && !word.dynamic {
            return;
        }
        let path = fact(word, &scope.place.ground, scope.cwd.main());
        io.touched.extend(opened(sign).iter().map(|does| (*does, path.clone())));
        // A socket is read as well as written.
        let socket = ["/dev/tcp/", "/dev/udp/"].iter().any(|start| path.text.starts_with(start));
        if !sign.starts_with('<') && !socket {
            return io.outputs.push(path);
        }
        // A file that the same line has written holds what was written to it.
        if let Some(resolved) = &path.resolved {
            let from = self.writers(resolved, scope);
            let texts = self.texts_of(&from);
            scope.stdin.typed = self.is_terminal(resolved, scope) || self.prints_typed(&from);
            if !texts.is_empty() {
                scope.stdin = Stream { from, texts, typed: scope.stdin.typed };
            }
        } else {
            scope.stdin.typed = false;
        }
        io.inputs.push(path);
    }

    /// `<<< text`; returns the words behind it.
    fn here_string(&mut self, node: Node<'_>, src: &str, scope: &mut Scope) -> Vec<Word> {
        let mut children = named_children(node).into_iter().filter(|child| child.kind() != "file_descriptor");
        let mut more = Vec::new();
        if let Some(child) = children.next() {
            let word = self.expand(child, src, scope).into_word();
            let typed = self.prints_typed(&word.from);
            scope.stdin = Stream { from: word.from, texts: vec![word.text.into()], typed };
        }
        for child in children {
            more.extend(self.words(child, src, scope));
        }
        more
    }

    /// What these commands print, as an input.
    fn stream(&self, from: Vec<usize>) -> Stream {
        let (texts, typed) = (self.texts_of(&from), self.prints_typed(&from));
        Stream { from, texts, typed }
    }

    /// What stands behind a redirection and runs after the command: `<<EOF | sh`, `<<EOF && x`, `>(sh)`.
    pub(super) fn after_redirect(&mut self, node: Node<'_>, src: &str, printed: &Stream, scope: &mut Scope) {
        for child in named_children(node) {
            match child.kind() {
                "pipeline" => {
                    let piped = scope.fed(printed);
                    self.pipeline(&named_children(child), &[], src, &piped);
                }
                "process_substitution" if slice(child, src).starts_with('>') => {
                    let piped = scope.fed(printed);
                    self.subshell(child, src, &piped);
                }
                "file_redirect" => self.after_redirect(child, src, printed, scope),
                _ => {}
            }
        }
        if let Some(right) = node.child_by_field_name("right") {
            self.walk(right, src, scope);
        }
    }
}

/// What a sign does to the file behind it.
fn opened(sign: &str) -> &'static [Does] {
    match sign {
        _ if sign.starts_with("<>") => &[Does::Read, Does::Append],
        _ if sign.starts_with('<') => &[Does::Read],
        _ if sign.starts_with(">>") || sign.starts_with("&>>") => &[Does::Append],
        _ => &[Does::Write],
    }
}
