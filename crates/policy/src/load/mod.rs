// SPDX-License-Identifier: Apache-2.0 OR MIT

//! YAML text → wire types. A rule that cannot be read is refused alone; the others stand.

mod lists;
pub(crate) mod wire;

use serde::de::DeserializeOwned;
use tenterhook_document::{
    Misfit, Node, Problem, ReadAll, Spot, Value, nearest, parse, read as typed, read_all,
};

use crate::compile;
use crate::rule::Mode;
use crate::source::Source;
use lists::Lists;

const FORMAT: i64 = 1;
const KEYS: &[&str] = &["version", "pack", "title", "enabled", "mode", "order", "lists", "rules"];

/// A rule file that was read, as far as it could be.
pub(crate) struct File {
    pub(crate) header: Header,
    pub(crate) rules: Vec<(Spot, wire::Rule)>,
}

/// What a file says about all of its rules.
#[derive(Debug, Default)]
pub(crate) struct Header {
    pub(crate) mode: Mode,
    pub(crate) order: wire::Order,
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
            Some(name) => {
                let near = nearest(name, KEYS.iter().copied()).map(|near| format!("did you mean `{near}`?"));
                let hint = near.unwrap_or_else(|| format!("known: {}", KEYS.join(", ")));
                report(key.spot, format!("no such key: `{name}`"), &hint);
            }
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
    let mut header = Header {
        mode: one(&document, "mode", "the rules of this file are enforced", &mut report),
        order: one(&document, "order", "all rules of this file count", &mut report),
    };
    one::<Option<String>>(&document, "title", "", &mut report);
    one::<Option<String>>(&document, "pack", "", &mut report);
    one::<Option<bool>>(&document, "enabled", "", &mut report);
    if header.order == wire::Order::First
        && let Some((why, hint)) = source.distrust()
    {
        let spot = document.get("order").map_or(document.spot, |node| node.spot);
        let message = format!("{why}, so its file cannot have `order: first`");
        report(spot, message, &format!("{hint}; until then all of its rules count"));
        header.order = wire::Order::All;
    }
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
    let lists = Lists::read(document.get("lists"), &mut report);
    let mut rules = Vec::with_capacity(items.len());
    for item in items {
        let mut read = rule(item, &lists);
        match read.value.take() {
            Some(rule) if read.mistakes.is_empty() => {
                rules.push((item.spot, rule));
                continue;
            }
            Some(rule) => {
                let more = compile::rule(rule, &header, 0, item.spot, source).err().unwrap_or_default();
                read.add(more.into_iter().map(|message| Misfit { spot: item.spot, message }));
            }
            None => {}
        }
        let id = item.get("id").and_then(Node::text);
        let problem = |misfit: Misfit| {
            Problem::new(source.name, misfit.spot, misfit.message)
                .about("rule", id)
                .hint("this rule is not in force; the others are")
        };
        problems.extend(read.mistakes.into_iter().map(problem));
    }
    Some(File { header, rules })
}

/// Reads one rule and finds every mistake in it.
fn rule(item: &Node, lists: &Lists) -> ReadAll<wire::Rule> {
    match lists.open(item) {
        Ok(opened) => read_all(&opened),
        Err(misfit) => ReadAll { value: None, mistakes: vec![misfit], left_out: Vec::new() },
    }
}

/// The value of one key of the file; what it is by default if it cannot be read.
fn one<T: DeserializeOwned + Default>(
    document: &Node,
    key: &str,
    hint: &str,
    report: &mut impl FnMut(Spot, String, &str),
) -> T {
    match document.get(key).map(typed::<T>) {
        None => T::default(),
        Some(Ok(value)) => value,
        Some(Err(misfit)) => {
            report(misfit.spot, format!("`{key}`: {}", misfit.message), hint);
            T::default()
        }
    }
}
