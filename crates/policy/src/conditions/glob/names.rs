// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Globs on names and hosts.

use fast_glob::glob_match;
use serde::de::{Deserialize, Deserializer, Error};
use serde::{Deserialize as DeriveDeserialize, Serialize};
use tenterhook_paths::globs_overlap;

use super::{
    GlobError, ValidGlob, expand_alternatives, flatten_owned, flatten_slashes, fold_mcp_glob, is_pattern,
    list_for_display, read_globs,
};
use crate::conditions::one_or_more::OneOrMore;

/// Globs on names: globs that must match, and exclusions that must not.
#[derive(Debug, Serialize)]
pub(crate) struct NameGlobs {
    /// The first globs as they were written, for messages.
    shown: String,
    globs: NameSet,
    except: NameSet,
}

/// Globs on names. Most are literal names, which are found by binary search.
#[derive(Debug, Default, Serialize, DeriveDeserialize)]
struct NameSet {
    /// Literal names, sorted.
    plain: Vec<String>,
    patterns: Vec<String>,
}

/// Globs on the words of a command. Each glob is matched against single words.
#[derive(Debug, Serialize)]
pub(crate) struct WordGlobs(pub(crate) Vec<NameGlobs>);

/// Globs on the name of an MCP server or tool: as written, and folded to match names that harnesses have changed.
#[derive(Debug, Serialize)]
pub(crate) struct McpNameGlobs {
    pub(crate) written: NameGlobs,
    pub(crate) folded: NameGlobs,
}

/// Globs on hosts, in lower case.
#[derive(Debug, Serialize)]
pub(crate) struct HostGlobs(NameGlobs);

// === impl NameGlobs ===

impl NameGlobs {
    pub(crate) fn new(texts: &[String]) -> Result<Self, GlobError> {
        let (mut globs, mut except) = (Vec::with_capacity(texts.len()), Vec::new());
        for text in texts {
            let (list, text) = match text.strip_prefix('!') {
                Some(rest) => (&mut except, rest),
                None => (&mut globs, text.as_str()),
            };
            list.extend(expand_alternatives(text)?.into_iter().map(flatten_owned));
        }
        if globs.is_empty() && !except.is_empty() {
            return Err(GlobError::OnlyExclusions("names"));
        }
        let shown = list_for_display(texts);
        Ok(Self { shown, globs: NameSet::new(globs), except: NameSet::new(except) })
    }

    pub(crate) fn matches(&self, name: &str) -> bool {
        let name = flatten_slashes(name);
        self.globs.contains(&name) && !self.except.contains(&name)
    }

    /// Returns the same globs, folded like the names of MCP servers and tools.
    pub(crate) fn fold_mcp(&self) -> Self {
        let set = |set: &NameSet| NameSet::new(set.iter().map(fold_mcp_glob).collect());
        Self { shown: self.shown.clone(), globs: set(&self.globs), except: set(&self.except) }
    }

    /// Whether a name is listed literally, not matched by a pattern.
    pub(crate) fn lists_literally(&self, name: &str) -> bool {
        let spelled = |other: &String| other.as_str().cmp(name);
        self.globs.plain.binary_search_by(spelled).is_ok() && !self.except.contains(name)
    }

    /// Whether some of the globs are patterns.
    pub(crate) fn has_patterns(&self) -> bool {
        !self.globs.patterns.is_empty()
    }

    /// Returns the literal names.
    pub(crate) fn literal_names(&self) -> impl Iterator<Item = &str> {
        self.globs.plain.iter().map(String::as_str)
    }

    /// Whether an exclusion matches.
    pub(crate) fn excludes(&self, name: &str) -> bool {
        self.except.contains(&flatten_slashes(name))
    }

    /// Returns the names, if all globs are literal.
    pub(crate) fn all_literal(&self) -> Option<impl Iterator<Item = &str>> {
        self.globs.patterns.is_empty().then(|| self.globs.plain.iter().map(String::as_str))
    }

    /// Returns the literal names and the literal prefixes of globs such as `npm*`; `None` if there are other globs.
    /// The flag is true for a prefix.
    pub(crate) fn literal_prefixes(&self) -> Option<Vec<(&str, bool)>> {
        let begins =
            |glob: &str| glob.strip_suffix('*').is_some_and(|rest| !rest.is_empty() && !is_pattern(rest));
        if !self.globs.patterns.iter().all(|glob| begins(glob)) {
            return None;
        }
        let plain = self.globs.plain.iter().map(|name| (name.as_str(), false));
        let patterns = self.globs.patterns.iter().map(|glob| (glob.trim_end_matches('*'), true));
        Some(plain.chain(patterns).collect())
    }

    /// Returns the globs that must match, without exclusions.
    pub(crate) fn globs(&self) -> impl Iterator<Item = &str> {
        self.globs.iter()
    }

    /// Returns the first glob whose longest literal run occurs in a text.
    pub(crate) fn find_mentioned(&self, contains: impl Fn(&str) -> bool) -> Option<&str> {
        self.globs.iter().find(|glob| {
            let longest = glob.split(['*', '?', '[', ']']).max_by_key(|run| run.len());
            longest.is_some_and(|run| run.len() >= 3 && contains(run))
        })
    }

