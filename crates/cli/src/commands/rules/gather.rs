// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Gathers the files of a pack, from a directory or a repository.

use std::collections::BTreeMap;
use std::path::Path;

use tenterhook_files::FileClass;
use tenterhook_home::packs::is_rule_file;
use tenterhook_policy::{Layer, Loaded, RuleSet, Source};

use crate::error::CommandError;
use crate::fetch::{fetch, is_address};

const LARGEST: u64 = 1024 * 1024;
const MOST: usize = 100;

/// A pack as it was found.
pub(super) struct Gathered {
    pub(super) commit: Option<String>,
    /// File name and text.
    pub(super) files: BTreeMap<String, String>,
}

pub(super) fn gather(from: &str) -> Result<Gathered, CommandError> {
    if !is_address(from) {
        return Ok(Gathered { commit: None, files: files(Path::new(from))? });
    }
    let fetched = fetch(from, None)?;
    Ok(Gathered { files: files(&fetched.root())?, commit: Some(fetched.commit) })
}

/// The rule files in a directory: regular files only, for a link could lead anywhere.
fn files(dir: &Path) -> Result<BTreeMap<String, String>, CommandError> {
    let mut found = BTreeMap::new();
    let entries = fs_err::read_dir(dir).map_err(|error| CommandError::user(error.to_string()))?;
    for entry in entries {
        let entry = entry?;
        let Ok(name) = entry.file_name().into_string() else { continue };
        if !is_rule_file(&name) {
            continue;
        }
        let metadata = entry.metadata()?;
        if !metadata.is_file() {
            continue;
        }
        if metadata.len() > LARGEST {
            return Err(CommandError::user(format!("`{name}` is larger than 1 MiB: that is no rule file")));
        }
        let text = tenterhook_files::read_text(&entry.path(), FileClass::Untrusted, LARGEST)
            .map_err(|error| CommandError::user(error.to_string()))?
            .unwrap_or_default();
        found.insert(name, text);
    }
    match found.len() {
        0 => Err(CommandError::user(format!("there is no *.yaml file in `{}`", dir.display()))
            .hint("a pack is a directory with rule files at its top")),
        many if many > MOST => Err(CommandError::user(format!("{many} files are too many for a pack"))),
        _ => Ok(found),
    }
}

// === impl Gathered ===

impl Gathered {
    pub(super) fn load(&self) -> Loaded {
        let sources: Vec<_> = self
            .files
            .iter()
            .map(|(name, text)| Source { name, text, layer: Layer::User, trusted: true })
            .collect();
        RuleSet::load(&sources)
    }
}
