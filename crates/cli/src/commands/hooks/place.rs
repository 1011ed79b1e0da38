// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Where kits are offered: a directory, or a git repository with an index of them.

use std::path::{Component, Path, PathBuf};

use serde::{Deserialize, Serialize};
use tenterhook_document::{parse, read};
use tenterhook_home::kits::{self, Files, MANIFEST, Manifest};
use tenterhook_home::regular_file;

use crate::error::CommandError;
use crate::fetch::{Fetched, fetch, is_address};

/// The file that lists the kits of a repository.
const INDEX: &str = "tenterhook-hooks.yaml";

/// An open place.
pub(super) struct Place {
    /// What it is called in `hooks.yaml`.
    pub(super) from: String,
    pub(super) offers: Vec<Offer>,
    root: PathBuf,
    fetched: Option<Fetched>,
}

/// A kit that is offered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Offer {
    pub(super) name: String,
    /// Its folder, from the root of the repository.
    path: String,
    #[serde(default)]
    pub(super) title: String,
    #[serde(default)]
    pub(super) about: String,
    #[serde(default)]
    pub(super) tags: Vec<String>,
    /// What its files have to be: the hash of all of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) sha256: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Index {
    version: u32,
    hooks: Vec<Offer>,
}

impl Place {
    /// Opens a directory, or fetches a repository.
    pub(super) fn open(from: &str, commit: Option<&str>) -> Result<Self, CommandError> {
        let local = (!is_address(from)).then(|| std::path::absolute(from)).transpose()?;
        let is_repository = |dir: &Path| dir.join(".git").exists() || dir.join("HEAD").is_file();
        let (from, root, fetched) = match local {
            Some(dir) if !is_repository(&dir) => {
                if commit.is_some() {
                    return Err(CommandError::user(format!("`{from}` is no git repository")));
                }
                (dir.display().to_string(), dir, None)
            }
            local => {
                let from = local.map_or_else(|| from.to_owned(), |dir| dir.display().to_string());
                let fetched = fetch(&from, commit)?;
                (from, fetched.root(), Some(fetched))
            }
        };
        let offers = offers(&root)?;
        Ok(Self { from, offers, root, fetched })
    }

    pub(super) fn commit(&self) -> Option<&str> {
        self.fetched.as_ref().map(|fetched| fetched.commit.as_str())
    }

    /// The offer of this name; without a name, the only one.
    pub(super) fn offer(&self, name: Option<&str>) -> Result<&Offer, CommandError> {
        let names = || self.offers.iter().map(|offer| offer.name.as_str()).collect::<Vec<_>>().join(", ");
        match (name, self.offers.as_slice()) {
            (None, [only]) => Ok(only),
            (None, _) => Err(CommandError::user("there are several kits: which one?").hint(names())),
            (Some(name), [only]) if only.path.is_empty() && only.name != name => Ok(only),
            (Some(name), offers) => offers.iter().find(|offer| offer.name == name).ok_or_else(|| {
                CommandError::user(format!("`{}` has no kit `{name}`", self.from)).hint(names())
            }),
        }
    }

    /// Its files.
    pub(super) fn files(&self, offer: &Offer) -> Result<Files, CommandError> {
        let inside = Path::new(&offer.path).components().all(|part| matches!(part, Component::Normal(_)));
        if !inside {
            return Err(CommandError::user(format!("`{}` leads out of the repository", offer.path)));
        }
        let dir = self.root.join(&offer.path);
        let mut part = self.root.clone();
        for component in Path::new(&offer.path).components() {
            part.push(component);
            if part.symlink_metadata().is_ok_and(|found| found.is_symlink()) {
                return Err(CommandError::user(format!("`{}` goes through a link", offer.path)));
            }
        }
        let files = kits::gather(&dir)?;
        let found = kits::digest(&kits::hashes(&files));
        match &offer.sha256 {
            Some(said) if *said != found => {
                Err(CommandError::internal(format!("`{}` is not what its index says: {found}", offer.name))
                    .hint("tell whoever publishes it"))
            }
            _ => Ok(files),
        }
    }
}

impl Offer {
    pub(super) fn mentions(&self, word: &str) -> bool {
        let word = word.to_lowercase();
        let texts = [&self.name, &self.title, &self.about, &self.tags.join(" ")];
        texts.iter().any(|text| text.to_lowercase().contains(&word))
    }
}

/// What is offered: by the index, or the folder itself if it is a kit.
fn offers(root: &Path) -> Result<Vec<Offer>, CommandError> {
    let path = root.join(INDEX);
    if let Some(text) = regular_file(&path)? {
        let unreadable = |line: usize, why: String| {
            CommandError::user(format!("{INDEX}:{line}: {why}")).hint("docs/guide/templates.md shows one")
        };
        let tree = parse(&text).map_err(|(spot, why)| unreadable(spot.line, why))?;
        let index: Index = read(&tree).map_err(|misfit| unreadable(misfit.spot.line, misfit.message))?;
        if index.version != 1 {
            return Err(unreadable(1, format!("version {} is not known here", index.version)));
        }
        return Ok(index.hooks);
    }
    let Some(text) = regular_file(&root.join(MANIFEST))? else {
        return Err(CommandError::user(format!("there is neither `{INDEX}` nor `{MANIFEST}`"))
            .hint("docs/guide/templates.md says how hooks are published"));
    };
    let manifest =
        Manifest::read(MANIFEST, &text).map_err(|problem| CommandError::user(problem.to_string()))?;
    let first = manifest.hooks.get(0).and_then(|hook| hook.get("id")).and_then(serde_json::Value::as_str);
    let name = first.unwrap_or_default().to_owned();
    let Manifest { title, about, tags, .. } = manifest;
    Ok(vec![Offer { name, path: String::new(), title, about, tags, sha256: None }])
}
