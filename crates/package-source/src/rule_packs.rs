// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The files of a rule pack, from a directory or a repository.

use std::collections::BTreeMap;
use std::path::Path;

use tenterhook_files::FileClass;
use tenterhook_home::packs::is_rule_file;
use tenterhook_policy::{Layer, Loaded, RuleSet, Source};

use crate::git::{fetch, is_address};
use tenterhook_error::Failure;

const MAX_RULE_FILE_BYTES: u64 = 1024 * 1024;
const MAX_PACK_FILES: usize = 100;

/// A pack as it was found.
pub struct GatheredPack {
    /// The commit of a repository.
    pub commit: Option<String>,
    /// File name and text.
    pub files: BTreeMap<String, String>,
}

/// Reads the pack in a directory, or fetches a repository.
pub fn gather(from: &str) -> Result<GatheredPack, Failure> {
    if !is_address(from) {
        return Ok(GatheredPack { commit: None, files: files(Path::new(from))? });
    }
    let fetched = fetch(from, None)?;
    Ok(GatheredPack { files: files(&fetched.root())?, commit: Some(fetched.commit) })
}

/// The rule files in a directory: regular files only, for a link could lead anywhere.
fn files(dir: &Path) -> Result<BTreeMap<String, String>, Failure> {
    let mut found = BTreeMap::new();
    let entries = fs_err::read_dir(dir).map_err(|error| Failure::user(error.to_string()))?;
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
        if metadata.len() > MAX_RULE_FILE_BYTES {
            return Err(Failure::user(format!("`{name}` is larger than 1 MiB: that is no rule file")));
        }
        let text = tenterhook_files::read_text(&entry.path(), FileClass::Untrusted, MAX_RULE_FILE_BYTES)
            .map_err(|error| Failure::user(error.to_string()))?
            .unwrap_or_default();
        found.insert(name, text);
    }
    match found.len() {
        0 => Err(Failure::user(format!("there is no *.yaml file in `{}`", dir.display()))
            .hint("a pack is a directory with rule files at its top")),
        many if many > MAX_PACK_FILES => Err(Failure::user(format!("{many} files are too many for a pack"))),
        _ => Ok(found),
    }
}

// === impl GatheredPack ===

impl GatheredPack {
    /// Its rules, and what cannot be used.
    pub fn load(&self) -> Loaded {
        let sources: Vec<_> = self
            .files
            .iter()
            .map(|(name, text)| Source { name, text, layer: Layer::User, trusted: true })
            .collect();
        RuleSet::load(&sources)
    }
}
