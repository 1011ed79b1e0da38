// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Loads hooks from `tenterhook.yaml`. An invalid entry is reported with its line and column and is not loaded. The
//! other entries are still loaded.

mod hook_defaults;
mod hook_entry;

use std::collections::BTreeMap;
use std::path::Path;

use tenterhook_document::{Misfit, Node, Problem, Spot, Value, parse, read_all};

pub use hook_defaults::{HookAuditLevel, HookDefaults};

use crate::Hook;

const HOOK_REJECTED_HINT: &str = "this hook is not in force; the others are";
const FILE_REJECTED_HINT: &str = "no hook of this file is in force until it is valid YAML";

/// Hooks loaded from one or more files.
#[derive(Debug, Default)]
pub struct LoadedHooks {
    /// The valid hooks.
    pub hooks: Vec<Hook>,
    /// File and position of each hook.
    pub places: Vec<(String, Spot)>,
    /// Settings that apply to all hooks.
    pub defaults: HookDefaults,
    /// Errors. The entries to which they refer were not loaded.
    pub problems: Vec<Problem>,
    /// Warnings about entries that are valid but probably not intended.
    pub warnings: Vec<Problem>,
}

/// Values from outside the file that its hooks may refer to.
#[derive(Debug, Clone, Copy)]
pub struct LoadContext<'a> {
    /// Working directory of commands if the event's directory does not exist. Relative paths in `exec` are resolved
    /// against it too.
    pub dir: &'a Path,
    /// Home directory of the user, for `~`.
    pub home: Option<&'a str>,
    /// Environment variables for the headers of HTTP hooks.
    pub env: &'a BTreeMap<String, String>,
}

/// Loads the hooks of a `tenterhook.yaml`. The value of `hooks` is a list, or a map with the keys of [`HookDefaults`]
/// and the key `list`.
pub fn load_settings(name: &str, text: &str, context: &LoadContext<'_>) -> LoadedHooks {
    let mut loaded = LoadedHooks::default();
    let document = match parse(text) {
        Ok(document) => document,
        Err((spot, message)) => {
            loaded.problems.push(Problem::new(name, spot, message).hint(FILE_REJECTED_HINT));
            return loaded;
        }
    };
    let entries: &[(Node, Node)] = match &document.value {
        Value::Map(entries) => entries,
        Value::Null => {
            let message = "the file is empty";
            loaded.warnings.push(Problem::for_file(name, message).hint("remove it, or add `hooks: []`"));
            &[]
        }
        _ => {
            loaded.problems.push(Problem::new(name, document.spot, "expected a map with `hooks`"));
            &[]
        }
    };
    report_repeated_keys(&mut loaded, name, entries);
    for (key, value) in entries {
        match key.text() {
            Some("hooks") => load_hooks_key(&mut loaded, name, value, context),
            // These keys are read elsewhere: by the daemon and by the ledger.
            Some("daemon" | "telemetry" | "undo" | "ledger" | "notify" | "approvals") => {}
            other => {
                let message = format!("unknown key `{}`", other.unwrap_or("?"));
                let hint = "known: hooks, daemon, telemetry, undo, ledger, notify, approvals";
                loaded.problems.push(Problem::new(name, key.spot, message).hint(hint));
            }
        }
    }
    loaded
}

/// Adds the hooks of another file. Only its key `hooks`, which must be a list, is read.
pub fn load_more(loaded: &mut LoadedHooks, name: &str, text: &str, context: &LoadContext<'_>) {
    let document = match parse(text) {
        Ok(document) => document,
        Err((spot, message)) => {
            loaded.problems.push(Problem::new(name, spot, message).hint(FILE_REJECTED_HINT));
            return;
        }
    };
    match document.get("hooks").map(|node| (node, &node.value)) {
        Some((_, Value::List(items))) => load_entries(loaded, name, items, context),
        Some((node, _)) => loaded.problems.push(Problem::new(name, node.spot, "`hooks` must be a list")),
        None => loaded.problems.push(Problem::new(name, document.spot, "the key `hooks` is missing")),
    }
    if !loaded.defaults.enabled {
        loaded.hooks.iter_mut().for_each(|hook| hook.enabled = false);
    }
}

/// Reports repeated keys. Without the report, one of the values would be ignored silently.
fn report_repeated_keys(loaded: &mut LoadedHooks, name: &str, entries: &[(Node, Node)]) {
    for (index, (key, _)) in entries.iter().enumerate() {
        if let Some(text) = key.text()
            && entries.iter().take(index).any(|(other, _)| other.text() == Some(text))
        {
            let message = format!("repeated key `{text}`");
            loaded.problems.push(Problem::new(name, key.spot, message).hint("merge the two into one"));
        }
    }
}

fn load_hooks_key(loaded: &mut LoadedHooks, name: &str, hooks: &Node, context: &LoadContext<'_>) {
    match &hooks.value {
        Value::List(items) => load_entries(loaded, name, items, context),
        Value::Null => {}
        Value::Map(keys) => {
            report_repeated_keys(loaded, name, keys);
            for (key, value) in keys.iter().filter(|(key, _)| key.text() != Some("list")) {
                if let Err(Misfit { spot, message }) = loaded.defaults.set(key, value) {
                    loaded.problems.push(Problem::new(name, spot, message));
                }
            }
            match hooks.get("list").map(|node| (node.spot, &node.value)) {
                None | Some((_, Value::Null)) => {}
                Some((_, Value::List(items))) => load_entries(loaded, name, items, context),
                Some((spot, _)) => loaded.problems.push(Problem::new(name, spot, "`list` must be a list")),
            }
        }
        _ => loaded.problems.push(Problem::new(name, hooks.spot, "`hooks` must be a list or a map")),
    }
    if !loaded.defaults.enabled {
        loaded.hooks.iter_mut().for_each(|hook| hook.enabled = false);
    }
}

fn load_entries(loaded: &mut LoadedHooks, name: &str, items: &[Node], context: &LoadContext<'_>) {
    for item in items {
        let id = item.get("id").and_then(Node::text);
        if !matches!(item.value, Value::Map(_)) {
            let message = "a hook must be a map: `{id: …, on: …, command: …}`";
            loaded.problems.push(Problem::new(name, item.spot, message).hint(HOOK_REJECTED_HINT));
            continue;
        }
        let mut read = read_all::<hook_entry::HookEntry>(item);
        let hook = match read.value.take().map(|entry| entry.into_hook(item, &loaded.defaults, context)) {
            Some(Ok(hook)) if read.mistakes.is_empty() => Ok(hook),
            found => {
                read.add(found.and_then(Result::err).unwrap_or_default());
                Err(read.mistakes)
            }
        };
        let checked = hook.and_then(|(hook, warnings)| {
            let limits = &loaded.defaults.limits;
            limits
                .check_new_hook(&loaded.hooks.iter(), &hook)
                .map_err(|error| vec![Misfit { spot: item.spot, message: error.to_string() }])?;
            Ok((hook, warnings))
        });
        match checked {
            Ok((hook, warnings)) => {
                let warn = |Misfit { spot, message }| Problem::new(name, spot, message).about("hook", id);
                loaded.warnings.extend(warnings.into_iter().map(warn));
                loaded.hooks.push(hook);
                loaded.places.push((name.to_owned(), item.spot));
            }
            Err(wrong) => {
                let problem = |Misfit { spot, message }| {
                    Problem::new(name, spot, message).about("hook", id).hint(HOOK_REJECTED_HINT)
                };
                loaded.problems.extend(wrong.into_iter().map(problem));
            }
        }
    }
}

#[cfg(test)]
mod tests;
