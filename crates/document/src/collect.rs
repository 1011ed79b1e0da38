// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Reads a node into a type and reports every mistake in it, not only the first one.

use std::collections::HashSet;

use serde::de::DeserializeOwned;

use crate::{Misfit, Node, Spot, Value, nearest, read};

/// A node with more mistakes than this is not worth a longer list.
const MAX_MISTAKES: usize = 20;
/// The node is read at most this often, whatever is wrong with it.
const MAX_ATTEMPTS: usize = 200;
/// The place of values that were put in for missing keys: no file has it.
const FILLED_IN: Spot = Spot { line: usize::MAX, column: 1 };

/// What came of reading a node: a value, and every mistake that was found on the way. With mistakes, the
/// value is what the rest of the node means, for checks that go further; it must not be used.
#[derive(Debug)]
pub struct ReadAll<T> {
    /// The value, unless something that it cannot do without is missing.
    pub value: Option<T>,
    /// What does not fit, in the order of the file.
    pub mistakes: Vec<Misfit>,
    /// The keys that the value lacks because of the mistakes.
    pub left_out: Vec<String>,
}

impl<T> ReadAll<T> {
    /// Adds what further checks of the value found, without what is wrong only because a key was left out.
    pub fn add(&mut self, found: impl IntoIterator<Item = Misfit>) {
        let named =
            |misfit: &Misfit| self.left_out.iter().any(|key| misfit.message.contains(&format!("`{key}`")));
        let found: Vec<_> = found.into_iter().filter(|misfit| !named(misfit)).collect();
        self.mistakes.extend(found);
        self.mistakes.sort_by_key(|misfit| misfit.spot);
    }
}

/// Reads one node into a type. After each mistake the offending entry is taken out of a copy and the rest
/// is read again.
pub fn read_all<T: DeserializeOwned>(node: &Node) -> ReadAll<T> {
    let mut mistakes = repeated_keys(node);
    let mut reading = Reading { copy: node.clone(), taken: Taken::default(), tried: 0 };
    if !mistakes.is_empty() {
        drop_repeated(&mut reading.copy);
    }
    let mut value = None;
    for _ in 0..MAX_ATTEMPTS {
        if mistakes.len() >= MAX_MISTAKES {
            break;
        }
        let misfit = match read::<T>(&reading.copy) {
            Ok(found) => {
                value = Some(found).filter(|_| !holds_filled_in(&reading.copy));
                break;
            }
            Err(misfit) => misfit,
        };
        let counts =
            misfit.spot != FILLED_IN && !reading.is_consequence(&misfit) && !is_known(&mistakes, &misfit);
        let goes_on = reading.work_around(&misfit);
        if counts {
            mistakes.push(misfit);
        }
        if !goes_on {
            break;
        }
    }
    mistakes.sort_by_key(|misfit| misfit.spot);
    ReadAll { value, mistakes, left_out: reading.taken.keys }
}

/// Every key that occurs more than once in its map, at any depth. One of the two values would be ignored.
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

/// Leaves the first of each repeated key.
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

/// Whether the same was reported before.
fn is_known(mistakes: &[Misfit], misfit: &Misfit) -> bool {
    mistakes.iter().any(|known| known.spot == misfit.spot && known.message == misfit.message)
}

/// A copy of the node in which mistakes are worked around one by one.
struct Reading {
    copy: Node,
    /// What was taken out so far.
    taken: Taken,
    /// How many values were tried for the key that was filled in last.
    tried: usize,
}

/// What was taken out of the copy.
#[derive(Default)]
struct Taken {
    keys: Vec<String>,
    /// The maps and lists that lost something.
    out_of: Vec<Spot>,
}

impl Reading {
    /// Changes the copy so that the next mistake can be found. False: there is no way on.
    fn work_around(&mut self, misfit: &Misfit) -> bool {
        if let Some(name) = missing(misfit) {
            let name = name.to_owned();
            self.tried = 0;
            return self.fill_in(misfit.spot, &name);
        }
        if misfit.spot == FILLED_IN {
            self.tried += 1;
            return exchange(&mut self.copy, self.tried);
        }
        take_out(&mut self.copy, misfit.spot, &mut self.taken)
    }

    /// Puts a value in for a missing key of the map at this place.
    fn fill_in(&mut self, spot: Spot, name: &str) -> bool {
        let Some(node) = find(&mut self.copy, spot) else { return false };
        let Value::Map(entries) = &mut node.value else { return false };
        let key = Node { spot: FILLED_IN, value: Value::Text(name.to_owned()) };
        let Some(value) = sample(0) else { return false };
        // Only the newest is exchanged when it does not fit.
        entries.push((key, Node { spot: FILLED_IN, value }));
        true
    }

