// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Conditions on one package a call would install or run.

use super::{Sense, Tell};
use crate::compile::Package;
use crate::facts::PackageFact;

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
            && (self.near.is_empty() || !package.dynamic && self.is_near(&package.name))
    }

    fn is_near(&self, name: &str) -> bool {
        !self.near.iter().any(|known| known == name) && self.near.iter().any(|known| one_edit(known, name))
    }
}

/// Whether one letter was put in, taken out, replaced, or changed places with its neighbour.
fn one_edit(known: &str, name: &str) -> bool {
    let (known, name): (Vec<_>, Vec<_>) = (known.chars().collect(), name.chars().collect());
    let same = known.iter().zip(&name).take_while(|(one, other)| one == other).count();
    let (Some(known), Some(name)) = (known.get(same..), name.get(same..)) else { return false };
    match (known, name) {
        ([], [_]) | ([_], []) => true,
        ([_, one @ ..], other) if one == other => true,
        (one, [_, other @ ..]) if one == other => true,
        ([_, one @ ..], [_, other @ ..]) if one == other => true,
        ([a, b, one @ ..], [c, d, other @ ..]) => (a, b) == (d, c) && one == other,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::one_edit;

    #[test]
    fn one_letter_away_is_near_and_two_are_not() {
        for name in ["reqests", "requestss", "requesys", "reqeusts", "equests", "xrequests"] {
            assert!(one_edit("requests", name), "{name}");
        }
        for name in ["requests", "rqests", "flask", "", "requests-oauth", "stseuqer"] {
            assert!(!one_edit("requests", name), "{name}");
        }
        assert!(one_edit("a", "") && one_edit("", "a") && !one_edit("", ""));
    }
}
