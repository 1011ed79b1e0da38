// SPDX-License-Identifier: Apache-2.0 OR MIT

//! `a && b || c`: what runs only because something before it worked, or did not.

use tree_sitter::Node;

use super::Reader;
use super::expand::{named_children, slice};
use super::scope::Scope;

impl Reader {
    /// `a && b || c` leans to the left, as deep as it is long.
    pub(super) fn chain(&mut self, node: Node<'_>, redirects: &[Node<'_>], src: &str, scope: &mut Scope) {
        let mut rights = Vec::new();
        let mut left = node;
        while left.kind() == "list" {
            let or_else = left.children(&mut left.walk()).any(|child| child.kind() == "||");
            let mut children = named_children(left).into_iter();
            let Some(first) = children.next() else { break };
            rights.extend(children.rev().map(|right| (or_else, right)));
            left = first;
        }
        // What a chain leaves behind if it stops early.
        let mut stopped: Vec<Scope> = Vec::new();
        let mut sure = always_works(left, src);
        self.walk(left, src, scope);
        let mut left_over = rights.len();
        for (or_else, right) in rights.into_iter().rev() {
            left_over -= 1;
            let redirects = if left_over == 0 { redirects } else { &[] };
            if !self.spend(scope.size()) {
                return;
            }
            if or_else {
                let mut worked = scope.clone();
                for other in stopped.drain(..) {
                    scope.meet(&other);
                }
                self.walk_with(right, redirects, src, scope);
                if leaves(right, src) {
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
                self.walk_with(right, redirects, src, scope);
            }
            sure &= always_works(right, src);
        }
        for other in &stopped {
            scope.meet(other);
        }
    }
}

/// Whether a command cannot fail, so that what comes after `&&` runs.
fn always_works(node: Node<'_>, src: &str) -> bool {
    match node.kind() {
        "variable_assignment" | "variable_assignments" | "declaration_command" => true,
        "command" => matches!(first_word(node, src), "echo" | "printf" | ":" | "true" | "set" | "export"),
        _ => false,
    }
}

/// Whether nothing after it runs: `exit 1`, `{ echo no; exit 1; }`.
fn leaves(node: Node<'_>, src: &str) -> bool {
    let last = match node.kind() {
        "compound_statement" => named_children(node).last().copied().unwrap_or(node),
        _ => node,
    };
    last.kind() == "command" && matches!(first_word(last, src), "exit" | "return" | "break" | "continue")
}

fn first_word<'s>(node: Node<'_>, src: &'s str) -> &'s str {
    slice(node, src).split_whitespace().next().unwrap_or_default()
}
