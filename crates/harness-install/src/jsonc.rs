// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Edits to `hooks.<Event>[]` in JSON with comments, as text: every byte that is not ours stays as it is.
//!
//! Our entries are known by a marker key *and* by their command. The marker alone is not enough: whenever Claude
//! Code writes its settings (a permission granted, a plugin added) it drops every key it does not know from
//! matcher groups (measured with 2.1.325; anthropics/claude-code#88113).

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
use layout::{Edit, Layout};
use source::List;

pub use handlers::{command, take_handlers};
pub use keep::keep_hooks;
pub use node::Node;
pub use source::{Flaw, Source, kind};

/// One matcher group of ours, or one handler where a harness has no groups.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// The key under `hooks`.
    pub event: String,
    /// The group, marker and all.
    pub group: Node,
}

/// How our groups are told from everybody else's.
#[derive(Debug, Clone, Copy)]
pub struct Signature {
    /// The key that is `true` in our groups, where the harness lets us have one.
    pub marker: Option<&'static str>,
    /// Whether a command (or a URL) is one we wrote, in whatever version.
    pub is_our_command: fn(&str) -> bool,
    /// Whether ours has to stand behind everybody else's.
    pub comes_last: bool,
}

/// The containers that were not there before us, so that they go when we go.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Created {
    /// The object `hooks`.
    pub hooks: bool,
    /// Arrays inside it.
    pub events: BTreeSet<String>,
    /// The status line.
    #[serde(default)]
    pub status: status::Status,
    /// Single settings.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub switches: Vec<switch::Switched>,
    /// Entries of the person's that were moved elsewhere.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub moved: Vec<Moved>,
    /// Lines that were put into a text.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lines: Vec<String>,
    /// Lists in the root object.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub lists: BTreeSet<String>,
    /// What was put into a TOML file.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub toml: Vec<super::toml::Made>,
}

/// An entry of the person's that was moved elsewhere.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Moved {
    /// The key under `hooks`.
    pub event: String,
    /// The group, as it stood.
    pub group: String,
}

/// The text after an edit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Edited {
    /// The whole new text.
    pub text: String,
    /// What now counts as created by us.
    pub created: Created,
}

/// Puts `entries` in, and brings older ones of ours up to date where they stand. `created` is what earlier
/// installs had to create.
pub fn insert(
    text: &str,
    entries: &[Entry],
    signature: &Signature,
    created: &Created,
) -> Result<Edited, Flaw> {
    let (mark, body) = split_mark(text);
    let wanted = Wanted::of(entries);
    let pruned = prune(body, signature, created, &wanted)?;
    let placed = place(&pruned.text, signature, pruned.created, &wanted)?;
    Ok(Edited { text: format!("{mark}{}", placed.text), created: placed.created })
}

/// Takes our groups out, and after them the containers in `created` that are left empty.
pub fn remove(text: &str, signature: &Signature, created: &Created) -> Result<Edited, Flaw> {
    let (mark, body) = split_mark(text);
    let pruned = prune(body, signature, created, &Wanted::default())?;
    Ok(Edited { text: format!("{mark}{}", pruned.text), created: pruned.created })
}

/// How many groups hold something of ours.
pub fn count(text: &str, signature: &Signature) -> Result<usize, Flaw> {
    let source = Source::parse(split_mark(text).1)?;
    let groups = source
        .hooks()?
        .into_iter()
        .flat_map(|hooks| &hooks.properties)
        .filter_map(|event| event.value.as_array());
    Ok(groups
        .flat_map(|groups| &groups.elements)
        .filter(|group| owner(group, signature) != Owner::Theirs)
        .count())
}

/// Checks that `text` holds exactly `entries` of ours, each whole and in its place.
pub fn check(text: &str, entries: &[Entry], signature: &Signature) -> Result<(), EditCheckError> {
    let source = Source::parse(split_mark(text).1).map_err(|flaw| EditCheckError::new(flaw.to_string()))?;
    let hooks = source.hooks()?;
    let wanted = Wanted::of(entries);
    for (event, nodes) in wanted.in_order() {
        let groups = hooks.and_then(|hooks| hooks.get_array(event));
        let ours: Vec<_> = groups
            .iter()
            .flat_map(|groups| &groups.elements)
            .filter(|group| owner(group, signature) != Owner::Theirs)
            .collect();
        if ours.len() != nodes.len() || !nodes.iter().zip(&ours).all(|(node, group)| node.is_said_by(group)) {
            let what = format!("the entry for `{event}` is not as it should be");
            return Err(EditCheckError::new(what));
        }
    }
    let found = count(text, signature)?;
    if found != entries.len() {
        return Err(EditCheckError::new(format!("{found} entries instead of {}", entries.len())));
    }
    Ok(())
}

