// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Whether somebody changed a file behind the agent's back.
//!
//! Only events are asked, never the disk: what is found today is found from the record as well. Some
//! results carry the whole file as it was found (Claude Code's `Edit`, `Write` and `Read`, Gemini CLI's
//! `write_file`, `replace` and `read_file`). If that is not what the agent left or saw last, somebody else
//! changed it. Where a harness carries no content, nothing is known and nothing is marked.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use serde_json::Value;
use tenterhook_api::OutsideChange;
use tenterhook_event::{ToolCall, ToolClass};

/// What is known of a file's content.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(super) struct Content {
    /// Its digest, when the agent left or saw it last.
    known: Option<u64>,
    /// How many commands the session had run then.
    commands: u64,
}

/// The whole file before and after a call, as far as the result tells.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Whole {
    before: Option<u64>,
    after: Option<u64>,
}

impl Content {
    /// The file was found like this. Says who changed it, if somebody did.
    pub(super) fn found(&mut self, whole: &Whole, commands: u64) -> Option<OutsideChange> {
        let Self { known, commands: then } = *self;
        *self = Self { known: whole.after, commands };
        let (known, before) = (known?, whole.before?);
        (known != before).then_some(if commands == then {
            OutsideChange::Unseen
        } else {
            OutsideChange::Command
        })
    }

    /// The agent changed it in a way nobody can follow.
    pub(super) fn forget(&mut self) {
        self.known = None;
    }
}

/// What a result says about the whole file.
pub(super) fn whole(tool: &ToolCall, output: Option<&Value>) -> Whole {
    let Some(output) = output else { return Whole::default() };
    let shown = output.get("returnDisplay").unwrap_or(output);
    let text = |keys: &[&str]| keys.iter().find_map(|key| shown.get(key)?.as_str());
    let before = text(&["originalFile", "originalContent"]);
    match tool.class {
        ToolClass::Read => {
            let seen = read(tool, output).map(digest);
            Whole { before: seen, after: seen }
        }
        ToolClass::Write => {
            let written =
                tool.args.get("content").or_else(|| tool.args.get("file_text")).and_then(Value::as_str);
            let after = text(&["newContent"]).or(written).map(digest);
            Whole { before: before.map(digest), after }
        }
        ToolClass::Edit => {
            let after = match text(&["newContent"]) {
                Some(after) => Some(digest(after)),
                None => before.and_then(|before| edited(before, &tool.args)).as_deref().map(digest),
            };
            Whole { before: before.map(digest), after }
        }
        _ => Whole::default(),
    }
}

/// The whole file that was read; nothing if it was only a part.
fn read<'a>(tool: &ToolCall, output: &'a Value) -> Option<&'a str> {
    if ["offset", "limit", "start_line", "end_line"].iter().any(|key| tool.args.get(key).is_some()) {
        return None;
    }
    if let Some(file) = output.get("file") {
        let number = |key: &str| file.get(key).and_then(Value::as_u64);
        let whole = number("startLine") == Some(1) && number("numLines") == number("totalLines");
        return file.get("content")?.as_str().filter(|_| whole);
    }
    // Gemini CLI says first that it left something out.
    output.get("llmContent")?.as_str().filter(|text| !text.trim_start().starts_with("IMPORTANT:"))
}

/// A text after the edits of a call, if they fit.
fn edited(before: &str, args: &Value) -> Option<String> {
    let one = std::slice::from_ref(args);
    let edits = args.get("edits").and_then(Value::as_array).map_or(one, Vec::as_slice);
    let mut text = before.to_owned();
    for edit in edits {
        let (old, new) = (edit.get("old_string")?.as_str()?, edit.get("new_string")?.as_str()?);
        if old.is_empty() || !text.contains(old) {
            return None;
        }
        let all = edit.get("replace_all").and_then(Value::as_bool) == Some(true);
        text = if all { text.replace(old, new) } else { text.replacen(old, new, 1) };
    }
    Some(text)
}

/// Whether a person changed what the agent proposed.
pub(super) fn by_person(output: Option<&Value>) -> bool {
    output.and_then(|output| output.get("userModified")?.as_bool()) == Some(true)
}

/// Whether an error says that the file is not what the agent saw.
pub(super) fn refused(error: &str) -> bool {
    error.contains("modified since read") || error.contains("has been modified since")
}

fn digest(text: &str) -> u64 {
    // Some harnesses tell a file without its last line's end.
    let mut hasher = DefaultHasher::new();
    text.trim_end_matches('\n').hash(&mut hasher);
    hasher.finish()
}
