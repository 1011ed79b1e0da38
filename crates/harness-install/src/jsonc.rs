// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Edits `hooks.<Event>[]` in JSON with comments. The edit works on the text and leaves every other byte unchanged.
//!
//! Tenterhook's entries are recognised by a marker key *and* by their command. The marker alone is not enough:
//! whenever Claude Code writes its settings (for example after a permission is granted or a plugin is added), it
//! drops every unknown key from matcher groups (measured with 2.1.325; anthropics/claude-code#88113).

mod handlers;
mod keep;
mod layout;
pub mod list;
mod node;
mod source;
pub mod status;
pub mod switch;
#[cfg(test)]
pub(super) mod tests;

use std::collections::{BTreeMap, BTreeSet};

use jsonc_parser::{
    ast::{Array, Object, Value},
    common::Ranged,
};
use serde::{Deserialize, Serialize};

use crate::EditCheckError;
use layout::{TextEdit, TextLayout};
use source::ItemList;

pub use handlers::{command, take_handlers};
pub use keep::keep_hooks;
pub use node::JsonNode;
pub use source::{JsoncSource, SettingsError, kind};

/// One matcher group, or one handler for harnesses without groups.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HookSettingsEntry {
    /// Key under `hooks`.
    pub event: String,
    /// The group, including its marker.
    pub group: JsonNode,
}

/// How Tenterhook's groups are recognised.
#[derive(Debug, Clone, Copy)]
pub struct HookSignature {
    /// Key that is `true` in Tenterhook's groups, if the harness allows unknown keys.
    pub marker: Option<&'static str>,
    /// Whether a command or URL was written by any version of Tenterhook.
    pub is_our_command: fn(&str) -> bool,
    /// Whether Tenterhook's entries must follow all others.
    pub comes_last: bool,
}

/// Containers that Tenterhook created, to be removed together with its content.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CreatedContainers {
    /// Whether the object `hooks` was created.
    pub hooks: bool,
    /// Arrays created in `hooks`.
    pub events: BTreeSet<String>,
    /// State of the status line.
    #[serde(default)]
    pub status: status::StatusLineRecord,
    /// Settings that the installation changed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub switches: Vec<switch::SettingChange>,
    /// Hooks of the user that were moved elsewhere.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub moved: Vec<MovedHook>,
    /// Lines that were inserted into a file.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lines: Vec<String>,
    /// Lists created in the root object.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub lists: BTreeSet<String>,
    /// Changes to a TOML file.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub toml: Vec<super::toml::TomlChange>,
}

/// A hook of the user that was moved elsewhere.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MovedHook {
    /// Key under `hooks`.
    pub event: String,
    /// The group, as written.
    pub group: String,
}

/// The result of an edit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EditedText {
    /// The complete new text.
    pub text: String,
    /// Containers that this edit or an earlier install created.
    pub created: CreatedContainers,
}

/// Inserts `entries`, and updates existing ones in place. `created` lists what earlier installs created.
pub fn insert(
    text: &str,
    entries: &[HookSettingsEntry],
    signature: &HookSignature,
    created: &CreatedContainers,
) -> Result<EditedText, SettingsError> {
    let (mark, body) = split_mark(text);
    let wanted = WantedEntries::of(entries);
    let pruned = prune(body, signature, created, &wanted)?;
    let placed = place(&pruned.text, signature, pruned.created, &wanted)?;
    Ok(EditedText { text: format!("{mark}{}", placed.text), created: placed.created })
}

/// Removes Tenterhook's groups, and then the containers in `created` that are empty.
pub fn remove(
    text: &str,
    signature: &HookSignature,
    created: &CreatedContainers,
) -> Result<EditedText, SettingsError> {
    let (mark, body) = split_mark(text);
    let pruned = prune(body, signature, created, &WantedEntries::default())?;
    Ok(EditedText { text: format!("{mark}{}", pruned.text), created: pruned.created })
}

