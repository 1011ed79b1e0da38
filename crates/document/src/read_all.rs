// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Reads a node into a type and reports every mistake in it, not only the first one.

use std::collections::HashSet;

use serde::de::DeserializeOwned;

use crate::{Misfit, Node, Spot, Value, nearest, read};

/// Maximum number of reported mistakes.
const MAX_MISTAKES: usize = 20;
/// Maximum number of attempts to read a node.
const MAX_ATTEMPTS: usize = 200;
/// Position of values that are added for missing keys. No position in a file is equal to it.
const FILLER_SPOT: Spot = Spot { line: usize::MAX, column: 1 };

/// Result of reading a node: a value, and all mistakes. If there are mistakes, the value contains only the valid part
/// of the node. It is meant only for further checks.
#[derive(Debug)]
pub struct ReadAll<T> {
    /// The value, unless a required key is missing.
    pub value: Option<T>,
    /// All mistakes, in the order of the file.
    pub mistakes: Vec<Misfit>,
    /// Keys that the value lacks because of mistakes.
    pub left_out: Vec<String>,
}

impl<T> ReadAll<T> {
    /// Adds mistakes from further checks of the value, except those caused by a left-out key.
    pub fn add(&mut self, found: impl IntoIterator<Item = Misfit>) {
        let named =
            |misfit: &Misfit| self.left_out.iter().any(|key| misfit.message.contains(&format!("`{key}`")));
        let found: Vec<_> = found.into_iter().filter(|misfit| !named(misfit)).collect();
        self.mistakes.extend(found);
        self.mistakes.sort_by_key(|misfit| misfit.spot);
    }
}

/// Reads one node into a type. After each mistake, the invalid entry is removed from a copy of the node, and the copy
/// is read again.
pub fn read_all<T: DeserializeOwned>(node: &Node) -> ReadAll<T> {
    let mut mistakes = repeated_keys(node);
    let mut patched =
        PatchedNode { copy: node.clone(), removed: RemovedEntries::default(), fillers_tried: 0 };
    if !mistakes.is_empty() {
        drop_repeated(&mut patched.copy);
    }
    let mut value = None;
    for _ in 0..MAX_ATTEMPTS {
        if mistakes.len() >= MAX_MISTAKES {
            break;
        }
        let misfit = match read::<T>(&patched.copy) {
            Ok(found) => {
                value = Some(found).filter(|_| !has_filler(&patched.copy));
                break;
            }
            Err(misfit) => misfit,
        };
        let counts =
            misfit.spot != FILLER_SPOT && !patched.is_consequence(&misfit) && !is_known(&mistakes, &misfit);
        let goes_on = patched.patch(&misfit);
        if counts {
            mistakes.push(misfit);
        }
        if !goes_on {
            break;
        }
    }
    mistakes.sort_by_key(|misfit| misfit.spot);
    ReadAll { value, mistakes, left_out: patched.removed.keys }
}

/// Returns every key that occurs more than once in its map, at any depth. serde would ignore one of the values.
pub fn repeated_keys(node: &Node) -> Vec<Misfit> {
    let mut found = Vec::new();
    find_repeated(node, &mut found);
    found
}

fn find_repeated(node: &Node, found: &mut Vec<Misfit>) {
    match &node.value {
        Value::Map(entries) => {
            let mut seen = HashSet::new();
            for (key, value) in entries {
                if let Some(text) = key.text()
                    && !seen.insert(text)
                {
                    found.push(Misfit { spot: key.spot, message: format!("the key `{text}` is repeated") });
                }
                find_repeated(value, found);
            }
        }
        Value::List(items) => items.iter().for_each(|item| find_repeated(item, found)),
        _ => {}
    }
}

/// Keeps only the first entry of each repeated key.
fn drop_repeated(node: &mut Node) {
    match &mut node.value {
        Value::Map(entries) => {
            let mut seen = HashSet::new();
            entries.retain(|(key, _)| key.text().is_none_or(|text| seen.insert(text.to_owned())));
            for (_, value) in entries {
                drop_repeated(value);
            }
        }
        Value::List(items) => items.iter_mut().for_each(drop_repeated),
        _ => {}
    }
}

