// SPDX-License-Identifier: Apache-2.0 OR MIT

//! `hooks.yaml`: the hook packages of a home, with the hashes of their files.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde::{Deserialize, Serialize};
use tenterhook_document::{Problem, parse, read};

use super::{PackageFiles, hash_files, read_files};
use crate::home::{Home, make_private_dir, write_atomic};
use crate::read_file;
use tenterhook_error::Failure;

/// The hook packages of a home.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct PackageList {
    /// Packages in the order in which they were added.
    #[serde(rename = "kits")]
    pub packages: Vec<PackageEntry>,
}

/// A hook package, as the user reviewed it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PackageEntry {
    /// Name of the package and of its directory.
    pub name: String,
    /// Template, directory or URL that the package was added from.
    pub from: String,
    /// The git commit, if the package came from a repository. Packages from a repository must not be edited locally.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
    /// Whether the user trusts the package, so that its hooks run.
    #[serde(default)]
    pub trusted: bool,
    /// SHA-256 of each file, by file name.
    #[serde(default)]
    pub files: BTreeMap<String, String>,
}

impl PackageList {
    /// Reads the list of a home. A missing file is an empty list.
    pub fn read(home: &Home) -> Result<Self, Box<Problem>> {
        let path = home.hook_package_list();
        let name = path.display().to_string();
        let hint = "until it can be read, no hook package is in force";
        let text = read_file::regular_file(&path)
            .map_err(|error| Box::new(Problem::for_file(&name, error.to_string()).hint(hint)))?;
        let text = text.filter(|text| !text.trim().is_empty());
        let Some(text) = text else { return Ok(Self::default()) };
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
        write_atomic(&home.hook_package_list(), self.to_yaml().as_bytes(), 0o600)
    }

    /// Finds a package by name.
    pub fn find(&self, name: &str) -> Option<&PackageEntry> {
        self.packages.iter().find(|package| package.name == name)
    }

    /// Adds a package, or replaces the one with the same name.
    pub fn put(&mut self, package: PackageEntry) {
        match self.packages.iter_mut().find(|other| other.name == package.name) {
            Some(other) => *other = package,
            None => self.packages.push(package),
        }
    }

    fn to_yaml(&self) -> String {
        // A JSON string is also a valid YAML string.
        let quote = |text: &str| serde_json::Value::from(text).to_string();
        let mut text =
            "# Hook packages, and which of them are trusted. `tenterhook hooks` writes this file.\n"
                .to_owned();
        text += if self.packages.is_empty() { "kits: []\n" } else { "kits:\n" };
        for package in &self.packages {
            let _ = writeln!(text, "  - name: {}\n    from: {}", quote(&package.name), quote(&package.from));
            if let Some(commit) = &package.commit {
                let _ = writeln!(text, "    commit: {}", quote(commit));
            }
            let _ = writeln!(text, "    trusted: {}\n    files:", package.trusted);
            for (file, hash) in &package.files {
                let _ = writeln!(text, "      {}: {}", quote(file), quote(hash));
            }
        }
        text
    }
}

impl PackageEntry {
    /// A new package, which is not trusted yet.
    pub fn new(name: &str, from: &str, commit: Option<String>, files: &PackageFiles) -> Self {
        Self {
            name: name.to_owned(),
            from: from.to_owned(),
            commit,
            trusted: false,
            files: hash_files(files),
        }
    }

    /// Reads the package's files. Fails if a file has changed, is missing or was added since the package was pinned.
    pub fn files(&self, home: &Home) -> Result<PackageFiles, Failure> {
        let files = read_files(&home.hook_packages().join(&self.name))?;
        let found = hash_files(&files);
        let differs = self.files.iter().find(|(name, hash)| found.get(*name) != Some(hash));
        let unknown = found.keys().find(|name| !self.files.contains_key(*name));
        let why = match (differs, unknown) {
            (Some((name, _)), _) if found.contains_key(name) => format!("`{name}` was changed"),
            (Some((name, _)), _) => format!("`{name}` is missing"),
            (None, Some(name)) => format!("`{name}` was added"),
            (None, None) => return Ok(files),
        };
        let hint = if self.commit.is_some() {
            format!("fetch it again: `tenterhook hooks add {} {}`", self.from, self.name)
        } else {
            format!("review it, then run `tenterhook hooks trust {}`", self.name)
        };
        Err(Failure::internal(format!(
            "{why}: hook package `{}` differs from the trusted version",
            self.name
        ))
        .hint(hint))
    }
}