/// Splits a byte order mark from the text proper.
pub fn split_mark(text: &str) -> (&str, &str) {
    text.strip_prefix('\u{feff}').map_or(("", text), |body| ("\u{feff}", body))
}

#[derive(Default)]
struct Wanted<'e> {
    groups: BTreeMap<&'e str, Vec<&'e Node>>,
    order: Vec<&'e str>,
}

impl<'e> Wanted<'e> {
    fn of(entries: &'e [Entry]) -> Self {
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

    fn of_event(&self, event: &str) -> &[&'e Node] {
        self.groups.get(event).map(Vec::as_slice).unwrap_or_default()
    }

    fn in_order(&self) -> impl Iterator<Item = (&'e str, &[&'e Node])> {
        self.order.iter().map(|event| (*event, self.of_event(event)))
    }
}

#[derive(Debug, PartialEq, Eq)]
enum Owner {
    Theirs,
    Ours,
    /// Somebody put handlers of their own beside ours; these numbers are ours.
    Shared(BTreeSet<usize>),
}

fn owner(group: &Value<'_>, signature: &Signature) -> Owner {
    let Value::Object(group) = group else { return Owner::Theirs };
    let marker = signature.marker.and_then(|marker| group.get_boolean(marker));
    let marked = marker.is_some_and(|marker| marker.value);
    let Some(handlers) = group.get_array("hooks").map(|handlers| handlers.elements.as_slice()) else {
        // A handler without a group.
        let ours = command(group).is_some_and(signature.is_our_command) || marked;
        return if ours { Owner::Ours } else { Owner::Theirs };
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
        (_, 0) if marked => Owner::Ours,
        (0, _) if !marked => Owner::Theirs,
        (ours, all) if ours == all => Owner::Ours,
        _ => Owner::Shared(ours),
    }
}

/// Takes out what is ours and not wanted any more; wanted groups stay where they are.
fn prune(text: &str, signature: &Signature, created: &Created, wanted: &Wanted<'_>) -> Result<Edited, Flaw> {
    let source = Source::parse(text)?;
    let mut created = created.clone();
    let Some((root, hooks)) = source.root()?.zip(source.hooks()?) else {
        let created = Created { hooks: false, events: BTreeSet::new(), ..created };
        return Ok(Edited { text: text.to_owned(), created });
    };
    let mut edits = Vec::new();
    let mut empty_events = BTreeSet::new();
    for (number, property) in hooks.properties.iter().enumerate() {
        let (event, Value::Array(groups)) = (property.name.as_str(), &property.value) else { continue };
        let list = List::of_array(groups);
        let gone = edit_groups(&source, groups, signature, wanted.of_event(event).len(), &mut edits);
        let empty = gone.len() == list.items.len() && !layout::has_own_comments(&source, &list);
        if empty && wanted.of_event(event).is_empty() && created.events.contains(event) {
            created.events.remove(event);
            empty_events.insert(number);
        } else {
            edits.extend(layout::take_out(&source, &list, &gone));
        }
    }
    // An event that is gone from the file is not ours to remove should the user write it anew.
    created.events.retain(|event| hooks.get(event).is_some());

    let list = List::of_object(hooks);
    let all_gone = empty_events.len() == list.items.len() && !layout::has_own_comments(&source, &list);
    if all_gone && created.hooks && wanted.order.is_empty() {
        let of_hooks = root.properties.iter().position(|property| property.name.as_str() == "hooks");
        created.hooks = false;
        // The whole property goes, so edits inside it would overlap.
        edits = layout::take_out(&source, &List::of_object(root), &of_hooks.into_iter().collect());
    } else {
        edits.extend(layout::take_out(&source, &list, &empty_events));
    }
    Ok(Edited { text: layout::apply(text, edits), created })
}

