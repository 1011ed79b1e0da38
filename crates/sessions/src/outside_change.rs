// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Detects files that were changed outside the session.
//!
//! Detection uses only events, never the disk, so that a rebuild from the ledger finds the same changes. Some results
//! contain the whole file before the call (Claude Code's `Edit`, `Write` and `Read`, Gemini CLI's `write_file`,
//! `replace` and `read_file`). If this content differs from what the agent last wrote or read, the file was changed
//! outside the session. Results without content are not compared.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use serde_json::Value;
use tenterhook_api::OutsideChange;
use tenterhook_event::{ToolCall, ToolClass};

/// The last known content of a file.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(super) struct KnownContent {
    /// Digest of the content that the agent last wrote or read.
    known: Option<u64>,
    /// Number of commands that the session had run when the content became known.
    commands: u64,
}

/// Digests of a file's content before and after a call, where the content is known.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct ContentDigests {
    before: Option<u64>,
    after: Option<u64>,
}

impl KnownContent {
    /// Compares the content before a call with the known content, and stores the content after the call. If
    /// the content before the call differs from the known content, returns the kind of outside change. The
    /// kind is `Command` if the session ran commands since the content became known, because one of them may
    /// have made the change.
    pub(super) fn compare_and_update(
        &mut self,
        whole: &ContentDigests,
        commands: u64,
    ) -> Option<OutsideChange> {
        let Self { known, commands: then } = *self;
        *self = Self { known: whole.after, commands };
        let (known, before) = (known?, whole.before?);
        (known != before).then_some(if commands == then {
            OutsideChange::Unseen
        } else {
            OutsideChange::Command
        })
    }

    /// Marks the content as unknown, because a command changed the file.
    pub(super) fn forget(&mut self) {
        self.known = None;
    }
}

/// Digests of the file before and after a call.
pub(super) fn content_digests(tool: &ToolCall, output: Option<&Value>) -> ContentDigests {
    let Some(output) = output else { return ContentDigests::default() };
    let shown = output.get("returnDisplay").unwrap_or(output);
    let text = |keys: &[&str]| keys.iter().find_map(|key| shown.get(key)?.as_str());
    let before = text(&["originalFile", "originalContent"]);
    match tool.class {
        ToolClass::Read => {
            let seen = whole_text_read(tool, output).map(digest);
            ContentDigests { before: seen, after: seen }
        }
        ToolClass::Write => {
            let written =
                tool.args.get("content").or_else(|| tool.args.get("file_text")).and_then(Value::as_str);
            let after = text(&["newContent"]).or(written).map(digest);
            ContentDigests { before: before.map(digest), after }
        }
        ToolClass::Edit => {
            let after = match text(&["newContent"]) {
                Some(after) => Some(digest(after)),
                None => before.and_then(|before| apply_edits(before, &tool.args)).as_deref().map(digest),
            };
            ContentDigests { before: before.map(digest), after }
        }
        _ => ContentDigests::default(),
    }
}

/// The text of a file, if the call read all of it.
fn whole_text_read<'a>(tool: &ToolCall, output: &'a Value) -> Option<&'a str> {
    if ["offset", "limit", "start_line", "end_line"].iter().any(|key| tool.args.get(key).is_some()) {
        return None;
    }
    if let Some(file) = output.get("file") {
        let number = |key: &str| file.get(key).and_then(Value::as_u64);
        let whole = number("startLine") == Some(1) && number("numLines") == number("totalLines");
        return file.get("content")?.as_str().filter(|_| whole);
    }
    // Gemini CLI starts truncated content with this marker.
    output.get("llmContent")?.as_str().filter(|text| !text.trim_start().starts_with("IMPORTANT:"))
}

/// Applies the edits of a call to a text. `None` if an edit does not match.
fn apply_edits(before: &str, args: &Value) -> Option<String> {
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

/// Whether the user changed what the agent proposed.
pub(super) fn is_user_modified(output: Option<&Value>) -> bool {
    output.and_then(|output| output.get("userModified")?.as_bool()) == Some(true)
}

/// Whether an error reports that the file changed since the agent read it.
pub(super) fn is_stale_file_error(error: &str) -> bool {
    error.contains("modified since read") || error.contains("has been modified since")
}

fn digest(text: &str) -> u64 {
    // Some harnesses omit the final newline.
    let mut hasher = DefaultHasher::new();
    text.trim_end_matches('\n').hash(&mut hasher);
    hasher.finish()
}
