// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Conditions on one package a call would install or run.

mod near;

use serde::{Deserialize, Serialize};
use tenterhook_facts::{PackageFact, PackageFrom, Unread};

use super::given::MayBeEmpty;
use super::glob::NameGlobs;
use super::match_mode::{Explain, MatchMode};
use super::one_or_more::{OneOrMore, values};
use crate::index::{NeedList, Rarity, Word};
use near::near;

/// Conditions on one package.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default, expecting = "a map of conditions on a package")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(default, rename = "Package"))]
pub(crate) struct PackageCondition {
    /// Globs on the package manager: `npm`, `pip`, `cargo`, …
    pub(crate) manager: Option<NameGlobs>,
    /// Globs on the package's name, without its version; `!` takes names away.
    pub(crate) name: Option<NameGlobs>,
    /// Where it comes from: any of these.
    pub(crate) from: Option<OneOrMore<PackageFrom>>,
    /// Whether it would be run at once, not only installed.
    pub(crate) runs: Option<bool>,
    /// The name is one letter away from one of these and is none of them: a slip, or a trap.
    pub(crate) near: Option<OneOrMore<String>>,
}

const MANAGERS: &[&str] = &[
    "npm", "npx", "pnpm", "yarn", "bun", "bunx", "pip", "pip3", "pipx", "uv", "uvx", "poetry", "cargo",
    "gem", "go", "apt", "apt-get", "brew", "dnf", "yum", "apk", "pacman", "composer", "conda",
];

impl MayBeEmpty for PackageCondition {
    fn is_empty(&self) -> bool {
        let Self { manager, name, from, runs, near } = self;
        manager.is_none() && name.is_none() && from.is_none() && runs.is_none() && near.is_none()
    }
}

impl PackageCondition {
    pub(super) fn add_needs(&self, to: &mut NeedList) {
        let Self { manager: _, name, from: _, runs: _, near: _ } = self;
        to.add_names(name.as_ref(), |name| Word::Package(name));
        to.add_words(Rarity::Seldom, &[Word::SomePackage]);
    }

    pub(super) fn check_all(
        &self,
        packages: &[PackageFact],
        mode: MatchMode,
        explain: Explain,
    ) -> Result<String, String> {
        match mode.pick(packages.iter(), |package| self.check(package, mode)) {
            Some(package) => Ok(format!("the package `{}` by `{}`", package.name, package.manager)),
            None => Err(explain.with(|| match packages.first() {
                None => "it installs nothing".to_owned(),
                Some(package) => format!("`{}` is another package", package.name),
            })),
        }
    }

    fn check(&self, package: &PackageFact, mode: MatchMode) -> bool {
        let Self { manager, name, from, runs, near: typos } = self;
        // An unknown name may be any name, but not a particular one.
        let named = match name {
            Some(_) if package.dynamic && mode == MatchMode::All => false,
            Some(names) if package.dynamic => names.matches("*"),
            Some(names) => names.matches(&package.name),
            None => true,
        };
        let (from, typos) = (values(from.as_ref()), values(typos.as_ref()));
        named
            && manager.as_ref().is_none_or(|managers| managers.matches(&package.manager))
            && (from.is_empty() || from.contains(&package.from))
            && runs.is_none_or(|runs| runs == package.runs)
            && (typos.is_empty() || !package.dynamic && near(&package.name, typos).is_some())
    }

    /// What an unread text mentions of it.
    pub(super) fn match_unparsed(&self, text: &Unread) -> Option<String> {
        let Self { manager, name, from: _, runs: _, near: _ } = self;
        if text.whole {
            return Some("more than can be read".to_owned());
        }
        let manager = match manager {
            Some(managers) => text.words().find(|word| managers.matches(word))?,
            None => text.words().find(|word| MANAGERS.contains(word))?,
        };
        if let Some(names) = name {
            text.words().find(|word| names.matches(word))?;
        }
        Some(format!("`{manager}`"))
    }
}
