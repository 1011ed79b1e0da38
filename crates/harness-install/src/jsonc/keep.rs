// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Reduces settings to those that decide whether hooks run. Comments, order and errors are kept: a client that
//! rejects the original file also rejects the reduced file.

use std::collections::BTreeSet;

use jsonc_parser::{
    ast::{Object, Value},
    common::Ranged,
};

use super::{
    layout::{self, TextEdit},
    source::{ItemList, JsoncSource, SettingsError},
    split_mark,
};

/// Command of other programs' hooks in the reduced settings.
const NO_COMMAND: &str = "\"true\"";
/// URL of other programs' hooks in the reduced settings; nothing listens there.
const NO_URL: &str = "\"http://127.0.0.1:9/\"";

/// The text with only these `keys`. Its hooks run nothing, except hooks whose command `is_kept` accepts.
pub fn keep_hooks(
    text: &str,
    keys: &[&[&str]],
    is_kept: impl Fn(&str) -> bool,
) -> Result<String, SettingsError> {
    let (mark, body) = split_mark(text);
    let source = JsoncSource::parse(body)?;
    let Some(root) = source.root()? else { return Ok(text.to_owned()) };
    let mut edits = Vec::new();
    let keys: Vec<_> = keys.iter().map(|keys| keys.to_vec()).collect();
    keep_properties(&source, root, &keys, &mut edits);
    if keys.contains(&vec!["hooks"])
        && let Some(hooks) = root.get("hooks")
    {
        silence(&hooks.value, &is_kept, &mut edits);
    }
    Ok(format!("{mark}{}", layout::apply(body, edits)))
}

fn keep_properties(
    source: &JsoncSource<'_>,
    object: &Object<'_>,
    keys: &[Vec<&str>],
    edits: &mut Vec<TextEdit>,
) {
    let mut gone = BTreeSet::new();
    for (index, property) in object.properties.iter().enumerate() {
        let name = property.name.as_str();
        let below: Vec<Vec<&str>> = keys
            .iter()
            .filter_map(|keys| keys.split_first().filter(|(first, _)| **first == name))
            .map(|(_, rest)| rest.to_vec())
            .collect();
        match &property.value {
            _ if below.iter().any(Vec::is_empty) => {}
            Value::Object(inner) if !below.is_empty() => keep_properties(source, inner, &below, edits),
            _ => drop(gone.insert(index)),
        }
    }
    edits.extend(layout::take_out(source, &ItemList::of_object(object), &gone));
}

fn silence(value: &Value<'_>, is_kept: &impl Fn(&str) -> bool, edits: &mut Vec<TextEdit>) {
    match value {
        Value::Array(items) => items.elements.iter().for_each(|item| silence(item, is_kept, edits)),
        Value::Object(object) => {
            for property in &object.properties {
                let nothing = match property.name.as_str() {
                    "command" | "bash" | "powershell" => NO_COMMAND,
                    "url" => NO_URL,
                    _ => {
                        silence(&property.value, is_kept, edits);
                        continue;
                    }
                };
                let said = property.value.as_string_lit();
                if said.is_some_and(|said| !is_kept(&said.value)) {
                    let range = property.value.range();
                    edits.push(TextEdit { range: range.start..range.end, text: nothing.to_owned() });
                }
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kept(text: &str) -> String {
        keep_hooks(text, &[&["hooks"], &["tools", "enableHooks"]], |command| command == "ours").unwrap()
    }

    #[test]
    fn only_what_decides_about_hooks_is_left() {
        let text = r#"{"env": {"KEY": "secret"}, "tools": {"sandbox": "x", "enableHooks": true}, "apiKeyHelper": "y"}"#;
        let left: serde_json::Value = serde_json::from_str(&kept(text)).unwrap();
        assert_eq!(left, serde_json::json!({"tools": {"enableHooks": true}}));
        assert_eq!(kept(r#"{"a": 1}"#).trim(), "{}");
    }

    #[test]
    fn hooks_of_others_keep_their_place_and_run_nothing() {
        let text = r#"{"hooks": {"A": [{"hooks": [{"command": "theirs"}, {"command": "ours"}]}, {"url": "http://x/"}]}}"#;
        let left: serde_json::Value = serde_json::from_str(&kept(text)).unwrap();
        let handlers = &left["hooks"]["A"];
        assert_eq!(handlers[0]["hooks"][0]["command"], "true");
        assert_eq!(handlers[0]["hooks"][1]["command"], "ours");
        assert_eq!(handlers[1]["url"], "http://127.0.0.1:9/");
    }

    #[test]
    fn a_file_that_a_client_rejects_stays_one() {
        assert!(kept("{\n  // mine\n  \"hooks\": {},\n  \"x\": 1\n}").contains("// mine"));
        assert!(keep_hooks("{\"hooks\": ", &[], |_| true).is_err());
    }
}
