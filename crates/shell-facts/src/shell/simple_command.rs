// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Simple commands: assignments, words and redirections.

use tenterhook_shell as ast;

use super::Reader;
use super::invoke::Redirections;
use super::scope::{Scope, Stream};
use super::walk::Source;
use super::word::{Expansion, Word};

/// A command whose words depend on an unknown key of a known array is read at most this often.
const MAX_ALTERNATIVES: usize = 16;

/// Which of several values a command is read with.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Choice {
    pub(super) taken: usize,
    /// How many there are.
    pub(super) ways: usize,
}

impl Reader<'_> {
    /// Walks a simple command once for each value that an unknown key of a known array leaves open.
    pub(super) fn walk_simple_command(
        &mut self,
        command: &ast::SimpleCommand,
        src: &Source,
        scope: &mut Scope,
    ) {
        // A copy of the scope would make each assignment copy all variables.
        if command.words.is_empty() || declaration_keyword(command).is_some() {
            return self.walk_chosen_command(command, src, scope);
        }
        let outer = self.choice.replace(Choice::default());
        let before = scope.clone();
        self.walk_chosen_command(command, src, scope);
        let ways = self.choice.map_or(0, |choice| choice.ways).min(MAX_ALTERNATIVES);
        for taken in 1..ways {
            if !self.spend(before.size()) {
                break;
            }
            self.choice = Some(Choice { taken, ways: 0 });
            let mut other = before.clone();
            self.walk_chosen_command(command, src, &mut other);
            scope.meet(&other);
        }
        self.choice = outer;
    }

    fn walk_chosen_command(&mut self, command: &ast::SimpleCommand, src: &Source, scope: &mut Scope) {
        if command.words.is_empty() {
            for assignment in &command.assignments {
                self.assign(assignment, src, scope);
            }
            return self.redirected(&command.redirects, src, scope, |reader, io, scope| {
                reader.enter_span(command.span);
                reader.bare(io, &[], scope);
            });
        }
        let environment = self.assign_for_command(&command.assignments, src, scope);
        if let Some(keyword) = declaration_keyword(command) {
            return self.redirected(&command.redirects, src, scope, |reader, io, scope| {
                reader.declare(keyword, command.words.get(1..).unwrap_or_default(), src, scope);
                reader.enter_span(command.span);
                reader.bare(io, &[], scope);
            });
        }
        match command.program().as_deref() {
            Some("unset" | "unsetenv") => {
                for word in command.words.iter().skip(1) {
                    for word in self.words(word, src, scope) {
                        scope.set(&word.text, Expansion::default());
                    }
                }
                return;
            }
            // A test only looks at files. Its words may still run commands.
            Some("[") if scope.function("[").is_none() => {
                for word in &command.words {
                    self.expand(&word.parts, src, scope);
                }
                return self.redirected(&command.redirects, src, scope, |reader, io, scope| {
                    reader.enter_span(command.span);
                    reader.bare(io, &[], scope);
                });
            }
            _ => {}
        }
        let start = self.commands.len();
        let mut words = Vec::with_capacity(command.words.len());
        // `>(…)` runs on what the command writes, so after it.
        let mut sinks = Vec::new();
        for word in &command.words {
            if let [ast::WordPart::Process(process)] = word.parts.as_slice()
                && process.direction == ast::ProcessDirection::Write
            {
                words.extend(Expansion::unknown(process.span.text(src), true).into_words());
                sinks.push(process);
            } else {
                words.extend(self.words(word, src, scope));
            }
        }
        self.redirected(&command.redirects, src, scope, |reader, io, scope| {
            reader.enter_span(command.span);
            if words.is_empty() {
                reader.bare(io, &[], scope);
            } else {
                reader.run_with_environment(&words, io, &environment, scope);
            }
            if sinks.is_empty() {
                return;
            }
            let mut written = Stream { typed: false, ..scope.stdin.clone() };
            reader.flow(start, &mut written);
            for sink in sinks {
                reader.walk_subshell(&sink.script, src, &scope.fed(&written));
            }
        });
    }

    fn run_with_environment(
        &mut self,
        words: &[Word],
        io: &Redirections,
        environment: &CommandEnvironment,
        scope: &mut Scope,
    ) {
        let start = self.commands.len();
        // `IFS=, read a b`: the shell itself looks at the separators.
        let is_read = words.first().is_some_and(|word| word.is("read"));
        match environment.separators.as_ref().filter(|_| is_read) {
            None => self.run(words, io, scope),
            Some(separators) => {
                let before = scope.get("IFS").filter(|before| *before != Expansion::literal(" "));
                scope.set("IFS", separators.clone());
                self.run(words, io, scope);
                scope.put_back("IFS", before);
            }
        }
        self.started_with(start, &environment.pairs);
    }

    /// The assignments before a command, which are only for its environment: `$NAME` on the same line is the
    /// older value.
    fn assign_for_command(
        &mut self,
        assignments: &[ast::Assignment],
        src: &Source,
        scope: &mut Scope,
    ) -> CommandEnvironment {
        let mut all = CommandEnvironment::default();
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
        all
    }
}

/// The word that makes the words behind it assignments.
fn declaration_keyword(command: &ast::SimpleCommand) -> Option<&'static str> {
    const KEYWORDS: &[&str] = &["declare", "typeset", "export", "readonly", "local"];
    let first = command.words.first()?;
    KEYWORDS.iter().copied().find(|keyword| first.is_unquoted(keyword))
}

/// The assignments before a command.
#[derive(Default)]
struct CommandEnvironment {
    /// As `NAME=value`.
    pairs: Vec<String>,
    /// The value of `IFS`.
    separators: Option<Expansion>,
}

fn without_quotes(pair: &str) -> String {
    pair.chars().filter(|c| !matches!(c, '\'' | '"')).collect()
}
