// SPDX-License-Identifier: Apache-2.0 OR MIT

//! What a gate looks at → conditions of ours.

use tenterhook_document::{Node, Spot, Value};
use tenterhook_event::ToolClass;

use super::{Reading, re2};
use tenterhook_document::yaml::{Map, Tree};

/// A list of patterns there, and what it is about here.
const PATTERNS: &[(&str, &str)] = &[
    ("command_regex", "command"),
    ("any_command_regex", "command"),
    ("any_path_regex", "path"),
    ("any_url_regex", "url"),
];

impl Reading<'_> {
    /// Every alternative of a `match`; empty if none can be carried.
    pub(super) fn alternatives(&mut self, node: &Node, gate: &str) -> Vec<Map> {
        let Some(any_of) = node.get("any_of") else {
            return self.conditions(node, gate).into_iter().collect();
        };
        let Value::List(items) = &any_of.value else {
            self.left(any_of.spot, Some(gate), "`any_of` must be a list", "");
            return Vec::new();
        };
        if let Value::Map(entries) = &node.value {
            for (key, _) in entries.iter().filter(|(key, _)| key.text() != Some("any_of")) {
                let name = key.text().unwrap_or_default();
                self.left(key.spot, Some(gate), format!("`{name}` beside `any_of` has no effect there"), "");
            }
        }
        items.iter().flat_map(|item| self.alternatives(item, gate)).collect()
    }

    /// Conditions that all hold. `None` if they cannot be said here: a rule with fewer of them would
    /// be another one.
    fn conditions(&mut self, node: &Node, gate: &str) -> Option<Map> {
        let Value::Map(entries) = &node.value else {
            self.left(node.spot, Some(gate), "`match` must be a map", "");
            return None;
        };
        let (mut tool, mut prefix) = (None, None);
        let mut path = None;
        let mut patterns: Vec<(&'static str, Vec<String>)> = Vec::new();
        let mut whole = true;
        for (key, value) in entries {
            let name = key.text().unwrap_or_default();
            match (name, value.text()) {
                (_, Some("")) => {}
                ("tool", Some(text)) => tool = Some(text),
                ("tool_prefix", Some(text)) => prefix = Some(text),
                ("path_glob", Some(text)) => path = Some(path_globs(text)),
                (name, _) => match PATTERNS.iter().find(|(theirs, _)| *theirs == name) {
                    Some((_, about)) => match self.patterns(value, gate) {
                        Some(list) => add(&mut patterns, about, list),
                        None => whole = false,
                    },
                    None => self.left(key.spot, Some(gate), format!("`{name}` is no condition there"), ""),
                },
            }
        }
        if !whole {
            return None;
        }
        let mut map = self.tool(tool, prefix, node.spot, gate)?;
        map.extend(path.map(|globs| ("path", Tree::texts(globs))));
        if !patterns.is_empty() {
            let lists = patterns.into_iter().map(|(about, list)| (about, Tree::texts(list)));
            map.push(("regex", Tree::Map(lists.collect())));
        }
        if map.is_empty() {
            self.left(node.spot, Some(gate), "it looks for nothing", "");
            return None;
        }
        Some(map)
    }

    /// The tool by its name, by the beginning of it, or both.
    fn tool(&mut self, tool: Option<&str>, prefix: Option<&str>, spot: Spot, gate: &str) -> Option<Map> {
        let glob = match (tool, prefix) {
            (None, None) => return Some(Vec::new()),
            (Some(name), Some(prefix)) if !name.starts_with(prefix) => {
                self.left(spot, Some(gate), format!("no tool is `{name}` and begins with `{prefix}`"), "");
                return None;
            }
            (Some(name), _) => tool_name(name),
            (None, Some(prefix)) => format!("{}*", letters(prefix)),
        };
        Some(vec![("tool", Tree::text(glob))])
    }

    /// One pattern or a list of them, for us. One that cannot be carried spoils all: the rest would
    /// let pass what it was there for, or stop what it was not.
    fn patterns(&mut self, node: &Node, gate: &str) -> Option<Vec<String>> {
        let items = match &node.value {
            Value::List(items) => items.as_slice(),
            _ => std::slice::from_ref(node),
        };
        let mut list = Vec::with_capacity(items.len());
        let mut whole = true;
        for item in items {
            let pattern = match item.text() {
                Some(text) => re2::translated(text).map_err(|error| error.to_string()),
                None => Err("it is not a text".to_owned()),
            };
            match pattern {
                Ok(pattern) => list.push(pattern),
                Err(why) => {
                    let hint =
                        "write the pattern without that and import again; until then this gate is open";
                    self.left(
                        item.spot,
                        Some(gate),
                        format!("a pattern that cannot be carried: {why}"),
                        hint,
                    );
                    whole = false;
                }
            }
        }
        whole.then_some(list)
    }
}

fn add(patterns: &mut Vec<(&'static str, Vec<String>)>, about: &'static str, list: Vec<String>) {
    if list.is_empty() {
        return;
    }
    match patterns.iter_mut().find(|(known, _)| *known == about) {
        Some((_, known)) => known.extend(list),
        None => patterns.push((about, list)),
    }
}

/// Here, `shell` is every shell and not the tool of that name; a name in brackets is only a name.
fn tool_name(name: &str) -> String {
    let glob = letters(name);
    match name.chars().next() {
        Some(first) if ToolClass::from_name(name).is_some() => {
            format!("[{first}]{}", name.get(first.len_utf8()..).unwrap_or_default())
        }
        _ => glob,
    }
}

/// There, only `*` and `?` are more than letters, and only in paths. Any letter stands for what a
/// glob of ours would read otherwise.
pub(super) fn letters(name: &str) -> String {
    name.chars().map(|letter| if "*?[]{}\\!".contains(letter) { '?' } else { letter }).collect()
}

/// A path glob of theirs: `**` is any letters, `*` any but a slash, `?` one.
///
/// Ours has `**` only as a whole part of a path, so that one which stands against letters becomes the
/// two things it can mean: more of the same name, or names below it.
fn path_globs(theirs: &str) -> Vec<String> {
    // Doubled six times, it is as many as anybody will read.
    const MOST: usize = 64;
    let mut globs = vec![String::new()];
    let mut rest = theirs;
    while let Some((before, behind)) = rest.split_once("**") {
        let behind = behind.trim_start_matches('*');
        push(&mut globs, &ours(before));
        let opens = globs.iter().all(|glob| glob.is_empty() || glob.ends_with('/'));
        let closes = behind.is_empty() || behind.starts_with('/');
        let (short, long) = match (opens, closes) {
            (true, true) => (None, "**"),
            (true, false) => (None, "**/*"),
            (false, true) if !behind.is_empty() => (None, "*/**"),
            (false, true) => (Some("*"), "*/**"),
            (false, false) => (Some("*"), "*/**/*"),
        };
        let shorter =
            short.map(|short| globs.iter().map(|glob| format!("{glob}{short}")).collect::<Vec<_>>());
        push(&mut globs, long);
        globs.extend(shorter.unwrap_or_default());
        rest = behind;
        if globs.len() >= MOST {
            // Rather too much than too little: whatever begins like this.
            rest = "";
        }
    }
    push(&mut globs, &ours(rest));
    globs
}

/// What stands between two `**`.
fn ours(part: &str) -> String {
    part.chars().map(|letter| if "[]{}\\!".contains(letter) { '?' } else { letter }).collect()
}

fn push(globs: &mut [String], text: &str) {
    for glob in globs {
        glob.push_str(text);
    }
}
