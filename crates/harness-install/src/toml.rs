// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Our settings in a TOML file, as text: every byte that is not ours stays as it is.
//!
//! The file is read with `toml_edit`, which knows where every key stands, and edited by hand: writing it anew
//! would change line endings and whatever else the person did their own way.

mod block;

use std::ops::Range;

use serde::{Deserialize, Serialize};
use toml_edit::{Document, Item, Table, TableLike};

pub use block::{TomlBlock, WithBlock};

use super::{
    EditCheckError, Editor, Warning,
    jsonc::{Created, Edited, Flaw},
};

/// What of ours belongs in one TOML file.
#[derive(Debug)]
pub struct Settings {
    /// The settings, in the order in which they are written.
    pub wanted: Vec<Setting>,
    /// Whether a table that is not wanted any more is one of ours.
    pub is_ours: fn(path: &[String]) -> bool,
    /// What the person should know.
    pub known: Vec<Warning>,
}

/// One setting.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Setting {
    /// The table.
    pub table: Vec<String>,
    /// The key in it.
    pub key: String,
    /// What it has to be, as it is written.
    pub value: String,
}

/// What was put into the file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Made {
    /// The table.
    pub table: Vec<String>,
    /// The key in it.
    pub key: String,
    /// What stood there, as it stood; `None`: nothing did.
    pub was: Option<String>,
    /// What was written, line ends and all.
    pub text: String,
}

impl Editor for Settings {
    fn put(&self, text: &str, created: &Created) -> Result<Edited, Flaw> {
        let mut created = created.clone();
        let mut text = text.to_owned();
        // Those of an older install that are not wanted any more.
        let (keep, gone): (Vec<_>, Vec<_>) =
            created.toml.into_iter().partition(|made| self.wanted.iter().any(|wanted| wanted.is(made)));
        created.toml = keep;
        for made in gone.iter().rev() {
            text = take(&text, made)?;
        }
        for wanted in &self.wanted {
            let Some((edited, made)) = put(&text, wanted)? else { continue };
            text = edited;
            match created.toml.iter_mut().find(|known| wanted.is(known)) {
                // The first one found is the one to go back to.
                Some(known) if known.was.is_some() => known.text = made.text,
                Some(known) => *known = made,
                None => created.toml.push(made),
            }
        }
        Ok(Edited { text, created })
    }

    fn take(&self, text: &str, created: &Created) -> Result<String, Flaw> {
        created.toml.iter().rev().try_fold(text.to_owned(), |text, made| take(&text, made))
    }

    fn holds(&self, text: &str, created: &Created) -> Result<bool, Flaw> {
        let document = parse(text)?;
        let stands = |made: &Made| {
            let found = find(document.as_table(), &made.table).and_then(|table| table.get(&made.key));
            found.is_some_and(Item::is_value)
        };
        if created.toml.iter().any(stands) {
            return Ok(true);
        }
        let mut tables = Vec::new();
        paths(document.as_table(), &mut Vec::new(), &mut tables);
        Ok(tables.iter().any(|path| (self.is_ours)(path)))
    }

    fn check(&self, _before: &str, after: &str) -> Result<(), EditCheckError> {
        let document = parse(after)?;
        for Setting { table, key, value } in &self.wanted {
            let found = find(document.as_table(), table).and_then(|table| table.get(key));
            let said = found.and_then(Item::span).and_then(|span| after.get(span));
            if said.is_none_or(|said| !same(said, value)) {
                let what = format!("`{}.{key}` is not as it should be", table.join("."));
                return Err(EditCheckError::new(what));
            }
        }
        Ok(())
    }

    fn is_hollow(&self, text: &str) -> bool {
        text.trim().is_empty()
    }

    fn marks(&self) -> Vec<String> {
        Vec::new()
    }

    fn warnings(&self, _text: &str) -> Result<Vec<Warning>, Flaw> {
        Ok(self.known.clone())
    }
}

impl Setting {
    fn is(&self, made: &Made) -> bool {
        self.table == made.table && self.key == made.key
    }
}

/// What a setting says now, as it stands in the file.
pub fn value_of<'t>(text: &'t str, table: &[String], key: &str) -> Result<Option<&'t str>, Flaw> {
    let document = parse(text)?;
    let found = find(document.as_table(), table).and_then(|table| table.get(key));
    Ok(found.and_then(Item::span).and_then(|span| text.get(span)))
}

