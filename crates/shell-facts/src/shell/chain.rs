// SPDX-License-Identifier: Apache-2.0 OR MIT

//! `a && b || c`: what runs only because something before it succeeded or failed.

use tenterhook_shell as ast;

use super::Reader;
use super::narrow::narrowed_by_pipeline;
use super::scope::Scope;
use super::walk::Source;

impl Reader<'_> {
    pub(super) fn walk_chain(&mut self, statement: &ast::Statement, src: &Source, scope: &mut Scope) {
        if statement.rest.is_empty() {
            return self.walk_pipeline(&statement.first, src, scope);
        }
        // What a chain leaves behind if it stops early.
        let mut stopped: Vec<Scope> = Vec::new();
        let mut succeeds = always_succeeds(&statement.first);
        // What is behind `&&` runs because the conditions before it hold.
        let mut names = narrowed_by_pipeline(&statement.first, src);
        self.walk_pipeline(&statement.first, src, scope);
        for ast::ChainedPipeline { operator, pipeline } in &statement.rest {
            if !self.spend(scope.size() + names.len() / 4) {
                return;
            }
            match operator {
                ast::ChainOperator::Or => {
                    names.clear();
                    let mut worked = scope.clone();
                    for other in stopped.drain(..) {
                        scope.meet(&other);
                    }
                    self.walk_pipeline(pipeline, src, scope);
                    if never_returns(pipeline) {
                        worked.cwd.worked();
                        *scope = worked;
                    } else {
                        scope.meet(&worked);
                    }
                }
                ast::ChainOperator::And => {
                    if !succeeds {
                        stopped.push(scope.clone());
                    }
                    scope.cwd.worked();
                    let before = scope.narrow(&names);
                    self.walk_pipeline(pipeline, src, scope);
                    scope.widen(before);
                }
            }
            names.extend(narrowed_by_pipeline(pipeline, src));
            succeeds &= always_succeeds(pipeline);
        }
        for other in &stopped {
            scope.meet(other);
        }
    }
}

/// The only command of a pipeline.
fn only_command(pipeline: &ast::Pipeline) -> Option<&ast::Command> {
    match pipeline.stages.as_slice() {
        [only] if pipeline.negations == 0 => Some(&only.command),
        _ => None,
    }
}

/// Whether what comes after `&&` runs in any case.
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

/// Whether nothing after it runs: `exit 1`, `{ echo no; exit 1; }`.
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
