// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Settings in a TOML file. The edit works on the text and leaves every other byte unchanged.
//!
//! `toml_edit` parses the file and locates every key. The change itself is made in the text, because serializing the
//! document again would change the user's line endings and formatting.

mod block;

use std::ops::Range;

use serde::{Deserialize, Serialize};
use toml_edit::{Document, Item, Table, TableLike};

pub use block::{SettingsWithBlock, TomlBlock};

use super::{
    EditCheckError, InstallWarning, SettingsEditor,
    jsonc::{CreatedContainers, EditedText, JsonNode, SettingsError},
};

/// Tenterhook's content of one TOML file.
#[derive(Debug)]
pub struct TomlSettings {
    /// Settings, in the order in which they are written.
    pub wanted: Vec<TomlSetting>,
    /// Whether Tenterhook wrote a table that is no longer wanted.
    pub is_ours: fn(path: &[String]) -> bool,
    /// Warnings for the user.
    pub known: Vec<InstallWarning>,
}

/// One setting in a table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TomlSetting {
    /// Path of the table.
    pub table: Vec<String>,
    /// Key in the table.
    pub key: String,
    /// Required value, in TOML syntax.
    pub value: String,
}

/// A change that was made to the file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TomlChange {
    /// Path of the table.
    pub table: Vec<String>,
    /// Key in the table.
    pub key: String,
    /// Previous value as written; `None` if the key was missing.
    pub was: Option<String>,
    /// Inserted text, including line ends.
    pub text: String,
}

impl SettingsEditor for TomlSettings {
    fn insert(&self, text: &str, created: &CreatedContainers) -> Result<EditedText, SettingsError> {
        let mut created = created.clone();
        let mut text = text.to_owned();
        // Removes settings of an older install that are no longer wanted.
        let (keep, gone): (Vec<_>, Vec<_>) =
            created.toml.into_iter().partition(|made| self.wanted.iter().any(|wanted| wanted.is(made)));
        created.toml = keep;
        for made in gone.iter().rev() {
            text = restore_value(&text, made)?;
        }
        for wanted in &self.wanted {
            let Some((edited, made)) = set_value(&text, wanted)? else { continue };
            text = edited;
            match created.toml.iter_mut().find(|known| wanted.is(known)) {
                // Keeps the previous value from the first change, because that value is the one to restore.
                Some(known) if known.was.is_some() => known.text = made.text,
                Some(known) => *known = made,
                None => created.toml.push(made),
            }
        }
        Ok(EditedText { text, created })
    }

    fn remove(&self, text: &str, created: &CreatedContainers) -> Result<String, SettingsError> {
        created.toml.iter().rev().try_fold(text.to_owned(), |text, made| restore_value(&text, made))
    }

    fn contains(&self, text: &str, created: &CreatedContainers) -> Result<bool, SettingsError> {
        let document = parse(text)?;
        let stands = |made: &TomlChange| {
            let found = find_table(document.as_table(), &made.table).and_then(|table| table.get(&made.key));
            found.is_some_and(Item::is_value)
        };
        if created.toml.iter().any(stands) {
            return Ok(true);
        }
        let mut tables = Vec::new();
        collect_paths(document.as_table(), &mut Vec::new(), &mut tables);
        Ok(tables.iter().any(|path| (self.is_ours)(path)))
    }

    fn check(&self, _before: &str, after: &str) -> Result<(), EditCheckError> {
        let document = parse(after)?;
        for TomlSetting { table, key, value } in &self.wanted {
            let found = find_table(document.as_table(), table).and_then(|table| table.get(key));
            let said = found.and_then(Item::span).and_then(|span| after.get(span));
            if said.is_none_or(|said| !same_value(said, value)) {
                let what = format!("`{}.{key}` does not have the expected value", table.join("."));
                return Err(EditCheckError::new(what));
            }
        }
        Ok(())
    }

    fn is_empty_after_removal(&self, text: &str) -> bool {
        text.trim().is_empty()
    }

    fn required_texts(&self) -> Vec<String> {
        Vec::new()
    }

    fn warnings(&self, _text: &str) -> Result<Vec<InstallWarning>, SettingsError> {
        Ok(self.known.clone())
    }
}

impl TomlSetting {
    fn is(&self, made: &TomlChange) -> bool {
        self.table == made.table && self.key == made.key
    }
}

/// Current value of a setting, as written in the file.
pub fn value_of<'t>(text: &'t str, table: &[String], key: &str) -> Result<Option<&'t str>, SettingsError> {
    let document = parse(text)?;
    let found = find_table(document.as_table(), table).and_then(|table| table.get(key));
    Ok(found.and_then(Item::span).and_then(|span| text.get(span)))
}

