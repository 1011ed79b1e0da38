// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Extracts the change that a call made to the text of one file, from the formats of all harnesses.

use serde_json::Value;
use similar::{ChangeTag, TextDiff};
use tenterhook_event::{ToolCall, ToolClass};

use super::file_activity::LineCounts;

/// Maximum size of texts that are compared for a diff, in bytes.
const MAX_DIFF_BYTES: usize = 512 * 1024;
/// Maximum size of texts that are compared while live events are applied, in bytes.
const MAX_LIVE_DIFF_BYTES: usize = 16 * 1024;
/// Unchanged lines around a change in a diff.
const DIFF_CONTEXT_LINES: usize = 3;

/// A change to the text of one file.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum TextChange<'a> {
    /// Diff hunks reported by the harness.
    Hunks(&'a [Value]),
    /// The whole text before and after.
    Whole(&'a str, &'a str),
    /// The whole text after the change. The text before is empty if the file is new, and otherwise unknown.
    Written { text: &'a str, new: bool },
    /// Parts of the text before and after.
    Parts(Vec<(&'a str, &'a str)>),
    /// Lines of a patch.
    Patch(Vec<&'a str>),
    /// The change is unknown.
    Unknown,
}

/// Extracts the change to one file from a call and its result.
pub(super) fn text_change<'a>(tool: &'a ToolCall, output: Option<&'a Value>, path: &str) -> TextChange<'a> {
    let shown = output.map(|output| output.get("returnDisplay").unwrap_or(output));
    let field = |key: &str| shown.and_then(|shown| shown.get(key));
    if let Some(hunks) = field("structuredPatch").and_then(Value::as_array).filter(|hunks| !hunks.is_empty())
    {
        return TextChange::Hunks(hunks);
    }
    if let (Some(before), Some(after)) =
        (field("originalContent").and_then(Value::as_str), field("newContent").and_then(Value::as_str))
    {
        return TextChange::Whole(before, after);
    }
    match tool.class {
        ToolClass::Write => match (tool.contents().first(), field("originalFile").and_then(Value::as_str)) {
            (Some(text), Some(before)) => TextChange::Whole(before, text),
            (Some(text), None) => {
                let new = field("type").and_then(Value::as_str) == Some("create");
                TextChange::Written { text, new }
            }
            (None, _) => TextChange::Unknown,
        },
        ToolClass::Edit => edit_parts(&tool.args, path),
        ToolClass::Patch => {
            let lines: Vec<_> =
                tool.patches().into_iter().flat_map(|text| patch_lines_of(text, path)).collect();
            if lines.is_empty() { TextChange::Unknown } else { TextChange::Patch(lines) }
        }
        _ => TextChange::Unknown,
    }
}

/// Parts that an edit replaces.
fn edit_parts<'a>(args: &'a Value, path: &str) -> TextChange<'a> {
    let text = |edit: &'a Value, keys: &[&str]| keys.iter().find_map(|key| edit.get(key)?.as_str());
    let lists = ["edits", "replacements"].iter().find_map(|key| args.get(key)?.as_array());
    let edits = lists.map_or(std::slice::from_ref(args), Vec::as_slice);
    let mut parts = Vec::new();
    for edit in edits {
        // A list may contain edits of several files.
        let other = text(edit, &["filePath", "file_path", "path"]).filter(|_| lists.is_some());
        if other.is_some_and(|other| !is_same_path(path, other)) {
            continue;
        }
        let old = text(edit, &["old_string", "oldString", "old_str", "old_text"]);
        let new = text(
            edit,
            &["new_string", "newString", "new_str", "new_text", "new_source", "file_text", "content"],
        );
        if old.is_some() || new.is_some() {
            parts.push((old.unwrap_or_default(), new.unwrap_or_default()));
        }
    }
    if parts.is_empty() { TextChange::Unknown } else { TextChange::Parts(parts) }
}

/// Lines of a patch that belong to a file.
fn patch_lines_of<'a>(patch: &'a str, path: &str) -> Vec<&'a str> {
    let mut lines = Vec::new();
    let mut inside = false;
    for line in patch.lines() {
        if let Some(marker) = line.strip_prefix("*** ") {
            let named = ["Add File: ", "Update File: ", "Delete File: "]
                .iter()
                .find_map(|word| marker.strip_prefix(word));
            match (named, marker.strip_prefix("Move to: ")) {
                (Some(named), _) => inside = is_same_path(path, named.trim()),
                // A moved file is changed under its new name.
                (None, Some(moved)) => inside = is_same_path(path, moved.trim()),
                (None, None) => inside &= marker.starts_with("End of File"),
            }
        } else if line.starts_with("diff --git ") || line.starts_with("--- ") {
            inside = false;
        } else if let Some(named) = line.strip_prefix("+++ ") {
            let named = named.split('\t').next().unwrap_or_default();
            inside = is_same_path(path, named.strip_prefix("b/").unwrap_or(named));
        } else if inside {
            lines.push(line);
        }
    }
    lines
}

