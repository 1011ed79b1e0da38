// SPDX-License-Identifier: Apache-2.0 OR MIT

//! `packs.yaml`: which packs and rules are enabled, and added packs with the hashes of their files.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

use serde::Deserialize;
use tenterhook_document::{parse, read};
use tenterhook_policy::{BuiltInPack, Problem, RuleSet};

use crate::home::{Home, make_private_dir, write_atomic};
use crate::levels::ProtectionLevel;
use crate::read_file;
use crate::trust::sha256;
use tenterhook_error::Failure;

/// The user's choices about packs and rules.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct PackList {
    /// The level of protection, which enables further packs.
    pub level: ProtectionLevel,
    /// Built-in packs that are off by default and that the user enabled.
    pub enabled: Vec<String>,
    /// Disabled rules and packs.
    pub disabled: Vec<String>,
    /// Packs that the user added.
    pub sources: Vec<AddedPack>,
}

/// An added pack, as the user reviewed it.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AddedPack {
    /// Name of the pack.
    pub name: String,
    /// Directory or URL that the pack was added from.
    pub from: String,
    /// The git commit, if the pack came from a repository.
    #[serde(default)]
    pub commit: Option<String>,
    /// SHA-256 of each file, by file name.
    #[serde(default)]
    pub files: BTreeMap<String, String>,
}

/// Finds a built-in pack by name.
pub fn built_in(name: &str) -> Option<&'static BuiltInPack> {
    RuleSet::packs().iter().find(|pack| pack.name == name)
}

/// Number of rules in a built-in pack. A test in `tenterhook-baseline` checks that every pack has a compiled form.
pub fn count_rules(pack: &BuiltInPack) -> usize {
    tenterhook_baseline::rules_of(pack.source.name).unwrap_or_default()
}

/// Whether a pack's file contains rules, judging by the file name.
pub fn is_rule_file(name: &str) -> bool {
    !name.starts_with('.') && Path::new(name).extension().is_some_and(|ending| ending == "yaml")
}

// === impl PackList ===

impl PackList {
    /// Reads the list of a home. A missing file is an empty list.
    pub fn read(home: &Home) -> Result<Self, Box<Problem>> {
        let path = home.pack_list();
        let name = path.display().to_string();
        let hint = "until it can be read, only the packs that are on by default are in force";
        let text = read_file::regular_file(&path)
            .map_err(|error| Box::new(Problem::for_file(&name, error.to_string()).hint(hint)))?;
        let Some(text) = text else { return Ok(Self::default()) };
        if text.trim().is_empty() {
            return Ok(Self::default());
        }
        let misfit = |spot, message| Box::new(Problem::new(&name, spot, message).hint(hint));
        let tree = parse(&text).map_err(|(spot, message)| misfit(spot, message))?;
        read(&tree).map_err(|found| misfit(found.spot, found.message))
    }

    /// Reads the list for a command that changes it.
    pub fn read_for_update(home: &Home) -> Result<Self, Failure> {
        Self::read(home).map_err(|problem| {
            Failure::internal(problem.to_string()).hint("fix or remove the file, then try again")
        })
    }

    /// Stores the list.
    pub fn write(&self, home: &Home) -> Result<(), Failure> {
        make_private_dir(&home.config)?;
        write_atomic(&home.pack_list(), self.to_yaml().as_bytes(), 0o600)
    }

    /// Whether a pack or rule is disabled.
    pub fn is_disabled(&self, name: &str) -> bool {
        self.disabled.iter().any(|other| other == name)
    }

    /// Whether a built-in pack is in force.
    pub fn is_on(&self, pack: &BuiltInPack) -> bool {
        self.is_loaded(pack) && !self.is_disabled(pack.name)
    }

    /// Whether a built-in pack is loaded. If it is disabled, only its locked rules apply.
    pub(crate) fn is_loaded(&self, pack: &BuiltInPack) -> bool {
        pack.on_by_default
            || self.level.enables(pack.name)
            || self.enabled.iter().any(|name| name == pack.name)
    }

    /// Finds an added pack by name.
    pub fn find_added(&self, name: &str) -> Option<&AddedPack> {
        self.sources.iter().find(|added| added.name == name)
    }

    /// Enables a pack or a rule.
    pub fn enable(&mut self, name: &str) {
        self.disabled.retain(|other| other != name);
        let off = built_in(name).is_some_and(|pack| !pack.on_by_default);
        if off && !self.enabled.iter().any(|other| other == name) {
            self.enabled.push(name.to_owned());
        }
    }

