// SPDX-License-Identifier: Apache-2.0 OR MIT
//! One string in a list of a JSON file, such as `plugin` of `opencode.json`.

use jsonc_parser::{
    ast::{Array, Value},
    common::Ranged,
};

use super::{
    EditCheckError, InstallWarning, SettingsEditor,
    hooks::stays_plain_json,
    jsonc::{self, CreatedContainers, EditedText, JsonNode, JsoncSource, SettingsError, list},
};

/// A string that Tenterhook adds to a list.
#[derive(Debug)]
pub struct JsoncListEntry {
    /// Key of the list in the root object.
    pub key: &'static str,
    /// The string itself.
    pub value: String,
    /// Whether a string was written by any version of Tenterhook.
    pub is_ours: fn(&str) -> bool,
}

impl JsoncListEntry {
    /// Indices of Tenterhook's strings in the list.
    fn positions(&self, array: &Array<'_>) -> Vec<usize> {
        let is_ours = |item: &Value<'_>| item.as_string_lit().is_some_and(|item| (self.is_ours)(&item.value));
        let items = array.elements.iter().enumerate();
        items.filter(|(_, item)| is_ours(item)).map(|(at, _)| at).collect()
    }
}

impl SettingsEditor for JsoncListEntry {
    fn insert(&self, text: &str, created: &CreatedContainers) -> Result<EditedText, SettingsError> {
        // The text of a missing file is empty, which is not a JSON object.
        let text = if text.trim().is_empty() { "{}\n" } else { text };
        let (mark, body) = jsonc::split_mark(text);
        let source = JsoncSource::parse(body)?;
        let mut created = created.clone();
        let node = JsonNode::text(&self.value);
        let edited = match source.root()?.and_then(|root| root.get(self.key)).map(|property| &property.value)
        {
            None => {
                created.lists.insert(self.key.to_owned());
                list::add_property(&source, self.key, &JsonNode::List(vec![node]))?
            }
            Some(Value::Array(array)) => match self.positions(array).as_slice() {
                [] => list::append(&source, array, &node),
                [at] if array.elements.get(*at).is_some_and(|item| node.is_said_by(item)) => body.to_owned(),
                ours => {
                    let left = list::take_out(&source, array, ours);
                    return self.insert(&format!("{mark}{left}"), &created);
                }
            },
            Some(other) => {
                let what = format!("`{}` must be an array, found {}", self.key, jsonc::kind(other));
                return Err(source.flaw(other.range().start, what));
            }
        };
        Ok(EditedText { text: format!("{mark}{edited}"), created })
    }

    fn remove(&self, text: &str, created: &CreatedContainers) -> Result<String, SettingsError> {
        let (mark, body) = jsonc::split_mark(text);
        let source = JsoncSource::parse(body)?;
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

    fn contains(&self, text: &str, _created: &CreatedContainers) -> Result<bool, SettingsError> {
        let source = JsoncSource::parse(jsonc::split_mark(text).1)?;
        let array = source.root()?.and_then(|root| root.get_array(self.key));
        Ok(array.is_some_and(|array| !self.positions(array).is_empty()))
    }

    fn check(&self, before: &str, after: &str) -> Result<(), EditCheckError> {
        let source = JsoncSource::parse(jsonc::split_mark(after).1)?;
        let root = source.root()?;
        let is_there = root.and_then(|root| root.get_array(self.key)).is_some_and(|array| {
            array.elements.iter().any(|item| JsonNode::text(&self.value).is_said_by(item))
        });
        if !is_there {
            return Err(EditCheckError::new(format!("`{}` does not contain Tenterhook's file", self.key)));
        }
        stays_plain_json(before, after)
    }

    fn is_empty_after_removal(&self, text: &str) -> bool {
        jsonc::split_mark(text).1.split_whitespace().collect::<String>() == "{}"
    }

    fn required_texts(&self) -> Vec<String> {
        vec![JsonNode::text(&self.value).scalar()]
    }

    fn warnings(&self, _text: &str) -> Result<Vec<InstallWarning>, SettingsError> {
        Ok(Vec::new())
    }
}
