// SPDX-License-Identifier: Apache-2.0 OR MIT

//! YAML text → wire types. A rule that cannot be read is refused alone; the others stand.

pub(crate) mod wire;

use tenterhook_document::{Node, Problem, Spot, Value, parse, read as typed};

use crate::rule::Mode;
use crate::source::Source;

const FORMAT: i64 = 1;
const KEYS: &[&str] = &["version", "mode", "rules"];

/// A rule file that was read, as far as it could be.
pub(crate) struct File {
    pub(crate) mode: Mode,
    pub(crate) rules: Vec<(Spot, wire::Rule)>,
}

/// Reads one file. `None` when nothing in it can be used.
pub(crate) fn read(source: &Source<'_>, problems: &mut Vec<Problem>) -> Option<File> {
    let mut report = |spot, message: String, hint: &str| {
        let problem = Problem::new(source.name, spot, message);
        problems.push(if hint.is_empty() { problem } else { problem.hint(hint) });
    };
    let document = match parse(source.text) {
        Ok(document) => document,
        Err((spot, message)) => {
            report(spot, message, "no rule of this file is in force until it is valid YAML");
            return None;
        }
    };
    let Value::Map(entries) = &document.value else {
        report(document.spot, "expected a map with `version` and `rules`".into(), "");
        return None;
    };
    for (key, _) in entries {
        match key.text() {
            Some(name) if KEYS.contains(&name) => {}
            Some(name) => report(key.spot, format!("no such key: `{name}`"), "known: version, mode, rules"),
            None => report(key.spot, "a key must be a text".into(), ""),
        }
    }
    match document.get("version").map(|node| (node.spot, &node.value)) {
        Some((_, Value::Whole(FORMAT))) => {}
        // The rules may mean something else in another version: none is better than a wrong one.
        Some((spot, _)) => {
            report(spot, "this version of the format is not known".into(), "write `version: 1`");
            return None;
        }
        None => report(document.spot, "`version` is missing".into(), "write `version: 1`"),
    }
    let mode = match document.get("mode").map(typed::<Mode>) {
        None => Mode::default(),
        Some(Ok(mode)) => mode,
        Some(Err(misfit)) => {
            report(misfit.spot, misfit.message, "the rules of this file are enforced");
            Mode::default()
        }
    };
    let items: &[Node] = match document.get("rules").map(|node| (node.spot, &node.value)) {
        Some((_, Value::List(items))) => items,
        Some((_, Value::Null)) => &[],
        Some((spot, _)) => {
            report(spot, "`rules` must be a list".into(), "");
            &[]
        }
        None => {
            report(document.spot, "`rules` is missing".into(), "");
            &[]
        }
    };
    let mut rules = Vec::with_capacity(items.len());
    for item in items {
        match typed::<wire::Rule>(item) {
            Ok(rule) => rules.push((item.spot, rule)),
            Err(misfit) => {
                let id = item.get("id").and_then(Node::text);
                problems.push(
                    Problem::new(source.name, misfit.spot, misfit.message)
                        .about("rule", id)
                        .hint("this rule is not in force; the others are"),
                );
            }
        }
    }
    Some(File { mode, rules })
}
