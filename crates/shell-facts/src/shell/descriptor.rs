// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Connects texts that a script writes to a descriptor or a named pipe with the shell that reads them there.
//!
//! The reader is started before the text is written: `exec 3> >(sh); echo 'rm -rf x' >&3`, `coproc sh`, `mkfifo p`.

use std::sync::Arc;

use tenterhook_programs::Language;
use tenterhook_shell as ast;

use super::ShellReader;
use super::command::ShellCommand;
use super::interpreter::language_of;
use super::redirect::output_process;
use super::scope::{InputStream, ShellScope};
use super::walk::{FunctionBody, SourceText};
use super::word::ShellWord;

/// Maximum number of commands and named pipes whose input is followed.
const MAX_OPEN_SINKS: usize = 8;

/// A command that reads what the rest of the script writes to a descriptor.
#[derive(Debug)]
pub(super) struct OpenSink {
    body: FunctionBody,
    scope: ShellScope,
    /// Index of the first command that may write to the descriptor.
    first: usize,
    /// Whether the command receives the standard output of the script.
    takes_stdout: bool,
}

impl ShellReader<'_> {
    /// Stores the processes of `exec > >(…)`, which read the output of the rest of the script.
    pub(super) fn note_redirected_shell(
        &mut self,
        redirects: &[ast::Redirect],
        src: &SourceText,
        scope: &ShellScope,
    ) {
        for redirect in redirects {
            if let Some(process) = output_process(redirect) {
                let takes_stdout = matches!(redirect.descriptor, None | Some(ast::Descriptor::Number(1)));
                let kind = ast::Compound::Subshell(process.script.clone());
                let compound = ast::CompoundCommand { kind, redirects: Vec::new(), span: process.span };
                self.add_sink(ast::Command::Compound(Box::new(compound)), takes_stdout, src, scope);
            }
        }
    }

    /// Stores a command that reads what the rest of the script writes.
    pub(super) fn add_sink(
        &mut self,
        command: ast::Command,
        takes_stdout: bool,
        src: &SourceText,
        scope: &ShellScope,
    ) {
        if self.open_sinks.len() < MAX_OPEN_SINKS && self.spend_steps(scope.size()) {
            let body = FunctionBody::from_command(command, src);
            let first = self.commands.len();
            self.open_sinks.push(OpenSink { body, scope: scope.clone(), first, takes_stdout });
        }
    }

    /// Records that the next command writes to another descriptor: `>&3`, `>&$fd`.
    pub(super) fn note_descriptor(&mut self, sign: &str, word: &ShellWord) {
        if sign.starts_with('>') && !self.open_sinks.is_empty() && !matches!(word.text.as_str(), "1" | "2") {
            self.descriptor_writers.push(self.commands.len());
        }
    }

    /// Analyses the commands that read from descriptors again, now with the texts that were written there.
    pub(super) fn run_open_sinks(&mut self) {
        for sink in std::mem::take(&mut self.open_sinks) {
            let mut written = InputStream::default();
            if sink.takes_stdout {
                self.collect_output(sink.first, &mut written);
            } else {
                let writers = self.descriptor_writers.iter().copied();
                written.from = writers.filter(|writer| *writer >= sink.first).collect();
                written.texts = self.printed_by(&written.from);
            }
            if !written.texts.is_empty() {
                self.walk_function(&sink.body, &mut sink.scope.with_stdin(&written));
            }
        }
        self.descriptor_writers.clear();
    }

    /// Analyses texts that are written to a named pipe as commands, if a shell of the same call may read the pipe.
    pub(super) fn run_pipe_texts(&mut self, scope: &ShellScope) {
        let makes_pipe = |command: &&ShellCommand| matches!(command.program.as_str(), "mkfifo" | "mknod");
        let pipes = self.commands.iter().filter(makes_pipe).flat_map(|command| &command.operands);
        let pipes: Vec<String> =
            pipes.filter_map(|path| path.resolved.clone()).take(MAX_OPEN_SINKS).collect();
        if pipes.is_empty() || !self.commands.iter().any(|command| self.runs_other_input(command)) {
            return;
        }
        for pipe in pipes {
            let writers = self.find_writers(&pipe, scope);
            for text in self.printed_by(&writers) {
                self.read_text(&text, &mut scope.started_by("mkfifo"));
            }
        }
    }

    /// Whether a command is a shell that runs a file or its input.
    fn runs_other_input(&self, command: &ShellCommand) -> bool {
        language_of(&command.program, self.programs) == Some(Language::Shell)
            && !command.words.iter().any(|word| word.is("-c"))
    }

    /// Follows a program that is copied or linked to a new name: `cp /bin/rm x; ./x -rf ~`.
    pub(super) fn note_renamed_program(
        &mut self,
        program: &str,
        words: &[ShellWord],
        scope: &mut ShellScope,
    ) {
        if !matches!(program, "cp" | "ln" | "mv" | "install") {
            return;
        }
        let mut operands = words.iter().rev().filter(|word| !word.text.starts_with('-'));
        let (Some(to), Some(from)) = (operands.next(), operands.next()) else { return };
        let Some((directory, name)) = from.text.rsplit_once('/') else { return };
        let new_name = to.text.rsplit('/').next().unwrap_or_default();
        let is_system = matches!(directory, "/bin" | "/usr/bin" | "/sbin" | "/usr/sbin");
        let is_new = !new_name.is_empty() && self.programs.find(new_name).is_none();
        if is_system && is_new && self.programs.find(name).is_some() {
            scope.add_function(new_name, Arc::new(FunctionBody::starting(&from.text)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::read_text;

    fn runs_rm(line: &str) -> bool {
        read_text(line).commands.iter().any(|command| command.program == "rm")
    }

    #[test]
    fn text_written_to_a_descriptor_is_run_by_the_shell_behind_it() {
        for line in [
            "exec 3> >(sh); echo 'rm -rf ~' >&3",
            "exec {fd}> >(sh); echo 'rm -rf ~' >&$fd",
            "exec > >(bash); echo rm -rf ~",
            "coproc sh; echo 'rm -rf ~' >&${COPROC[1]}",
            "sh /dev/fd/3 3<<<'rm -rf ~'",
            "mkfifo /tmp/p; sh /tmp/p & echo 'rm -rf ~' > /tmp/p",
            "mkfifo p; bash < p & printf 'rm -rf ~\\n' > p",
        ] {
            assert!(runs_rm(line), "{line}");
        }
        for line in [
            "exec > >(tee log); echo rm -rf ~",
            "exec 3> >(cat); echo 'rm -rf ~' >&3",
            "exec 3> >(sh); echo 'rm -rf ~' >&2",
            "coproc bc; echo 'rm -rf ~' >&${COPROC[1]}",
            "mkfifo p; cat p & echo 'rm -rf ~' > p",
        ] {
            assert!(!runs_rm(line), "{line}");
        }
    }

    #[test]
    fn a_renamed_program_is_still_the_same_program() {
        for line in [
            "cp /bin/rm /tmp/x; /tmp/x -rf ~",
            "ln -s /usr/bin/rm x && ./x -rf ~",
            "install -m 755 /bin/rm ~/bin/tidy; tidy -rf ~",
        ] {
            assert!(runs_rm(line), "{line}");
        }
        for line in
            ["cp build/rm /tmp/x; /tmp/x -rf ~", "cp /bin/rm bin/; ./x -rf ~", "cp /bin/rm x; ./y -rf ~"]
        {
            assert!(!runs_rm(line), "{line}");
        }
    }
}
