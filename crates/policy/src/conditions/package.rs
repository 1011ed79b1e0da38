// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Conditions on one package that a call would install or run.

mod typo;

use serde::{Deserialize, Serialize};
use tenterhook_facts::{PackageFact, PackageOrigin, UnreadText};

use super::glob::NameGlobs;
use super::match_mode::{Explain, MatchFailure, MatchMode};
use super::non_empty::MayBeEmpty;
use super::one_or_more::{OneOrMore, values};
use crate::index::{IndexTerm, NeedList, Rarity};
use typo::find_similar_name;

/// Conditions on one package that would be installed or run.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default, expecting = "a map of conditions on a package")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(default, rename = "Package"))]
pub(crate) struct PackageCondition {
    /// Globs on the package manager: `npm`, `pip`, `cargo`, …
    pub(crate) manager: Option<NameGlobs>,
    /// Globs on the package's name, without its version; `!` excludes names.
    pub(crate) name: Option<NameGlobs>,
    /// Where the package comes from: any of these.
    pub(crate) from: Option<OneOrMore<PackageOrigin>>,
    /// Whether the package would be run immediately, not only installed.
    pub(crate) runs: Option<bool>,
    /// The name is not in this list, but differs in one letter from a name in it: a typing error or a typosquat.
    pub(crate) near: Option<OneOrMore<String>>,
}

const PACKAGE_MANAGERS: &[&str] = &[
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
        to.add_names(name.as_ref(), |name| IndexTerm::Package(name));
        to.add_words(Rarity::Seldom, &[IndexTerm::SomePackage]);
    }

    pub(super) fn check_all(
        &self,
        packages: &[PackageFact],
        mode: MatchMode,
        explain: Explain,
    ) -> Result<String, MatchFailure> {
        match mode.pick(packages.iter(), |package| self.check(package, mode)) {
            Some(package) => Ok(format!("the package `{}` by `{}`", package.name, package.manager)),
            None => Err(explain.failure(|| match packages.first() {
                None => "it installs no package".to_owned(),
                Some(package) => format!("the package `{}` does not match", package.name),
            })),
        }
    }

    fn check(&self, package: &PackageFact, mode: MatchMode) -> bool {
        let Self { manager, name, from, runs, near: typos } = self;
        // An unknown name matches only patterns for any name.
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
            && (typos.is_empty() || !package.dynamic && find_similar_name(&package.name, typos).is_some())
    }

    /// Returns the part of an unparsed text that this condition looks for.
    pub(super) fn match_unparsed(&self, text: &UnreadText) -> Option<String> {
        let Self { manager, name, from: _, runs: _, near: _ } = self;
        if text.is_opaque {
            return Some("more than can be analysed".to_owned());
        }
        let manager = match manager {
            Some(managers) => text.words().find(|word| managers.matches(word))?,
            None => text.words().find(|word| PACKAGE_MANAGERS.contains(word))?,
        };
        if let Some(names) = name {
            text.words().find(|word| names.matches(word))?;
        }
        Some(format!("`{manager}`"))
    }
}