    /// Returns the first globs as they were written, for messages.
    pub(crate) fn display_list(&self) -> &str {
        &self.shown
    }
}

// === impl NameSet ===

impl NameSet {
    fn new(globs: Vec<String>) -> Self {
        let (patterns, mut plain): (Vec<_>, Vec<_>) = globs.into_iter().partition(|glob| is_pattern(glob));
        plain.sort_unstable();
        plain.dedup();
        Self { plain, patterns }
    }

    fn contains(&self, name: &str) -> bool {
        self.plain.binary_search_by(|other| other.as_str().cmp(name)).is_ok()
            || self.patterns.iter().any(|glob| {
                glob == "*" && !name.is_empty() || may_begin(glob, name) && glob_match(glob, name)
            })
    }

    fn iter(&self) -> impl Iterator<Item = &str> {
        self.plain.iter().chain(&self.patterns).map(String::as_str)
    }
}

/// Whether the name and the glob may have the same first letter. Most do not, and comparing one letter is cheap.
fn may_begin(glob: &str, name: &str) -> bool {
    match glob.as_bytes().first() {
        Some(b'*' | b'?' | b'[' | b'{' | b'\\' | b'!') | None => true,
        first => first == name.as_bytes().first(),
    }
}

// === impl HostGlobs ===

impl HostGlobs {
    pub(crate) fn new(texts: &[String]) -> Result<Self, GlobError> {
        let texts: Vec<_> = texts.iter().map(|text| text.trim_end_matches('.').to_lowercase()).collect();
        NameGlobs::new(&texts).map(Self)
    }

    /// Refuses a glob that cannot match a host.
    pub(crate) fn check_host(text: &str) -> Result<(), GlobError> {
        if let Some((_, host)) = text.split_once("://") {
            let host = host.split(['/', ':']).next().unwrap_or(host);
            return Err(GlobError::AddressAsHost { text: text.to_owned(), host: host.to_owned() });
        }
        if text.contains(['/', '@', ' ']) {
            return Err(GlobError::NotAHost(text.to_owned()));
        }
        match text.split_once(':') {
            Some((host, port)) if !port.is_empty() && port.chars().all(|c| c.is_ascii_digit()) => {
                Err(GlobError::HostWithPort {
                    text: text.to_owned(),
                    host: host.to_owned(),
                    port: port.to_owned(),
                })
            }
            _ => Ok(()),
        }
    }

    /// Whether a host matches.
    pub(crate) fn matches(&self, host: &str) -> bool {
        self.0.matches(host)
    }

    /// Whether a host may match if only this pattern for it is known.
    pub(crate) fn may_match(&self, shape: &str) -> bool {
        let known = shape.chars().filter(|c| !matches!(c, '*' | '.')).count();
        let fits = |glob: &str| glob == "*" || known >= 3 && globs_overlap(glob, shape);
        self.0.globs().any(fits) && !self.0.excludes(shape)
    }

    /// Whether every host matches, apart from exclusions.
    pub(crate) fn is_any(&self) -> bool {
        self.0.globs().any(|glob| glob == "*")
    }

    pub(crate) fn names(&self) -> &NameGlobs {
        &self.0
    }
}

// === impl Deserialize ===
//
// In a rule file, the value is one glob or a list of globs. In the compiled form, it has the fields of the type.

impl<'de> Deserialize<'de> for NameGlobs {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        if deserializer.is_human_readable() {
            return Self::new(&read_globs(deserializer)?).map_err(Error::custom);
        }
        let (shown, globs, except) = Deserialize::deserialize(deserializer)?;
        Ok(Self { shown, globs, except })
    }
}

impl<'de> Deserialize<'de> for WordGlobs {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        if !deserializer.is_human_readable() {
            return Deserialize::deserialize(deserializer).map(Self);
        }
        let words = read_globs(deserializer)?.into_iter().map(|word| NameGlobs::new(&[word]));
        words.collect::<Result<_, _>>().map(Self).map_err(Error::custom)
    }
}

impl<'de> Deserialize<'de> for McpNameGlobs {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        if deserializer.is_human_readable() {
            let written = NameGlobs::deserialize(deserializer)?;
            return Ok(Self { folded: written.fold_mcp(), written });
        }
        let (written, folded) = Deserialize::deserialize(deserializer)?;
        Ok(Self { written, folded })
    }
}

impl<'de> Deserialize<'de> for HostGlobs {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        if !deserializer.is_human_readable() {
            return Deserialize::deserialize(deserializer).map(Self);
        }
        let texts = OneOrMore::<HostGlob>::deserialize(deserializer)?.0.into_iter().map(|host| host.0);
        Self::new(&texts.collect::<Vec<_>>()).map_err(Error::custom)
    }
}

/// A well-formed glob that can match a host.
struct HostGlob(String);

impl<'de> Deserialize<'de> for HostGlob {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let ValidGlob(text) = ValidGlob::deserialize(deserializer)?;
        HostGlobs::check_host(&text).map_err(Error::custom)?;
        Ok(Self(text))
    }
}

#[cfg(feature = "schema")]
crate::conditions::schema_of_texts!(NameGlobs, WordGlobs, McpNameGlobs, HostGlobs);
