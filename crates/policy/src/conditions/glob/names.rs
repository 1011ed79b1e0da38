// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Globs on names and on hosts.

use fast_glob::glob_match;
use serde::de::{Deserialize, Deserializer, Error};
use serde::{Deserialize as DeriveDeserialize, Serialize};
use tenterhook_paths::overlap;

use super::{Glob, alternatives, flat, flattened, fold_mcp_glob, is_pattern, list_for_display, read_globs};
use crate::conditions::one_or_more::OneOrMore;

/// Globs on names: some that must match, some that must not.
#[derive(Debug, Serialize)]
pub(crate) struct NameGlobs {
    /// The first globs as they were written, for messages.
    shown: String,
    globs: NameSet,
    except: NameSet,
}

/// Most globs on names are plain names, and those are found by binary search.
#[derive(Debug, Default, Serialize, DeriveDeserialize)]
struct NameSet {
    /// Sorted.
    plain: Vec<String>,
    patterns: Vec<String>,
}

/// Globs on the words of a command, each by itself.
#[derive(Debug, Serialize)]
pub(crate) struct WordGlobs(pub(crate) Vec<NameGlobs>);

/// Globs on the name of an MCP server or tool: as written, and for names without what harnesses change in
/// them.
#[derive(Debug, Serialize)]
pub(crate) struct McpNameGlobs {
    pub(crate) written: NameGlobs,
    pub(crate) folded: NameGlobs,
}

/// Globs on hosts.
#[derive(Debug, Serialize)]
pub(crate) struct HostGlobs(NameGlobs);

// === impl NameGlobs ===

impl NameGlobs {
    pub(crate) fn new(texts: &[String]) -> Result<Self, String> {
        let (mut globs, mut except) = (Vec::with_capacity(texts.len()), Vec::new());
        for text in texts {
            let (list, text) = match text.strip_prefix('!') {
                Some(rest) => (&mut except, rest),
                None => (&mut globs, text.as_str()),
            };
            list.extend(alternatives(text)?.into_iter().map(flattened));
        }
        if globs.is_empty() && !except.is_empty() {
            return Err("a list of names must name at least one to match".to_owned());
        }
        let shown = list_for_display(texts);
        Ok(Self { shown, globs: NameSet::new(globs), except: NameSet::new(except) })
    }

    pub(crate) fn matches(&self, name: &str) -> bool {
        let name = flat(name);
        self.globs.contains(&name) && !self.except.contains(&name)
    }

    /// The same globs for names of MCP servers and tools without what harnesses change in them.
    pub(crate) fn fold_mcp(&self) -> Self {
        let set = |set: &NameSet| NameSet::new(set.iter().map(fold_mcp_glob).collect());
        Self { shown: self.shown.clone(), globs: set(&self.globs), except: set(&self.except) }
    }

    /// Whether a name is written out, and not matched by a pattern.
    pub(crate) fn spell_out(&self, name: &str) -> bool {
        let spelled = |other: &String| other.as_str().cmp(name);
        self.globs.plain.binary_search_by(spelled).is_ok() && !self.except.contains(name)
    }

    /// Whether some of them are patterns.
    pub(crate) fn has_patterns(&self) -> bool {
        !self.globs.patterns.is_empty()
    }

    /// The names that are written out.
    pub(crate) fn spelled_out(&self) -> impl Iterator<Item = &str> {
        self.globs.plain.iter().map(String::as_str)
    }

    /// Whether an exception holds.
    pub(crate) fn excludes(&self, name: &str) -> bool {
        self.except.contains(&flat(name))
    }

    /// The names, if they are plain ones and not patterns.
    pub(crate) fn plain(&self) -> Option<impl Iterator<Item = &str>> {
        self.globs.patterns.is_empty().then(|| self.globs.plain.iter().map(String::as_str))
    }