/// The groups that go whole; handlers inside shared groups are edited out.
fn edit_groups(
    source: &Source<'_>,
    groups: &Array<'_>,
    signature: &Signature,
    keep: usize,
    edits: &mut Vec<Edit>,
) -> BTreeSet<usize> {
    let mut gone = BTreeSet::new();
    let mut kept = 0;
    let last_of_theirs = groups.elements.iter().rposition(|group| owner(group, signature) != Owner::Ours);
    let stays = |index| !signature.comes_last || last_of_theirs.is_none_or(|theirs| index > theirs);
    for (index, group) in groups.elements.iter().enumerate() {
        match owner(group, signature) {
            Owner::Theirs => {}
            Owner::Ours if kept < keep && stays(index) => kept += 1,
            Owner::Ours => {
                gone.insert(index);
            }
            Owner::Shared(handlers) => {
                let Value::Object(group) = group else { continue };
                if let Some(list) = group.get_array("hooks") {
                    edits.extend(layout::take_out(source, &List::of_array(list), &handlers));
                }
                let is_marker = |name: &str| signature.marker == Some(name);
                let marker = group.properties.iter().position(|property| is_marker(property.name.as_str()));
                edits.extend(layout::take_out(
                    source,
                    &List::of_object(group),
                    &marker.into_iter().collect(),
                ));
            }
        }
    }
    gone
}

/// Brings the groups that stand up to date, and adds those that are missing.
fn place(
    text: &str,
    signature: &Signature,
    mut created: Created,
    wanted: &Wanted<'_>,
) -> Result<Edited, Flaw> {
    let source = Source::parse(text)?;
    let layout = Layout::of(&source);
    let events = |wanted: &Wanted<'_>| {
        let list = |nodes: &[&Node]| Node::List(nodes.iter().map(|&node| node.clone()).collect());
        Node::object(wanted.in_order().map(|(event, nodes)| (event, list(nodes))))
    };
    if wanted.order.is_empty() {
        return Ok(Edited { text: text.to_owned(), created });
    }
    let all = || wanted.order.iter().map(|&event| event.to_owned()).collect();
    let Some(root) = source.root()? else {
        let root = layout.render(&Node::object([("hooks", events(wanted))]), "", true);
        let newline = layout.newline;
        let head = match text {
            blank if blank.trim().is_empty() => String::new(),
            comments if comments.ends_with(['\n', '\r']) => comments.to_owned(),
            comments => format!("{comments}{newline}"),
        };
        let created = Created { hooks: true, events: all(), ..created };
        return Ok(Edited { text: format!("{head}{root}{newline}"), created });
    };
    let root_list = List::of_object(root);
    let root_slot = layout.slot(&source, &root_list, true);
    let edits = match source.hooks()? {
        None => {
            created = Created { hooks: true, events: all(), ..created };
            let hooks = layout.render_property("hooks", &events(wanted), &root_slot.indent, root_slot.spread);
            layout.append(&source, &root_list, &root_slot, &[hooks])
        }
        Some(hooks) => place_in(&source, &layout, hooks, root_slot.spread, signature, wanted, &mut created)?,
    };
    Ok(Edited { text: layout::apply(text, edits), created })
}

fn place_in(
    source: &Source<'_>,
    layout: &Layout,
    hooks: &Object<'_>,
    roomy: bool,
    signature: &Signature,
    wanted: &Wanted<'_>,
    created: &mut Created,
) -> Result<Vec<Edit>, Flaw> {
    let hooks_list = List::of_object(hooks);
    let hooks_slot = layout.slot(source, &hooks_list, roomy);
    let mut edits = Vec::new();
    let mut new_events = Vec::new();
    for (event, nodes) in wanted.in_order() {
        let groups = match hooks.get(event).map(|property| &property.value) {
            Some(Value::Array(groups)) => groups,
            Some(other) => {
                let what = format!("`hooks.{event}` should be an array, and here is {}", kind(other));
                return Err(source.flaw(other.range().start, what));
            }
            None => {
                let list = Node::List(nodes.iter().map(|&node| node.clone()).collect());
                new_events.push(layout.render_property(event, &list, &hooks_slot.indent, hooks_slot.spread));
                created.events.insert(event.to_owned());
                continue;
            }
        };
        let ours: Vec<_> =
            groups.elements.iter().filter(|group| owner(group, signature) == Owner::Ours).collect();
        for (node, group) in nodes.iter().zip(&ours).filter(|(node, group)| !node.is_said_by(group)) {
            let range = group.range().start..group.range().end;
            let indent = layout::line_indent(source, range.start);
            let spread = hooks_slot.spread || source.slice(range.clone()).contains(['\n', '\r']);
            edits.push(Edit { text: layout.render(node, indent, spread), range });
        }
        let list = List::of_array(groups);
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