    /// Whether this is wrong only because of what was taken out, which is reported already: a key that was
    /// misspelt is missing, a list whose only item was unusable is empty.
    fn is_consequence(&self, misfit: &Misfit) -> bool {
        match missing(misfit) {
            Some(name) => self.taken.keys.iter().any(|key| key == name || nearest(key, [name]).is_some()),
            None => self.taken.out_of.contains(&misfit.spot) && !misfit.message.starts_with("no such key"),
        }
    }
}

/// The key that serde misses.
fn missing(misfit: &Misfit) -> Option<&str> {
    misfit.message.strip_prefix("missing field `")?.strip_suffix('`')
}

/// Values of every kind, to be tried in turn.
fn sample(number: usize) -> Option<Value> {
    let text = || Value::Text("x".to_owned());
    let one = |value| vec![Node { spot: FILLED_IN, value }];
    match number {
        0 => Some(text()),
        1 => Some(Value::List(one(text()))),
        2 => Some(Value::Map(Vec::new())),
        3 => Some(Value::Whole(1)),
        4 => Some(Value::Bool(true)),
        5 => Some(Value::Null),
        // Words that enumerations of rules and hooks know.
        6 => Some(Value::Text("deny".to_owned())),
        _ => None,
    }
}

/// Tries the next value for the key that was filled in last.
fn exchange(node: &mut Node, number: usize) -> bool {
    let Some(value) = sample(number) else { return false };
    let Some(filled) = newest_filled_in(node) else { return false };
    filled.value = value;
    true
}

/// The value that was put in last.
fn newest_filled_in(node: &mut Node) -> Option<&mut Node> {
    match &mut node.value {
        Value::Map(entries) => {
            let at =
                entries.iter().rposition(|(key, value)| key.spot == FILLED_IN || holds_filled_in(value))?;
            let (key, value) = entries.get_mut(at)?;
            if key.spot == FILLED_IN { Some(value) } else { newest_filled_in(value) }
        }
        Value::List(items) => {
            let at = items.iter().rposition(holds_filled_in)?;
            newest_filled_in(items.get_mut(at)?)
        }
        _ => None,
    }
}

fn holds_filled_in(node: &Node) -> bool {
    match &node.value {
        Value::Map(entries) => {
            entries.iter().any(|(key, value)| key.spot == FILLED_IN || holds_filled_in(value))
        }
        Value::List(items) => items.iter().any(holds_filled_in),
        _ => false,
    }
}

/// The innermost map at a place.
fn find(node: &mut Node, spot: Spot) -> Option<&mut Node> {
    let inner = match &node.value {
        Value::Map(entries) => entries.iter().position(|(_, value)| contains(value, spot)),
        Value::List(items) => items.iter().position(|item| contains(item, spot)),
        _ => None,
    };
    let Some(at) = inner else { return (node.spot == spot).then_some(node) };
    match &mut node.value {
        Value::Map(entries) => find(&mut entries.get_mut(at)?.1, spot),
        Value::List(items) => find(items.get_mut(at)?, spot),
        _ => None,
    }
}

/// Whether a map at this place is in the node.
fn contains(node: &Node, spot: Spot) -> bool {
    match &node.value {
        Value::Map(entries) => node.spot == spot || entries.iter().any(|(_, value)| contains(value, spot)),
        Value::List(items) => items.iter().any(|item| contains(item, spot)),
        _ => false,
    }
}

/// Takes the innermost entry or item at a place out. False: there is none.
fn take_out(node: &mut Node, spot: Spot, taken: &mut Taken) -> bool {
    match &mut node.value {
        Value::Map(entries) => {
            if let Some((key, _)) = entries
                .iter_mut()
                .find_map(|(key, value)| take_out(value, spot, taken).then_some((key, value)))
            {
                // What does not fit as a whole is reported at its key.
                taken.out_of.push(key.spot);
                return true;
            }
            let Some(at) = entries.iter().position(|(key, value)| key.spot == spot || value.spot == spot)
            else {
                return false;
            };
            let (key, _) = entries.remove(at);
            taken.keys.extend(key.text().map(ToOwned::to_owned));
            taken.out_of.push(node.spot);
            true
        }
        Value::List(items) => {
            if items.iter_mut().any(|item| take_out(item, spot, taken)) {
                return true;
            }
            let Some(at) = items.iter().position(|item| item.spot == spot) else { return false };
            items.remove(at);
            taken.out_of.push(node.spot);
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
                "2: no such key here: `colour`; known: `id`, `on`, `flag`, `inner`",
                "4: invalid type: string \"many\", expected u8",
                "5: no such key here: `nmae`; did you mean `name`?",
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
