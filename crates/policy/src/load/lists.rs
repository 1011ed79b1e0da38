// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Expands `"@name"` references to named lists of globs in a rule file.

use std::borrow::Cow;
use std::collections::BTreeMap;

use tenterhook_document::{Misfit, Node, Spot, Value, nearest};

/// Maximum length of a list after references are expanded.
const MAX_LIST_ENTRIES: usize = 10_000;

/// The named lists of one file.
pub(super) struct NamedLists(BTreeMap<String, Vec<Node>>);

impl NamedLists {
    /// Reads `lists:`. A list may refer to lists before it.
    pub(super) fn read(node: Option<&Node>, report: &mut impl FnMut(Spot, String, &str)) -> Self {
        let mut lists = Self(BTreeMap::new());
        let Some(node) = node else { return lists };
        let Value::Map(entries) = &node.value else {
            report(node.spot, "`lists` must be a map from names to lists".into(), "");
            return lists;
        };
        for (key, value) in entries {
            let Some(name) = key.text().filter(|name| is_name(name)) else {
                report(key.spot, "a list name may have lower-case letters, digits, `-` and `_`".into(), "");
                continue;
            };
            let Value::List(items) = &value.value else {
                report(value.spot, format!("the list `{name}` must be a list"), "");
                continue;
            };
            match lists.items(items) {
                Ok(items) => {
                    if lists.0.insert(name.to_owned(), items).is_some() {
                        report(
                            key.spot,
                            format!("the list `{name}` is defined twice; the later one is used"),
                            "",
                        );
                    }
                }
                Err(misfit) => report(misfit.spot, misfit.message, "rules that use it are not active"),
            }
        }
        lists
    }

    /// Replaces every `"@name"` in the `match` of a rule.
    pub(super) fn open<'a>(&self, rule: &'a Node) -> Result<Cow<'a, Node>, Misfit> {
        let Value::Map(entries) = &rule.value else { return Ok(Cow::Borrowed(rule)) };
        let Some(at) = entries.iter().position(|(key, value)| key.text() == Some("match") && uses(value))
        else {
            return Ok(Cow::Borrowed(rule));
        };
        let mut entries = entries.clone();
        if let Some((_, value)) = entries.get_mut(at) {
            *value = self.within(value)?;
        }
        Ok(Cow::Owned(Node { spot: rule.spot, value: Value::Map(entries) }))
    }

    fn within(&self, node: &Node) -> Result<Node, Misfit> {
        let value = match &node.value {
            Value::Map(entries) => {
                let entries = entries.iter().map(|(key, value)| {
                    // A regular expression may start with `@`.
                    let value = if key.text() == Some("regex") { value.clone() } else { self.within(value)? };
                    Ok((key.clone(), value))
                });
                Value::Map(entries.collect::<Result<_, _>>()?)
            }
            Value::List(items) => Value::List(self.items(items)?),
            Value::Text(text) if reference(text).is_some() => {
                Value::List(self.items(std::slice::from_ref(node))?)
            }
            other => other.clone(),
        };
        Ok(Node { spot: node.spot, value })
    }

    fn items(&self, items: &[Node]) -> Result<Vec<Node>, Misfit> {
        let mut opened = Vec::with_capacity(items.len());
        for item in items {
            let Some((taken, name)) = item.text().and_then(reference) else {
                opened.push(self.within(item)?);
                continue;
            };
            let Some(list) = self.0.get(name) else {
                let near = nearest(name, self.0.keys().map(String::as_str));
                let near = near.map(|near| format!("; did you mean `@{near}`?")).unwrap_or_default();
                return Err(Misfit { spot: item.spot, message: format!("unknown list `{name}`{near}") });
            };
            for one in list {
                match one.text() {
                    Some(text) if taken => {
                        let text = match text.strip_prefix('!') {
                            Some(_) => continue,
                            None => format!("!{text}"),
                        };
                        opened.push(Node { spot: one.spot, value: Value::Text(text) });
                    }
                    _ => opened.push(one.clone()),
                }
            }
            if opened.len() > MAX_LIST_ENTRIES {
                return Err(Misfit {
                    spot: item.spot,
                    message: format!("the list grows beyond {MAX_LIST_ENTRIES} entries"),
                });
            }
        }
        Ok(opened)
    }
}

/// Whether a node contains a reference.
fn uses(node: &Node) -> bool {
    match &node.value {
        Value::Map(entries) => entries.iter().any(|(_, value)| uses(value)),
        Value::List(items) => items.iter().any(uses),
        Value::Text(text) => reference(text).is_some(),
        _ => false,
    }
}

/// Returns the list that a string refers to, and whether it is excluded (`!`). `@scope/name` is a package, not a
/// reference.
fn reference(text: &str) -> Option<(bool, &str)> {
    let (taken, rest) = match text.strip_prefix('!') {
        Some(rest) => (true, rest),
        None => (false, text),
    };
    rest.strip_prefix('@').filter(|name| is_name(name)).map(|name| (taken, name))
}

fn is_name(text: &str) -> bool {
    let fits = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '-' | '_');
    !text.is_empty() && text.chars().all(fits)
}
