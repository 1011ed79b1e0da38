// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Operations on single handlers, whether Tenterhook or another program wrote them.

use std::collections::BTreeSet;

use jsonc_parser::ast::{Object, Value};

use super::{
    layout,
    source::{ItemList, JsoncSource, SettingsError},
    split_mark,
};

/// The command or URL of a handler.
pub fn command<'o>(handler: &'o Object<'_>) -> Option<&'o str> {
    let said = ["command", "bash", "url"].into_iter().find_map(|key| handler.get_string(key));
    said.map(|said| &*said.value)
}

/// Removes handlers, given by event, group and index; an empty group is removed as a whole.
pub fn take_handlers(text: &str, which: &BTreeSet<(String, usize, usize)>) -> Result<String, SettingsError> {
    let (mark, body) = split_mark(text);
    let source = JsoncSource::parse(body)?;
    let Some(hooks) = source.hooks()? else { return Ok(text.to_owned()) };
    let mut edits = Vec::new();
    for property in &hooks.properties {
        let (event, Value::Array(groups)) = (property.name.as_str(), &property.value) else { continue };
        let mut gone = BTreeSet::new();
        for (number, group) in groups.elements.iter().enumerate() {
            let Some(handlers) = group.as_object().and_then(|group| group.get_array("hooks")) else {
                continue;
            };
            let picked: BTreeSet<_> = (0..handlers.elements.len())
                .filter(|index| which.contains(&(event.to_owned(), number, *index)))
                .collect();
            if !picked.is_empty() && picked.len() == handlers.elements.len() {
                gone.insert(number);
            } else {
                edits.extend(layout::take_out(&source, &ItemList::of_array(handlers), &picked));
            }
        }
        edits.extend(layout::take_out(&source, &ItemList::of_array(groups), &gone));
    }
    Ok(format!("{mark}{}", layout::apply(body, edits)))
}
