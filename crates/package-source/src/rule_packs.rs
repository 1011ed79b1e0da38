// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Reads the files of a rule pack from a directory or a repository, pins them by hash and installs them.

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

/// The files of a pack, as read from its source.
pub struct GatheredPack {
    /// Commit of a fetched repository.
    pub commit: Option<String>,
    /// Content of each file, by file name.
    pub files: BTreeMap<String, String>,
}

/// Reads the pack in a directory, or fetches a repository.
pub fn read_pack(from: &str) -> Result<GatheredPack, Failure> {
    if !is_address(from) {
        return Ok(GatheredPack { commit: None, files: read_rule_files(Path::new(from))? });
    }
    let fetched = fetch(from, None)?;
    Ok(GatheredPack { files: read_rule_files(&fetched.root())?, commit: Some(fetched.commit) })
}

/// Reads the rule files of a directory. Links are skipped, because they could point anywhere.
fn read_rule_files(dir: &Path) -> Result<BTreeMap<String, String>, Failure> {
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
            return Err(Failure::user(format!("rule file `{name}` is larger than 1 MiB")));
        }
        let text = tenterhook_files::read_text(&entry.path(), FileClass::Untrusted, MAX_RULE_FILE_BYTES)
            .map_err(|error| Failure::user(error.to_string()))?
            .unwrap_or_default();
        found.insert(name, text);
    }
    match found.len() {
        0 => Err(Failure::user(format!("no *.yaml file in `{}`", dir.display()))
            .hint("a rule pack is a directory with rule files at its top level")),
        many if many > MAX_PACK_FILES => {
            Err(Failure::user(format!("too many files for a rule pack: {many}")))
        }
        _ => Ok(found),
    }
}

// === impl GatheredPack ===

impl GatheredPack {
    /// Loads the rules of the pack. The result contains any problems.
    pub fn load(&self) -> LoadedRules {
        let sources: Vec<_> = self
            .files
            .iter()
            .map(|(name, text)| RuleSource { name, text, layer: SourceLayer::User, trusted: true })
            .collect();
        RuleSet::load(&sources)
    }
}

/// Derives the name of a pack from its source: `https://x.example/Our-Rules.git` becomes `our-rules`.
pub fn pack_name_of(from: &str) -> String {
    let last = from.trim_end_matches('/').rsplit(['/', ':']).next().unwrap_or_default();
    last.trim_end_matches(".git").to_ascii_lowercase()
}

/// Checks the name of a new pack. Fails if the name is invalid or another pack already has it.
pub fn check_pack_name(name: &str, list: &PackList) -> Result<(), Failure> {
    let fits = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '-' | '_' | '.');
    if name.is_empty() || name.starts_with('.') || !name.chars().all(fits) {
        return Err(Failure::user(format!(
            "invalid name `{name}` of a rule pack (lower-case letters, digits, `-`, `_`, `.`)"
        ))
        .hint("choose a name with `--name NAME`"));
    }
    if built_in(name).is_some() || list.find_added(name).is_some() {
        return Err(Failure::user(format!("a rule pack `{name}` already exists"))
            .hint("choose another name with `--name NAME`, or use `tenterhook rules update`"));
    }
    Ok(())
}

/// Creates the entry of a pack in `packs.yaml`, with the hash of each file.
pub fn pin_pack(name: &str, from: &str, gathered: &GatheredPack) -> AddedPack {
    let hash = |(file, text): (&String, &String)| (file.clone(), sha256(text.as_bytes()));
    AddedPack {
        name: name.to_owned(),
        from: from.to_owned(),
        commit: gathered.commit.clone(),
        files: gathered.files.iter().map(hash).collect(),
    }
}

/// Writes the files of a pack into the pack's configuration directory, and removes the files of an earlier version.
pub fn install_pack(home: &Home, name: &str, gathered: &GatheredPack) -> Result<(), Failure> {
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
