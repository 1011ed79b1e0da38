// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Reads hook packages from a directory or a git repository, which can contain one package or an index of packages.

use std::path::{Component, Path, PathBuf};

use serde::{Deserialize, Serialize};
use tenterhook_document::{parse, read};
use tenterhook_home::hook_packages::{self, MANIFEST, Manifest, PackageFiles};
use tenterhook_home::regular_file;

use crate::git::{FetchedRepository, fetch, is_address};
use tenterhook_error::Failure;

/// File that lists the packages of a repository.
const INDEX_FILE: &str = "tenterhook-hooks.yaml";

/// An open source of hook packages.
pub struct PackageSource {
    /// Address or directory of the source, as it is written to `hooks.yaml`.
    pub from: String,
    /// The packages in this source.
    pub offers: Vec<PackageOffer>,
    root: PathBuf,
    fetched: Option<FetchedRepository>,
}

/// Entry of an index: a package that can be added.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PackageOffer {
    /// Name of the package.
    pub name: String,
    /// Directory of the package, relative to the root of the repository.
    path: String,
    /// Title of the package.
    #[serde(default)]
    pub title: String,
    /// Description of the package.
    #[serde(default)]
    pub about: String,
    /// Search terms of the package.
    #[serde(default)]
    pub tags: Vec<String>,
    /// Expected digest of the whole package.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sha256: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PackageIndex {
    version: u32,
    hooks: Vec<PackageOffer>,
}

impl PackageSource {
    /// Opens a directory, or fetches a repository.
    pub fn open(from: &str, commit: Option<&str>) -> Result<Self, Failure> {
        let local = (!is_address(from)).then(|| std::path::absolute(from)).transpose()?;
        let is_repository = |dir: &Path| dir.join(".git").exists() || dir.join("HEAD").is_file();
        let (from, root, fetched) = match local {
            Some(dir) if !is_repository(&dir) => {
                if commit.is_some() {
                    return Err(Failure::user(format!("`{from}` is not a git repository")));
                }
                (dir.display().to_string(), dir, None)
            }
            local => {
                let from = local.map_or_else(|| from.to_owned(), |dir| dir.display().to_string());
                let fetched = fetch(&from, commit)?;
                (from, fetched.root(), Some(fetched))
            }
        };
        let offers = list_packages(&root)?;
        Ok(Self { from, offers, root, fetched })
    }

    /// Commit of a fetched repository.
    pub fn commit(&self) -> Option<&str> {
        self.fetched.as_ref().map(|fetched| fetched.commit.as_str())
    }

    /// Finds a package by name. Without a name, the source must contain exactly one package.
    pub fn offer(&self, name: Option<&str>) -> Result<&PackageOffer, Failure> {
        let names = || self.offers.iter().map(|offer| offer.name.as_str()).collect::<Vec<_>>().join(", ");
        match (name, self.offers.as_slice()) {
            (None, [only]) => Ok(only),
            (None, _) => {
                Err(Failure::user("the source has several hook packages")
                    .hint(format!("name one: {}", names())))
            }
            (Some(name), [only]) if only.path.is_empty() && only.name != name => Ok(only),
            (Some(name), offers) => offers.iter().find(|offer| offer.name == name).ok_or_else(|| {
                Failure::user(format!("no hook package `{name}` in `{}`", self.from))
                    .hint(format!("available: {}", names()))
            }),
        }
    }

    /// Reads the files of a package and compares them with the expected digest, if there is one.
    pub fn files(&self, offer: &PackageOffer) -> Result<PackageFiles, Failure> {
        let inside = Path::new(&offer.path).components().all(|part| matches!(part, Component::Normal(_)));
        if !inside {
            return Err(Failure::user(format!("path `{}` is outside the repository", offer.path)));
        }
        let dir = self.root.join(&offer.path);
        let mut part = self.root.clone();
        for component in Path::new(&offer.path).components() {
            part.push(component);
            if part.symlink_metadata().is_ok_and(|found| found.is_symlink()) {
                return Err(Failure::user(format!("path `{}` contains a symbolic link", offer.path)));
            }
        }
        let files = hook_packages::read_files(&dir)?;
        let found = hook_packages::digest(&hook_packages::hash_files(&files));
        match &offer.sha256 {
            Some(expected) if *expected != found => {
                Err(Failure::internal(format!("hash of `{}` differs from the index: {found}", offer.name))
                    .hint("report it to the publisher"))
            }
            _ => Ok(files),
        }
    }
}

impl PackageOffer {
    /// Whether the name, title, description or tags contain `word`.
    pub fn mentions(&self, word: &str) -> bool {
        let word = word.to_lowercase();
        let texts = [&self.name, &self.title, &self.about, &self.tags.join(" ")];
        texts.iter().any(|text| text.to_lowercase().contains(&word))
    }
}

/// Lists the packages of a directory: the packages in its index, or the directory itself if it is a package.
fn list_packages(root: &Path) -> Result<Vec<PackageOffer>, Failure> {
    let path = root.join(INDEX_FILE);
    if let Some(text) = regular_file(&path)? {
        let unreadable = |line: usize, why: String| {
            Failure::user(format!("{INDEX_FILE}:{line}: {why}")).hint("see docs/guide/templates.md")
        };
        let tree = parse(&text).map_err(|(spot, why)| unreadable(spot.line, why))?;
        let index: PackageIndex =
            read(&tree).map_err(|misfit| unreadable(misfit.spot.line, misfit.message))?;
        if index.version != 1 {
            return Err(unreadable(1, format!("unknown version {}", index.version)));
        }
        return Ok(index.hooks);
    }
    let Some(text) = regular_file(&root.join(MANIFEST))? else {
        return Err(Failure::user(format!("neither `{INDEX_FILE}` nor `{MANIFEST}` found"))
            .hint("docs/guide/templates.md describes how to publish hooks"));
    };
    let manifest = Manifest::read(MANIFEST, &text).map_err(|problem| Failure::user(problem.to_string()))?;
    let first = manifest.hooks.get(0).and_then(|hook| hook.get("id")).and_then(serde_json::Value::as_str);
    let name = first.unwrap_or_default().to_owned();
    let Manifest { title, about, tags, .. } = manifest;
    Ok(vec![PackageOffer { name, path: String::new(), title, about, tags, sha256: None }])
}