    /// Disables a pack or a rule. Locked rules stay in force regardless.
    pub fn disable(&mut self, name: &str) {
        self.enabled.retain(|other| other != name);
        let needed = built_in(name).is_none_or(|pack| self.is_loaded(pack));
        if needed && !self.is_disabled(name) {
            self.disabled.push(name.to_owned());
        }
    }

    fn to_yaml(&self) -> String {
        // A JSON string is also a valid YAML string.
        let quote = |text: &str| serde_json::Value::from(text).to_string();
        let list = |names: &[String]| names.iter().map(|name| quote(name)).collect::<Vec<_>>().join(", ");
        let mut text = "# Which packs and rules are on. `tenterhook rules` writes this file.\n".to_owned();
        if self.level != ProtectionLevel::default() {
            let _ = writeln!(text, "level: {}", self.level);
        }
        let _ = writeln!(text, "enabled: [{}]", list(&self.enabled));
        let _ = writeln!(text, "disabled: [{}]", list(&self.disabled));
        if self.sources.is_empty() {
            text += "sources: []\n";
            return text;
        }
        text += "sources:\n";
        for added in &self.sources {
            let _ = writeln!(text, "  - name: {}\n    from: {}", quote(&added.name), quote(&added.from));
            if let Some(commit) = &added.commit {
                let _ = writeln!(text, "    commit: {}", quote(commit));
            }
            let _ = writeln!(text, "    files:{}", if added.files.is_empty() { " {}" } else { "" });
            for (file, hash) in &added.files {
                let _ = writeln!(text, "      {}: {}", quote(file), quote(hash));
            }
        }
        text
    }
}

// === impl AddedPack ===

impl AddedPack {
    /// Reads the pack's files and compares them with their pinned hashes. A file that has changed or was not pinned is
    /// reported as a problem and not used.
    pub fn read_texts(&self, home: &Home, problems: &mut Vec<Problem>) -> Vec<(String, String)> {
        let dir = home.packs().join(&self.name);
        let hint = format!("review the change; to accept it run `tenterhook rules update {}`", self.name);
        let mut refuse =
            |name: &str, message: &str| problems.push(Problem::for_file(name, message).hint(&hint));
        let mut texts = Vec::new();
        for (file, pinned) in &self.files {
            let path = dir.join(file);
            let name = path.display().to_string();
            match read_file::regular_file(&path) {
                Ok(Some(text)) if sha256(text.as_bytes()) == *pinned => texts.push((name, text)),
                Ok(Some(_)) => {
                    refuse(&name, "this file was changed since the pack was added; it is not used");
                }
                Ok(None) => refuse(&name, "this file of the pack is missing"),
                Err(error) => refuse(&name, &error.to_string()),
            }
        }
        for entry in fs_err::read_dir(&dir).into_iter().flatten().flatten() {
            let file = entry.file_name().to_string_lossy().into_owned();
            if is_rule_file(&file) && !self.files.contains_key(&file) {
                let name = entry.path().display().to_string();
                refuse(&name, "this file was not there when the pack was added; it is not used");
            }
        }
        texts
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_is_read_as_it_was_written() {
        let dir = tempfile::tempdir().unwrap();
        let home = Home::in_dir(dir.path().to_owned());
        assert_eq!(PackList::read(&home), Ok(PackList::default()));
        let files = [("a.yaml".to_owned(), "00".to_owned()), ("b: \"#.yaml".to_owned(), "11".to_owned())];
        let added = AddedPack {
            name: "ours".to_owned(),
            from: "https://x.example/r.git".to_owned(),
            commit: Some("abc".to_owned()),
            files: files.into_iter().collect(),
        };
        let list = PackList {
            level: ProtectionLevel::Strict,
            enabled: vec!["cloud".to_owned()],
            disabled: vec!["no".to_owned(), "a/b".to_owned()],
            sources: vec![added.clone(), AddedPack { commit: None, files: BTreeMap::new(), ..added }],
        };
        for list in [list, PackList::default()] {
            list.write(&home).unwrap();
            assert_eq!(PackList::read(&home), Ok(list));
        }
        std::fs::write(home.pack_list(), "enabled: [a\n").unwrap();
        assert!(PackList::read(&home).is_err());
    }
}
