// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Single settings, such as `hooksConfig.enabled`. Tenterhook's value replaces the existing value, which is stored so
//! that it can be restored.

use jsonc_parser::{
    ast::{Object, Value},
    common::Ranged,
};
use serde::{Deserialize, Serialize};

use super::{
    JsonNode, JsoncSource, SettingsError, kind,
    layout::{self, TextEdit, TextLayout},
    source::ItemList,
    split_mark,
};

/// A setting that the hooks need.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RequiredSetting {
    /// Keys that lead to the setting.
    pub path: &'static [&'static str],
    /// Value that the setting must have.
    pub value: JsonNode,
    /// Whether an existing value is left unchanged.
    pub only_if_missing: bool,
}

/// A change of a setting.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SettingChange {
    /// Keys that lead to the setting.
    pub path: Vec<String>,
    /// Previous value as written; `None` if there was none.
    pub was: Option<String>,
    /// If there was no previous value: the number of keys of `path` that already existed.
    pub found: usize,
}

/// Sets the value. Returns the change, unless the value was already set.
pub fn set(text: &str, switch: &RequiredSetting) -> Result<(String, Option<SettingChange>), SettingsError> {
    let (mark, body) = split_mark(text);
    let source = JsoncSource::parse(body)?;
    let Some(root) = source.root()? else { return Ok((text.to_owned(), None)) };
    let (object, found) = descend(&source, root, switch.path)?;
    let layout = TextLayout::of(&source);
    let path = || switch.path.iter().map(|&key| key.to_owned()).collect();
    let there = switch.path.get(found).and_then(|key| object.get(key)).map(|property| &property.value);
    let (edits, switched) = match there {
        Some(value) if switch.only_if_missing || switch.value.is_said_by(value) => {
            return Ok((text.to_owned(), None));
        }
        Some(value) => {
            let range = value.range().start..value.range().end;
            let was = Some(source.slice(range.clone()).to_owned());
            (
                vec![TextEdit { range, text: switch.value.scalar() }],
                SettingChange { path: path(), was, found },
            )
        }
        None => {
            let list = ItemList::of_object(object);
            let slot = layout.slot(&source, &list, true);
            let (inner, outer) = (switch.path.get(found + 1..).unwrap_or_default(), switch.path.get(found));
            let node =
                inner.iter().rev().fold(switch.value.clone(), |node, key| JsonNode::object([(*key, node)]));
            let item =
                layout.render_property(outer.copied().unwrap_or_default(), &node, &slot.indent, slot.spread);
            let edits = layout.append(&source, &list, &slot, &[item]);
            (edits, SettingChange { path: path(), was: None, found })
        }
    };
    Ok((format!("{mark}{}", layout::apply(body, edits)), Some(switched)))
}

/// Whether the setting has the required value.
pub fn is_set(text: &str, switch: &RequiredSetting) -> Result<bool, SettingsError> {
    let source = JsoncSource::parse(split_mark(text).1)?;
    let Some(root) = source.root()? else { return Ok(false) };
    let (object, found) = descend(&source, root, switch.path)?;
    let there = switch.path.get(found).and_then(|key| object.get(key));
    Ok(there.is_some_and(|there| switch.only_if_missing || switch.value.is_said_by(&there.value)))
}

/// Restores the previous value, as long as Tenterhook's value is still there.
pub fn restore(
    text: &str,
    switch: &RequiredSetting,
    switched: &SettingChange,
) -> Result<String, SettingsError> {
    let (mark, body) = split_mark(text);
    let source = JsoncSource::parse(body)?;
    let Some(root) = source.root()? else { return Ok(text.to_owned()) };
    let (object, depth) = descend(&source, root, switch.path)?;
    let key = switch.path.get(depth).copied().unwrap_or_default();
    let Some(there) = object.get(key).filter(|_| depth + 1 == switch.path.len()) else {
        return Ok(text.to_owned());
    };
    if !switch.value.is_said_by(&there.value) {
        return Ok(text.to_owned());
    }
    let edits = match &switched.was {
        Some(was) => {
            vec![TextEdit { range: there.value.range().start..there.value.range().end, text: was.clone() }]
        }
        None => take_out(&source, root, switch.path, switched.found),
    };
    Ok(format!("{mark}{}", layout::apply(body, edits)))
}

