// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Parses `hooks.<Event>[].hooks[]`, the format of Claude Code, Gemini CLI and LLxprt Code.

use std::collections::BTreeMap;

use serde_json::Value as Json;
use tenterhook_document::{Node, Problem, Value};

use super::{ConfiguredHook, ProfileSettings, SettingsLayer, SettingsSource, entry, gate, lint, nearest};
use crate::switches::{LayerMerge, LegacyKeys, Profile, ProfileEvent};

/// The list of one event in one file.
struct EventBlock<'a> {
    layer: &'a SettingsLayer<'a>,
    row: &'static ProfileEvent,
    key: &'a Node,
    groups: &'a Node,
}

pub(super) fn read(profile: &Profile, trees: &[(SettingsLayer<'_>, Node)], settings: &mut ProfileSettings) {
    let disabled = gate::read(profile, trees, settings);
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for block in event_blocks(profile, trees, settings) {
        let Value::List(groups) = &block.groups.value else {
            let what = format!("`hooks.{}` must be a list of matcher groups", block.row.name);
            let hint = "write `[{\"matcher\": …, \"hooks\": […]}]`";
            settings.refuse(problem(profile, &block, block.groups, what, hint));
            continue;
        };
        for node in groups {
            let count = counts.entry(block.row.name).or_default();
            let number = *count;
            *count += 1;
            read_group(profile, &block, number, node, settings);
        }
    }
    for entry in &mut settings.entries {
        entry.enabled = !disabled.iter().any(|name| name == entry.label());
    }
    if let (Some(why), Some(first)) = (&settings.why_disabled, settings.entries.first()) {
        let what = format!("{} hooks are configured, but {why}", settings.entries.len());
        let found = Problem::for_file(&first.file, what);
        settings.warn(found);
    }
}

/// Returns the event lists that apply, in order.
fn event_blocks<'a>(
    profile: &Profile,
    trees: &'a [(SettingsLayer<'a>, Node)],
    settings: &mut ProfileSettings,
) -> Vec<EventBlock<'a>> {
    let mut event_blocks: Vec<EventBlock<'a>> = Vec::new();
    for (layer, tree) in trees {
        let Some(hooks) = tree.get("hooks") else { continue };
        let Value::Map(events) = &hooks.value else {
            let what = "`hooks` must be an object with events as keys";
            settings.refuse(Problem::new(layer.name, hooks.spot, what));
            continue;
        };
        for (key, groups) in events {
            let name = key.text().unwrap_or_default();
            if profile.legacy != LegacyKeys::Unknown && gate::LEGACY_KEYS.contains(&name) {
                continue;
            }
            let Some(row) = profile.event(name) else {
                let what = format!("unknown event `{name}` of {}; its hooks never run", profile.about);
                let hint = nearest::event_hint(profile, name);
                settings.warn(Problem::new(layer.name, key.spot, what).hint(hint));
                continue;
            };
            if profile.merge_layers == LayerMerge::ReplaceEvent && layer.source != SettingsSource::Extensions
            {
                let same = |block: &EventBlock<'_>| {
                    block.row == row && block.layer.source != SettingsSource::Extensions
                };
                for lost in event_blocks.extract_if(.., |block| same(block)) {
                    let what = format!("`{name}` here is replaced by the one in {}", layer.name);
                    let hint = "files are not merged here: copy the hooks that you want to keep";
                    settings.warn(Problem::new(lost.layer.name, lost.key.spot, what).hint(hint));
                }
            }
            event_blocks.push(EventBlock { layer, row, key, groups });
        }
    }
    event_blocks
}

fn read_group(
    profile: &Profile,
    block: &EventBlock<'_>,
    number: usize,
    node: &Node,
    settings: &mut ProfileSettings,
) {
    let hooks = match node.get("hooks").map(|hooks| (&hooks.value, hooks)) {
        Some((Value::List(hooks), _)) => hooks,
        Some((_, other)) => {
            let hint = "write `\"hooks\": [{\"type\": \"command\", \"command\": …}]`";
            let what = "`hooks` of a matcher group must be a list";
            return settings.refuse(problem(profile, block, other, what, hint));
        }
        None => {
            let hint = "a matcher group is `{\"matcher\": …, \"hooks\": […]}`; the hooks go inside it";
            return settings.refuse(problem(profile, block, node, "matcher group without `hooks`", hint));
        }
    };
    let matcher = node.get("matcher").and_then(|node| tenterhook_document::read::<Json>(node).ok());
    let matcher = matcher.filter(|matcher| !matcher.is_null());
    let sequential = node.get("sequential").is_some_and(|node| node.value == Value::Bool(true));
    lint::check_group(profile, block.layer, block.row, node, matcher.as_ref(), settings);
    for hook in hooks {
        match entry::read(profile, hook) {
            Ok(read) => {
                let entry = ConfiguredHook {
                    event: block.row.name.to_owned(),
                    group: number,
                    matcher: matcher.clone(),
                    sequential,
                    source: block.layer.source,
                    file: block.layer.name.to_owned(),
                    ..read
                };
                lint::check_hook(profile, block.row, hook, &entry, settings);
                settings.entries.push(entry);
            }
            Err(refused) => {
                let about = hook.get("name").or_else(|| hook.get("command")).and_then(Node::text);
                let mut found =
                    problem(profile, block, hook, refused.message, &refused.hint).about("hook", about);
                if refused.spot.line > 0 {
                    (found.line, found.column) = (Some(refused.spot.line), Some(refused.spot.column));
                }
                settings.refuse(found);
            }
        }
    }
}

/// Describes a problem with one entry. If the harness ignores the whole file because of the problem, the hint says
/// so.
fn problem(
    profile: &Profile,
    block: &EventBlock<'_>,
    at: &Node,
    what: impl Into<String>,
    hint: &str,
) -> Problem {
    let whole = if profile.bad_entry_drops_file.contains(&block.row.name) {
        format!("; because of it, {} silently ignores the whole file", profile.about)
    } else {
        String::new()
    };
    Problem::new(block.layer.name, at.spot, what).hint(format!("{hint}{whole}"))
}
