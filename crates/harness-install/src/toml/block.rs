// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Tables at the end of a TOML file, between two marker comments. Arrays of tables such as `[[hooks.PreToolUse]]` are
//! additive, so the organisation's own hooks keep running.

use toml_edit::{Document, Item, TableLike, Value};

use super::{TomlSettings, flaw, parse, splice};
use crate::{
    EditCheckError, InstallWarning, MARK, SettingsEditor,
    jsonc::{CreatedContainers, EditedText, SettingsError},
};

const LAST_LINE: &str = "# End of what `tenterhook install` wrote.";

/// Tables between two marker comments.
#[derive(Debug)]
pub struct TomlBlock {
    /// Text of the tables, with a final line end.
    pub body: String,
    /// Whether a command was written by any version of Tenterhook.
    pub is_our_command: fn(&str) -> bool,
}

/// Single settings, and tables at the end of the same file.
#[derive(Debug)]
pub struct SettingsWithBlock {
    /// Single settings above the tables.
    pub settings: TomlSettings,
    /// Tables at the end.
    pub block: TomlBlock,
}

impl TomlBlock {
    fn text(&self, newline: &str) -> String {
        let text = format!("# {MARK}; `tenterhook uninstall` removes it.\n{}{LAST_LINE}\n", self.body);
        if newline == "\n" { text } else { text.replace('\n', newline) }
    }

    fn insert(&self, text: &str) -> Result<String, SettingsError> {
        let newline = if text.contains("\r\n") { "\r\n" } else { "\n" };
        let wanted = self.text(newline);
        let edited = if let Some(range) = find_block(text) {
            splice(text, range, &wanted)
        } else {
            let gap = match text {
                "" => String::new(),
                ends if ends.ends_with('\n') => newline.to_owned(),
                _ => newline.repeat(2),
            };
            format!("{text}{gap}{wanted}")
        };
        let outside = without_block(&edited);
        let document = parse(&outside)?;
        if let Some(at) = self.first_command(&document) {
            let what = "hooks of Tenterhook are outside the lines that it wrote: remove them by hand";
            return Err(flaw(&outside, at, what.to_owned()));
        }
        parse(&edited).map_err(|SettingsError { what, .. }| {
            let what = format!(
                "`[[hooks.<Event>]]` tables cannot be added: write `hooks` as tables of that form ({what})"
            );
            flaw(text, 0, what)
        })?;
        Ok(edited)
    }

    /// Offset of Tenterhook's first command.
    fn first_command(&self, document: &Document<&str>) -> Option<usize> {
        let hooks = document.as_table().get("hooks")?.as_table_like()?;
        let groups = hooks.iter().flat_map(|(_, groups)| tables(groups));
        let mut handlers = groups.filter_map(|group| group.get("hooks")).flat_map(tables);
        handlers.find_map(|handler| {
            let command = handler.get("command")?;
            command.as_str().filter(|command| (self.is_our_command)(command))?;
            Some(command.span().map_or(0, |span| span.start))
        })
    }
}

/// The tables of an array, in either notation of TOML.
fn tables(item: &Item) -> Vec<&dyn TableLike> {
    match item {
        Item::ArrayOfTables(array) => array.iter().map(|table| table as &dyn TableLike).collect(),
        Item::Value(Value::Array(array)) => array
            .iter()
            .filter_map(|value| value.as_inline_table().map(|table| table as &dyn TableLike))
            .collect(),
        _ => Vec::new(),
    }
}

/// Range of Tenterhook's lines, from the opening marker comment to the end of the closing one.
fn find_block(text: &str) -> Option<std::ops::Range<usize>> {
    let mark = text.find(MARK)?;
    let start = text.get(..mark)?.rfind('\n').map_or(0, |at| at + 1);
    let last = mark + text.get(mark..)?.find(LAST_LINE)? + LAST_LINE.len();
    let end = text.get(last..)?.find('\n').map_or(text.len(), |at| last + at + 1);
    Some(start..end)
}

/// The text without Tenterhook's lines and the blank line before them.
fn without_block(text: &str) -> String {
    let Some(range) = find_block(text) else { return text.to_owned() };
    let before = text.get(..range.start).unwrap_or_default();
    let gap = ["\r\n", "\n"].iter().find(|newline| before.ends_with(&newline.repeat(2)));
    let start = range.start - gap.map_or(0, |newline| newline.len());
    splice(text, start..range.end, "")
}

impl SettingsEditor for SettingsWithBlock {
    fn insert(&self, text: &str, created: &CreatedContainers) -> Result<EditedText, SettingsError> {
        let edited = self.settings.insert(text, created)?;
        Ok(EditedText { text: self.block.insert(&edited.text)?, created: edited.created })
    }

    fn remove(&self, text: &str, created: &CreatedContainers) -> Result<String, SettingsError> {
        self.settings.remove(&without_block(text), created)
    }

    fn contains(&self, text: &str, created: &CreatedContainers) -> Result<bool, SettingsError> {
        Ok(find_block(text).is_some() || self.settings.contains(text, created)?)
    }

    fn check(&self, before: &str, after: &str) -> Result<(), EditCheckError> {
        self.settings.check(before, after)?;
        match self.block.first_command(&parse(after)?) {
            Some(_) => Ok(()),
            None => Err(EditCheckError::new("the hooks are not in the file")),
        }
    }

    fn is_empty_after_removal(&self, text: &str) -> bool {
        text.trim().is_empty()
    }

    fn required_texts(&self) -> Vec<String> {
        self.block.body.lines().filter(|line| line.starts_with("hooks = ")).map(ToOwned::to_owned).collect()
    }

    fn warnings(&self, text: &str) -> Result<Vec<InstallWarning>, SettingsError> {
        self.settings.warnings(text)
    }
}
