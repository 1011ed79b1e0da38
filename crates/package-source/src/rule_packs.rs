// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The files of a rule pack, from a directory or a repository.

use std::collections::BTreeMap;
use std::path::Path;

use tenterhook_files::FileClass;
use tenterhook_home::packs::{AddedPack, PackList, built_in, is_rule_file};
use tenterhook_home::trust::sha256;
use tenterhook_home::{Home, make_private_dir, write_atomic};
use tenterhook_policy::{LoadedRules, RuleSet, RuleSource, SourceLayer};

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
    pub fn load(&self) -> LoadedRules {
        let sources: Vec<_> = self
            .files
            .iter()
            .map(|(name, text)| RuleSource { name, text, layer: SourceLayer::User, trusted: true })
            .collect();
        RuleSet::load(&sources)
    }
}

/// The name of a pack, from where it comes: `https://x.example/Our-Rules.git` is `our-rules`.
pub fn pack_name_of(from: &str) -> String {
    let last = from.trim_end_matches('/').rsplit(['/', ':']).next().unwrap_or_default();
    last.trim_end_matches(".git").to_ascii_lowercase()
}

/// Fails if a pack cannot have this name, or if there is one of this name.
pub fn check_pack_name(name: &str, list: &PackList) -> Result<(), Failure> {
    let fits = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '-' | '_' | '.');
    if name.is_empty() || name.starts_with('.') || !name.chars().all(fits) {
        return Err(Failure::user(format!(
            "`{name}` is no name for a pack (small letters, digits, `-`, `_`, `.`)"
        ))
        .hint("give it one: `--name NAME`"));
    }
    if built_in(name).is_some() || list.find_added(name).is_some() {
        return Err(Failure::user(format!("there is a pack `{name}` already"))
            .hint("give this one another name (`--name NAME`), or use `tenterhook rules update`"));
    }
    Ok(())
}

/// The entry of a pack in `packs.yaml`, with the hash of each file.
pub fn pin_pack(name: &str, from: &str, gathered: &GatheredPack) -> AddedPack {
    let hash = |(file, text): (&String, &String)| (file.clone(), sha256(text.as_bytes()));
    AddedPack {
        name: name.to_owned(),
        from: from.to_owned(),
        commit: gathered.commit.clone(),
        files: gathered.files.iter().map(hash).collect(),
    }
}

/// Writes the files of a pack into the home, and removes those of an earlier state.
pub fn place_pack(home: &Home, name: &str, gathered: &GatheredPack) -> Result<(), Failure> {
    let dir = home.packs().join(name);
    make_private_dir(&dir)?;
    for entry in fs_err::read_dir(&dir)? {
        let entry = entry?;
        if !gathered.files.keys().any(|file| entry.file_name() == file.as_str()) {
            fs_err::remove_file(entry.path())?;
        }
    }
    for (file, text) in &gathered.files {
        write_atomic(&dir.join(file), text.as_bytes(), 0o600)?;
    }
    Ok(())
}