/// Whether the same mistake was reported before.
fn is_known(mistakes: &[Misfit], misfit: &Misfit) -> bool {
    mistakes.iter().any(|known| known.spot == misfit.spot && known.message == misfit.message)
}

/// A copy of the node from which invalid entries are removed one by one.
struct PatchedNode {
    copy: Node,
    /// Entries that were removed so far.
    removed: RemovedEntries,
    /// Number of values tried for the missing key that was added last.
    fillers_tried: usize,
}

/// Entries that were removed from the copy.
#[derive(Default)]
struct RemovedEntries {
    keys: Vec<String>,
    /// Positions of the maps and lists that lost an entry.
    out_of: Vec<Spot>,
}

impl PatchedNode {
    /// Changes the copy so that the next mistake can be found. Returns false if the copy cannot be changed for this
    /// mistake.
    fn patch(&mut self, misfit: &Misfit) -> bool {
        if let Some(name) = missing_key(misfit) {
            let name = name.to_owned();
            self.fillers_tried = 0;
            return self.add_filler(misfit.spot, &name);
        }
        if misfit.spot == FILLER_SPOT {
            self.fillers_tried += 1;
            return replace_filler(&mut self.copy, self.fillers_tried);
        }
        remove_at(&mut self.copy, misfit.spot, &mut self.removed)
    }

    /// Adds a value for a missing key to the map at this position.
    fn add_filler(&mut self, spot: Spot, name: &str) -> bool {
        let Some(node) = find_map(&mut self.copy, spot) else { return false };
        let Value::Map(entries) = &mut node.value else { return false };
        let key = Node { spot: FILLER_SPOT, value: Value::Text(name.to_owned()) };
        let Some(value) = filler_value(0) else { return false };
        // If this value does not fit, `replace_filler` tries another one. It replaces only the newest filler.
        entries.push((key, Node { spot: FILLER_SPOT, value }));
        true
    }

    /// Whether a mistake is only a consequence of a removed entry that is already reported. For example, a required
    /// key is missing because it was misspelt, or a list is empty because its only item was invalid.
    fn is_consequence(&self, misfit: &Misfit) -> bool {
        match missing_key(misfit) {
            Some(name) => self.removed.keys.iter().any(|key| key == name || nearest(key, [name]).is_some()),
            None => self.removed.out_of.contains(&misfit.spot) && !misfit.message.starts_with("unknown key"),
        }
    }
}

/// Returns the name of the key that serde reports as missing.
fn missing_key(misfit: &Misfit) -> Option<&str> {
    misfit.message.strip_prefix("missing field `")?.strip_suffix('`')
}

/// Returns a value of each type, to be tried one after the other.
fn filler_value(number: usize) -> Option<Value> {
    let text = || Value::Text("x".to_owned());
    let one = |value| vec![Node { spot: FILLER_SPOT, value }];
    match number {
        0 => Some(text()),
        1 => Some(Value::List(one(text()))),
        2 => Some(Value::Map(Vec::new())),
        3 => Some(Value::Whole(1)),
        4 => Some(Value::Bool(true)),
        5 => Some(Value::Null),
        // Several enumerations of rules and hooks accept this word.
        6 => Some(Value::Text("deny".to_owned())),
        _ => None,
    }
}

/// Tries the next value for the missing key that was added last.
fn replace_filler(node: &mut Node, number: usize) -> bool {
    let Some(value) = filler_value(number) else { return false };
    let Some(filled) = newest_filler(node) else { return false };
    filled.value = value;
    true
}

/// Returns the filler that was added last.
fn newest_filler(node: &mut Node) -> Option<&mut Node> {
    match &mut node.value {
        Value::Map(entries) => {
            let at = entries.iter().rposition(|(key, value)| key.spot == FILLER_SPOT || has_filler(value))?;
            let (key, value) = entries.get_mut(at)?;
            if key.spot == FILLER_SPOT { Some(value) } else { newest_filler(value) }
        }
        Value::List(items) => {
            let at = items.iter().rposition(has_filler)?;
            newest_filler(items.get_mut(at)?)
        }
        _ => None,
    }
}