/// Removes the property, and the objects around it that Tenterhook created, if the removal leaves them empty.
fn take_out(source: &JsoncSource<'_>, root: &Object<'_>, path: &[&str], found: usize) -> Vec<TextEdit> {
    let mut object = root;
    let mut place = None;
    for (depth, key) in path.iter().enumerate() {
        let position = object.properties.iter().position(|property| property.name.as_str() == *key);
        let Some((at, property)) = position.and_then(|at| Some((at, object.properties.get(at)?))) else {
            break;
        };
        let alone =
            object.properties.len() == 1 && !layout::has_own_comments(source, &ItemList::of_object(object));
        // Removes an inner property instead, unless Tenterhook created this object and it contains nothing else.
        if depth <= found || !alone || place.is_none() {
            place = Some((ItemList::of_object(object), at));
        }
        match &property.value {
            Value::Object(inner) => object = inner,
            _ => break,
        }
    }
    place.map(|(list, at)| layout::take_out(source, &list, &[at].into())).unwrap_or_default()
}

/// The innermost existing object on the path, and the number of keys that led to it.
fn descend<'s, 't>(
    source: &JsoncSource<'t>,
    root: &'s Object<'t>,
    path: &[&str],
) -> Result<(&'s Object<'t>, usize), SettingsError> {
    let mut object = root;
    let outer = path.get(..path.len().saturating_sub(1)).unwrap_or_default();
    for (depth, key) in outer.iter().enumerate() {
        match object.get(key).map(|property| &property.value) {
            None => return Ok((object, depth)),
            Some(Value::Object(inner)) => object = inner,
            Some(other) => {
                let what = format!("`{key}` must be an object, found {}", kind(other));
                return Err(source.flaw(other.range().start, what));
            }
        }
    }
    Ok((object, outer.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn switch() -> RequiredSetting {
        RequiredSetting {
            path: &["hooksConfig", "enabled"],
            value: JsonNode::Bool(true),
            only_if_missing: false,
        }
    }

    #[test]
    fn a_switch_goes_in_and_out_without_a_trace() {
        for text in [
            "{}",
            "{\n  \"a\": 1\n}\n",
            "{\"hooksConfig\": {\"enabled\": false}}",
            "{\"hooksConfig\": { /* mine */ \"enabled\" : false, \"disabled\": []}}",
            "{\n\t\"hooksConfig\": {\n\t\t\"disabled\": [] // none\n\t}\n}",
            "{\"hooksConfig\":{}}",
        ] {
            let (edited, switched) = set(text, &switch()).unwrap();
            let switched = switched.unwrap();
            assert!(is_set(&edited, &switch()).unwrap(), "{edited}");
            assert_eq!(set(&edited, &switch()).unwrap(), (edited.clone(), None), "twice is once");
            assert_eq!(restore(&edited, &switch(), &switched).unwrap(), text);
        }
    }

    #[test]
    fn what_somebody_put_beside_ours_stays() {
        let (edited, switched) = set("{}", &switch()).unwrap();
        let edited = edited.replace("\"enabled\"", "\"mine\": 1,\n    \"enabled\"");
        let left = restore(&edited, &switch(), &switched.unwrap()).unwrap();
        assert_eq!(left.split_whitespace().collect::<String>(), "{\"hooksConfig\":{\"mine\":1}}");
    }

    #[test]
    fn a_setting_somebody_changed_back_is_theirs() {
        let (edited, switched) = set("{}", &switch()).unwrap();
        let off = edited.replace("true", "false");
        assert_eq!(restore(&off, &switch(), &switched.unwrap()).unwrap(), off);
        assert!(set("{\"hooksConfig\": 1}", &switch()).is_err());
    }
}
