// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Merges maps into other maps with the merge key `<<`.

use std::collections::HashSet;
use std::fmt::Write as _;

use super::{Node, Value};
use crate::Spot;

/// Collects the maps in the value of a `<<`: one map, or a list of them.
pub(super) fn collect_maps(value: Node, into: &mut Vec<Vec<(Node, Node)>>) -> Result<(), (Spot, String)> {
    match value.value {
        Value::Null => Ok(()),
        Value::Map(entries) => {
            into.push(entries);
            Ok(())
        }
        Value::List(items) => items.into_iter().try_for_each(|item| collect_maps(item, into)),
        _ => Err((value.spot, "YAML merge value must be mapping or sequence of mappings".to_owned())),
    }
}

/// Appends the merged entries. If a key occurs several times, the written entry takes precedence, then the first
/// merged map.
pub(super) fn merge_maps(entries: &mut Vec<(Node, Node)>, merged: Vec<Vec<(Node, Node)>>) {
    let mut known: HashSet<String> = entries.iter().map(|(key, _)| comparison_key(key)).collect();
    for map in merged {
        let new: Vec<_> = map.into_iter().filter(|(key, _)| !known.contains(&comparison_key(key))).collect();
        known.extend(new.iter().map(|(key, _)| comparison_key(key)));
        entries.extend(new);
    }
}

/// Returns a string that is equal for equal keys, regardless of their positions.
fn comparison_key(key: &Node) -> String {
    let mut text = String::new();
    write_comparison_key(&key.value, &mut text);
    text
}

fn write_comparison_key(value: &Value, text: &mut String) {
    // Writing into a `String` cannot fail.
    let _ = match value {
        Value::List(items) => {
            text.push('[');
            for item in items {
                write_comparison_key(&item.value, text);
            }
            text.write_char(']')
        }
        Value::Map(entries) => {
            text.push('{');
            for (key, value) in entries {
                write_comparison_key(&key.value, text);
                write_comparison_key(&value.value, text);
            }
            text.write_char('}')
        }
        plain => write!(text, "{plain:?},"),
    };
}
