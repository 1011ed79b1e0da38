// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Converts lists of packages and hosts.
//!
//! OpenAgentLock searches the text of a call for one name. Rules know all packages and addresses of a call and
//! compare each of them with the list. If none is known, the text is also searched, so that a call that OpenAgentLock
//! stops is not allowed.

use super::matches::literal_glob;
use tenterhook_document::yaml::{Map, Tree};

/// A kind of list (packages or hosts): its descriptions, and how its names are matched.
pub(super) struct NameList {
    pub(super) denies_any: &'static str,
    pub(super) denies_on: &'static str,
    pub(super) denies_off: &'static str,
    pub(super) passes: &'static str,
    /// Normalizes a name for comparison.
    name: fn(&str) -> String,
    /// Returns the condition on packages or addresses with the given names; without names, on any package or address.
    fact: fn(&[String]) -> (&'static str, Map),
    /// The text that is searched.
    text: &'static str,
    /// Patterns for the text before a name, the beginning of any name, and the text after a name.
    before: &'static str,
    any: &'static str,
    behind: &'static str,
}

/// Packages that are installed: the first word after `install`, `add` or `-i` that is not an option. A name ends at the
/// first character that cannot be in a name.
pub(super) const PACKAGES: NameList = NameList {
    denies_any: "Denies every package",
    denies_on: "Denies the packages on its list",
    denies_off: "Denies packages that are not on its list",
    passes: "Exempts the other packages",
    name: ToOwned::to_owned,
    fact: |names| {
        let mut package = Map::new();
        if !names.is_empty() {
            package.push(("name", Tree::texts(names.iter().cloned())));
        }
        // A local directory cannot be on a list of packages.
        package.push(("from", Tree::texts(["registry", "index", "git", "url"])));
        ("package", package)
    },
    text: "command",
    before: r#"(?:\A|[(;|&\s])(?:-i|add|install)\s+(?:-\S*\s+)*['"]?"#,
    any: r"[@/.\w]",
    behind: r"(?:[^-/.\w]|\z)",
};

/// Hosts of `http` and `https` addresses.
pub(super) const HOSTS: NameList = NameList {
    denies_any: "Denies every host",
    denies_on: "Denies the hosts on its list",
    denies_off: "Denies hosts that are not on its list",
    passes: "Exempts the other hosts",
    name: str::to_lowercase,
    fact: |names| {
        let mut url = Map::new();
        if !names.is_empty() {
            url.push(("host", Tree::texts(names.iter().cloned())));
        }
        // `curl x.org` is an address without a scheme.
        url.push(("scheme", Tree::texts(["http", "https", ""])));
        ("url", url)
    },
    text: "url",
    before: r"(?i)\bhttps?://(?:[^\s/?#@]*@)?",
    any: r"[^\s/?#]",
    behind: r#"(?:[\s:/?#"'`]|$)"#,
};

/// Returns the names of packages, as written.
pub(super) fn packages(list: &[String]) -> Tree {
    Tree::texts(list.iter().cloned())
}

impl NameList {
    /// Returns globs that match the names in the list.
    pub(super) fn listed_globs(&self, list: &[String]) -> Vec<String> {
        list.iter().map(|name| literal_glob(&(self.name)(name))).collect()
    }

    /// Returns globs that match all names not in the list.
    pub(super) fn unlisted_globs(&self, list: &[String]) -> Vec<String> {
        let except = self.listed_globs(list).into_iter().map(|name| format!("!{name}"));
        std::iter::once("*".to_owned()).chain(except).collect()
    }

    /// Returns the condition that the call has one of these packages or addresses; without names, any package or
    /// address.
    pub(super) fn known_condition(&self, names: &[String]) -> (&'static str, Tree) {
        let (key, map) = (self.fact)(names);
        (key, Tree::Map(map))
    }

    /// Returns the condition that the text contains a name of the list; without a list, any name.
    pub(super) fn text_condition(&self, list: Option<&[String]>) -> (&'static str, Tree) {
        let pattern = match list {
            None => format!("{}{}", self.before, self.any),
            Some(list) => {
                let names: Vec<_> = list.iter().map(|name| regex::escape(&(self.name)(name))).collect();
                format!("{}(?:{}){}", self.before, names.join("|"), self.behind)
            }
        };
        ("regex", Tree::Map(vec![(self.text, Tree::texts([pattern]))]))
    }

    /// Returns the condition that no package or address is known, and that the text contains no name of the list.
    pub(super) fn unlisted_condition(&self, list: &[String]) -> (&'static str, Tree) {
        let mut cases = vec![Tree::Map(vec![self.known_condition(&[])])];
        if !list.is_empty() {
            cases.push(Tree::Map(vec![self.text_condition(Some(list))]));
        }
        ("not", Tree::List(cases))
    }
}