/// Number of groups that contain an entry of Tenterhook.
pub fn count(text: &str, signature: &HookSignature) -> Result<usize, SettingsError> {
    let source = JsoncSource::parse(split_mark(text).1)?;
    let groups = source
        .hooks()?
        .into_iter()
        .flat_map(|hooks| &hooks.properties)
        .filter_map(|event| event.value.as_array());
    Ok(groups
        .flat_map(|groups| &groups.elements)
        .filter(|group| owner(group, signature) != GroupOwner::Theirs)
        .count())
}

/// Checks that the entries of Tenterhook in `text` are exactly `entries`, each complete and at the right position.
pub fn check(
    text: &str,
    entries: &[HookSettingsEntry],
    signature: &HookSignature,
) -> Result<(), EditCheckError> {
    let source =
        JsoncSource::parse(split_mark(text).1).map_err(|flaw| EditCheckError::new(flaw.to_string()))?;
    let hooks = source.hooks()?;
    let wanted = WantedEntries::of(entries);
    for (event, nodes) in wanted.in_order() {
        let groups = hooks.and_then(|hooks| hooks.get_array(event));
        let ours: Vec<_> = groups
            .iter()
            .flat_map(|groups| &groups.elements)
            .filter(|group| owner(group, signature) != GroupOwner::Theirs)
            .collect();
        if ours.len() != nodes.len() || !nodes.iter().zip(&ours).all(|(node, group)| node.is_said_by(group)) {
            let what = format!("the entry for `{event}` does not have the expected content");
            return Err(EditCheckError::new(what));
        }
    }
    let found = count(text, signature)?;
    if found != entries.len() {
        return Err(EditCheckError::new(format!("{found} entries instead of {}", entries.len())));
    }
    Ok(())
}

/// Splits a byte order mark from the text.
pub fn split_mark(text: &str) -> (&str, &str) {
    text.strip_prefix('\u{feff}').map_or(("", text), |body| ("\u{feff}", body))
}

#[derive(Default)]
struct WantedEntries<'e> {
    groups: BTreeMap<&'e str, Vec<&'e JsonNode>>,
    order: Vec<&'e str>,
}

impl<'e> WantedEntries<'e> {
    fn of(entries: &'e [HookSettingsEntry]) -> Self {
        let mut wanted = Self::default();
        for entry in entries {
            let groups = wanted.groups.entry(&entry.event).or_default();
            if groups.is_empty() {
                wanted.order.push(&entry.event);
            }
            groups.push(&entry.group);
        }
        wanted
    }

    fn of_event(&self, event: &str) -> &[&'e JsonNode] {
        self.groups.get(event).map(Vec::as_slice).unwrap_or_default()
    }

    fn in_order(&self) -> impl Iterator<Item = (&'e str, &[&'e JsonNode])> {
        self.order.iter().map(|event| (*event, self.of_event(event)))
    }
}

#[derive(Debug, PartialEq, Eq)]
enum GroupOwner {
    Theirs,
    Ours,
    /// The user added handlers to Tenterhook's group. The set contains the indices of Tenterhook's handlers.
    Shared(BTreeSet<usize>),
}

fn owner(group: &Value<'_>, signature: &HookSignature) -> GroupOwner {
    let Value::Object(group) = group else { return GroupOwner::Theirs };
    let marker = signature.marker.and_then(|marker| group.get_boolean(marker));
    let marked = marker.is_some_and(|marker| marker.value);
    let Some(handlers) = group.get_array("hooks").map(|handlers| handlers.elements.as_slice()) else {
        // This harness has no groups: the entry is itself a handler.
        let ours = command(group).is_some_and(signature.is_our_command) || marked;
        return if ours { GroupOwner::Ours } else { GroupOwner::Theirs };
    };
    let ours: BTreeSet<usize> = handlers
        .iter()
        .enumerate()
        .filter(|(_, handler)| {
            handler.as_object().and_then(command).is_some_and(|command| {
                (signature.is_our_command)(command) || (marked && command.contains("tenterhook"))
            })
        })
        .map(|(index, _)| index)
        .collect();
    match (ours.len(), handlers.len()) {
        (_, 0) if marked => GroupOwner::Ours,
        (0, _) if !marked => GroupOwner::Theirs,
        (ours, all) if ours == all => GroupOwner::Ours,
        _ => GroupOwner::Shared(ours),
    }
}

