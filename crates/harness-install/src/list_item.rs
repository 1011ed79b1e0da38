// SPDX-License-Identifier: Apache-2.0 OR MIT
//! One string of ours in a list of a JSON file, such as `plugin` of `opencode.json`.

use jsonc_parser::{
    ast::{Array, Value},
    common::Ranged,
};

use super::{
    EditCheckError, Editor, Warning,
    hooks::stays_plain_json,
    jsonc::{self, Created, Edited, Flaw, Node, Source, list},
};

/// The string, and the list it belongs in.
#[derive(Debug)]
pub struct ListItem {
    /// The key of the list, in the root object.
    pub key: &'static str,
    /// The string.
    pub value: String,
    /// Whether a string is one we wrote, in whatever version.
    pub is_ours: fn(&str) -> bool,
}

impl ListItem {
    /// The numbers of our strings in the list.
    fn positions(&self, array: &Array<'_>) -> Vec<usize> {
        let is_ours = |item: &Value<'_>| item.as_string_lit().is_some_and(|item| (self.is_ours)(&item.value));
        let items = array.elements.iter().enumerate();
        items.filter(|(_, item)| is_ours(item)).map(|(at, _)| at).collect()
    }
}

impl Editor for ListItem {
    fn put(&self, text: &str, created: &Created) -> Result<Edited, Flaw> {
        // A file that is not there yet says nothing, which is not the same as an empty object.
        let text = if text.trim().is_empty() { "{}\n" } else { text };
        let (mark, body) = jsonc::split_mark(text);
        let source = Source::parse(body)?;
        let mut created = created.clone();
        let node = Node::text(&self.value);
        let edited = match source.root()?.and_then(|root| root.get(self.key)).map(|property| &property.value)
        {
            None => {
                created.lists.insert(self.key.to_owned());
                list::add_property(&source, self.key, &Node::List(vec![node]))?
            }
            Some(Value::Array(array)) => match self.positions(array).as_slice() {
                [] => list::append(&source, array, &node),
                [at] if array.elements.get(*at).is_some_and(|item| node.is_said_by(item)) => body.to_owned(),
                ours => {
                    let left = list::take_out(&source, array, ours);
                    return self.put(&format!("{mark}{left}"), &created);
                }
            },
            Some(other) => {
                let what = format!("`{}` should be an array, and here is {}", self.key, jsonc::kind(other));
                return Err(source.flaw(other.range().start, what));
            }
        };
        Ok(Edited { text: format!("{mark}{edited}"), created })
    }

    fn take(&self, text: &str, created: &Created) -> Result<String, Flaw> {
        let (mark, body) = jsonc::split_mark(text);
        let source = Source::parse(body)?;
        let array = source.root()?.and_then(|root| root.get_array(self.key));
        let Some((array, ours)) = array.map(|array| (array, self.positions(array))) else {
            return Ok(text.to_owned());
        };
        let is_whole = ours.len() == array.elements.len() && created.lists.contains(self.key);
        let left = match ours.as_slice() {
            [] => return Ok(text.to_owned()),
            _ if is_whole => list::remove_property(&source, self.key)?,
            ours => list::take_out(&source, array, ours),
        };
        Ok(format!("{mark}{left}"))
    }

    fn holds(&self, text: &str, _created: &Created) -> Result<bool, Flaw> {
        let source = Source::parse(jsonc::split_mark(text).1)?;
        let array = source.root()?.and_then(|root| root.get_array(self.key));
        Ok(array.is_some_and(|array| !self.positions(array).is_empty()))
    }

    fn check(&self, before: &str, after: &str) -> Result<(), EditCheckError> {
        let source = Source::parse(jsonc::split_mark(after).1)?;
        let root = source.root()?;
        let is_there = root
            .and_then(|root| root.get_array(self.key))
            .is_some_and(|array| array.elements.iter().any(|item| Node::text(&self.value).is_said_by(item)));
        if !is_there {
            return Err(EditCheckError::new(format!("`{}` does not name our file", self.key)));
        }
        stays_plain_json(before, after)
    }

    fn is_hollow(&self, text: &str) -> bool {
        jsonc::split_mark(text).1.split_whitespace().collect::<String>() == "{}"
    }

    fn marks(&self) -> Vec<String> {
        vec![Node::text(&self.value).scalar()]
    }

    fn warnings(&self, _text: &str) -> Result<Vec<Warning>, Flaw> {
        Ok(Vec::new())
    }
}
