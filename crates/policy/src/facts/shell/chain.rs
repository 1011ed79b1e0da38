// SPDX-License-Identifier: Apache-2.0 OR MIT

//! `a && b || c`: what runs only because something before it worked, or did not.

use tree_sitter::Node;

use super::Reader;
use super::expand::{named_children, slice};
use super::narrow::narrowed_by;
use super::scope::Scope;

/// One step of a chain.
pub(super) struct Link<S> {
    pub(super) step: S,
    /// Whether it runs if what is before it did not work, rather than if it did.
    pub(super) or_else: bool,
    /// Whether it cannot fail, so that what comes after `&&` runs.
    pub(super) sure: bool,
    /// Whether nothing after it runs.
    pub(super) leaves: bool,
}

impl Reader {
    /// `a && b || c` leans to the left, as deep as it is long.
    pub(super) fn chain(&mut self, node: Node<'_>, redirects: &[Node<'_>], src: &str, scope: &mut Scope) {
        let mut links = Vec::new();
        let link = |step, or_else| {
            let (sure, leaves) = (always_works(step, src), leaves(step, src));
            Link { step: (step, Vec::new()), or_else, sure, leaves }
        };
        let mut left = node;
        while left.kind() == "list" {
            let or_else = left.children(&mut left.walk()).any(|child| child.kind() == "||");
            let mut children = named_children(left).into_iter();
            let Some(first) = children.next() else { break };
            links.extend(children.rev().map(|right| link(right, or_else)));
            left = first;
        }
        links.push(link(left, false));
        links.reverse();
        // What is behind `&&` runs because the conditions before it hold.
        let mut names: Vec<String> = Vec::new();
        for link in &mut links {
            if link.or_else {
                names.clear();
            }
            let (step, narrowed) = &mut link.step;
            narrowed.clone_from(&names);
            names.extend(narrowed_by(*step, src));
        }
        let walk = |reader: &mut Self, (step, names): (Node<'_>, Vec<String>), last, scope: &mut Scope| {
            let before = scope.narrow(&names);
            reader.walk_with(step, if last { redirects } else { &[] }, src, scope);
            scope.widen(before);
        };
        self.linked(links, walk, scope);
    }

    /// Walks the steps of a chain; which is the last one is said.
    pub(super) fn linked<S>(
        &mut self,
        links: Vec<Link<S>>,
        mut walk: impl FnMut(&mut Self, S, bool, &mut Scope),
        scope: &mut Scope,
    ) {
        // What a chain leaves behind if it stops early.
        let mut stopped: Vec<Scope> = Vec::new();
        let mut sure = true;
        let last = links.len().saturating_sub(1);
        for (at, link) in links.into_iter().enumerate() {
            if at == 0 {
                walk(self, link.step, at == last, scope);
            } else if !self.spend(scope.size()) {
                return;
            } else if link.or_else {
                let mut worked = scope.clone();
                for other in stopped.drain(..) {
                    scope.meet(&other);
                }
                walk(self, link.step, at == last, scope);
                if link.leaves {
                    worked.cwd.worked();
                    *scope = worked;
                } else {
                    scope.meet(&worked);
                }
            } else {
                if !sure {
                    stopped.push(scope.clone());
                }
                scope.cwd.worked();
                walk(self, link.step, at == last, scope);
            }
            sure &= link.sure;
        }
        for other in &stopped {
            scope.meet(other);
        }
    }
}

/// Whether the program cannot fail.
pub(super) fn never_fails(program: &str) -> bool {
    matches!(program, "echo" | "printf" | ":" | "true" | "set" | "export")
}

/// Whether the program ends what it stands in.
pub(super) fn never_returns(program: &str) -> bool {
    matches!(program, "exit" | "return" | "break" | "continue")
}

/// Whether a command cannot fail, so that what comes after `&&` runs.
fn always_works(node: Node<'_>, src: &str) -> bool {
    match node.kind() {
        "variable_assignment" | "variable_assignments" | "declaration_command" => true,
        "command" => never_fails(first_word(node, src)),
        _ => false,
    }
}

/// Whether nothing after it runs: `exit 1`, `{ echo no; exit 1; }`.
fn leaves(node: Node<'_>, src: &str) -> bool {
    let last = match node.kind() {
        "compound_statement" => named_children(node).last().copied().unwrap_or(node),
        _ => node,
    };
    last.kind() == "command" && never_returns(first_word(last, src))
}

fn first_word<'s>(node: Node<'_>, src: &'s str) -> &'s str {
    slice(node, src).split_whitespace().next().unwrap_or_default()
}
