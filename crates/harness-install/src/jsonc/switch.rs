// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Single settings, such as `hooksConfig.enabled`: ours takes the place of what was there, which is kept.

use jsonc_parser::{
    ast::{Object, Value},
    common::Ranged,
};
use serde::{Deserialize, Serialize};

use super::{
    Flaw, Node, Source, kind,
    layout::{self, Edit, Layout},
    source::List,
    split_mark,
};

/// A setting that our hooks need.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Switch {
    /// The keys that lead to it.
    pub path: &'static [&'static str],
    /// What it has to be.
    pub value: Node,
    /// Whether another value that stands there is left alone.
    pub only_if_missing: bool,
}

/// What became of a setting.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Switched {
    /// The keys that lead to it.
    pub path: Vec<String>,
    /// What stood there, as it stood; `None`: nothing did.
    pub was: Option<String>,
    /// How many of the keys were there already, where nothing stood.
    pub found: usize,
}

/// Sets it. What became of it, unless it said the same already.
pub fn put(text: &str, switch: &Switch) -> Result<(String, Option<Switched>), Flaw> {
    let (mark, body) = split_mark(text);
    let source = Source::parse(body)?;
    let Some(root) = source.root()? else { return Ok((text.to_owned(), None)) };
    let (object, found) = descend(&source, root, switch.path)?;
    let layout = Layout::of(&source);
    let path = || switch.path.iter().map(|&key| key.to_owned()).collect();
    let there = switch.path.get(found).and_then(|key| object.get(key)).map(|property| &property.value);
    let (edits, switched) = match there {
        Some(value) if switch.only_if_missing || switch.value.is_said_by(value) => {
            return Ok((text.to_owned(), None));
        }
        Some(value) => {
            let range = value.range().start..value.range().end;
            let was = Some(source.slice(range.clone()).to_owned());
            (vec![Edit { range, text: switch.value.scalar() }], Switched { path: path(), was, found })
        }
        None => {
            let list = List::of_object(object);
            let slot = layout.slot(&source, &list, true);
            let (inner, outer) = (switch.path.get(found + 1..).unwrap_or_default(), switch.path.get(found));
            let node =
                inner.iter().rev().fold(switch.value.clone(), |node, key| Node::object([(*key, node)]));
            let item =
                layout.render_property(outer.copied().unwrap_or_default(), &node, &slot.indent, slot.spread);
            let edits = layout.append(&source, &list, &slot, &[item]);
            (edits, Switched { path: path(), was: None, found })
        }
    };
    Ok((format!("{mark}{}", layout::apply(body, edits)), Some(switched)))
}

/// Whether it is set as it has to be.
pub fn is_set(text: &str, switch: &Switch) -> Result<bool, Flaw> {
    let source = Source::parse(split_mark(text).1)?;
    let Some(root) = source.root()? else { return Ok(false) };
    let (object, found) = descend(&source, root, switch.path)?;
    let there = switch.path.get(found).and_then(|key| object.get(key));
    Ok(there.is_some_and(|there| switch.only_if_missing || switch.value.is_said_by(&there.value)))
}

/// Puts back what stood there, as long as ours still stands there.
pub fn take(text: &str, switch: &Switch, switched: &Switched) -> Result<String, Flaw> {
    let (mark, body) = split_mark(text);
    let source = Source::parse(body)?;
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
            vec![Edit { range: there.value.range().start..there.value.range().end, text: was.clone() }]
        }
        None => take_out(&source, root, switch.path, switched.found),
    };
    Ok(format!("{mark}{}", layout::apply(body, edits)))
}

/// Takes the property out, and with it the objects around it that we made and that hold nothing else.
fn take_out(source: &Source<'_>, root: &Object<'_>, path: &[&str], found: usize) -> Vec<Edit> {
    let mut object = root;
    let mut place = None;
    for (depth, key) in path.iter().enumerate() {
        let position = object.properties.iter().position(|property| property.name.as_str() == *key);
        let Some((at, property)) = position.and_then(|at| Some((at, object.properties.get(at)?))) else {
            break;
        };
        let alone =
            object.properties.len() == 1 && !layout::has_own_comments(source, &List::of_object(object));
        // What is around may go only as long as we made it and nothing else is in it.
        if depth <= found || !alone || place.is_none() {
            place = Some((List::of_object(object), at));
        }
        match &property.value {
            Value::Object(inner) => object = inner,
            _ => break,
        }
    }
    place.map(|(list, at)| layout::take_out(source, &list, &[at].into())).unwrap_or_default()
}

/// The innermost object on the way that is there, and how many keys led to it.
fn descend<'s, 't>(
    source: &Source<'t>,
    root: &'s Object<'t>,
    path: &[&str],
) -> Result<(&'s Object<'t>, usize), Flaw> {
    let mut object = root;
    let outer = path.get(..path.len().saturating_sub(1)).unwrap_or_default();
    for (depth, key) in outer.iter().enumerate() {
        match object.get(key).map(|property| &property.value) {
            None => return Ok((object, depth)),
            Some(Value::Object(inner)) => object = inner,
            Some(other) => {
                let what = format!("`{key}` should be an object, and here is {}", kind(other));
                return Err(source.flaw(other.range().start, what));
            }
        }
    }
    Ok((object, outer.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn switch() -> Switch {
        Switch { path: &["hooksConfig", "enabled"], value: Node::Bool(true), only_if_missing: false }
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
            let (set, switched) = put(text, &switch()).unwrap();
            let switched = switched.unwrap();
            assert!(is_set(&set, &switch()).unwrap(), "{set}");
            assert_eq!(put(&set, &switch()).unwrap(), (set.clone(), None), "twice is once");
            assert_eq!(take(&set, &switch(), &switched).unwrap(), text);
        }
    }

    #[test]
    fn what_somebody_put_beside_ours_stays() {
        let (set, switched) = put("{}", &switch()).unwrap();
        let edited = set.replace("\"enabled\"", "\"mine\": 1,\n    \"enabled\"");
        let left = take(&edited, &switch(), &switched.unwrap()).unwrap();
        assert_eq!(left.split_whitespace().collect::<String>(), "{\"hooksConfig\":{\"mine\":1}}");
    }

    #[test]
    fn a_setting_somebody_changed_back_is_theirs() {
        let (set, switched) = put("{}", &switch()).unwrap();
        let off = set.replace("true", "false");
        assert_eq!(take(&off, &switch(), &switched.unwrap()).unwrap(), off);
        assert!(put("{\"hooksConfig\": 1}", &switch()).is_err());
    }
}
