// SPDX-License-Identifier: Apache-2.0 OR MIT

//! What a command does to files, put in the place where it runs.

use super::super::effect::{self, Does, Effect, Side, Touch};
use super::super::home_of;
use super::super::path::PathFact;
use super::Reader;
use super::command::{elsewhere, fact};
use super::invoke::Redirections;
use super::scope::Scope;
use super::word::Word;

impl Reader<'_> {
    /// What the table says of a program with these words, and that it is run at all.
    pub(super) fn touch_all(&mut self, words: &[Word], program: &str, scope: &Scope) {
        let Some((first, rest)) = words.split_first().filter(|_| !self.quiet) else { return };
        if first.text.contains('/') && !first.text.contains("://") {
            self.touch(Does::Run, first, program, scope);
        }
        for touch in effect::touches(program, rest) {
            self.touched(&touch, program, scope);
        }
    }

    /// What the shell does to the files that a command is redirected from and to.
    pub(super) fn touch_redirected(&mut self, io: &Redirections, program: &str, scope: &Scope) {
        for (does, path) in &io.touched {
            self.add(*does, path.clone(), false, program, Side::Here);
        }
    }

    /// One thing done to one word.
    pub(super) fn touch(&mut self, does: Does, word: &Word, program: &str, scope: &Scope) {
        self.touched(&Touch::new(does, word), program, scope);
    }

    fn touched(&mut self, touch: &Touch, program: &str, scope: &Scope) {
        let word = &touch.path;
        if word.process || word.text.is_empty() || word.is("-") {
            return;
        }
        let whole = home_of(&word.shape, &self.ground.home).filter(|_| touch.inner);
        let expanded = whole.map(|shape| Word { shape, ..word.clone() });
        let word = expanded.as_ref().unwrap_or(word);
        let main = fact(word, self.ground, scope.cwd.main());
        let others = elsewhere(word, &main, self.ground, &scope.cwd);
        for path in std::iter::once(main).chain(others) {
            self.add(touch.does, path, touch.deep, program, Side::Here);
        }
    }

    fn add(&mut self, does: Does, path: PathFact, recursive: bool, program: &str, on: Side) {
        let nothing = |path: &str| effect::is_nothing(path);
        if path.resolved.as_deref().is_some_and(nothing) && does != Does::Delete {
            return;
        }
        self.effects.push(Effect { does, path, recursive, by: program.to_owned(), on });
    }
}
