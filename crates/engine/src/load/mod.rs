// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Hooks from a `tenterhook.yaml`. An entry that cannot be used is refused alone, with its place;
//! the others stand.

mod defaults;
mod entry;

use std::collections::BTreeMap;
use std::path::Path;

use tenterhook_document::{Misfit, Node, Problem, Spot, Value, parse, read_all};

pub use defaults::{AuditLevel, Defaults};

use crate::Hook;

const REFUSED: &str = "this hook is not in force; the others are";

/// What a file gave.
#[derive(Debug, Default)]
pub struct Loaded {
    /// The hooks that can be used.
    pub hooks: Vec<Hook>,
    /// Where each of them is written: the file and the place in it.
    pub places: Vec<(String, Spot)>,
    /// What holds for all of them.
    pub defaults: Defaults,
    /// What cannot be used, and why.
    pub problems: Vec<Problem>,
    /// What can be used but is probably not meant so.
    pub warnings: Vec<Problem>,
}

/// What the file may refer to, as the caller found it.
#[derive(Debug, Clone, Copy)]
pub struct Around<'a> {
    /// Where commands run when the event names no directory that exists.
    pub dir: &'a Path,
    /// The person's home, for `~`.
    pub home: Option<&'a str>,
    /// The variables that headers of HTTP hooks may refer to.
    pub env: &'a BTreeMap<String, String>,
}

/// Reads the hooks of a `tenterhook.yaml`: `hooks` is a list, or a map with the keys of [`Defaults`] and
/// `list`.
pub fn settings(name: &str, text: &str, around: &Around<'_>) -> Loaded {
    let mut loaded = Loaded::default();
    let document = match parse(text) {
        Ok(document) => document,
        Err((spot, message)) => {
            let hint = "no hook of this file is in force until it is valid YAML";
            loaded.problems.push(Problem::new(name, spot, message).hint(hint));
            return loaded;
        }
    };
    let entries: &[(Node, Node)] = match &document.value {
        Value::Map(entries) => entries,
        Value::Null => {
            let message = "the file is empty: nothing is set here";
            loaded.warnings.push(Problem::whole(name, message).hint("remove it, or add `hooks: []`"));
            &[]
        }
        _ => {
            loaded.problems.push(Problem::new(name, document.spot, "expected a map with `hooks`"));
            &[]
        }
    };
    repeated(&mut loaded, name, entries);
    for (key, value) in entries {
        match key.text() {
            Some("hooks") => hooks(&mut loaded, name, value, around),
            // Read by whoever serves, and by whoever keeps a ledger.
            Some("daemon" | "telemetry" | "ledger") => {}
            other => {
                let message = format!("no such key: `{}`", other.unwrap_or("?"));
                let hint = "known: hooks, daemon, telemetry, ledger";
                loaded.problems.push(Problem::new(name, key.spot, message).hint(hint));
            }
        }
    }
    loaded
}

/// Adds the hooks of another file beside those that are there; only its key `hooks`, a list, is read.
pub fn more(loaded: &mut Loaded, name: &str, text: &str, around: &Around<'_>) {
    let document = match parse(text) {
        Ok(document) => document,
        Err((spot, message)) => {
            let hint = "no hook of this file is in force until it is valid YAML";
            loaded.problems.push(Problem::new(name, spot, message).hint(hint));
            return;
        }
    };
    match document.get("hooks").map(|node| (node, &node.value)) {
        Some((_, Value::List(items))) => add_all(loaded, name, items, around),
        Some((node, _)) => loaded.problems.push(Problem::new(name, node.spot, "`hooks` must be a list")),
        None => loaded.problems.push(Problem::new(name, document.spot, "there is no `hooks` in it")),
    }
    if !loaded.defaults.enabled {
        loaded.hooks.iter_mut().for_each(|hook| hook.enabled = false);
    }
}

/// A key that stands twice: one of the two would silently not count.
fn repeated(loaded: &mut Loaded, name: &str, entries: &[(Node, Node)]) {
    for (at, (key, _)) in entries.iter().enumerate() {
        if let Some(text) = key.text()
            && entries.iter().take(at).any(|(other, _)| other.text() == Some(text))
        {
            let message = format!("`{text}` stands here a second time");
            loaded.problems.push(Problem::new(name, key.spot, message).hint("put the two together"));
        }
    }
}

fn hooks(loaded: &mut Loaded, name: &str, hooks: &Node, around: &Around<'_>) {
    match &hooks.value {
        Value::List(items) => add_all(loaded, name, items, around),
        Value::Null => {}
        Value::Map(keys) => {
            repeated(loaded, name, keys);
            for (key, value) in keys.iter().filter(|(key, _)| key.text() != Some("list")) {
                if let Err(Misfit { spot, message }) = loaded.defaults.set(key, value) {
                    loaded.problems.push(Problem::new(name, spot, message));
                }
            }
            match hooks.get("list").map(|node| (node.spot, &node.value)) {
                None | Some((_, Value::Null)) => {}
                Some((_, Value::List(items))) => add_all(loaded, name, items, around),
                Some((spot, _)) => loaded.problems.push(Problem::new(name, spot, "`list` must be a list")),
            }
        }
        _ => loaded.problems.push(Problem::new(name, hooks.spot, "`hooks` must be a list or a map")),
    }
    if !loaded.defaults.enabled {
        loaded.hooks.iter_mut().for_each(|hook| hook.enabled = false);
    }
}

fn add_all(loaded: &mut Loaded, name: &str, items: &[Node], around: &Around<'_>) {
    for item in items {
        let id = item.get("id").and_then(Node::text);
        if !matches!(item.value, Value::Map(_)) {
            let message = "a hook has to be a map: `{id: …, on: …, command: …}`";
            loaded.problems.push(Problem::new(name, item.spot, message).hint(REFUSED));
            continue;
        }
        let mut read = read_all::<entry::Entry>(item);
        let hook = match read.value.take().map(|entry| entry.hook(item, &loaded.defaults, around)) {
            Some(Ok(hook)) if read.mistakes.is_empty() => Ok(hook),
            found => {
                read.add(found.and_then(Result::err).unwrap_or_default());
                Err(read.mistakes)
            }
        };
        let admitted = hook.and_then(|(hook, warnings)| {
            let limits = &loaded.defaults.limits;
            limits
                .admit(&loaded.hooks.iter(), &hook)
                .map_err(|error| vec![Misfit { spot: item.spot, message: error.to_string() }])?;
            Ok((hook, warnings))
        });
        match admitted {
            Ok((hook, warnings)) => {
                let warn = |Misfit { spot, message }| Problem::new(name, spot, message).about("hook", id);
                loaded.warnings.extend(warnings.into_iter().map(warn));
                loaded.hooks.push(hook);
                loaded.places.push((name.to_owned(), item.spot));
            }
            Err(wrong) => {
                let problem = |Misfit { spot, message }| {
                    Problem::new(name, spot, message).about("hook", id).hint(REFUSED)
                };
                loaded.problems.extend(wrong.into_iter().map(problem));
            }
        }
    }
}

#[cfg(test)]
mod tests;
