// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Assignments: plain ones, arrays, and those of `declare`, `local` and `export`.

use tree_sitter::Node;

use super::Reader;
use super::expand::{named_children, slice};
use super::scope::Scope;
use super::word::{Expansion, Word};

impl Reader {
    pub(super) fn assign(&mut self, node: Node<'_>, src: &str, scope: &mut Scope) {
        let Some(target) = node.child_by_field_name("name") else { return };
        let element = target.kind() == "subscript";
        let name = slice(target.child_by_field_name("name").unwrap_or(target), src);
        let Some(value) = node.child_by_field_name("value") else {
            // `NAME=` with nothing behind it.
            return scope.set(name, Expansion::default());
        };
        let adds = node.children(&mut node.walk()).any(|child| child.kind() == "+=");
        if value.kind() == "array" {
            let mut words = Vec::new();
            let mut keyed = Vec::new();
            for child in named_children(value) {
                if let Some(key) = key_of(slice(child, src)) {
                    let word = self.expand(child, src, scope).into_word();
                    let value = word.tail(word.text.find("]=").map_or(0, |at| at + "]=".len()));
                    keyed.push((format!("{name}[{key}]"), value.to_value()));
                    words.push(value);
                } else {
                    words.extend(self.words(child, src, scope));
                }
            }
            scope.set_list(name, &words, adds);
            for (name, value) in keyed {
                scope.set(&name, value);
            }
            return;
        }
        let mut value = self.expand(value, src, scope).into_value();
        if element {
            if let Some(key) =
                target.child_by_field_name("index").and_then(|index| bare_key(slice(index, src)))
            {
                scope.set(&format!("{name}[{key}]"), value.clone());
            } else {
                scope.forget_keys(name);
            }
            // Which place it takes matters less than that it is one of them.
            if scope.elements(name).is_empty() && scope.get(name).is_none_or(|value| value.atoms.is_empty()) {
                scope.set_list(name, &[], false);
            }
            return scope.set_list(name, &[value.into_word()], true);
        }
        if adds {
            let mut whole = scope.get(name).unwrap_or_else(|| Expansion::unknown(&format!("${name}"), false));
            whole.append(value);
            value = whole;
        }
        self.hooked(name, &value.clone().into_word(), scope);
        scope.set(name, value);
    }

    pub(super) fn declare(&mut self, node: Node<'_>, src: &str, scope: &mut Scope) {
        let keyword = slice(node, src).split_whitespace().next().unwrap_or_default();
        let mut reference = false;
        for child in named_children(node) {
            match child.kind() {
                "variable_assignment" => {
                    let name =
                        child.child_by_field_name("name").map(|name| slice(name, src)).unwrap_or_default();
                    if keyword != "export" && keyword != "readonly" {
                        scope.localize(name);
                    }
                    self.assign(child, src, scope);
                    if keyword == "export" {
                        scope.export(name);
                    }
                    if reference {
                        let target = child.child_by_field_name("value").map(|value| slice(value, src));
                        scope.forget(target.unwrap_or_default(), &[]);
                        scope.forget(name, &[]);
                    }
                }
                "variable_name" if keyword == "local" => {
                    scope.localize(slice(child, src));
                    scope.set(slice(child, src), Expansion::default());
                }
                "variable_name" if keyword == "export" => scope.export(slice(child, src)),
                "variable_name" => {}
                _ => {
                    let words = self.words(child, src, scope);
                    reference |=
                        words.iter().any(|word| word.text.starts_with('-') && word.text.contains('n'));
                    declare_words(&words, scope);
                }
            }
        }
    }
}

/// `declare "NAME=value"`, `builtin export NAME=value`
pub(super) fn declare_words(words: &[Word], scope: &mut Scope) {
    for word in words {
        if let Some((name, value)) = word.text.split_once('=') {
            if word.dynamic {
                scope.forget(name, &word.from);
            } else {
                scope.set(name, Expansion::literal(value));
            }
        }
    }
}

/// The key of `[key]=value`, if it is plain.
fn key_of(element: &str) -> Option<&str> {
    let (key, _) = element.strip_prefix('[')?.split_once("]=")?;
    bare_key(key)
}

fn bare_key(key: &str) -> Option<&str> {
    let key = key.trim_matches(['"', '\'']);
    let plain = !key.is_empty() && !key.contains(['$', '`', '"', '\'', '\\', '[']);
    plain.then_some(key)
}