/// These tables of the text and nothing else, without comments and without arrays of tables.
pub fn keep_tables(text: &str, tables: &[&[&str]]) -> Result<String, Flaw> {
    let document = parse(text)?;
    let mut kept = String::new();
    for path in tables {
        let path: Vec<_> = path.iter().map(|&key| key.to_owned()).collect();
        if let Some(table) = find(document.as_table(), &path) {
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

/// A string as it is written in TOML.
pub fn quoted(text: &str) -> String {
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

/// Whether two texts are the same value, however they are written.
pub fn same(one: &str, other: &str) -> bool {
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

/// Sets it; `None` if it says the same already.
fn put(text: &str, wanted: &Setting) -> Result<Option<(String, Made)>, Flaw> {
    let document = parse(text)?;
    let Setting { table: path, key, value } = wanted;
    let newline = if text.contains("\r\n") { "\r\n" } else { "\n" };
    let made = |was: Option<String>, text: String| Made { table: path.clone(), key: key.clone(), was, text };
    let table = find(document.as_table(), path);
    if let Some(found) = table.and_then(|table| table.get(key)) {
        let span = found
            .span()
            .filter(|_| found.is_value())
            .ok_or_else(|| flaw(text, 0, format!("`{}.{key}` is not a single value", path.join("."))))?;
        let was = text.get(span.clone()).unwrap_or_default().to_owned();
        if same(&was, value) {
            return Ok(None);
        }
        return Ok(Some((spliced(text, span, value), made(Some(was), value.clone()))));
    }
    let line = format!("{key} = {value}{newline}");
    let header = place(document.as_table(), path);
    let (at, inserted) = match header {
        Some(Place::Header(span)) => {
            let end = text.get(span.end..).unwrap_or_default().find('\n').map(|at| span.end + at + 1);
            match end {
                Some(end) => (end, line),
                None => (text.len(), format!("{newline}{line}")),
            }
        }
        Some(Place::Inline(span)) => {
            let inside = text.get(span.start + 1..span.end.saturating_sub(1)).unwrap_or_default();
            let comma = if inside.trim().is_empty() { " " } else { "," };
            (span.start + 1, format!(" {key} = {value}{comma}"))
        }
        Some(Place::Dotted(start)) => {
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
    let edited = spliced(text, at..at, &inserted);
    parse(&edited).map_err(|flaw| in_the_way(text, &document, wanted, &flaw.what))?;
    Ok(Some((edited, made(None, inserted))))
}

/// What stands where a table of ours would have to be.
fn in_the_way(text: &str, document: &Document<&str>, wanted: &Setting, why: &str) -> Flaw {
    let outermost = wanted.table.first().and_then(|key| document.as_table().get_key_value(key));
    let at = outermost.and_then(|(key, _)| key.span()).map_or(0, |span| span.start);
    let name = format!("{}.{}", wanted.table.join("."), wanted.key);
    flaw(text, at, format!("`{name}` cannot be added here: {why}"))
}

/// Takes it out, or puts back what stood there, as long as ours still stands there.
fn take(text: &str, made: &Made) -> Result<String, Flaw> {
    let document = parse(text)?;
    let Some(found) = find(document.as_table(), &made.table) else { return Ok(text.to_owned()) };
    let Some(span) = found.get(&made.key).and_then(Item::span) else { return Ok(text.to_owned()) };
    let now = text.get(span.clone()).unwrap_or_default();
    if let Some(was) = &made.was {
        let ours = same(now, &made.text);
        return Ok(if ours { spliced(text, span, was) } else { text.to_owned() });
    }
    // As it was written, if it still stands so around the key; else the line it stands on.
    let mut places = text.match_indices(&made.text).map(|(at, piece)| at..at + piece.len());
    let whole = places.find(|place| place.contains(&span.start));
    if let Some(whole) = whole {
        let rest = spliced(text, whole, "");
        if parse(&rest).is_ok() {
            return Ok(rest);
        }
    }
    let start = text.get(..span.start).unwrap_or_default().rfind('\n').map_or(0, |at| at + 1);
    let end = text.get(span.end..).unwrap_or_default().find('\n').map_or(text.len(), |at| span.end + at + 1);
    let rest = spliced(text, start..end, "");
    Ok(if parse(&rest).is_ok() { rest } else { text.to_owned() })
}

/// Where a table is open for another key.
enum Place {
    /// Below its header.
    Header(Range<usize>),
    /// Between its braces.
    Inline(Range<usize>),
    /// Before the line that starts here, whose key has dots.
    Dotted(usize),
}

fn place(root: &Table, path: &[String]) -> Option<Place> {
    let (last, outer) = path.split_last()?;
    let outer = find(root, outer)?;
    let (key, item) = outer.get_key_value(last)?;
    match item {
        Item::Table(table) if table.is_dotted() => Some(Place::Dotted(key.span()?.start)),
        Item::Table(table) if table.is_implicit() => None,
        Item::Table(table) => table.span().map(Place::Header),
        Item::Value(value) if value.is_inline_table() => value.span().map(Place::Inline),
        _ => None,
    }
}

fn find<'d>(root: &'d Table, path: &[String]) -> Option<&'d dyn TableLike> {
    path.iter().try_fold(root as &dyn TableLike, |table, key| table.get(key)?.as_table_like())
}

/// Every table below this one.
fn paths(table: &dyn TableLike, at: &mut Vec<String>, found: &mut Vec<Vec<String>>) {
    for (key, item) in table.iter() {
        let Some(inner) = item.as_table_like() else { continue };
        at.push(key.to_owned());
        found.push(at.clone());
        paths(inner, at, found);
        at.pop();
    }
}

fn dotted(path: &[String]) -> String {
    let is_bare = |key: &str| {
        !key.is_empty() && key.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-".contains(&byte))
    };
    let key = |key: &String| if is_bare(key) { key.clone() } else { quoted(key) };
    path.iter().map(key).collect::<Vec<_>>().join(".")
}

fn parse(text: &str) -> Result<Document<&str>, Flaw> {
    Document::parse(text).map_err(|error| {
        let at = error.span().map_or(0, |span| span.start);
        flaw(text, at, error.message().replace('\n', ", "))
    })
}

fn flaw(text: &str, offset: usize, what: String) -> Flaw {
    let before = text.get(..offset).unwrap_or(text);
    let line = before.matches('\n').count() + 1;
    let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
    Flaw { line, column, what }
}

fn spliced(text: &str, range: Range<usize>, with: &str) -> String {
    let (head, tail) = (text.get(..range.start), text.get(range.end..));
    format!("{}{with}{}", head.unwrap_or_default(), tail.unwrap_or_default())
}

#[cfg(test)]
mod tests;
