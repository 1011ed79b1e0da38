// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Lists of packages and of hosts.
//!
//! There, the text of the call is searched for one name. Here, all packages and addresses of the call
//! are known, and the list is held against each of them. Where none is known, the text is searched
//! here, too: what was stopped there must not pass here.

use super::matches::letters;
use tenterhook_document::yaml::{Map, Tree};

/// One of the two kinds of lists: its words for people, and how its names are looked for.
pub(super) struct Listed {
    pub(super) denies_any: &'static str,
    pub(super) denies_on: &'static str,
    pub(super) denies_off: &'static str,
    pub(super) passes: &'static str,
    /// The name of one thing, as it is compared.
    name: fn(&str) -> String,
    /// What is known of the call; without names, that there is any.
    fact: fn(&[String]) -> (&'static str, Map),
    /// Which text is searched.
    text: &'static str,
    /// What stands before a name in it, how any name begins, and what ends one.
    before: &'static str,
    any: &'static str,
    behind: &'static str,
}

/// Packages that are installed: the first word behind `install`, `add` or `-i` that is no option. A name
/// ends where a letter comes that is in no name.
pub(super) const PACKAGES: Listed = Listed {
    denies_any: "Denies every package",
    denies_on: "Denies the packages on its list",
    denies_off: "Denies packages that are not on its list",
    passes: "Lets the other packages pass",
    name: ToOwned::to_owned,
    fact: |names| {
        let mut package = Map::new();
        if !names.is_empty() {
            package.push(("name", Tree::texts(names.iter().cloned())));
        }
        // A directory of one's own is no package that a list could name.
        package.push(("from", Tree::texts(["registry", "index", "git", "url"])));
        ("package", package)
    },
    text: "command",
    before: r#"(?:\A|[(;|&\s])(?:-i|add|install)\s+(?:-\S*\s+)*['"]?"#,
    any: r"[@/.\w]",
    behind: r"(?:[^-/.\w]|\z)",
};

/// Hosts that are reached: what an `http` or `https` address names.
pub(super) const HOSTS: Listed = Listed {
    denies_any: "Denies every host",
    denies_on: "Denies the hosts on its list",
    denies_off: "Denies hosts that are not on its list",
    passes: "Lets the other hosts pass",
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

/// Names of packages, as they are written.
pub(super) fn packages(list: &[String]) -> Tree {
    Tree::texts(list.iter().cloned())
}

impl Listed {
    /// Globs on what is on the list.
    pub(super) fn named(&self, list: &[String]) -> Vec<String> {
        list.iter().map(|name| letters(&(self.name)(name))).collect()
    }

    /// Globs on what is not.
    pub(super) fn others(&self, list: &[String]) -> Vec<String> {
        let except = self.named(list).into_iter().map(|name| format!("!{name}"));
        std::iter::once("*".to_owned()).chain(except).collect()
    }

    /// The call is known to have one of these; without names, any at all.
    pub(super) fn fact(&self, names: &[String]) -> (&'static str, Tree) {
        let (key, map) = (self.fact)(names);
        (key, Tree::Map(map))
    }

    /// The text names one of the list; without a list, any at all.
    pub(super) fn pattern(&self, list: Option<&[String]>) -> (&'static str, Tree) {
        let pattern = match list {
            None => format!("{}{}", self.before, self.any),
            Some(list) => {
                let names: Vec<_> = list.iter().map(|name| regex::escape(&(self.name)(name))).collect();
                format!("{}(?:{}){}", self.before, names.join("|"), self.behind)
            }
        };
        ("regex", Tree::Map(vec![(self.text, Tree::texts([pattern]))]))
    }

    /// Nothing of the kind is known, and the text names none of the list.
    pub(super) fn not_of(&self, list: &[String]) -> (&'static str, Tree) {
        let mut cases = vec![Tree::Map(vec![self.fact(&[])])];
        if !list.is_empty() {
            cases.push(Tree::Map(vec![self.pattern(Some(list))]));
        }
        ("not", Tree::List(cases))
    }
}
