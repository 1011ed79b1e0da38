// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The supported languages, each described by a file in `languages/`.
//!
//! The build script compiles the files into one blob. The description of a language is decoded when code in that
//! language is first read.

pub(super) mod call;
pub(super) mod description;
pub(super) mod lexical;
#[cfg(test)]
mod source;

use std::borrow::Cow;
use std::fmt;
use std::sync::{LazyLock, OnceLock};

use call::CallRule;
use description::{LanguageDescription, NamedConstant, ReaderKind, contains};

/// The compiled descriptions: the name and the encoded description of each language.
static COMPILED: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/languages.bin"));

/// Every described language, by the name of its file.
static LANGUAGES: LazyLock<Vec<LanguageEntry>> = LazyLock::new(|| {
    let encoded: Vec<EncodedLanguage> = postcard::from_bytes(COMPILED).unwrap_or_default();
    encoded
        .into_iter()
        .map(|(name, encoded)| LanguageEntry { name, encoded, decoded: OnceLock::new() })
        .collect()
});

type EncodedLanguage = (&'static str, &'static [u8]);

struct LanguageEntry {
    name: &'static str,
    encoded: &'static [u8],
    decoded: OnceLock<LanguageDescription<&'static str>>,
}

/// A language with a description.
#[derive(Clone, Copy)]
pub struct CodeLanguage(&'static LanguageEntry);

// === impl Language ===

impl CodeLanguage {
    /// Finds a language by the name of its file.
    pub fn from_name(name: &str) -> Option<Self> {
        LANGUAGES.iter().find(|language| language.name == name).map(Self)
    }

    #[cfg(test)]
    pub(super) fn all() -> impl Iterator<Item = Self> {
        LANGUAGES.iter().map(Self)
    }

    /// Creates a language from the text of a description.
    #[cfg(test)]
    pub(super) fn from_description(text: &str) -> Self {
        let description = source::parse_file(text).unwrap();
        let encoded = postcard::to_allocvec(&description).unwrap().leak();
        let decoded = OnceLock::new();
        Self(Box::leak(Box::new(LanguageEntry { name: "test", encoded, decoded })))
    }

    /// Returns the description, which is decoded at the first call.
    pub(super) fn description(self) -> &'static LanguageDescription<&'static str> {
        self.0.decoded.get_or_init(|| postcard::from_bytes(self.0.encoded).unwrap_or_default())
    }

    /// Returns which Rust code reads the language, or parts of it.
    pub(super) fn reader_kind(self) -> ReaderKind {
        self.description().reader
    }

    /// Whether Rust code of this kind reads parts of the language.
    pub(super) fn has_reader(self, kind: ReaderKind) -> bool {
        self.description().reader == kind
    }
}

impl fmt::Debug for CodeLanguage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0.name)
    }
}

// === impl Description ===

impl LanguageDescription<&'static str> {
    /// Finds a call by its full name; returns the name under which it is described.
    pub(super) fn find_call(&self, name: &str) -> Option<(&'static str, &CallRule<&'static str>)> {
        let name = self.simplify_name(name);
        let at = self.calls.binary_search_by(|(own, _)| (*own).cmp(&*name)).ok()?;
        self.calls.get(at).map(|(name, call)| (*name, call))
    }

    /// Returns the names of the described calls of a module.
    pub(super) fn members_of(&self, module: &str) -> impl Iterator<Item = &'static str> {
        self.calls
            .iter()
            .filter_map(move |(name, _)| name.strip_prefix(module)?.strip_prefix('.'))
            .filter(|name| !name.contains('.'))
    }

    /// Simplifies the name of a call to the form used in descriptions.
    pub(super) fn simplify_name<'a>(&self, name: &'a str) -> Cow<'a, str> {
        let rules = &self.names;
        let mut name = name;
        let mut prefix = "";
        for (old, new) in &rules.prefixes {
            if let Some(rest) = name.strip_prefix(old) {
                (prefix, name) = (new, rest);
            }
        }
        if rules.last_part_only
            && !name.contains("()")
            && let Some((_, last)) = name.rsplit_once('.')
            && !contains(&rules.class_methods, last)
        {
            name = last;
        }
        for suffix in &rules.suffixes {
            name = name.strip_suffix(suffix).unwrap_or(name);
        }
        let mut name =
            if prefix.is_empty() { Cow::Borrowed(name) } else { Cow::Owned(format!("{prefix}{name}")) };
        for part in &rules.dropped_parts {
            if name.contains(part) {
                name = Cow::Owned(name.replace(part, ""));
            }
        }
        if rules.ignore_case && name.bytes().any(|byte| byte.is_ascii_uppercase()) {
            name = Cow::Owned(name.to_ascii_lowercase());
        }
        name
    }

    /// Finds a named constant.
    pub(super) fn find_constant(&self, name: &str) -> Option<NamedConstant> {
        let at = self.constants.binary_search_by(|(own, _)| (*own).cmp(name)).ok()?;
        self.constants.get(at).map(|(_, constant)| *constant)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_compiled_description_can_be_decoded() {
        let names: Vec<_> = LANGUAGES.iter().map(|language| language.name).collect();
        let expected = [
            "awk",
            "clojure",
            "elixir",
            "erlang",
            "go",
            "groovy",
            "haskell",
            "javascript",
            "julia",
            "kotlin",
            "lisp",
            "lua",
            "ocaml",
            "octave",
            "perl",
            "php",
            "python",
            "r",
            "raku",
            "ruby",
            "scala",
            "swift",
        ];
        assert_eq!(names, expected);
        for language in &*LANGUAGES {
            let decoded: Result<LanguageDescription<&'static str>, _> =
                postcard::from_bytes(language.encoded);
            assert!(decoded.is_ok(), "{}: {decoded:?}", language.name);
        }
    }

    #[test]
    fn every_described_call_and_constant_can_be_found() {
        for language in CodeLanguage::all() {
            let description = language.description();
            for (name, _) in &description.calls {
                let found = description.find_call(name).map(|(found, _)| found);
                assert_eq!(found, Some(*name), "{language:?}");
            }
            for (name, constant) in &description.constants {
                assert_eq!(description.find_constant(name), Some(*constant), "{language:?} {name}");
            }
        }
    }

    #[test]
    fn mistakes_in_a_description_are_reported_with_their_place() {
        for (text, line, message) in [
            ("reader: generic\nlexical:\n  line-coments: ['#']\n", 3, "did you mean `line-comments`?"),
            ("reader: generic\nsyntax: { keys: [arow] }\n", 2, "did you mean `arrow`?"),
            ("reader: generic\ncalls:\n  a: read 0\n  b: reed 0\n", 4, "`b`: unknown effect `reed`"),
            ("reader: generic\ncalls:\n  a: read first\n", 3, "`first` is not the number of an argument"),
            ("reader: generic\ncalls:\n  a: -> homee\n", 3, "did you mean `home`?"),
            ("reader: generic\ncalls:\n  a: read 0 -> glob\n", 3, "without effects only"),
            ("reader: generic\ncalls:\n  a: ''\n", 3, "no effect and no result"),
            ("reader: generic\ncalls:\n  a: read 0\n  a: write 0\n", 4, "a"),
            ("programs: [x]\n", 1, "programs"),
        ] {
            let (spot, found) = source::parse_file(text).err().unwrap();
            assert!(found.contains(message), "{text}: {found}");
            assert_eq!(spot.line, line, "{text}: {found}");
        }
    }
}