/// Removes Tenterhook's entries that are no longer wanted; wanted groups stay in place.
fn prune(
    text: &str,
    signature: &HookSignature,
    created: &CreatedContainers,
    wanted: &WantedEntries<'_>,
) -> Result<EditedText, SettingsError> {
    let source = JsoncSource::parse(text)?;
    let mut created = created.clone();
    let Some((root, hooks)) = source.root()?.zip(source.hooks()?) else {
        let created = CreatedContainers { hooks: false, events: BTreeSet::new(), ..created };
        return Ok(EditedText { text: text.to_owned(), created });
    };
    let mut edits = Vec::new();
    let mut empty_events = BTreeSet::new();
    for (number, property) in hooks.properties.iter().enumerate() {
        let (event, Value::Array(groups)) = (property.name.as_str(), &property.value) else { continue };
        let list = ItemList::of_array(groups);
        let gone = edit_groups(&source, groups, signature, wanted.of_event(event).len(), &mut edits);
        let empty = gone.len() == list.items.len() && !layout::has_own_comments(&source, &list);
        if empty && wanted.of_event(event).is_empty() && created.events.contains(event) {
            created.events.remove(event);
            empty_events.insert(number);
        } else {
            edits.extend(layout::take_out(&source, &list, &gone));
        }
    }
    // Forgets events that were removed from the file. If the user adds such an event later, its array is the user's.
    created.events.retain(|event| hooks.get(event).is_some());

    let list = ItemList::of_object(hooks);
    let all_gone = empty_events.len() == list.items.len() && !layout::has_own_comments(&source, &list);
    if all_gone && created.hooks && wanted.order.is_empty() {
        let of_hooks = root.properties.iter().position(|property| property.name.as_str() == "hooks");
        created.hooks = false;
        // The whole `hooks` property is removed. Edits inside it would overlap with that removal, so they are
        // dropped.
        edits = layout::take_out(&source, &ItemList::of_object(root), &of_hooks.into_iter().collect());
    } else {
        edits.extend(layout::take_out(&source, &list, &empty_events));
    }
    Ok(EditedText { text: layout::apply(text, edits), created })
}

/// Returns the indices of groups to remove. In shared groups, `edits` removes only Tenterhook's handlers.
fn edit_groups(
    source: &JsoncSource<'_>,
    groups: &Array<'_>,
    signature: &HookSignature,
    keep: usize,
    edits: &mut Vec<TextEdit>,
) -> BTreeSet<usize> {
    let mut gone = BTreeSet::new();
    let mut kept = 0;
    let last_of_theirs =
        groups.elements.iter().rposition(|group| owner(group, signature) != GroupOwner::Ours);
    let stays = |index| !signature.comes_last || last_of_theirs.is_none_or(|theirs| index > theirs);
    for (index, group) in groups.elements.iter().enumerate() {
        match owner(group, signature) {
            GroupOwner::Theirs => {}
            GroupOwner::Ours if kept < keep && stays(index) => kept += 1,
            GroupOwner::Ours => {
                gone.insert(index);
            }
            GroupOwner::Shared(handlers) => {
                let Value::Object(group) = group else { continue };
                if let Some(list) = group.get_array("hooks") {
                    edits.extend(layout::take_out(source, &ItemList::of_array(list), &handlers));
                }
                let is_marker = |name: &str| signature.marker == Some(name);
                let marker = group.properties.iter().position(|property| is_marker(property.name.as_str()));
                edits.extend(layout::take_out(
                    source,
                    &ItemList::of_object(group),
                    &marker.into_iter().collect(),
                ));
            }
        }
    }
    gone
}

