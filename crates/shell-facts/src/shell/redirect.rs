// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Applies redirections from files, here-documents and `<(…)`, and to files and `>(…)`.

use tenterhook_paths::FileOp;
use tenterhook_shell as ast;

use super::ShellReader;
use super::command::path_fact;
use super::invoke::Redirections;
use super::scope::{InputStream, ShellScope};
use super::walk::SourceText;
use super::word::{ExpandedText, ShellWord};

impl ShellReader<'_> {
    /// Applies a redirection to the input and the files of a command.
    pub(super) fn open_redirect(
        &mut self,
        redirect: &ast::Redirect,
        src: &SourceText,
        io: &mut Redirections,
        scope: &mut ShellScope,
    ) {
        let word = match &redirect.target {
            ast::RedirectTarget::HereDocument(document) => {
                let Some(body) = document.body() else { return };
                if let Some(text) = body.literal() {
                    scope.stdin = InputStream { texts: vec![text.into()], ..InputStream::default() };
                    return;
                }
                let start = self.commands.len();
                let text = self.expand(&body.parts, src, scope).in_quotes();
                let from = (start..self.commands.len()).collect();
                return self.set_stdin_text(ExpandedText { from, ..text }, scope);
            }
            ast::RedirectTarget::Word(word) => word,
        };
        // `>(…)` is read after the command, whose output it receives.
        if output_process(redirect).is_some() {
            return;
        }
        let value = self.expand(&word.parts, src, scope);
        match redirect.operator {
            ast::RedirectOperator::HereString => self.set_stdin_text(value, scope),
            ast::RedirectOperator::Read if value.is_process => scope.stdin = self.output_stream(value.from),
            operator => {
                let is_other = matches!(redirect.descriptor, Some(ast::Descriptor::Number(2..)))
                    && operator.text() != "<>";
                let is_joined = !is_other && operator.text() == ">&";
                let (word, known) = (value.into_word(), io.outputs.len());
                io.joins_errors |=
                    is_joined && matches!(&*word.text, "2" | "3" | "4" | "5" | "6" | "7" | "8" | "9");
                self.open_file(operator.text(), &word, io, scope);
                if is_other {
                    io.error_outputs.extend(io.outputs.drain(known..));
                }
            }
        }
    }

    /// Uses text from the script as standard input.
    fn set_stdin_text(&mut self, text: ExpandedText, scope: &mut ShellScope) {
        let word = text.into_word();
        let from_terminal = self.prints_typed(&word.from);
        scope.stdin = InputStream { from: word.from, texts: vec![word.text.into()], from_terminal };
    }

    /// Opens a file for a command, according to the redirection operator.
    pub(super) fn open_file(
        &mut self,
        sign: &str,
        word: &ShellWord,
        io: &mut Redirections,
        scope: &mut ShellScope,
    ) {
        // `2>&1` and `>&-` name no file.
        let number = word.text.trim_end_matches('-').chars().all(|c| c.is_ascii_digit());
        if sign.get(1..).is_some_and(|sign| sign.starts_with('&')) && (number || word.dynamic) {
            self.note_descriptor(sign, word);
            if !word.dynamic {
                return;
            }
        }
        let path = path_fact(word, &scope.site.roots, scope.cwd.expected());
        io.touched.extend(redirect_ops(sign).iter().map(|does| (*does, path.clone())));
        // A socket is read and written.
        let socket = ["/dev/tcp/", "/dev/udp/"].iter().any(|start| path.text.starts_with(start));
        let is_both = sign == "<>";
        if (!sign.starts_with('<') || is_both) && !socket {
            io.outputs.push(path.clone());
            if !is_both {
                return;
            }
        }
        // The content of a file is known if an earlier command of the call wrote it.
        if let Some(resolved) = &path.resolved {
            let from = self.find_writers(resolved, scope);
            let texts = self.printed_by(&from);
            scope.stdin.from_terminal = self.is_terminal(resolved, scope) || self.prints_typed(&from);
            if !texts.is_empty() {
                scope.stdin = InputStream { from, texts, from_terminal: scope.stdin.from_terminal };
            }
        } else {
            scope.stdin.from_terminal = false;
        }
        io.inputs.push(path);
    }

    /// Returns the output of these commands as an input stream.
    fn output_stream(&self, from: Vec<usize>) -> InputStream {
        let (texts, from_terminal) = (self.printed_by(&from), self.prints_typed(&from));
        InputStream { from, texts, from_terminal }
    }

    /// Reads the commands of `> >(…)` with the printed output as input.
    pub(super) fn run_output_process(
        &mut self,
        redirect: &ast::Redirect,
        src: &SourceText,
        printed: &InputStream,
        scope: &ShellScope,
    ) {
        if let Some(process) = output_process(redirect) {
            self.walk_subshell(&process.script, src, &scope.with_stdin(printed));
        }
    }
}

/// Returns the process that a redirection writes to: `> >(…)`.
pub(super) fn output_process(redirect: &ast::Redirect) -> Option<&ast::ProcessSubstitution> {
    let ast::RedirectTarget::Word(word) = &redirect.target else { return None };
    match word.parts.as_slice() {
        [ast::WordPart::Process(process)] if redirect.operator.writes() => Some(process),
        _ => None,
    }
}

/// Returns the operations of a redirection operator on its file.
fn redirect_ops(sign: &str) -> &'static [FileOp] {
    match sign {
        _ if sign.starts_with("<>") => &[FileOp::Read, FileOp::Append],
        _ if sign.starts_with('<') => &[FileOp::Read],
        _ if sign.starts_with(">>") || sign.starts_with("&>>") => &[FileOp::Append],
        _ => &[FileOp::Write],
    }
}
