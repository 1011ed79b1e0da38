// SPDX-License-Identifier: Apache-2.0 OR MIT

//! What a command does to files, put in the place where it runs.

use std::sync::Arc;

use tenterhook_paths::{Does, Found, PathFact, expand_tilde};

use super::super::described_command::DescribedCommand;
use super::super::effect::{self, Effect, Touch};
use super::Reader;
use super::command::{elsewhere, fact};
use super::invoke::Redirections;
use super::scope::Scope;
use super::side::Where;
use super::word::Word;

impl Reader<'_> {
    /// What the table says of a program with these words, and that it is run at all.
    pub(super) fn touch_all(
        &mut self,
        first: &Word,
        described: Option<&DescribedCommand<'_>>,
        program: &str,
        scope: &Scope,
    ) {
        if self.quiet {
            return;
        }
        if first.text.contains('/') && !first.text.contains("://") {
            self.touch(Does::Run, first, program, scope);
        }
        for touch in described.map(effect::touches).unwrap_or_default() {
            self.touched(&touch, program, scope);
        }
    }

    /// What the shell does to the files that a command is redirected from and to.
    pub(super) fn touch_redirected(&mut self, io: &Redirections, program: &str, scope: &Scope) {
        for (does, path) in &io.touched {
            let effect = Effect {
                does: *does,
                path: path.clone(),
                recursive: false,
                by: program.to_owned(),
                on: scope.place.on,
                certainty: self.certainty.max(path.certainty()),
                span: self.span,
            };
            self.add(effect, &scope.place);
        }
    }

    /// One thing done to one word.
    pub(super) fn touch(&mut self, does: Does, word: &Word, program: &str, scope: &Scope) {
        self.touched(&Touch::new(does, word), program, scope);
    }

    pub(super) fn touched(&mut self, touch: &Touch, program: &str, scope: &Scope) {
        let word = &touch.path;
        if word.process || word.text.is_empty() || word.is("-") {
            return;
        }
        // What is on yet another machine is seen from nowhere.
        let far = touch.on.filter(|on| *on > scope.place.on);
        let beyond = far
            .map(|on| scope.clone().moved(Arc::new(Where::beyond(&scope.place, on, None, Vec::new())), None));
        let scope = beyond.as_ref().unwrap_or(scope);
        let ground = &scope.place.ground;
        let whole = expand_tilde(&word.shape, &ground.home).filter(|_| touch.inner);
        let expanded = whole.map(|shape| Word { shape, ..word.clone() });
        let word = expanded.as_ref().unwrap_or(word);
        let main = fact(word, ground, scope.cwd.main());
        let others = elsewhere(word, &main, ground, &scope.cwd);
        for path in std::iter::once(main).chain(others) {
            let (does, recursive) =
                (touch.does, touch.deep || touch.does == Does::Delete && takes_all(&path));
            let effect = Effect {
                does,
                recursive,
                by: program.to_owned(),
                on: scope.place.on,
                certainty: self.certainty.max(path.certainty()),
                span: self.span,
                path,
            };
            self.add(effect, &scope.place);
        }
    }

    /// Adds an effect where it really happens: a directory may be mounted from further out.
    fn add(&mut self, effect: Effect, place: &Where) {
        if let Some(path) = effect.path.resolved.as_deref() {
            if effect::is_nothing(path) && effect.does != Does::Delete {
                return;
            }
            if let Some((outer, path)) = place.outside(path) {
                let effect = moved(&effect, outer, &path);
                return self.add(effect, outer);
            }
            let below: Vec<_> =
                place.mounted_below(path).map(|(outer, path)| (Arc::clone(outer), path.to_owned())).collect();
            for (outer, path) in below.iter().filter(|_| effect.recursive) {
                self.add(moved(&effect, outer, path), outer);
            }
        }
        self.effects.push(effect);
    }
}

/// Whether it names all that is in a directory, which is not of the project: `~/x/*`.
pub fn takes_all(path: &PathFact) -> bool {
    let last = path.resolved.as_deref().and_then(|path| path.rsplit('/').next()).unwrap_or_default();
    path.pattern
        && !path.dynamic
        && path.in_project.is_none()
        && last.contains('*')
        && last.chars().all(|c| matches!(c, '*' | '?' | '.'))
}

/// The same effect on a path further out.
fn moved(effect: &Effect, outer: &Where, path: &str) -> Effect {
    let PathFact { dynamic, pattern, .. } = effect.path;
    let found = Found { text: path, shape: path, dynamic, pattern };
    Effect { path: outer.ground.fact(&found, None), on: outer.on, ..effect.clone() }
}
