// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Maps that are merged into others by `<<`.

use std::collections::HashSet;
use std::fmt::Write as _;

use super::{Node, Value};
use crate::Spot;

/// Takes the maps out of the value of a `<<`: one map, or a list of them.
pub(super) fn maps(value: Node, into: &mut Vec<Vec<(Node, Node)>>) -> Result<(), (Spot, String)> {
    match value.value {
        Value::Null => Ok(()),
        Value::Map(entries) => {
            into.push(entries);
            Ok(())
        }
        Value::List(items) => items.into_iter().try_for_each(|item| maps(item, into)),
        _ => Err((value.spot, "YAML merge value must be mapping or sequence of mappings".to_owned())),
    }
}

/// Adds what is merged behind the entries that are written out. Those count, and then the first map
/// that has a key.
pub(super) fn merge(entries: &mut Vec<(Node, Node)>, merged: Vec<Vec<(Node, Node)>>) {
    let mut known: HashSet<String> = entries.iter().map(|(key, _)| name(key)).collect();
    for map in merged {
        let new: Vec<_> = map.into_iter().filter(|(key, _)| !known.contains(&name(key))).collect();
        known.extend(new.iter().map(|(key, _)| name(key)));
        entries.extend(new);
    }
}

/// A text that two keys share only if they are the same wherever they stand.
fn name(key: &Node) -> String {
    let mut text = String::new();
    write_name(&key.value, &mut text);
    text
}

fn write_name(value: &Value, text: &mut String) {
    // Writing into a `String` cannot fail.
    let _ = match value {
        Value::List(items) => {
            text.push('[');
            for item in items {
                write_name(&item.value, text);
            }
            text.write_char(']')
        }
        Value::Map(entries) => {
            text.push('{');
            for (key, value) in entries {
                write_name(&key.value, text);
                write_name(&value.value, text);
            }
            text.write_char('}')
        }
        plain => write!(text, "{plain:?},"),
    };
}
