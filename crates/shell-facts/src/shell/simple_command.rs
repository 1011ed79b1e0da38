// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Walks simple commands: assignments, words and redirections.

use tenterhook_shell as ast;

use super::ShellReader;
use super::invoke::Redirections;
use super::scope::{InputStream, ShellScope};
use super::walk::SourceText;
use super::word::{ExpandedText, ShellWord};

/// Maximum number of times a command is read if its words depend on an unknown key of a known array.
const MAX_ALTERNATIVES: usize = 16;

/// Which element of an array a command is read with.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct ElementChoice {
    pub(super) taken: usize,
    /// Number of elements.
    pub(super) ways: usize,
}

impl ShellReader<'_> {
    /// Walks a simple command, once for each possible element if it uses an unknown key of a known array.
    pub(super) fn walk_simple_command(
        &mut self,
        command: &ast::SimpleCommand,
        src: &SourceText,
        scope: &mut ShellScope,
    ) {
        // The scope is not copied here, because each assignment would then copy all variables.
        if command.words.is_empty() || declaration_keyword(command).is_some() {
            return self.walk_chosen_command(command, src, scope);
        }
        let outer = self.element_choice.replace(ElementChoice::default());
        let before = scope.clone();
        self.walk_chosen_command(command, src, scope);
        let ways = self.element_choice.map_or(0, |choice| choice.ways).min(MAX_ALTERNATIVES);
        for taken in 1..ways {
            if !self.spend_steps(before.size()) {
                break;
            }
            self.element_choice = Some(ElementChoice { taken, ways: 0 });
            let mut other = before.clone();
            self.walk_chosen_command(command, src, &mut other);
            scope.merge_with(&other);
        }
        self.element_choice = outer;
    }

    fn walk_chosen_command(
        &mut self,
        command: &ast::SimpleCommand,
        src: &SourceText,
        scope: &mut ShellScope,
    ) {
        if command.words.is_empty() {
            for assignment in &command.assignments {
                self.assign(assignment, src, scope);
            }
            return self.with_redirects(&command.redirects, src, scope, |reader, io, scope| {
                reader.enter_span(command.span);
                reader.add_bare_redirects(io, &[], scope);
            });
        }
        let environment = self.assign_for_command(&command.assignments, src, scope);
        if let Some(keyword) = declaration_keyword(command) {
            return self.with_redirects(&command.redirects, src, scope, |reader, io, scope| {
                reader.declare(keyword, command.words.get(1..).unwrap_or_default(), src, scope);
                reader.enter_span(command.span);
                reader.add_bare_redirects(io, &[], scope);
            });
        }
        match command.program().as_deref() {
            Some("unset" | "unsetenv") => {
                for word in command.words.iter().skip(1) {
                    for word in self.expand_words(word, src, scope) {
                        self.run_evaluated_words("unset", std::slice::from_ref(&word), scope);
                        scope.set(&word.text, ExpandedText::default());
                    }
                }
                return;
            }
            // A test only inspects files, but its words may run commands.
            Some("[") if scope.find_function("[").is_none() => {
                let mut words = Vec::new();
                for word in command.words.iter().skip(1) {
                    words.push(self.expand(&word.parts, src, scope).into_word());
                }
                self.run_evaluated_words("test", &words, scope);
                return self.with_redirects(&command.redirects, src, scope, |reader, io, scope| {
                    reader.enter_span(command.span);
                    reader.add_bare_redirects(io, &[], scope);
                });
            }
            _ => {}
        }
        let start = self.commands.len();
        let mut words = Vec::with_capacity(command.words.len());
        // `>(…)` receives the output of the command, so it is read after the command.
        let mut sinks = Vec::new();
        for word in &command.words {
            if let [ast::WordPart::Process(process)] = word.parts.as_slice()
                && process.direction == ast::ProcessDirection::Write
            {
                words.extend(ExpandedText::unknown(process.span.text(src), true).into_words());
                sinks.push(process);
            } else {
                words.extend(self.expand_words(word, src, scope));
            }
        }
        if matches!(words.as_slice(), [only] if only.is("exec")) {
            self.note_redirected_shell(&command.redirects, src, scope);
        }
        self.with_redirects(&command.redirects, src, scope, |reader, io, scope| {
            reader.enter_span(command.span);
            if words.is_empty() {
                reader.add_bare_redirects(io, &[], scope);
            } else {
                reader.run_with_environment(&words, io, &environment, scope);
            }
            if sinks.is_empty() {
                return;
            }
            let mut written = InputStream { from_terminal: false, ..scope.stdin.clone() };
            reader.collect_output(start, &mut written);
            for sink in sinks {
                reader.walk_subshell(&sink.script, src, &scope.with_stdin(&written));
            }
        });
    }

    fn run_with_environment(
        &mut self,
        words: &[ShellWord],
        io: &Redirections,
        environment: &CommandEnvironment,
        scope: &mut ShellScope,
    ) {
        let start = self.commands.len();
        // `IFS=, read a b`: the builtin uses the separators.
        let is_read = words.first().is_some_and(|word| word.is("read"));
        match environment.separators.as_ref().filter(|_| is_read) {
            None => self.run_command(words, io, scope),
            Some(separators) => {
                let before = scope.get("IFS").filter(|before| *before != ExpandedText::literal(" "));
                scope.set("IFS", separators.clone());
                self.run_command(words, io, scope);
                scope.restore("IFS", before);
            }
        }
        if words.first().is_some_and(|word| word.is("git")) {
            self.run_git_variables(&environment.pairs, scope);
        }
        self.add_environment(start, &environment.pairs);
    }

    /// Returns the assignments before a command. They only set its environment: `$NAME` in the same command has the
    /// old value.
    fn assign_for_command(
        &mut self,
        assignments: &[ast::Assignment],
        src: &SourceText,
        scope: &mut ShellScope,
    ) -> CommandEnvironment {
        let mut all = CommandEnvironment::default();
        // These variables are set for this command only.
        let redirects_later = self.redirects_later;
        for assignment in assignments {
            if &*assignment.name == "CDPATH" {
                self.assign(assignment, src, scope);
                continue;
            }
            all.pairs.push(without_quotes(assignment.span.text(src)));
            let mut environment = scope.clone();
            self.assign(assignment, src, &mut environment);
            if &*assignment.name == "IFS" {
                all.separators = environment.get("IFS");
            }
        }
        self.redirects_later = redirects_later;
        all
    }
}

/// Builtins whose words are names and assignments of variables.
pub const DECLARING_BUILTINS: &[&str] = &["declare", "export", "local", "readonly", "typeset"];

/// Returns the keyword after which words are assignments.
fn declaration_keyword(command: &ast::SimpleCommand) -> Option<&'static str> {
    let first = command.words.first()?;
    DECLARING_BUILTINS.iter().copied().find(|keyword| first.is_unquoted(keyword))
}

/// The assignments before a command.
#[derive(Default)]
struct CommandEnvironment {
    /// Assignments as `NAME=value`.
    pairs: Vec<String>,
    /// Value assigned to `IFS`.
    separators: Option<ExpandedText>,
}

fn without_quotes(pair: &str) -> String {
    pair.chars().filter(|c| !matches!(c, '\'' | '"')).collect()
}
