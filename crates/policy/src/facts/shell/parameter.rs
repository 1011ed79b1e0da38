// SPDX-License-Identifier: Apache-2.0 OR MIT

//! `${…}`: variables with their defaults, and arrays.

use tree_sitter::Node;

use super::Reader;
use super::expand::slice;
use super::scope::Scope;
use super::transform::{STEPS, transform};
use super::word::{Atom, Expansion};

impl Reader {
    /// `${NAME}` and those of its forms that keep a known value, or put another in its place.
    pub(super) fn parameter(&mut self, node: Node<'_>, src: &str, scope: &mut Scope) -> Expansion {
        let text = slice(node, src);
        let inner = text.strip_prefix("${").and_then(|rest| rest.strip_suffix('}')).unwrap_or_default();
        // `${!name}` is the variable whose name the other holds.
        if let Some(held) = inner.strip_prefix('!').filter(|held| !held.is_empty()) {
            self.walk_children(node, src, scope);
            let target = scope.get(held).and_then(|value| plain(&value));
            let value = target.and_then(|target| scope.get(&target));
            return value.unwrap_or_else(|| Expansion::unknown(text, false));
        }
        let (name, operator) = split_name(inner);
        if let Some(index) = operator.strip_prefix('[') {
            self.walk_children(node, src, scope);
            let key = index.strip_suffix(']').unwrap_or_default();
            return self.keyed(name, key, scope).unwrap_or_else(|| element(name, index, text, scope));
        }
        let value = scope.get(name);
        let form =
            [":-", ":=", ":?", ":+", "-", "=", "?", "+"].into_iter().find(|form| operator.starts_with(form));
        let Some(form) = form else {
            self.walk_children(node, src, scope);
            return match value {
                Some(value) if operator.is_empty() => value,
                Some(_) if !self.spend(STEPS) => Expansion::unknown(text, false),
                Some(value) => match plain(&value).and_then(|value| transform(&value, operator)) {
                    Some(made) => Expansion { from: value.from, ..Expansion::literal(&made) },
                    None => Expansion { from: value.from, ..Expansion::unknown(text, false) },
                },
                None => Expansion::unknown(text, false),
            };
        };
        // Nobody can see the variables of the machine; a line that brings a default means the default.
        let start = node.start_byte() + "${".len() + name.len() + form.len();
        let other = self.part(node, start..node.end_byte().saturating_sub(1), src, scope, true);
        let unset = value.as_ref().is_none_or(|value| form.starts_with(':') && value.atoms.is_empty());
        match (form.trim_start_matches(':'), value) {
            ("+", Some(value)) if !value.atoms.is_empty() => other,
            ("+", Some(_)) => Expansion::default(),
            ("+", None) => Expansion { from: other.from, ..Expansion::unknown(text, false) },
            ("-", _) if unset => other,
            ("=", _) if unset => {
                scope.set(name, other.clone().into_value());
                other
            }
            (_, Some(value)) => value,
            (_, None) => Expansion::unknown(text, false),
        }
    }
}

impl Reader {
    /// `${NAME[key]}` of an array with keys: the value, or each of them where the key is not known.
    fn keyed(&mut self, name: &str, key: &str, scope: &Scope) -> Option<Expansion> {
        if key.is_empty() || matches!(key, "@" | "*") || key.parse::<usize>().is_ok() {
            return None;
        }
        let bare = key.trim_matches(['"', '\'']);
        let known = match bare.strip_prefix('$') {
            Some(variable) => {
                let variable = variable.trim_start_matches('{').trim_end_matches('}');
                scope.get(variable).and_then(|value| plain(&value))
            }
            None => Some(bare.to_owned()),
        };
        let value = known.and_then(|key| match key.parse() {
            Ok(at) => scope.element(name, at),
            Err(_) => scope.get(&format!("{name}[{key}]")),
        });
        if value.is_some() {
            return value;
        }
        let choice = self.choice.as_mut()?;
        let values = scope.elements(name);
        choice.ways = choice.ways.max(values.len());
        values.get(choice.taken.min(values.len().saturating_sub(1))).cloned()
    }
}

/// The text of a value, if all of it is known.
pub(super) fn plain(value: &Expansion) -> Option<String> {
    value.atoms.iter().map(Atom::letter).collect()
}

fn split_name(inner: &str) -> (&str, &str) {
    if let Some(rest) = inner.strip_prefix(['@', '*']) {
        return inner.split_at_checked(inner.len() - rest.len()).unwrap_or((inner, ""));
    }
    let end = inner.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(inner.len());
    inner.split_at_checked(end).unwrap_or((inner, ""))
}

/// `${NAME[@]}`, `${NAME[*]}`, `${NAME[0]}`
fn element(name: &str, index: &str, text: &str, scope: &Scope) -> Expansion {
    let unknown = || Expansion::list(text);
    let Some((index, more)) = index.split_once(']') else { return unknown() };
    let value = match index {
        "@" | "*" => scope.list(name),
        index => index.parse().ok().and_then(|at| scope.element(name, at)),
    };
    match value {
        Some(value) if more.is_empty() && index == "*" => value.into_value(),
        Some(value) if more.is_empty() => value,
        Some(value) => Expansion { from: value.from, ..unknown() },
        None => unknown(),
    }
}
