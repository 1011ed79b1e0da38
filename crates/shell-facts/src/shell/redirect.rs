// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Redirections: files, here-documents and `<(…)` into a command, its output into files and `>(…)`.

use tenterhook_paths::Does;
use tenterhook_shell as ast;

use super::Reader;
use super::command::fact;
use super::invoke::Redirections;
use super::scope::{Scope, Stream};
use super::walk::Source;
use super::word::{Expansion, Word};

impl Reader<'_> {
    /// What a redirection does to the input and the files of the command.
    pub(super) fn open_redirect(
        &mut self,
        redirect: &ast::Redirect,
        src: &Source,
        io: &mut Redirections,
        scope: &mut Scope,
    ) {
        let word = match &redirect.target {
            ast::RedirectTarget::HereDocument(document) => {
                let Some(body) = document.body() else { return };
                if let Some(text) = body.literal() {
                    scope.stdin = Stream { texts: vec![text.into()], ..Stream::default() };
                    return;
                }
                let start = self.commands.len();
                let text = self.expand(&body.parts, src, scope).in_quotes();
                let from = (start..self.commands.len()).collect();
                return self.give_text(Expansion { from, ..text }, scope);
            }
            ast::RedirectTarget::Word(word) => word,
        };
        // `>(…)` runs after the command, on what it prints.
        if output_process(redirect).is_some() {
            return;
        }
        let value = self.expand(&word.parts, src, scope);
        match redirect.operator {
            ast::RedirectOperator::HereString => self.give_text(value, scope),
            ast::RedirectOperator::Read if value.process => scope.stdin = self.stream(value.from),
            operator => self.open(operator.text(), &value.into_word(), io, scope),
        }
    }

    /// Text of the script becomes standard input.
    fn give_text(&mut self, text: Expansion, scope: &mut Scope) {
        let word = text.into_word();
        let typed = self.prints_typed(&word.from);
        scope.stdin = Stream { from: word.from, texts: vec![word.text.into()], typed };
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
        let is_both = sign == "<>";
        if (!sign.starts_with('<') || is_both) && !socket {
            io.outputs.push(path.clone());
            if !is_both {
                return;
            }
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

    /// What these commands print, as an input.
    fn stream(&self, from: Vec<usize>) -> Stream {
        let (texts, typed) = (self.texts_of(&from), self.prints_typed(&from));
        Stream { from, texts, typed }
    }

    /// Runs the commands of `> >(…)` on what was printed.
    pub(super) fn run_output_process(
        &mut self,
        redirect: &ast::Redirect,
        src: &Source,
        printed: &Stream,
        scope: &Scope,
    ) {
        if let Some(process) = output_process(redirect) {
            self.walk_subshell(&process.script, src, &scope.fed(printed));
        }
    }
}

/// The process that a redirection writes to: `> >(…)`.
fn output_process(redirect: &ast::Redirect) -> Option<&ast::ProcessSubstitution> {
    let ast::RedirectTarget::Word(word) = &redirect.target else { return None };
    match word.parts.as_slice() {
        [ast::WordPart::Process(process)] if redirect.operator.writes() => Some(process),
        _ => None,
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
