// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Lists of packages and of hosts.
//!
//! There, the first name that a pattern finds in the text is looked up. Here, every package and
//! every address the command really has is, whatever stands before it; and, so that nothing
//! passes which was stopped there, the text is looked at as well where no such thing is known.

use crate::import::yaml::Tree;

/// One of the two kinds of lists.
pub(super) struct Listed {
    /// The condition on what is known.
    fact: &'static str,
    /// Its key for the name.
    key: &'static str,
    /// What else it says.
    only: (&'static str, &'static [&'static str]),
    /// What stands before a name in the text.
    before: &'static str,
    /// How a name begins.
    begins: &'static str,
    /// What stands behind a name.
    behind: &'static str,
    // For people.
    pub(super) denies_any: &'static str,
    pub(super) denies_on: &'static str,
    pub(super) denies_off: &'static str,
    pub(super) passes: &'static str,
}

/// Packages that are installed.
pub(super) const PACKAGES: Listed = Listed {
    fact: "package",
    key: "name",
    // What is installed from this machine has no name to look up.
    only: ("from", &["registry", "index", "git", "url"]),
    before: r"(?:\b(?:install|add)|\s-i)\s+(?:-\S+\s+)*",
    begins: r"\w",
    behind: r"(?:[^\w.-]|$)",
    denies_any: "Denies every package",
    denies_on: "Denies the packages on its list",
    denies_off: "Denies packages that are not on its list",
    passes: "Lets the other packages pass",
};

/// Hosts that are reached.
pub(super) const HOSTS: Listed = Listed {
    fact: "url",
    key: "host",
    only: ("scheme", &["http", "https"]),
    before: r"(?i)https?://(?:[^/\s@]*@)?",
    begins: "[a-z0-9]",
    behind: r#"(?:[:/?#\s'"]|$)"#,
    denies_any: "Denies every host",
    denies_on: "Denies the hosts on its list",
    denies_off: "Denies hosts that are not on its list",
    passes: "Lets the other hosts pass",
};

/// Names of packages as globs.
pub(super) fn packages(list: &[String]) -> Tree {
    Tree::texts(list.iter().map(|name| super::matches::letters(name)))
}

impl Listed {
    pub(super) fn named(&self, list: &[String]) -> Vec<String> {
        // Hosts have no capitals.
        let small = |name: &String| if self.fact == "url" { name.to_lowercase() } else { name.clone() };
        list.iter().map(small).map(|name| super::matches::letters(&name)).collect()
    }

    pub(super) fn others(&self, list: &[String]) -> Vec<String> {
        let without = self.named(list).into_iter().map(|name| format!("!{name}"));
        std::iter::once("*".to_owned()).chain(without).collect()
    }

    /// One of these names, as far as we know what the command does; any name if none is given.
    pub(super) fn fact(&self, names: &[String]) -> (&'static str, Tree) {
        let (only, values) = self.only;
        let names = (!names.is_empty()).then(|| (self.key, Tree::texts(names.iter().cloned())));
        let only = (only, Tree::texts(values.iter().copied()));
        (self.fact, Tree::Map(names.into_iter().chain([only]).collect()))
    }

    /// One of these names in the text of the command; any name if none is given.
    pub(super) fn pattern(&self, list: Option<&[String]>) -> (&'static str, Tree) {
        let pattern = match list {
            Some(list) => {
                let names: Vec<_> = list.iter().map(|name| regex::escape(name).replace(r"\-", "-")).collect();
                format!("{}(?:{}){}", self.before, names.join("|"), self.behind)
            }
            None => format!("{}{}", self.before, self.begins),
        };
        ("regex", Tree::Map(vec![("command", Tree::texts([pattern]))]))
    }

    /// Neither known to us nor on the list.
    pub(super) fn not_of(&self, list: &[String]) -> (&'static str, Tree) {
        let known = Tree::Map(vec![self.fact(&[])]);
        let spelled = (!list.is_empty()).then(|| Tree::Map(vec![self.pattern(Some(list))]));
        ("not", Tree::List(std::iter::once(known).chain(spelled).collect()))
    }
}