/// Whether `named` is the path, or a relative form of it.
fn is_same_path(path: &str, named: &str) -> bool {
    let named = named.trim_start_matches("./");
    path == named || path.strip_suffix(named).is_some_and(|before| before.ends_with('/'))
}

impl TextChange<'_> {
    /// Counts added and removed lines. `None` if the change is unknown or the texts are too large to compare.
    pub(super) fn line_counts(&self) -> Option<LineCounts> {
        match self {
            Self::Hunks(hunks) => {
                let lines = hunks.iter().filter_map(|hunk| hunk.get("lines")?.as_array()).flatten();
                Some(count_signed_lines(lines.filter_map(Value::as_str)))
            }
            Self::Patch(lines) => Some(count_signed_lines(lines.iter().copied())),
            Self::Whole(before, after) => count_changed_lines(&[(before, after)]),
            Self::Parts(parts) => count_changed_lines(parts),
            Self::Written { text, new } => {
                let added = u64::try_from(text.lines().count()).unwrap_or(u64::MAX);
                Some(LineCounts { added, removed: new.then_some(0) })
            }
            Self::Unknown => None,
        }
    }

    /// The change as a unified diff without file names.
    pub(super) fn diff(&self) -> Option<String> {
        let size =
            |texts: &[(&str, &str)]| texts.iter().map(|(old, new)| old.len() + new.len()).sum::<usize>();
        Some(match self {
            Self::Hunks(hunks) => hunks.iter().map(hunk_text).collect(),
            Self::Patch(lines) => join_lines(lines.iter().copied()),
            Self::Whole(before, after) if size(&[(before, after)]) <= MAX_DIFF_BYTES => {
                unified_diff(before, after)
            }
            Self::Parts(parts) if size(parts) <= MAX_DIFF_BYTES => {
                parts.iter().map(|(old, new)| unified_diff(old, new)).collect()
            }
            Self::Written { text, .. } if text.len() <= MAX_DIFF_BYTES => unified_diff("", text),
            Self::Whole(..) | Self::Parts(_) | Self::Written { .. } | Self::Unknown => return None,
        })
    }
}

fn count_signed_lines<'a>(lines: impl Iterator<Item = &'a str>) -> LineCounts {
    let (mut added, mut removed) = (0, 0);
    for line in lines {
        match line.as_bytes().first() {
            Some(b'+') => added += 1,
            Some(b'-') => removed += 1,
            _ => {}
        }
    }
    LineCounts { added, removed: Some(removed) }
}

fn count_changed_lines(parts: &[(&str, &str)]) -> Option<LineCounts> {
    let (mut added, mut removed) = (0, 0);
    for (old, new) in parts {
        if old.len() + new.len() > MAX_LIVE_DIFF_BYTES {
            return None;
        }
        for change in TextDiff::from_lines(*old, *new).iter_all_changes() {
            match change.tag() {
                ChangeTag::Insert => added += 1,
                ChangeTag::Delete => removed += 1,
                ChangeTag::Equal => {}
            }
        }
    }
    Some(LineCounts { added, removed: Some(removed) })
}

fn unified_diff(before: &str, after: &str) -> String {
    TextDiff::from_lines(before, after)
        .unified_diff()
        .context_radius(DIFF_CONTEXT_LINES)
        .missing_newline_hint(false)
        .to_string()
}

fn join_lines<'a>(lines: impl Iterator<Item = &'a str>) -> String {
    lines.flat_map(|line| [line, "\n"]).collect()
}

fn hunk_text(hunk: &Value) -> String {
    let number = |key: &str| hunk.get(key).and_then(Value::as_u64).unwrap_or_default();
    let (from, to) = ((number("oldStart"), number("oldLines")), (number("newStart"), number("newLines")));
    let lines = hunk.get("lines").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str);
    let lines = join_lines(lines);
    format!("@@ -{},{} +{},{} @@\n{lines}", from.0, from.1, to.0, to.1)
}
