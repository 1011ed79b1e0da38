// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Our status line in a JSON file that holds nothing else of ours.

use super::{
    EditCheckError, Editor, Warning,
    hooks::{StatusLine, stays_plain_json},
    jsonc::{self, Created, Edited, Flaw, Node, Source, status},
};

/// What of ours belongs in such a file.
#[derive(Debug)]
pub struct StatusFile(pub StatusLine);

impl Editor for StatusFile {
    fn put(&self, text: &str, created: &Created) -> Result<Edited, Flaw> {
        // A file that is not there yet says nothing, which is not the same as an empty object.
        let text = if text.trim().is_empty() { "{}\n" } else { text };
        let mut edited = Edited { text: text.to_owned(), created: created.clone() };
        if let Some((text, status)) = status::put(text, &self.0.command, self.0.is_ours, &created.status)? {
            (edited.text, edited.created.status) = (text, status);
        }
        Ok(edited)
    }

    fn take(&self, text: &str, created: &Created) -> Result<String, Flaw> {
        status::take(text, self.0.is_ours, &created.status)
    }

    fn holds(&self, text: &str, _created: &Created) -> Result<bool, Flaw> {
        let source = Source::parse(jsonc::split_mark(text).1)?;
        let command = source.root()?.and_then(|root| root.get_object("statusLine")?.get_string("command"));
        Ok(command.is_some_and(|command| (self.0.is_ours)(&command.value)))
    }

    fn check(&self, before: &str, after: &str) -> Result<(), EditCheckError> {
        let ours = Node::text(&self.0.command).scalar();
        let foreign = status::is_foreign(after, self.0.is_ours)?;
        if !foreign && !after.contains(&ours) {
            return Err(EditCheckError::new("the status line is not ours"));
        }
        stays_plain_json(before, after)
    }

    fn is_hollow(&self, text: &str) -> bool {
        jsonc::split_mark(text).1.split_whitespace().collect::<String>() == "{}"
    }

    /// Hooks work without a status line.
    fn marks(&self) -> Vec<String> {
        Vec::new()
    }

    fn warnings(&self, text: &str) -> Result<Vec<Warning>, Flaw> {
        Ok(self.0.warning(text)?.into_iter().collect())
    }
}
