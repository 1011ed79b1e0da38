// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Conditions on one package a call would install or run.

use super::{Sense, Tell};
use crate::compile::Package;
use crate::facts::{PackageFact, near};

impl Package {
    pub(super) fn check_all(
        &self,
        packages: &[PackageFact],
        sense: Sense,
        tell: Tell,
    ) -> Result<String, String> {
        match sense.pick(packages.iter(), |package| self.check(package, sense)) {
            Some(package) => Ok(format!("the package `{}` by `{}`", package.name, package.manager)),
            None => Err(tell.say(|| match packages.first() {
                None => "it installs nothing".to_owned(),
                Some(package) => format!("`{}` is another package", package.name),
            })),
        }
    }

    fn check(&self, package: &PackageFact, sense: Sense) -> bool {
        // A name nobody knows yet may be any name, but no particular one.
        let named = match &self.name {
            Some(_) if package.dynamic && sense == Sense::Vouches => false,
            Some(names) if package.dynamic => names.matches("*"),
            Some(names) => names.matches(&package.name),
            None => true,
        };
        named
            && self.manager.as_ref().is_none_or(|managers| managers.matches(&package.manager))
            && (self.from.is_empty() || self.from.contains(&package.from))
            && self.runs.is_none_or(|runs| runs == package.runs)
            && (self.near.is_empty() || !package.dynamic && near(&package.name, &self.near).is_some())
    }
}