/// The text reduced to these tables, without comments and arrays of tables.
pub fn keep_tables(text: &str, tables: &[&[&str]]) -> Result<String, SettingsError> {
    let document = parse(text)?;
    let mut kept = String::new();
    for path in tables {
        let path: Vec<_> = path.iter().map(|&key| key.to_owned()).collect();
        if let Some(table) = find_table(document.as_table(), &path) {
            copy_table(text, table, &path, &mut kept);
        }
    }
    Ok(kept)
}

fn copy_table(text: &str, table: &dyn TableLike, path: &[String], kept: &mut String) {
    *kept += &format!("[{}]\n", dotted(path));
    let values = table.iter().filter(|(_, item)| item.is_value());
    for (key, span) in values.filter_map(|(key, item)| Some((key, item.span()?))) {
        *kept += &format!("{} = {}\n", dotted(&[key.to_owned()]), text.get(span).unwrap_or_default());
    }
    for (key, inner) in table.iter().filter_map(|(key, item)| Some((key, item.as_table()?))) {
        copy_table(text, inner, &[path, &[key.to_owned()]].concat(), kept);
    }
}

/// A string in TOML syntax.
pub fn quote_string(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for letter in text.chars() {
        match letter {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            letter if letter.is_control() => out += &format!("\\u{:04X}", u32::from(letter)),
            letter => out.push(letter),
        }
    }
    out.push('"');
    out
}

/// A value as it is written within one line. The keys of objects must be bare keys.
pub fn inline_value(node: &JsonNode) -> String {
    let joined = |items: Vec<String>| items.join(", ");
    match node {
        JsonNode::Text(text) => quote_string(text),
        JsonNode::List(items) => format!("[{}]", joined(items.iter().map(inline_value).collect())),
        JsonNode::Object(properties) => {
            let property = |(name, node): &(String, JsonNode)| format!("{name} = {}", inline_value(node));
            format!("{{ {} }}", joined(properties.iter().map(property).collect()))
        }
        scalar => scalar.scalar(),
    }
}

/// Whether two texts represent the same value in different notation.
pub fn same_value(one: &str, other: &str) -> bool {
    let value = |text: &str| {
        let value: toml_edit::Value = text.parse().ok()?;
        match value {
            toml_edit::Value::String(text) => Some(text.into_value()),
            toml_edit::Value::Boolean(on) => Some(on.value().to_string()),
            _ => None,
        }
    };
    one == other || value(one).is_some_and(|one| value(other) == Some(one))
}

/// Sets a value; `None` if it is already set.
fn set_value(text: &str, wanted: &TomlSetting) -> Result<Option<(String, TomlChange)>, SettingsError> {
    let document = parse(text)?;
    let TomlSetting { table: path, key, value } = wanted;
    let newline = if text.contains("\r\n") { "\r\n" } else { "\n" };
    let made =
        |was: Option<String>, text: String| TomlChange { table: path.clone(), key: key.clone(), was, text };
    let table = find_table(document.as_table(), path);
    if let Some(found) = table.and_then(|table| table.get(key)) {
        let span = found
            .span()
            .filter(|_| found.is_value())
            .ok_or_else(|| flaw(text, 0, format!("`{}.{key}` is not a single value", path.join("."))))?;
        let was = text.get(span.clone()).unwrap_or_default().to_owned();
        if same_value(&was, value) {
            return Ok(None);
        }
        return Ok(Some((splice(text, span, value), made(Some(was), value.clone()))));
    }
    let line = format!("{key} = {value}{newline}");
    let header = locate_table(document.as_table(), path);
    let (at, inserted) = match header {
        Some(TableLocation::Header(span)) => {
            let end = text.get(span.end..).unwrap_or_default().find('\n').map(|at| span.end + at + 1);
            match end {
                Some(end) => (end, line),
                None => (text.len(), format!("{newline}{line}")),
            }
        }
        Some(TableLocation::Inline(span)) => {
            let inside = text.get(span.start + 1..span.end.saturating_sub(1)).unwrap_or_default();
            let comma = if inside.trim().is_empty() { " " } else { "," };
            (span.start + 1, format!(" {key} = {value}{comma}"))
        }
        Some(TableLocation::Dotted(start)) => {
            let line_start = text.get(..start).unwrap_or_default().rfind('\n').map_or(0, |at| at + 1);
            (line_start, format!("{}.{line}", dotted(path)))
        }
        None => {
            let body = text.trim_end_matches([' ', '\t']);
            let gap = match body {
                "" => "",
                ends if ends.ends_with(&format!("{newline}{newline}")) => "",
                ends if ends.ends_with('\n') => newline,
                _ => &format!("{newline}{newline}"),
            };
            (text.len(), format!("{gap}[{}]{newline}{line}", dotted(path)))
        }
    };
    let edited = splice(text, at..at, &inserted);
    parse(&edited).map_err(|flaw| blocked_by(text, &document, wanted, &flaw.what))?;
    Ok(Some((edited, made(None, inserted))))
}

