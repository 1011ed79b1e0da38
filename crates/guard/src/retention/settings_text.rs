// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Sets `ledger.retention` in the text of a `tenterhook.yaml` and leaves every other line unchanged.

use tenterhook_document::{Node, Value, parse};

use super::RetentionLimits;

/// Returns the text with these limits; `None` if other settings would change. To find out, the result is parsed again
/// and compared.
pub(super) fn with_retention(text: &str, limits: &RetentionLimits) -> Option<String> {
    let before = parse(text).ok()?;
    let edited = replace_retention(text, &before, limits)?;
    let after = parse(&edited).ok()?;
    let ledger = after.get("ledger").and_then(|ledger| ledger.get("retention"));
    let set = ledger.map_or(Ok(RetentionLimits::default()), RetentionLimits::read).ok()?;
    (set == *limits && other_settings(&before) == other_settings(&after)).then_some(edited)
}

/// Returns the setting as YAML.
pub(super) fn setting_example(limits: &RetentionLimits) -> String {
    format!("`ledger: {{retention: {}}}`", retention_yaml(limits))
}

fn retention_yaml(limits: &RetentionLimits) -> String {
    let age = limits.age_text().map(|age| format!("max_age: {age}"));
    let size = limits.size_text().map(|size| format!("max_size: {size}"));
    format!("{{{}}}", [age, size].into_iter().flatten().collect::<Vec<_>>().join(", "))
}

fn replace_retention(text: &str, document: &Node, limits: &RetentionLimits) -> Option<String> {
    let mut lines: Vec<&str> = text.split_inclusive('\n').collect();
    let new = |indent: usize| format!("{:indent$}retention: {}\n", "", retention_yaml(limits));
    let entries: &[(Node, Node)] = match &document.value {
        Value::Map(entries) => entries,
        Value::Null => &[],
        _ => return None,
    };
    let ledger = entries.iter().find(|(key, _)| key.text() == Some("ledger"));
    let Some((key, ledger)) = ledger else {
        if limits.keeps_everything() {
            return Some(text.to_owned());
        }
        let newline = if text.is_empty() || text.ends_with('\n') { "" } else { "\n" };
        return Some(format!("{text}{newline}ledger:\n{}", new(2)));
    };
    if limits.keeps_everything() && ledger.get("retention").is_none() {
        return Some(text.to_owned());
    }
    // The line after `ledger:`.
    let body = key.spot.line;
    let insert = |indent: usize| {
        let (head, tail) = lines.split_at_checked(body)?;
        let head = head.concat();
        let newline = if head.ends_with('\n') { "" } else { "\n" };
        Some(format!("{head}{newline}{}{}", new(indent), tail.concat()))
    };
    let Value::Map(settings) = &ledger.value else {
        let is_empty = matches!(ledger.value, Value::Null) && lines.get(body - 1)?.trim_end() == "ledger:";
        return if is_empty { insert(2) } else { None };
    };
    let (first, _) = settings.first()?;
    // A map in braces begins on the line of its key.
    if first.spot.line == key.spot.line {
        return None;
    }
    let indent = first.spot.column.checked_sub(1)?;
    let Some((key, _)) = settings.iter().find(|(key, _)| key.text() == Some("retention")) else {
        return insert(indent);
    };
    let start = key.spot.line.checked_sub(1)?;
    let is_inside = |line: &&&str| {
        let depth = line.len() - line.trim_start().len();
        depth > indent && !line.trim().is_empty()
    };
    let length = 1 + lines.iter().skip(start + 1).take_while(is_inside).count();
    let replacement = if limits.keeps_everything() { String::new() } else { new(indent) };
    lines.splice(start..start + length, [replacement.as_str()]);
    Some(lines.concat())
}

/// Returns all settings except the retention, without their positions.
fn other_settings(document: &Node) -> Vec<(String, String)> {
    let Value::Map(entries) = &document.value else { return Vec::new() };
    let mut found = Vec::new();
    for (key, value) in entries {
        let name = key.text().unwrap_or_default().to_owned();
        match &value.value {
            Value::Map(settings) if name == "ledger" => {
                let settings = settings.iter().filter(|(key, _)| key.text() != Some("retention"));
                found.extend(settings.map(|(key, value)| {
                    (format!("ledger.{}", key.text().unwrap_or_default()), value_text(value))
                }));
            }
            Value::Null if name == "ledger" => {}
            _ => found.push((name, value_text(value))),
        }
    }
    found
}

/// Returns a value as text, without its position.
fn value_text(node: &Node) -> String {
    match &node.value {
        Value::List(items) => format!("{:?}", items.iter().map(value_text).collect::<Vec<_>>()),
        Value::Map(entries) => {
            format!(
                "{:?}",
                entries.iter().map(|(key, value)| (value_text(key), value_text(value))).collect::<Vec<_>>()
            )
        }
        other => format!("{other:?}"),
    }
}
