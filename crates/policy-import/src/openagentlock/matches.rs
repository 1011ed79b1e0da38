// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Converts the conditions of a gate.

use tenterhook_document::{Node, Spot, Value};
use tenterhook_event::ToolClass;

use super::{GateImporter, re2};
use tenterhook_document::yaml::{Map, Tree};

/// Keys of OpenAgentLock with patterns, and the matching keys of rule files.
const PATTERNS: &[(&str, &str)] = &[
    ("command_regex", "command"),
    ("any_command_regex", "command"),
    ("any_path_regex", "path"),
    ("any_url_regex", "url"),
];

impl GateImporter<'_> {
    /// Converts all alternatives of a `match`; empty if none can be converted.
    pub(super) fn convert_alternatives(&mut self, node: &Node, gate: &str) -> Vec<Map> {
        let Some(any_of) = node.get("any_of") else {
            return self.convert_conditions(node, gate).into_iter().collect();
        };
        let Value::List(items) = &any_of.value else {
            self.leave_out(any_of.spot, Some(gate), "`any_of` must be a list", "");
            return Vec::new();
        };
        if let Value::Map(entries) = &node.value {
            for (key, _) in entries.iter().filter(|(key, _)| key.text() != Some("any_of")) {
                let name = key.text().unwrap_or_default();
                self.leave_out(
                    key.spot,
                    Some(gate),
                    format!("`{name}` next to `any_of` has no effect in OpenAgentLock"),
                    "",
                );
            }
        }
        items.iter().flat_map(|item| self.convert_alternatives(item, gate)).collect()
    }

    /// Converts conditions that must all be true. `None` if one of them cannot be converted: a rule with fewer
    /// conditions would be a different rule.
    fn convert_conditions(&mut self, node: &Node, gate: &str) -> Option<Map> {
        let Value::Map(entries) = &node.value else {
            self.leave_out(node.spot, Some(gate), "`match` must be a map", "");
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
                    Some((_, about)) => match self.convert_patterns(value, gate) {
                        Some(list) => add_patterns(&mut patterns, about, list),
                        None => whole = false,
                    },
                    None => self.leave_out(key.spot, Some(gate), format!("unknown condition `{name}`"), ""),
                },
            }
        }
        if !whole {
            return None;
        }
        let mut map = self.tool_condition(tool, prefix, node.spot, gate)?;
        map.extend(path.map(|globs| ("path", Tree::texts(globs))));
        if !patterns.is_empty() {
            let lists = patterns.into_iter().map(|(about, list)| (about, Tree::texts(list)));
            map.push(("regex", Tree::Map(lists.collect())));
        }
        if map.is_empty() {
            self.leave_out(node.spot, Some(gate), "it has no condition", "");
            return None;
        }
        Some(map)
    }

    /// Returns the condition on the tool: its name, a prefix of the name, or both.
    fn tool_condition(
        &mut self,
        tool: Option<&str>,
        prefix: Option<&str>,
        spot: Spot,
        gate: &str,
    ) -> Option<Map> {
        let glob = match (tool, prefix) {
            (None, None) => return Some(Vec::new()),
            (Some(name), Some(prefix)) if !name.starts_with(prefix) => {
                self.leave_out(
                    spot,
                    Some(gate),
                    format!("the tool `{name}` does not begin with `{prefix}`"),
                    "",
                );
                return None;
            }
            (Some(name), _) => tool_name(name),
            (None, Some(prefix)) => format!("{}*", literal_glob(prefix)),
        };
        Some(vec![("tool", Tree::text(glob))])
    }

    /// Converts one pattern or a list of them. If one pattern cannot be converted, none is: with the remaining
    /// patterns, the rule would miss calls that it should stop, or stop calls that it should not.
    fn convert_patterns(&mut self, node: &Node, gate: &str) -> Option<Vec<String>> {
        let items = match &node.value {
            Value::List(items) => items.as_slice(),
            _ => std::slice::from_ref(node),
        };
        let mut list = Vec::with_capacity(items.len());
        let mut whole = true;
        for item in items {
            let pattern = match item.text() {
                Some(text) => re2::convert_regex(text).map_err(|error| error.to_string()),
                None => Err("it is not text".to_owned()),
            };
            match pattern {
                Ok(pattern) => list.push(pattern),
                Err(why) => {
                    let hint = "rewrite the pattern and import again; until then, this gate is not converted";
                    self.leave_out(
                        item.spot,
                        Some(gate),
                        format!("a pattern cannot be converted: {why}"),
                        hint,
                    );
                    whole = false;
                }
            }
        }
        whole.then_some(list)
    }
}

fn add_patterns(patterns: &mut Vec<(&'static str, Vec<String>)>, about: &'static str, list: Vec<String>) {
    if list.is_empty() {
        return;
    }
    match patterns.iter_mut().find(|(known, _)| *known == about) {
        Some((_, known)) => known.extend(list),
        None => patterns.push((about, list)),
    }
}

/// Returns the condition for a tool name. In rule files, a bare `shell` matches every shell tool. Written
/// with brackets, it matches only the tool with that name.
fn tool_name(name: &str) -> String {
    let glob = literal_glob(name);
    match name.chars().next() {
        Some(first) if ToolClass::from_name(name).is_some() => {
            format!("[{first}]{}", name.get(first.len_utf8()..).unwrap_or_default())
        }
        _ => glob,
    }
}

/// Returns a glob that matches a name literally. OpenAgentLock treats only `*` and `?` as special, and only
/// in paths. Every character that is special in rule files is replaced with `?`.
pub(super) fn literal_glob(name: &str) -> String {
    name.chars().map(|letter| if "*?[]{}\\!".contains(letter) { '?' } else { letter }).collect()
}

/// Converts a path glob of OpenAgentLock: `**` is any text, `*` any text without a slash, `?` one character.
///
/// In rule files, `**` is a whole component of a path. A `**` next to other characters is converted to two globs: one
/// for a longer name, and one for paths below the name.
fn path_globs(theirs: &str) -> Vec<String> {
    // Maximum number of globs. The number doubles with each `**`, and more would be unreadable.
    const MAX_GLOBS: usize = 64;
    let mut globs = vec![String::new()];
    let mut rest = theirs;
    while let Some((before, behind)) = rest.split_once("**") {
        let behind = behind.trim_start_matches('*');
        append_to_all(&mut globs, &convert_glob_part(before));
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
        append_to_all(&mut globs, long);
        globs.extend(shorter.unwrap_or_default());
        rest = behind;
        if globs.len() >= MAX_GLOBS {
            // If no exact glob is possible, a wider one is used: it matches everything with this beginning.
            rest = "";
        }
    }
    append_to_all(&mut globs, &convert_glob_part(rest));
    globs
}

/// Converts the text between two `**`.
fn convert_glob_part(part: &str) -> String {
    part.chars().map(|letter| if "[]{}\\!".contains(letter) { '?' } else { letter }).collect()
}

fn append_to_all(globs: &mut [String], text: &str) {
    for glob in globs {
        glob.push_str(text);
    }
}
