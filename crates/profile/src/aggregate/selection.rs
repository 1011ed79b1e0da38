// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Combines the tool selections of several hooks.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use crate::js;
use crate::switches::{Profile, SelectNames};

/// Merges tool selections. `NONE` takes precedence over `ANY`, and `ANY` over `AUTO`. Tool names are combined by the
/// profile's rule. Other fields are dropped.
pub(super) fn merge(profile: &Profile, outputs: &[Value]) -> Value {
    let configs: Vec<&Value> = outputs
        .iter()
        .filter_map(|output| js::field(output.get("hookSpecificOutput")?, "toolConfig"))
        .collect();
    let has_mode =
        |mode: &str| configs.iter().any(|config| config.get("mode").is_some_and(|value| value == mode));
    let mode = ["NONE", "ANY"].into_iter().find(|mode| has_mode(mode)).unwrap_or("AUTO");
    let mut tool_config = Map::new();
    tool_config.insert("mode".into(), mode.into());
    if let Some(names) = combine_names(profile, &configs, mode) {
        tool_config.insert("allowedFunctionNames".into(), names.into_iter().collect());
    }
    json!({"hookSpecificOutput": {"hookEventName": "BeforeToolSelection", "toolConfig": tool_config}})
}

fn combine_names(profile: &Profile, configs: &[&Value], mode: &str) -> Option<BTreeSet<String>> {
    let lists = configs.iter().filter_map(|config| config.get("allowedFunctionNames")?.as_array());
    let lists = lists.map(|list| list.iter().filter_map(Value::as_str));
    match profile.select_names {
        SelectNames::Union if mode == "NONE" => Some(BTreeSet::new()),
        SelectNames::Union => Some(lists.flatten().map(str::to_owned).collect()),
        SelectNames::Intersection => lists
            .map(|list| list.map(canonical_tool_name).collect::<BTreeSet<_>>())
            .reduce(|all, list| all.intersection(&list).cloned().collect()),
    }
}

/// LLxprt Code's canonical spelling of a tool name: `ReadFileTool`, `read-file` and `readFile` become `read_file`. A
/// final `Tool` is removed only if the name has several words. Dots are kept.
fn canonical_tool_name(name: &str) -> String {
    let trimmed = name.trim();
    if trimmed.is_empty() || trimmed.split('.').any(str::is_empty) {
        return "__invalid_tool_name__".to_owned();
    }
    let (space, last) = trimmed.rsplit_once('.').map_or(("", trimmed), |(space, last)| (space, last));
    let stem = last.strip_suffix("Tool").filter(|stem| has_several_words(stem));
    let bare = match (stem, space) {
        (None, _) => trimmed.to_owned(),
        (Some(stem), "") => stem.to_owned(),
        (Some(stem), space) => format!("{space}.{stem}"),
    };
    // A name that is already canonical keeps its dashes.
    let plain = |char: char| char.is_ascii_alphanumeric() || matches!(char, '_' | '.' | '-');
    if bare.len() <= 100 && bare.chars().all(plain) && bare == bare.to_lowercase() {
        return bare;
    }
    to_snake_case(&bare)
}

fn has_several_words(name: &str) -> bool {
    name.contains(['_', '-']) || name.chars().skip(1).any(|char| char.is_ascii_uppercase())
}

fn to_snake_case(name: &str) -> String {
    let mut to_snake_case = String::with_capacity(name.len() + 4);
    let is_gap = |char: char| char.is_whitespace() || char == '-';
    let mut before = None;
    for char in name.chars() {
        let small = |before: char| before.is_ascii_lowercase() || before.is_ascii_digit();
        let gap_begins = is_gap(char) && !before.is_some_and(is_gap);
        let word_begins = char.is_ascii_uppercase() && before.is_some_and(small);
        if gap_begins || word_begins {
            to_snake_case.push('_');
        }
        if !is_gap(char) {
            to_snake_case.extend(char.to_lowercase());
        }
        before = Some(char);
    }
    to_snake_case
}

#[cfg(test)]
mod tests {
    use super::canonical_tool_name;

    #[test]
    fn spellings_of_one_tool_are_one_name() {
        for name in ["read_file", "readFile", "ReadFile", "ReadFileTool", " read file ", "Read-File"] {
            assert_eq!(canonical_tool_name(name), "read_file", "{name}");
        }
        assert_eq!(canonical_tool_name("read-file"), "read-file", "a valid name stays as it is");
        assert_eq!(canonical_tool_name("functions.RunShellCommandTool"), "functions.run_shell_command");
        assert_eq!(
            canonical_tool_name("GlobTool"),
            "glob_tool",
            "one word before `Tool`: it belongs to the name"
        );
        assert_eq!(canonical_tool_name("a..b"), "__invalid_tool_name__");
    }
}
