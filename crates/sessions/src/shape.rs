// SPDX-License-Identifier: Apache-2.0 OR MIT

//! What a call does to the text of one file, in whichever form its harness says it.

use serde_json::Value;
use similar::{ChangeTag, TextDiff};
use tenterhook_event::{ToolCall, ToolClass};

use super::files::Lines;

/// Larger texts are not compared, in bytes.
const LARGEST: usize = 512 * 1024;
/// Larger texts are not compared while events come in.
const LARGEST_LIVE: usize = 16 * 1024;
/// Lines around a change.
const CONTEXT: usize = 3;

/// The change of one file.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Shape<'a> {
    /// The harness tells lines with their signs.
    Hunks(&'a [Value]),
    /// The file before and after.
    Whole(&'a str, &'a str),
    /// The file after; what was there before is not known, or there was nothing.
    Written { text: &'a str, new: bool },
    /// Parts of the file, before and after.
    Parts(Vec<(&'a str, &'a str)>),
    /// Lines of a patch.
    Patch(Vec<&'a str>),
    /// Nobody says.
    Unknown,
}

/// What a call and its result say about one of its files.
pub(super) fn shape<'a>(tool: &'a ToolCall, output: Option<&'a Value>, path: &str) -> Shape<'a> {
    let shown = output.map(|output| output.get("returnDisplay").unwrap_or(output));
    let told = |key: &str| shown.and_then(|shown| shown.get(key));
    if let Some(hunks) = told("structuredPatch").and_then(Value::as_array).filter(|hunks| !hunks.is_empty()) {
        return Shape::Hunks(hunks);
    }
    if let (Some(before), Some(after)) =
        (told("originalContent").and_then(Value::as_str), told("newContent").and_then(Value::as_str))
    {
        return Shape::Whole(before, after);
    }
    match tool.class {
        ToolClass::Write => match (tool.contents().first(), told("originalFile").and_then(Value::as_str)) {
            (Some(text), Some(before)) => Shape::Whole(before, text),
            (Some(text), None) => {
                let new = told("type").and_then(Value::as_str) == Some("create");
                Shape::Written { text, new }
            }
            (None, _) => Shape::Unknown,
        },
        ToolClass::Edit => parts(&tool.args, path),
        ToolClass::Patch => {
            let lines: Vec<_> = tool.patches().into_iter().flat_map(|text| section(text, path)).collect();
            if lines.is_empty() { Shape::Unknown } else { Shape::Patch(lines) }
        }
        _ => Shape::Unknown,
    }
}

/// The parts that an edit replaces.
fn parts<'a>(args: &'a Value, path: &str) -> Shape<'a> {
    let text = |edit: &'a Value, keys: &[&str]| keys.iter().find_map(|key| edit.get(key)?.as_str());
    let lists = ["edits", "replacements"].iter().find_map(|key| args.get(key)?.as_array());
    let edits = lists.map_or(std::slice::from_ref(args), Vec::as_slice);
    let mut parts = Vec::new();
    for edit in edits {
        // A list may be about several files.
        let other = text(edit, &["filePath", "file_path", "path"]).filter(|_| lists.is_some());
        if other.is_some_and(|other| !is_at(path, other)) {
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
    if parts.is_empty() { Shape::Unknown } else { Shape::Parts(parts) }
}

/// The lines of a patch that are about a file.
fn section<'a>(patch: &'a str, path: &str) -> Vec<&'a str> {
    let mut lines = Vec::new();
    let mut inside = false;
    for line in patch.lines() {
        if let Some(marker) = line.strip_prefix("*** ") {
            let named = ["Add File: ", "Update File: ", "Delete File: "]
                .iter()
                .find_map(|word| marker.strip_prefix(word));
            match (named, marker.strip_prefix("Move to: ")) {
                (Some(named), _) => inside = is_at(path, named.trim()),
                // What is moved is changed under its new name.
                (None, Some(moved)) => inside = is_at(path, moved.trim()),
                (None, None) => inside &= marker.starts_with("End of File"),
            }
        } else if line.starts_with("diff --git ") || line.starts_with("--- ") {
            inside = false;
        } else if let Some(named) = line.strip_prefix("+++ ") {
            let named = named.split('\t').next().unwrap_or_default();
            inside = is_at(path, named.strip_prefix("b/").unwrap_or(named));
        } else if inside {
            lines.push(line);
        }
    }
    lines
}