    /// The names, and what others begin with, if that is all there is. The second part says whether it is
    /// only a beginning.
    pub(crate) fn beginnings(&self) -> Option<Vec<(&str, bool)>> {
        let begins =
            |glob: &str| glob.strip_suffix('*').is_some_and(|rest| !rest.is_empty() && !is_pattern(rest));
        if !self.globs.patterns.iter().all(|glob| begins(glob)) {
            return None;
        }
        let plain = self.globs.plain.iter().map(|name| (name.as_str(), false));
        let patterns = self.globs.patterns.iter().map(|glob| (glob.trim_end_matches('*'), true));
        Some(plain.chain(patterns).collect())
    }

    /// The globs that must match.
    pub(crate) fn globs(&self) -> impl Iterator<Item = &str> {
        self.globs.iter()
    }

    /// The glob of which a text mentions the longest part.
    pub(crate) fn mentioned(&self, contains: impl Fn(&str) -> bool) -> Option<&str> {
        self.globs.iter().find(|glob| {
            let longest = glob.split(['*', '?', '[', ']']).max_by_key(|run| run.len());
            longest.is_some_and(|run| run.len() >= 3 && contains(run))
        })
    }

    /// The first globs as they were written, for messages.
    pub(crate) fn list(&self) -> &str {
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

/// Whether a name could begin as a glob does. Most do not, and a look at one letter is cheap.
fn may_begin(glob: &str, name: &str) -> bool {
    match glob.as_bytes().first() {
        Some(b'*' | b'?' | b'[' | b'{' | b'\\' | b'!') | None => true,
        first => first == name.as_bytes().first(),
    }
}

// === impl HostGlobs ===

impl HostGlobs {
    pub(crate) fn new(texts: &[String]) -> Result<Self, String> {
        let texts: Vec<_> = texts.iter().map(|text| text.trim_end_matches('.').to_lowercase()).collect();
        NameGlobs::new(&texts).map(Self)
    }

    /// Whether a glob could match a host.
    pub(crate) fn could_match(text: &str) -> Result<(), String> {
        if let Some((_, host)) = text.split_once("://") {
            let host = host.split(['/', ':']).next().unwrap_or(host);
            return Err(format!("`{text}` is an address, not a host; write `{host}`"));
        }
        if text.contains(['/', '@', ' ']) {
            return Err(format!("`{text}` can be no host"));
        }
        match text.split_once(':') {
            Some((host, port)) if !port.is_empty() && port.chars().all(|c| c.is_ascii_digit()) => {
                let right = format!("url: {{host: {host}, port: {port}}}");
                Err(format!("`{text}` has a port, which stands apart: `{right}`"))
            }
            _ => Ok(()),
        }
    }

    /// Whether a host matches.
    pub(crate) fn matches(&self, host: &str) -> bool {
        self.0.matches(host)
    }

    /// Whether a host of which only this shape is known may match.
    pub(crate) fn may_match(&self, shape: &str) -> bool {
        let known = shape.chars().filter(|c| !matches!(c, '*' | '.')).count();
        let fits = |glob: &str| glob == "*" || known >= 3 && overlap(glob, shape);
        self.0.globs().any(fits) && !self.0.excludes(shape)
    }

    /// Whether any host is meant, but for exceptions.
    pub(crate) fn is_any(&self) -> bool {
        self.0.globs().any(|glob| glob == "*")
    }

    pub(crate) fn names(&self) -> &NameGlobs {
        &self.0
    }
}

// === impl Deserialize ===
//
// A rule file has one glob or a list of them. The compiled form has the fields as they are.

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

/// A glob that could match a host.
struct HostGlob(String);

impl<'de> Deserialize<'de> for HostGlob {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let Glob(text) = Glob::deserialize(deserializer)?;
        HostGlobs::could_match(&text).map_err(Error::custom)?;
        Ok(Self(text))
    }
}

#[cfg(feature = "schema")]
crate::conditions::schema_of_texts!(NameGlobs, WordGlobs, McpNameGlobs, HostGlobs);
