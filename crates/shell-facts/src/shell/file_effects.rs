// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Adds the effects of commands on files, resolved where the command runs.

use std::sync::Arc;

use tenterhook_paths::{FileOp, PathFact, WrittenPath, expand_tilde};

use super::super::described_command::DescribedCommand;
use super::super::effect::{self, FileEffect, OperandEffect};
use super::ShellReader;
use super::command::{alternative_paths, path_fact};
use super::exec_site::ExecSite;
use super::invoke::Redirections;
use super::scope::ShellScope;
use super::word::ShellWord;

impl ShellReader<'_> {
    /// Adds the effects of a program according to its description, and the effect that the program file is run.
    pub(super) fn add_program_effects(
        &mut self,
        first: &ShellWord,
        described: Option<&DescribedCommand<'_>>,
        program: &str,
        scope: &ShellScope,
    ) {
        if self.skips_effects {
            return;
        }
        if first.text.contains('/') && !first.text.contains("://") {
            self.add_effect(FileOp::Run, first, program, scope);
        }
        for requested in described.map(effect::program_effects).unwrap_or_default() {
            self.add_operand_effect(&requested, program, scope);
        }
    }

    /// Adds the effects of redirections, which the shell performs.
    pub(super) fn add_redirect_effects(&mut self, io: &Redirections, program: &str, scope: &ShellScope) {
        for (does, path) in &io.touched {
            if *does == FileOp::Read && scope.is_own_file(path) {
                continue;
            }
            let effect = FileEffect {
                does: *does,
                path: path.clone(),
                recursive: false,
                by: program.to_owned(),
                on: scope.site.on,
                certainty: self.certainty.max(path.certainty()),
                span: self.span,
            };
            self.push_effect(effect, &scope.site);
        }
    }

    /// Adds one operation on one word.
    pub(super) fn add_effect(&mut self, does: FileOp, word: &ShellWord, program: &str, scope: &ShellScope) {
        self.add_operand_effect(&OperandEffect::new(does, word), program, scope);
    }

    pub(super) fn add_operand_effect(
        &mut self,
        requested: &OperandEffect,
        program: &str,
        scope: &ShellScope,
    ) {
        let word = &requested.path;
        if word.is_process || word.text.is_empty() || word.is("-") {
            return;
        }
        // Nothing is known about paths on a machine beyond this one.
        let remote = requested.on.filter(|on| *on > scope.site.on);
        let remote_scope = remote.map(|on| {
            scope.clone().at_site(Arc::new(ExecSite::nested(&scope.site, on, None, Vec::new())), None)
        });
        let scope = remote_scope.as_ref().unwrap_or(scope);
        let roots = &scope.site.roots;
        let whole = expand_tilde(&word.shape, &roots.home).filter(|_| requested.inner);
        let expanded = whole.map(|shape| ShellWord { shape, ..word.clone() });
        let word = expanded.as_ref().unwrap_or(word);
        let main = path_fact(word, roots, scope.cwd.expected());
        let others = alternative_paths(word, &main, roots, &scope.cwd);
        for path in std::iter::once(main).chain(others) {
            if requested.does == FileOp::Read && scope.is_own_file(&path) {
                continue;
            }
            let (does, recursive) = (
                requested.does,
                requested.recursive || requested.does == FileOp::Delete && names_whole_directory(&path),
            );
            let effect = FileEffect {
                does,
                recursive,
                by: program.to_owned(),
                on: scope.site.on,
                certainty: self.certainty.max(path.certainty()),
                span: self.span,
                path,
            };
            self.push_effect(effect, &scope.site);
        }
    }

    /// Adds an effect to the file system in which it takes place, which may be that of an outer site if the directory
    /// is mounted.
    fn push_effect(&mut self, effect: FileEffect, site: &ExecSite) {
        if let Some(path) = effect.path.resolved.as_deref() {
            if effect::is_device_without_content(path) && effect.does != FileOp::Delete {
                return;
            }
            if let Some((outer, path)) = site.path_outside(path) {
                let effect = relocate_effect(&effect, outer, &path);
                return self.push_effect(effect, outer);
            }
            let below: Vec<_> =
                site.mounts_below(path).map(|(outer, path)| (Arc::clone(outer), path.to_owned())).collect();
            for (outer, path) in below.iter().filter(|_| effect.recursive) {
                self.push_effect(relocate_effect(&effect, outer, path), outer);
            }
        }
        self.effects.push(effect);
    }
}

/// Whether a pattern names everything below a directory (`./**`), or everything in a directory outside the project
/// (`~/x/*`).
pub fn names_whole_directory(path: &PathFact) -> bool {
    let last = path.resolved.as_deref().and_then(|path| path.rsplit('/').next()).unwrap_or_default();
    path.pattern
        && !path.dynamic
        && (path.in_project.is_none() || last == "**")
        && last.contains('*')
        && last.chars().all(|c| matches!(c, '*' | '?' | '.'))
}

/// Moves an effect to a path in the outer site.
fn relocate_effect(effect: &FileEffect, outer: &ExecSite, path: &str) -> FileEffect {
    let PathFact { dynamic, pattern, .. } = effect.path;
    let found = WrittenPath { text: path, shape: path, dynamic, pattern };
    FileEffect { path: outer.roots.classify(&found, None), on: outer.on, ..effect.clone() }
}
