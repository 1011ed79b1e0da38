// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Adds and removes list items, and properties of the root object.

use jsonc_parser::ast::Array;

use super::{
    JsonNode, JsoncSource, SettingsError,
    layout::{self, TextLayout},
    source::ItemList,
};

/// The text with an additional property in the root object.
pub fn add_property(source: &JsoncSource<'_>, key: &str, value: &JsonNode) -> Result<String, SettingsError> {
    let Some(root) = source.root()? else { return Ok(source.text.to_owned()) };
    let (layout, list) = (TextLayout::of(source), ItemList::of_object(root));
    let slot = layout.slot(source, &list, true);
    let item = layout.render_property(key, value, &slot.indent, slot.spread);
    Ok(layout::apply(source.text, layout.append(source, &list, &slot, &[item])))
}

/// The text without a property of the root object.
pub fn remove_property(source: &JsoncSource<'_>, key: &str) -> Result<String, SettingsError> {
    let Some(root) = source.root()? else { return Ok(source.text.to_owned()) };
    let gone = root.properties.iter().position(|property| property.name.as_str() == key).into_iter();
    let edits = layout::take_out(source, &ItemList::of_object(root), &gone.collect());
    Ok(layout::apply(source.text, edits))
}

/// The text with an additional item at the end of a list.
pub fn append(source: &JsoncSource<'_>, array: &Array<'_>, item: &JsonNode) -> String {
    let (layout, list) = (TextLayout::of(source), ItemList::of_array(array));
    let slot = layout.slot(source, &list, false);
    let item = layout.render(item, &slot.indent, slot.spread);
    layout::apply(source.text, layout.append(source, &list, &slot, &[item]))
}

/// The text without the items at these indices.
pub fn take_out(source: &JsoncSource<'_>, array: &Array<'_>, gone: &[usize]) -> String {
    let gone = gone.iter().copied().collect();
    layout::apply(source.text, layout::take_out(source, &ItemList::of_array(array), &gone))
}
