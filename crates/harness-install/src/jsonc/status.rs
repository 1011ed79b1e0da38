// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The one status line of a settings file: ours takes the place of the command that was there, which is kept.

use jsonc_parser::{ast::Value, common::Ranged};
use serde::{Deserialize, Serialize};

use super::{
    Flaw, Node, Source,
    layout::{self, Edit, Layout},
    source::List,
    split_mark,
};

const KEY: &str = "statusLine";

/// What became of the status line.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Status {
    /// There was none before us.
    pub created: bool,
    /// The command that was there, as it stood in the file, quotes and all.
    pub chained: Option<String>,
}

impl Status {
    /// The command that was there before us.
    pub fn chained_command(&self) -> Option<String> {
        serde_json::from_str(self.chained.as_deref()?).ok()
    }
}

/// Puts `command` in. `before` is what earlier installs found. `None`: the status line is of a kind that we do
/// not know, and is left alone.
pub fn put(
    text: &str,
    command: &str,
    is_ours: fn(&str) -> bool,
    before: &Status,
) -> Result<Option<(String, Status)>, Flaw> {
    let (mark, body) = split_mark(text);
    let source = Source::parse(body)?;
    let layout = Layout::of(&source);
    let Some(root) = source.root()? else { return Ok(None) };
    let (edits, status) = match root.get(KEY).map(|property| &property.value) {
        None => {
            let list = List::of_object(root);
            let slot = layout.slot(&source, &list, true);
            let line = Node::object([("type", Node::text("command")), ("command", Node::text(command))]);
            let item = layout.render_property(KEY, &line, &slot.indent, slot.spread);
            let status = Status { created: true, chained: None };
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
                Status { created: false, chained: Some(source.slice(range.clone()).to_owned()) }
            };
            let edit = Edit { range, text: Node::text(command).scalar() };
            let same = there.value == command;
            (if same { Vec::new() } else { vec![edit] }, status)
        }
        Some(_) => return Ok(None),
    };
    Ok(Some((format!("{mark}{}", layout::apply(body, edits)), status)))
}

/// Whether there is a status line that [`put`] would leave alone.
pub fn is_foreign(text: &str, is_ours: fn(&str) -> bool) -> Result<bool, Flaw> {
    let source = Source::parse(split_mark(text).1)?;
    let there = source.root()?.and_then(|root| root.get(KEY)).is_some();
    Ok(there && put(text, "", is_ours, &Status::default())?.is_none())
}

/// Takes ours out again: the command that was there comes back, or the status line goes.
pub fn take(text: &str, is_ours: fn(&str) -> bool, before: &Status) -> Result<String, Flaw> {
    let (mark, body) = split_mark(text);
    let source = Source::parse(body)?;
    let Some(root) = source.root()? else { return Ok(text.to_owned()) };
    let Some(at) = root.properties.iter().position(|property| property.name.as_str() == KEY) else {
        return Ok(text.to_owned());
    };
    let line = root.properties.get(at).and_then(|property| property.value.as_object());
    let command = line.and_then(|line| line.get_string("command"));
    let Some(command) = command.filter(|command| is_ours(&command.value)) else { return Ok(text.to_owned()) };
    let edits = match &before.chained {
        Some(chained) => {
            vec![Edit { range: command.range.start..command.range.end, text: chained.clone() }]
        }
        None => layout::take_out(&source, &List::of_object(root), &[at].into()),
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
            let (installed, status) = put(text, OURS, is_ours, &Status::default()).unwrap().unwrap();
            assert!(installed.contains(OURS), "{installed}");
            let (again, same) = put(&installed, OURS, is_ours, &status).unwrap().unwrap();
            assert_eq!((&again, &same), (&installed, &status));
            assert_eq!(take(&installed, is_ours, &status).unwrap(), text);
        }
    }

    #[test]
    fn the_command_that_was_there_is_known() {
        let text = r#"{"statusLine": {"type": "command", "command": "echo \"é\""}}"#;
        let (installed, status) = put(text, OURS, is_ours, &Status::default()).unwrap().unwrap();
        assert_eq!(status.chained_command().as_deref(), Some("echo \"é\""));
        let moved = installed.replace("/h/", "/other/");
        let (back, status) = put(&moved, OURS, is_ours, &status).unwrap().unwrap();
        assert_eq!(back, installed);
        assert_eq!(status.chained_command().as_deref(), Some("echo \"é\""));
    }

    #[test]
    fn what_we_do_not_know_is_left_alone() {
        for text in [r#"{"statusLine": "x"}"#, r#"{"statusLine": {"type": "other"}}"#, "", "// nothing"] {
            assert_eq!(put(text, OURS, is_ours, &Status::default()).unwrap(), None, "{text}");
            assert_eq!(take(text, is_ours, &Status::default()).unwrap(), text);
        }
        let theirs = r#"{"statusLine": {"command": "mine"}}"#;
        assert_eq!(take(theirs, is_ours, &Status::default()).unwrap(), theirs);
    }
}