fn has_filler(node: &Node) -> bool {
    match &node.value {
        Value::Map(entries) => {
            entries.iter().any(|(key, value)| key.spot == FILLER_SPOT || has_filler(value))
        }
        Value::List(items) => items.iter().any(has_filler),
        _ => false,
    }
}

/// Returns the innermost map at a position.
fn find_map(node: &mut Node, spot: Spot) -> Option<&mut Node> {
    let inner = match &node.value {
        Value::Map(entries) => entries.iter().position(|(_, value)| contains(value, spot)),
        Value::List(items) => items.iter().position(|item| contains(item, spot)),
        _ => None,
    };
    let Some(at) = inner else { return (node.spot == spot).then_some(node) };
    match &mut node.value {
        Value::Map(entries) => find_map(&mut entries.get_mut(at)?.1, spot),
        Value::List(items) => find_map(items.get_mut(at)?, spot),
        _ => None,
    }
}

/// Whether the node contains a map at this position.
fn contains(node: &Node, spot: Spot) -> bool {
    match &node.value {
        Value::Map(entries) => node.spot == spot || entries.iter().any(|(_, value)| contains(value, spot)),
        Value::List(items) => items.iter().any(|item| contains(item, spot)),
        _ => false,
    }
}

/// Removes the innermost entry or item at a position. Returns false if there is none.
fn remove_at(node: &mut Node, spot: Spot, removed: &mut RemovedEntries) -> bool {
    match &mut node.value {
        Value::Map(entries) => {
            if let Some((key, _)) = entries
                .iter_mut()
                .find_map(|(key, value)| remove_at(value, spot, removed).then_some((key, value)))
            {
                // If a whole value does not fit, the error is reported at its key, so the key's position is stored
                // too.
                removed.out_of.push(key.spot);
                return true;
            }
            let Some(at) = entries.iter().position(|(key, value)| key.spot == spot || value.spot == spot)
            else {
                return false;
            };
            let (key, _) = entries.remove(at);
            removed.keys.extend(key.text().map(ToOwned::to_owned));
            removed.out_of.push(node.spot);
            true
        }
        Value::List(items) => {
            if items.iter_mut().any(|item| remove_at(item, spot, removed)) {
                return true;
            }
            let Some(at) = items.iter().position(|item| item.spot == spot) else { return false };
            items.remove(at);
            removed.out_of.push(node.spot);
            true
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parse;

    #[derive(Debug, serde::Deserialize)]
    #[serde(deny_unknown_fields)]
    #[expect(dead_code, reason = "only reading is tested")]
    struct Sample {
        id: String,
        on: Vec<String>,
        #[serde(default)]
        flag: bool,
        #[serde(default)]
        inner: Option<Inner>,
    }

    #[derive(Debug, serde::Deserialize)]
    #[serde(deny_unknown_fields)]
    #[expect(dead_code, reason = "only reading is tested")]
    struct Inner {
        number: u8,
        name: String,
    }

    fn mistakes(text: &str) -> Vec<String> {
        let mistakes = read_all::<Sample>(&parse(text).unwrap()).mistakes;
        mistakes.iter().map(|misfit| format!("{}: {}", misfit.spot.line, misfit.message)).collect()
    }

    #[test]
    fn every_mistake_of_an_entry_is_found_in_one_pass() {
        assert_eq!(mistakes("id: a\non: [b]\n"), Vec::<String>::new());
        assert_eq!(
            mistakes("flag: perhaps\ncolour: red\ninner:\n  number: many\n  nmae: x\n"),
            [
                "1: missing field `id`",
                "1: missing field `on`",
                "1: invalid type: string \"perhaps\", expected a boolean",
                "2: unknown key `colour`; known: `id`, `on`, `flag`, `inner`",
                "4: invalid type: string \"many\", expected u8",
                "5: unknown key `nmae`; did you mean `name`?",
            ]
        );
    }

    #[test]
    fn a_repeated_key_is_reported_at_any_depth_and_once() {
        assert_eq!(mistakes("id: a\non: [b]\nid: c\n"), ["3: the key `id` is repeated"]);
        assert_eq!(
            mistakes("id: a\non: [b]\ninner: {number: 1, name: x, name: y}\n"),
            ["3: the key `name` is repeated"]
        );
    }
}