/// Updates existing groups in place, and adds missing ones.
fn place(
    text: &str,
    signature: &HookSignature,
    mut created: CreatedContainers,
    wanted: &WantedEntries<'_>,
) -> Result<EditedText, SettingsError> {
    let source = JsoncSource::parse(text)?;
    let layout = TextLayout::of(&source);
    let events = |wanted: &WantedEntries<'_>| {
        let list = |nodes: &[&JsonNode]| JsonNode::List(nodes.iter().map(|&node| node.clone()).collect());
        JsonNode::object(wanted.in_order().map(|(event, nodes)| (event, list(nodes))))
    };
    if wanted.order.is_empty() {
        return Ok(EditedText { text: text.to_owned(), created });
    }
    let all = || wanted.order.iter().map(|&event| event.to_owned()).collect();
    let Some(root) = source.root()? else {
        let root = layout.render(&JsonNode::object([("hooks", events(wanted))]), "", true);
        let newline = layout.newline;
        let head = match text {
            blank if blank.trim().is_empty() => String::new(),
            comments if comments.ends_with(['\n', '\r']) => comments.to_owned(),
            comments => format!("{comments}{newline}"),
        };
        let created = CreatedContainers { hooks: true, events: all(), ..created };
        return Ok(EditedText { text: format!("{head}{root}{newline}"), created });
    };
    let root_list = ItemList::of_object(root);
    let root_slot = layout.slot(&source, &root_list, true);
    let edits = match source.hooks()? {
        None => {
            created = CreatedContainers { hooks: true, events: all(), ..created };
            let hooks = layout.render_property("hooks", &events(wanted), &root_slot.indent, root_slot.spread);
            layout.append(&source, &root_list, &root_slot, &[hooks])
        }
        Some(hooks) => place_in(&source, &layout, hooks, root_slot.spread, signature, wanted, &mut created)?,
    };
    Ok(EditedText { text: layout::apply(text, edits), created })
}

fn place_in(
    source: &JsoncSource<'_>,
    layout: &TextLayout,
    hooks: &Object<'_>,
    roomy: bool,
    signature: &HookSignature,
    wanted: &WantedEntries<'_>,
    created: &mut CreatedContainers,
) -> Result<Vec<TextEdit>, SettingsError> {
    let hooks_list = ItemList::of_object(hooks);
    let hooks_slot = layout.slot(source, &hooks_list, roomy);
    let mut edits = Vec::new();
    let mut new_events = Vec::new();
    for (event, nodes) in wanted.in_order() {
        let groups = match hooks.get(event).map(|property| &property.value) {
            Some(Value::Array(groups)) => groups,
            Some(other) => {
                let what = format!("`hooks.{event}` must be an array, found {}", kind(other));
                return Err(source.flaw(other.range().start, what));
            }
            None => {
                let list = JsonNode::List(nodes.iter().map(|&node| node.clone()).collect());
                new_events.push(layout.render_property(event, &list, &hooks_slot.indent, hooks_slot.spread));
                created.events.insert(event.to_owned());
                continue;
            }
        };
        let ours: Vec<_> =
            groups.elements.iter().filter(|group| owner(group, signature) == GroupOwner::Ours).collect();
        for (node, group) in nodes.iter().zip(&ours).filter(|(node, group)| !node.is_said_by(group)) {
            let range = group.range().start..group.range().end;
            let indent = layout::line_indent(source, range.start);
            let spread = hooks_slot.spread || source.slice(range.clone()).contains(['\n', '\r']);
            edits.push(TextEdit { text: layout.render(node, indent, spread), range });
        }
        let list = ItemList::of_array(groups);
        let slot = layout.slot(source, &list, hooks_slot.spread);
        let missing: Vec<String> = nodes
            .iter()
            .skip(ours.len())
            .map(|node| layout.render(node, &slot.indent, slot.spread))
            .collect();
        edits.extend(layout.append(source, &list, &slot, &missing));
    }
    edits.extend(layout.append(source, &hooks_list, &hooks_slot, &new_events));
    Ok(edits)
}