/// Error at a value that prevents a table from being added.
fn blocked_by(text: &str, document: &Document<&str>, wanted: &TomlSetting, why: &str) -> SettingsError {
    let outermost = wanted.table.first().and_then(|key| document.as_table().get_key_value(key));
    let at = outermost.and_then(|(key, _)| key.span()).map_or(0, |span| span.start);
    let name = format!("{}.{}", wanted.table.join("."), wanted.key);
    flaw(text, at, format!("`{name}` cannot be added here: {why}"))
}

/// Removes a setting or restores the previous value, as long as Tenterhook's value is still there.
fn restore_value(text: &str, made: &TomlChange) -> Result<String, SettingsError> {
    let document = parse(text)?;
    let Some(found) = find_table(document.as_table(), &made.table) else { return Ok(text.to_owned()) };
    let Some(span) = found.get(&made.key).and_then(Item::span) else { return Ok(text.to_owned()) };
    let now = text.get(span.clone()).unwrap_or_default();
    if let Some(was) = &made.was {
        let ours = same_value(now, &made.text);
        return Ok(if ours { splice(text, span, was) } else { text.to_owned() });
    }
    // If the inserted text is unchanged around the key, removes it; if not, removes the line with the key.
    let mut places = text.match_indices(&made.text).map(|(at, piece)| at..at + piece.len());
    let whole = places.find(|place| place.contains(&span.start));
    if let Some(whole) = whole {
        let rest = splice(text, whole, "");
        if parse(&rest).is_ok() {
            return Ok(rest);
        }
    }
    let start = text.get(..span.start).unwrap_or_default().rfind('\n').map_or(0, |at| at + 1);
    let end = text.get(span.end..).unwrap_or_default().find('\n').map_or(text.len(), |at| span.end + at + 1);
    let rest = splice(text, start..end, "");
    Ok(if parse(&rest).is_ok() { rest } else { text.to_owned() })
}

/// Where a key can be added to a table.
enum TableLocation {
    /// Below the header of the table.
    Header(Range<usize>),
    /// Between the braces of an inline table.
    Inline(Range<usize>),
    /// Before the line at this offset, which contains a dotted key of the table.
    Dotted(usize),
}

fn locate_table(root: &Table, path: &[String]) -> Option<TableLocation> {
    let (last, outer) = path.split_last()?;
    let outer = find_table(root, outer)?;
    let (key, item) = outer.get_key_value(last)?;
    match item {
        Item::Table(table) if table.is_dotted() => Some(TableLocation::Dotted(key.span()?.start)),
        Item::Table(table) if table.is_implicit() => None,
        Item::Table(table) => table.span().map(TableLocation::Header),
        Item::Value(value) if value.is_inline_table() => value.span().map(TableLocation::Inline),
        _ => None,
    }
}

fn find_table<'d>(root: &'d Table, path: &[String]) -> Option<&'d dyn TableLike> {
    path.iter().try_fold(root as &dyn TableLike, |table, key| table.get(key)?.as_table_like())
}

/// Paths of all tables below this one.
fn collect_paths(table: &dyn TableLike, at: &mut Vec<String>, found: &mut Vec<Vec<String>>) {
    for (key, item) in table.iter() {
        let Some(inner) = item.as_table_like() else { continue };
        at.push(key.to_owned());
        found.push(at.clone());
        collect_paths(inner, at, found);
        at.pop();
    }
}

fn dotted(path: &[String]) -> String {
    let is_bare = |key: &str| {
        !key.is_empty() && key.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-".contains(&byte))
    };
    let key = |key: &String| if is_bare(key) { key.clone() } else { quote_string(key) };
    path.iter().map(key).collect::<Vec<_>>().join(".")
}

fn parse(text: &str) -> Result<Document<&str>, SettingsError> {
    Document::parse(text).map_err(|error| {
        let at = error.span().map_or(0, |span| span.start);
        flaw(text, at, error.message().replace('\n', ", "))
    })
}

fn flaw(text: &str, offset: usize, what: String) -> SettingsError {
    let before = text.get(..offset).unwrap_or(text);
    let line = before.matches('\n').count() + 1;
    let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
    SettingsError { line, column, what }
}

fn splice(text: &str, range: Range<usize>, with: &str) -> String {
    let (head, tail) = (text.get(..range.start), text.get(range.end..));
    format!("{}{with}{}", head.unwrap_or_default(), tail.unwrap_or_default())
}

#[cfg(test)]
mod tests;
