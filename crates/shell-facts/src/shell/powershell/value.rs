// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Values of PowerShell expressions, as far as they are known before run time.

use std::collections::BTreeMap;
use std::sync::Arc;

use tenterhook_powershell::PowerShellScript;

use super::super::word::{MAX_EXPANSION_BYTES, ShellWord, merge_sources};

/// Maximum number of items of a value. Further items are dropped, because each one is checked by every rule.
pub(super) const MAX_ITEMS: usize = 64;

/// The value of an expression or the output of a pipeline.
#[derive(Debug, Clone, Default)]
pub(super) struct PowerShellValue {
    /// Texts, one per item. An unknown value has one item that is only known at run time.
    pub(super) items: Vec<ShellWord>,
    /// The script block, if the value is a script block.
    pub(super) block: Option<Arc<PowerShellScript>>,
    /// Entries of a hash table, with keys in lower case.
    pub(super) entries: Vec<(String, PowerShellValue)>,
    /// Type of an object that the script creates, in lower case.
    pub(super) object: String,
}

/// Variables, functions and short names at one point of a script.
#[derive(Debug, Clone, Default)]
pub(super) struct PowerShellScope {
    pub(super) vars: BTreeMap<String, PowerShellValue>,
    pub(super) functions: BTreeMap<String, Arc<PowerShellScript>>,
    pub(super) aliases: BTreeMap<String, String>,
    /// Functions that are being called, outermost first.
    pub(super) calls: Vec<Arc<PowerShellScript>>,
}

impl PowerShellValue {
    pub(super) fn literal(text: &str) -> Self {
        Self { items: vec![ShellWord::literal(text)], ..Self::default() }
    }

    /// Creates a value that is only known at run time; it depends on the output of these commands.
    pub(super) fn unknown(source: &str, from: &[usize]) -> Self {
        Self { items: vec![unknown_word(source, from)], ..Self::default() }
    }

    /// Creates a script block.
    pub(super) fn from_block(script: PowerShellScript) -> Self {
        Self { block: Some(Arc::new(script)), ..Self::default() }
    }

    /// Returns the only item, if its text is completely known.
    pub(super) fn known_text(&self) -> Option<&str> {
        match self.items.as_slice() {
            [only] if !only.dynamic && self.block.is_none() => Some(&only.text),
            _ => None,
        }
    }

    /// Returns the commands whose output is part of the value.
    pub(super) fn sources(&self) -> Vec<usize> {
        let mut from = Vec::new();
        for item in &self.items {
            merge_sources(&mut from, &item.from);
        }
        from
    }

    /// Whether every item is known text.
    pub(super) fn is_known(&self) -> bool {
        !self.items.is_empty() && self.items.iter().all(|item| !item.dynamic)
    }

    /// Joins the items into one word.
    pub(super) fn join(&self, separator: &str) -> ShellWord {
        let mut joined = ShellWord::default();
        for (at, item) in self.items.iter().enumerate() {
            if at > 0 {
                joined.text.push_str(separator);
                joined.shape.push_str(separator);
            }
            append_word(&mut joined, item);
        }
        joined
    }

    /// Adds the items and entries of another value.
    pub(super) fn extend(&mut self, other: Self) {
        let room = MAX_ITEMS.saturating_sub(self.items.len());
        for item in other.items.into_iter().take(room) {
            if !self.items.contains(&item) {
                self.items.push(item);
            }
        }
        self.block = self.block.take().or(other.block);
        self.entries.extend(other.entries);
        if self.object.is_empty() {
            self.object = other.object;
        }
    }
}

/// Creates a word that is only known at run time.
pub(super) fn unknown_word(source: &str, from: &[usize]) -> ShellWord {
    ShellWord {
        text: source.to_owned(),
        shape: "*".to_owned(),
        dynamic: true,
        from: from.to_vec(),
        ..ShellWord::default()
    }
}

/// Appends a word to another.
pub(super) fn append_word(to: &mut ShellWord, word: &ShellWord) {
    if to.text.len() + word.text.len() > MAX_EXPANSION_BYTES {
        *to = unknown_word("$x", &to.from);
        return;
    }
    to.text.push_str(&word.text);
    to.shape.push_str(&word.shape);
    to.dynamic |= word.dynamic;
    to.pattern |= word.pattern;
    merge_sources(&mut to.from, &word.from);
}
