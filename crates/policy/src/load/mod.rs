// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Parses the YAML text of rule files. A rule that cannot be read is refused; the others are kept.

mod lists;
pub(crate) mod wire;

use serde::de::DeserializeOwned;
use tenterhook_document::{
    Misfit, Node, Problem, ReadAll, Spot, Value, nearest, parse, read as read_node, read_all,
};

use crate::compile;
use crate::rule::RuleMode;
use crate::source::RuleSource;
use lists::NamedLists;

/// Version of the rule file format.
const RULE_FILE_VERSION: i64 = 1;
const RULE_FILE_KEYS: &[&str] =
    &["version", "pack", "title", "enabled", "mode", "build_machines", "order", "lists", "rules"];

/// A rule file, as far as it could be read.
pub(crate) struct RuleFile {
    pub(crate) header: RuleFileHeader,
    pub(crate) rules: Vec<(Spot, wire::RuleSpec)>,
}

/// Settings at the top of a rule file that apply to all of its rules.
#[derive(Debug, Default)]
pub(crate) struct RuleFileHeader {
    pub(crate) mode: RuleMode,
    pub(crate) build_machines: Option<bool>,
    pub(crate) order: wire::RuleOrder,
}

/// Reads one file. `None` if nothing in it can be used.
pub(crate) fn read_rule_file(source: &RuleSource<'_>, problems: &mut Vec<Problem>) -> Option<RuleFile> {
    let mut report = |spot, message: String, hint: &str| {
        let problem = Problem::new(source.name, spot, message);
        problems.push(if hint.is_empty() { problem } else { problem.hint(hint) });
    };
    let document = match parse(source.text) {
        Ok(document) => document,
        Err((spot, message)) => {
            report(spot, message, "no rule of this file is active until it is valid YAML");
            return None;
        }
    };
    let Value::Map(entries) = &document.value else {
        report(document.spot, "expected a map with `version` and `rules`".into(), "");
        return None;
    };
    for (key, _) in entries {
        match key.text() {
            Some(name) if RULE_FILE_KEYS.contains(&name) => {}
            Some(name) => {
                let near = nearest(name, RULE_FILE_KEYS.iter().copied())
                    .map(|near| format!("did you mean `{near}`?"));
                let hint = near.unwrap_or_else(|| format!("known: {}", RULE_FILE_KEYS.join(", ")));
                report(key.spot, format!("no such key: `{name}`"), &hint);
            }
            None => report(key.spot, "a key must be text".into(), ""),
        }
    }
    match document.get("version").map(|node| (node.spot, &node.value)) {
        Some((_, Value::Whole(RULE_FILE_VERSION))) => {}
        // Rules may have a different meaning in another version, so none of them is used.
        Some((spot, _)) => {
            report(spot, "unknown version of the rule file format".into(), "write `version: 1`");
            return None;
        }
        None => report(document.spot, "`version` is missing".into(), "write `version: 1`"),
    }
    let mut header = RuleFileHeader {
        mode: read_key(&document, "mode", "the rules of this file are enforced", &mut report),
        build_machines: read_key(&document, "build_machines", "", &mut report),
        order: read_key(&document, "order", "all rules of this file count", &mut report),
    };
    read_key::<Option<String>>(&document, "title", "", &mut report);
    read_key::<Option<String>>(&document, "pack", "", &mut report);
    read_key::<Option<bool>>(&document, "enabled", "", &mut report);
    if header.order == wire::RuleOrder::First
        && let Some((why, hint)) = source.distrust_reason()
    {
        let spot = document.get("order").map_or(document.spot, |node| node.spot);
        let message = format!("{why}, so its file cannot have `order: first`");
        report(spot, message, &format!("{hint}; until then all of its rules count"));
        header.order = wire::RuleOrder::All;
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
    let lists = NamedLists::read(document.get("lists"), &mut report);
    let mut rules = Vec::with_capacity(items.len());
    for item in items {
        let mut read = read_rule(item, &lists);
        match read.value.take() {
            Some(rule) if read.mistakes.is_empty() => {
                rules.push((item.spot, rule));
                continue;
            }
            Some(rule) => {
                let more =
                    compile::compile_rule(rule, &header, 0, item.spot, source).err().unwrap_or_default();
                read.add(
                    more.into_iter().map(|error| Misfit { spot: item.spot, message: error.to_string() }),
                );
            }
            None => {}
        }
        let id = item.get("id").and_then(Node::text);
        let problem = |misfit: Misfit| {
            Problem::new(source.name, misfit.spot, misfit.message)
                .about("rule", id)
                .hint("this rule is not active; the others are")
        };
        problems.extend(read.mistakes.into_iter().map(problem));
    }
    Some(RuleFile { header, rules })
}

/// Reads one rule and reports every mistake in it.
fn read_rule(item: &Node, lists: &NamedLists) -> ReadAll<wire::RuleSpec> {
    match lists.open(item) {
        Ok(opened) => read_all(&opened),
        Err(misfit) => ReadAll { value: None, mistakes: vec![misfit], left_out: Vec::new() },
    }
}

/// Returns the value of one key of the file, or the default if the value cannot be read.
fn read_key<T: DeserializeOwned + Default>(
    document: &Node,
    key: &str,
    hint: &str,
    report: &mut impl FnMut(Spot, String, &str),
) -> T {
    match document.get(key).map(read_node::<T>) {
        None => T::default(),
        Some(Ok(value)) => value,
        Some(Err(misfit)) => {
            report(misfit.spot, format!("`{key}`: {}", misfit.message), hint);
            T::default()
        }
    }
}
