// SPDX-License-Identifier: Apache-2.0 OR MIT

//! One command with its words: what it is, and what it starts in its turn.

use std::sync::Arc;

use super::super::effect::{Does, Side};
use super::super::path::PathFact;
use super::command::ShellCommand;
use super::decode::decoder;
use super::expand::unescape;
use super::interpreter::interpreter;
use super::launch::broadcast;
use super::scope::Scope;
use super::side::Where;
use super::word::Word;
use super::wrappers::{Wrapped, unwrap};
use super::{MOST_COMMANDS, Reader, find, others};

/// Programs that print a part of what they get, unchanged.
const FILTERS: &[&str] = &["grep", "egrep", "fgrep", "sort", "uniq", "head", "tail"];

/// Files redirected into and out of a command.
#[derive(Debug, Clone, Default)]
pub(super) struct Redirections {
    pub(super) inputs: Vec<PathFact>,
    pub(super) outputs: Vec<PathFact>,
    /// What the shell does to those files before the command starts.
    pub(super) touched: Vec<(Does, PathFact)>,
}

impl Redirections {
    /// For what the command starts in its turn: the files have been opened.
    fn inherited(&self) -> Self {
        Self { touched: Vec::new(), ..self.clone() }
    }
}

impl Reader {
    /// A command without redirections.
    pub(super) fn invoke(&mut self, words: &[Word], scope: &mut Scope) {
        self.run(words, &Redirections::default(), scope);
    }

    /// Redirections that belong to no single command: `$(<file)`, `{ …; } < file`, `> file`.
    pub(super) fn bare(&mut self, io: &Redirections, words: &[Word], scope: &Scope) {
        if io.inputs.is_empty() && io.outputs.is_empty() {
            return;
        }
        let direction = if io.inputs.is_empty() { ">" } else { "<" };
        let mut all = vec![Word::literal(direction)];
        all.extend_from_slice(words);
        if let Some(command) = ShellCommand::new(&all, &scope.place.ground, &scope.cwd) {
            let by = command.program.clone();
            if self.push(ShellCommand { via: scope.via.clone(), on: scope.place.on, ..command }, io) {
                self.touch_redirected(io, &by, scope);
            }
        }
    }

    fn push(&mut self, command: ShellCommand, io: &Redirections) -> bool {
        if self.commands.len() >= MOST_COMMANDS {
            self.exhausted = true;
            return false;
        }
        self.commands.push(ShellCommand {
            inputs: io.inputs.clone(),
            outputs: io.outputs.clone(),
            ..command
        });
        true
    }

    pub(super) fn run(&mut self, words: &[Word], io: &Redirections, scope: &mut Scope) {
        let Some(mut command) = ShellCommand::new(words, &scope.place.ground, &scope.cwd) else { return };
        if !self.spend(words.len()) || !self.enter() {
            return;
        }
        let rest = words.get(1..).unwrap_or_default();
        let program = command.program.clone();
        command.via.clone_from(&scope.via);
        command.on = scope.place.on;
        command.host.clone_from(&scope.place.host);
        command.given.clone_from(&scope.stdin.texts);
        // What is decoded is gone through letter by letter.
        let size: usize = scope.stdin.texts.iter().map(|text| text.len()).sum();
        if decoder(&program, rest).is_none() || self.spend(size / 64) {
            command.said = said(&program, rest, scope);
        }
