// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Walks chains such as `a && b || c`, whose commands run only if an earlier one succeeded or failed.

use std::sync::Arc;

use tenterhook_shell as ast;

use super::ShellReader;
use super::narrow::narrowed_by_pipeline;
use super::scope::ShellScope;
use super::walk::SourceText;

impl ShellReader<'_> {
    pub(super) fn walk_chain(
        &mut self,
        statement: &ast::Statement,
        src: &SourceText,
        scope: &mut ShellScope,
    ) {
        // The command that wrote a file may have failed, unless its failure ends the chain. `set -e` does not end a
        // script in functions whose result is tested.
        scope.own_files = Arc::default();
        if statement.rest.is_empty() {
            return self.walk_pipeline(&statement.first, src, scope);
        }
        // Scopes in which the chain may have stopped early.
        let mut stopped: Vec<ShellScope> = Vec::new();
        let mut succeeds = always_succeeds(&statement.first);
        // A command after `&&` runs only if the conditions before it are true.
        let mut names = narrowed_by_pipeline(&statement.first, src);
        self.walk_link(&statement.first, src, scope);
        for ast::ChainedPipeline { operator, pipeline } in &statement.rest {
            if !self.spend_steps(scope.size() + names.len() / 4) {
                return;
            }
            match operator {
                ast::ChainOperator::Or => {
                    names.clear();
                    scope.own_files = Arc::default();
                    let mut worked = scope.clone();
                    for other in stopped.drain(..) {
                        scope.merge_with(&other);
                    }
                    self.walk_pipeline(pipeline, src, scope);
                    if never_returns(pipeline) {
                        worked.cwd.assume_success();
                        *scope = worked;
                    } else {
                        scope.merge_with(&worked);
                    }
                }
                ast::ChainOperator::And => {
                    if !succeeds {
                        stopped.push(scope.clone());
                    }
                    scope.cwd.assume_success();
                    let before = scope.narrow_variables(&names);
                    self.walk_link(pipeline, src, scope);
                    scope.restore_variables(before);
                }
            }
            names.extend(narrowed_by_pipeline(pipeline, src));
            succeeds &= always_succeeds(pipeline);
        }
        for other in &stopped {
            scope.merge_with(other);
        }
    }

    /// Walks a pipeline that a command after `&&` may follow.
    fn walk_link(&mut self, pipeline: &ast::Pipeline, src: &SourceText, scope: &mut ShellScope) {
        let known = Arc::clone(&scope.own_files);
        self.walk_pipeline(pipeline, src, scope);
        if scope.own_files != known && !writes_directly(pipeline) {
            Arc::make_mut(&mut scope.own_files).retain(|file| known.contains(file));
        }
    }
}

/// Whether the success of a pipeline means that the file of its redirection was written: `echo x > file`.
fn writes_directly(pipeline: &ast::Pipeline) -> bool {
    let Some(ast::Command::Simple(simple)) = only_command(pipeline) else { return false };
    simple.program().is_some_and(|program| matches!(&*program, "cat" | "echo" | "printf"))
}

/// Returns the command of a pipeline with a single stage.
fn only_command(pipeline: &ast::Pipeline) -> Option<&ast::Command> {
    match pipeline.stages.as_slice() {
        [only] if pipeline.negations == 0 => Some(&only.command),
        _ => None,
    }
}

/// Whether the command after `&&` always runs.
fn always_succeeds(pipeline: &ast::Pipeline) -> bool {
    let Some(ast::Command::Simple(simple)) = only_command(pipeline) else { return false };
    if simple.words.is_empty() {
        return !simple.assignments.is_empty();
    }
    simple.redirects.is_empty()
        && simple.program().is_some_and(|program| {
            matches!(
                &*program,
                "echo"
                    | "printf"
                    | ":"
                    | "true"
                    | "set"
                    | "export"
                    | "declare"
                    | "typeset"
                    | "local"
                    | "readonly"
            )
        })
}

/// Whether nothing after the pipeline runs: `exit 1`, `{ echo no; exit 1; }`.
fn never_returns(pipeline: &ast::Pipeline) -> bool {
    match only_command(pipeline) {
        Some(ast::Command::Simple(simple)) => simple
            .program()
            .is_some_and(|program| matches!(&*program, "exit" | "return" | "break" | "continue")),
        Some(ast::Command::Compound(compound)) => match &compound.kind {
            ast::Compound::Group(script) => script.statements.last().is_some_and(|last| {
                last.rest.is_empty() && !last.is_background() && never_returns(&last.first)
            }),
            _ => false,
        },
        _ => false,
    }
}