/// Whether a path is the one that was named, perhaps from the working directory.
fn is_at(path: &str, named: &str) -> bool {
    let named = named.trim_start_matches("./");
    path == named || path.strip_suffix(named).is_some_and(|before| before.ends_with('/'))
}

impl Shape<'_> {
    /// How many lines come and go. Nothing for what is too large to be counted on the way.
    pub(super) fn lines(&self) -> Option<Lines> {
        match self {
            Self::Hunks(hunks) => {
                let lines = hunks.iter().filter_map(|hunk| hunk.get("lines")?.as_array()).flatten();
                Some(signs(lines.filter_map(Value::as_str)))
            }
            Self::Patch(lines) => Some(signs(lines.iter().copied())),
            Self::Whole(before, after) => counted(&[(before, after)]),
            Self::Parts(parts) => counted(parts),
            Self::Written { text, new } => {
                let added = u64::try_from(text.lines().count()).unwrap_or(u64::MAX);
                Some(Lines { added, removed: new.then_some(0) })
            }
            Self::Unknown => None,
        }
    }

    /// The change as a diff, without its file names.
    pub(super) fn diff(&self) -> Option<String> {
        let size =
            |texts: &[(&str, &str)]| texts.iter().map(|(old, new)| old.len() + new.len()).sum::<usize>();
        Some(match self {
            Self::Hunks(hunks) => hunks.iter().map(hunk).collect(),
            Self::Patch(lines) => joined(lines.iter().copied()),
            Self::Whole(before, after) if size(&[(before, after)]) <= LARGEST => unified(before, after),
            Self::Parts(parts) if size(parts) <= LARGEST => {
                parts.iter().map(|(old, new)| unified(old, new)).collect()
            }
            Self::Written { text, .. } if text.len() <= LARGEST => unified("", text),
            Self::Whole(..) | Self::Parts(_) | Self::Written { .. } | Self::Unknown => return None,
        })
    }
}

fn signs<'a>(lines: impl Iterator<Item = &'a str>) -> Lines {
    let (mut added, mut removed) = (0, 0);
    for line in lines {
        match line.as_bytes().first() {
            Some(b'+') => added += 1,
            Some(b'-') => removed += 1,
            _ => {}
        }
    }
    Lines { added, removed: Some(removed) }
}

fn counted(parts: &[(&str, &str)]) -> Option<Lines> {
    let (mut added, mut removed) = (0, 0);
    for (old, new) in parts {
        if old.len() + new.len() > LARGEST_LIVE {
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
    Some(Lines { added, removed: Some(removed) })
}

fn unified(before: &str, after: &str) -> String {
    TextDiff::from_lines(before, after)
        .unified_diff()
        .context_radius(CONTEXT)
        .missing_newline_hint(false)
        .to_string()
}

fn joined<'a>(lines: impl Iterator<Item = &'a str>) -> String {
    lines.flat_map(|line| [line, "\n"]).collect()
}

fn hunk(hunk: &Value) -> String {
    let number = |key: &str| hunk.get(key).and_then(Value::as_u64).unwrap_or_default();
    let (from, to) = ((number("oldStart"), number("oldLines")), (number("newStart"), number("newLines")));
    let lines = hunk.get("lines").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str);
    let lines = joined(lines);
    format!("@@ -{},{} +{},{} @@\n{lines}", from.0, from.1, to.0, to.1)
}
