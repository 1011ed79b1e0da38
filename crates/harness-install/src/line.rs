// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Writes the status line into a JSON file that has no other content of Tenterhook.

use super::{
    EditCheckError, InstallWarning, SettingsEditor,
    hooks::{StatusLine, stays_plain_json},
    jsonc::{self, CreatedContainers, EditedText, JsonNode, JsoncSource, SettingsError, status},
};

/// A file in which Tenterhook writes only a status line.
#[derive(Debug)]
pub struct StatusFile(pub StatusLine);

impl SettingsEditor for StatusFile {
    fn insert(&self, text: &str, created: &CreatedContainers) -> Result<EditedText, SettingsError> {
        // The text of a missing file is empty, which is not a JSON object.
        let text = if text.trim().is_empty() { "{}\n" } else { text };
        let mut edited = EditedText { text: text.to_owned(), created: created.clone() };
        if let Some((text, status)) = status::set(text, &self.0.command, self.0.is_ours, &created.status)? {
            (edited.text, edited.created.status) = (text, status);
        }
        Ok(edited)
    }

    fn remove(&self, text: &str, created: &CreatedContainers) -> Result<String, SettingsError> {
        status::restore(text, self.0.is_ours, &created.status)
    }

    fn contains(&self, text: &str, _created: &CreatedContainers) -> Result<bool, SettingsError> {
        let source = JsoncSource::parse(jsonc::split_mark(text).1)?;
        let command = source.root()?.and_then(|root| root.get_object("statusLine")?.get_string("command"));
        Ok(command.is_some_and(|command| (self.0.is_ours)(&command.value)))
    }

    fn check(&self, before: &str, after: &str) -> Result<(), EditCheckError> {
        let ours = JsonNode::text(&self.0.command).scalar();
        let foreign = status::is_foreign(after, self.0.is_ours)?;
        if !foreign && !after.contains(&ours) {
            return Err(EditCheckError::new("the status line is not Tenterhook's"));
        }
        stays_plain_json(before, after)
    }

    fn is_empty_after_removal(&self, text: &str) -> bool {
        jsonc::split_mark(text).1.split_whitespace().collect::<String>() == "{}"
    }

    /// No text is required, because hooks work without a status line.
    fn required_texts(&self) -> Vec<String> {
        Vec::new()
    }

    fn warnings(&self, text: &str) -> Result<Vec<InstallWarning>, SettingsError> {
        Ok(self.0.warning(text)?.into_iter().collect())
    }
}
