// SPDX-License-Identifier: Apache-2.0 OR MIT

//! `hooks.yaml`: the kits of a home, with the hashes of their files.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde::{Deserialize, Serialize};
use tenterhook_document::{Problem, parse, read};

use super::{Files, gather, hashes};
use crate::home::{Home, make_private, write_whole};
use crate::read_file;
use tenterhook_error::Failure;

/// All kits of a home.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct KitList {
    /// In the order they came.
    pub kits: Vec<Kit>,
}

/// A kit, as it was when somebody looked at it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Kit {
    /// What it is called, and its folder.
    pub name: String,
    /// A template, a directory or an address.
    pub from: String,
    /// The commit, where it came from git: then its files stay as they were there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
    /// Whether its hooks may run.
    #[serde(default)]
    pub trusted: bool,
    /// SHA-256 of every file.
    #[serde(default)]
    pub files: BTreeMap<String, String>,
}

impl KitList {
    /// The list of a home; empty where there is none.
    pub fn read(home: &Home) -> Result<Self, Box<Problem>> {
        let path = home.kit_list();
        let name = path.display().to_string();
        let hint = "until it can be read, no hook of a kit is in force";
        let text = read_file::regular_file(&path)
            .map_err(|error| Box::new(Problem::whole(&name, error.to_string()).hint(hint)))?;
        let text = text.filter(|text| !text.trim().is_empty());
        let Some(text) = text else { return Ok(Self::default()) };
        let misfit = |spot, message| Box::new(Problem::new(&name, spot, message).hint(hint));
        let tree = parse(&text).map_err(|(spot, message)| misfit(spot, message))?;
        read(&tree).map_err(|found| misfit(found.spot, found.message))
    }

    /// The same for whoever is going to change it.
    pub fn read_to_change(home: &Home) -> Result<Self, Failure> {
        Self::read(home).map_err(|problem| {
            Failure::internal(problem.to_string()).hint("mend or remove the file, then try again")
        })
    }

    /// Keeps the list.
    pub fn write(&self, home: &Home) -> Result<(), Failure> {
        make_private(&home.config)?;
        write_whole(&home.kit_list(), self.to_yaml().as_bytes(), 0o600)
    }

    /// The kit of this name.
    pub fn find(&self, name: &str) -> Option<&Kit> {
        self.kits.iter().find(|kit| kit.name == name)
    }

    /// Puts a kit in, in the place of another one of its name.
    pub fn put(&mut self, kit: Kit) {
        match self.kits.iter_mut().find(|other| other.name == kit.name) {
            Some(other) => *other = kit,
            None => self.kits.push(kit),
        }
    }

    fn to_yaml(&self) -> String {
        // A JSON text is a YAML text, whatever is in it.
        let quote = |text: &str| serde_json::Value::from(text).to_string();
        let mut text =
            "# Kits of hooks, and which of them may run. `tenterhook hooks` writes this file.\n".to_owned();
        text += if self.kits.is_empty() { "kits: []\n" } else { "kits:\n" };
        for kit in &self.kits {
            let _ = writeln!(text, "  - name: {}\n    from: {}", quote(&kit.name), quote(&kit.from));
            if let Some(commit) = &kit.commit {
                let _ = writeln!(text, "    commit: {}", quote(commit));
            }
            let _ = writeln!(text, "    trusted: {}\n    files:", kit.trusted);
            for (file, hash) in &kit.files {
                let _ = writeln!(text, "      {}: {}", quote(file), quote(hash));
            }
        }
        text
    }
}

impl Kit {
    /// A kit that was just fetched: nobody trusts it yet.
    pub fn fresh(name: &str, from: &str, commit: Option<String>, files: &Files) -> Self {
        Self { name: name.to_owned(), from: from.to_owned(), commit, trusted: false, files: hashes(files) }
    }

    /// Its files, if they are what is listed and there is nothing else beside them.
    pub fn files(&self, home: &Home) -> Result<Files, Failure> {
        let files = gather(&home.kits().join(&self.name))?;
        let found = hashes(&files);
        let differs = self.files.iter().find(|(name, hash)| found.get(*name) != Some(hash));
        let unknown = found.keys().find(|name| !self.files.contains_key(*name));
        let why = match (differs, unknown) {
            (Some((name, _)), _) if found.contains_key(name) => format!("`{name}` was changed"),
            (Some((name, _)), _) => format!("`{name}` is gone"),
            (None, Some(name)) => format!("`{name}` was not there before"),
            (None, None) => return Ok(files),
        };
        let hint = if self.commit.is_some() {
            format!("fetch it again: `tenterhook hooks add {} {}`", self.from, self.name)
        } else {
            format!("look at it, then `tenterhook hooks trust {}`", self.name)
        };
        Err(Failure::internal(format!("{why}: the kit `{}` is not the one that was looked at", self.name))
            .hint(hint))
    }
}
