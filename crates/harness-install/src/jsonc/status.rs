// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The status line of a settings file. Tenterhook's command replaces the existing command, which is stored so that it
//! can be restored.

use jsonc_parser::{ast::Value, common::Ranged};
use serde::{Deserialize, Serialize};

use super::{
    JsonNode, JsoncSource, SettingsError,
    layout::{self, TextEdit, TextLayout},
    source::ItemList,
    split_mark,
};

const KEY: &str = "statusLine";

/// What happened to the status line.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct StatusLineRecord {
    /// Whether the file had no status line before.
    pub created: bool,
    /// Previous command as written in the file, including quotes.
    pub chained: Option<String>,
}

impl StatusLineRecord {
    /// Returns the status line command that was set before the installation.
    pub fn chained_command(&self) -> Option<String> {
        serde_json::from_str(self.chained.as_deref()?).ok()
    }
}

/// Sets `command` as the status line. `before` is the state that earlier installs recorded. Returns `None` and
/// changes nothing if the status line has an unknown format.
pub fn set(
    text: &str,
    command: &str,
    is_ours: fn(&str) -> bool,
    before: &StatusLineRecord,
) -> Result<Option<(String, StatusLineRecord)>, SettingsError> {
    let (mark, body) = split_mark(text);
    let source = JsoncSource::parse(body)?;
    let layout = TextLayout::of(&source);
    let Some(root) = source.root()? else { return Ok(None) };
    let (edits, status) = match root.get(KEY).map(|property| &property.value) {
        None => {
            let list = ItemList::of_object(root);
            let slot = layout.slot(&source, &list, true);
            let line =
                JsonNode::object([("type", JsonNode::text("command")), ("command", JsonNode::text(command))]);
            let item = layout.render_property(KEY, &line, &slot.indent, slot.spread);
            let status = StatusLineRecord { created: true, chained: None };
            (layout.append(&source, &list, &slot, &[item]), status)
        }
        Some(Value::Object(line)) => {
            let Some(Value::StringLit(there)) = line.get("command").map(|property| &property.value) else {
                return Ok(None);
            };
            let range = there.range().start..there.range().end;
            let status = if is_ours(&there.value) {
                before.clone()
            } else {
                StatusLineRecord { created: false, chained: Some(source.slice(range.clone()).to_owned()) }
            };
            let edit = TextEdit { range, text: JsonNode::text(command).scalar() };
            let same = there.value == command;
            (if same { Vec::new() } else { vec![edit] }, status)
        }
        Some(_) => return Ok(None),
    };
    Ok(Some((format!("{mark}{}", layout::apply(body, edits)), status)))
}

/// Whether there is a status line that [`set`] would leave unchanged.
pub fn is_foreign(text: &str, is_ours: fn(&str) -> bool) -> Result<bool, SettingsError> {
    let source = JsoncSource::parse(split_mark(text).1)?;
    let there = source.root()?.and_then(|root| root.get(KEY)).is_some();
    Ok(there && set(text, "", is_ours, &StatusLineRecord::default())?.is_none())
}

/// Restores the previous command, or removes the status line.
pub fn restore(
    text: &str,
    is_ours: fn(&str) -> bool,
    before: &StatusLineRecord,
) -> Result<String, SettingsError> {
    let (mark, body) = split_mark(text);
    let source = JsoncSource::parse(body)?;
    let Some(root) = source.root()? else { return Ok(text.to_owned()) };
    let Some(at) = root.properties.iter().position(|property| property.name.as_str() == KEY) else {
        return Ok(text.to_owned());
    };
    let line = root.properties.get(at).and_then(|property| property.value.as_object());
    let command = line.and_then(|line| line.get_string("command"));
    let Some(command) = command.filter(|command| is_ours(&command.value)) else { return Ok(text.to_owned()) };
    let edits = match &before.chained {
        Some(chained) => {
            vec![TextEdit { range: command.range.start..command.range.end, text: chained.clone() }]
        }
        None => layout::take_out(&source, &ItemList::of_object(root), &[at].into()),
    };
    Ok(format!("{mark}{}", layout::apply(body, edits)))
}

#[cfg(test)]
mod tests {
    use super::*;

    const OURS: &str = "'/h/bin/tenterhook-status'";

    fn is_ours(command: &str) -> bool {
        command.ends_with("tenterhook-status'")
    }

    #[test]
    fn a_status_line_goes_in_and_out_without_a_trace() {
        for text in [
            "{}",
            "{\n  \"model\": \"x\"\n}\n",
            "{\"statusLine\": {\"type\": \"command\", \"command\": \"~/my \\u00e9.sh\", \"padding\": 0}, \"b\": 1}",
            "{\n\t\"statusLine\" : { // mine\n\t\t\"command\":\"x\"\n\t}\n}",
            "\u{feff}{ \"a\": 1 }",
        ] {
            let (installed, status) =
                set(text, OURS, is_ours, &StatusLineRecord::default()).unwrap().unwrap();
            assert!(installed.contains(OURS), "{installed}");
            let (again, same) = set(&installed, OURS, is_ours, &status).unwrap().unwrap();
            assert_eq!((&again, &same), (&installed, &status));
            assert_eq!(restore(&installed, is_ours, &status).unwrap(), text);
        }
    }

    #[test]
    fn the_command_that_was_there_is_known() {
        let text = r#"{"statusLine": {"type": "command", "command": "echo \"é\""}}"#;
        let (installed, status) = set(text, OURS, is_ours, &StatusLineRecord::default()).unwrap().unwrap();
        assert_eq!(status.chained_command().as_deref(), Some("echo \"é\""));
        let moved = installed.replace("/h/", "/other/");
        let (back, status) = set(&moved, OURS, is_ours, &status).unwrap().unwrap();
        assert_eq!(back, installed);
        assert_eq!(status.chained_command().as_deref(), Some("echo \"é\""));
    }

    #[test]
    fn what_we_do_not_know_is_left_alone() {
        for text in [r#"{"statusLine": "x"}"#, r#"{"statusLine": {"type": "other"}}"#, "", "// nothing"] {
            assert_eq!(set(text, OURS, is_ours, &StatusLineRecord::default()).unwrap(), None, "{text}");
            assert_eq!(restore(text, is_ours, &StatusLineRecord::default()).unwrap(), text);
        }
        let theirs = r#"{"statusLine": {"command": "mine"}}"#;
        assert_eq!(restore(theirs, is_ours, &StatusLineRecord::default()).unwrap(), theirs);
    }
}
