// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Items of a list, and properties of the root object, put in and taken out.

use jsonc_parser::ast::Array;

use super::{
    Flaw, Node, Source,
    layout::{self, Layout},
    source::List,
};

/// The text with a property more in the root object.
pub fn add_property(source: &Source<'_>, key: &str, value: &Node) -> Result<String, Flaw> {
    let Some(root) = source.root()? else { return Ok(source.text.to_owned()) };
    let (layout, list) = (Layout::of(source), List::of_object(root));
    let slot = layout.slot(source, &list, true);
    let item = layout.render_property(key, value, &slot.indent, slot.spread);
    Ok(layout::apply(source.text, layout.append(source, &list, &slot, &[item])))
}

/// The text without a property of the root object.
pub fn remove_property(source: &Source<'_>, key: &str) -> Result<String, Flaw> {
    let Some(root) = source.root()? else { return Ok(source.text.to_owned()) };
    let gone = root.properties.iter().position(|property| property.name.as_str() == key).into_iter();
    let edits = layout::take_out(source, &List::of_object(root), &gone.collect());
    Ok(layout::apply(source.text, edits))
}

/// The text with an item more at the end of a list.
pub fn append(source: &Source<'_>, array: &Array<'_>, item: &Node) -> String {
    let (layout, list) = (Layout::of(source), List::of_array(array));
    let slot = layout.slot(source, &list, false);
    let item = layout.render(item, &slot.indent, slot.spread);
    layout::apply(source.text, layout.append(source, &list, &slot, &[item]))
}

/// The text without the items of these numbers.
pub fn take_out(source: &Source<'_>, array: &Array<'_>, gone: &[usize]) -> String {
    let gone = gone.iter().copied().collect();
    layout::apply(source.text, layout::take_out(source, &List::of_array(array), &gone))
}
