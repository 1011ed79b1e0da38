// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Globs on names, on hosts and on paths.

use std::borrow::Cow;

use fast_glob::glob_match;

use crate::facts::overlap::overlap;
use crate::facts::{PathFact, expand_braces};

/// Globs on names: some that must match, some that must not.
#[derive(Debug)]
pub(crate) struct Names {
    texts: Vec<String>,
    globs: NameSet,
    except: NameSet,
}

/// Most globs on names are plain names, and those are found without asking each.
#[derive(Debug, Default)]
struct NameSet {
    /// In order.
    plain: Vec<String>,
    patterns: Vec<String>,
}

/// Globs on hosts.
#[derive(Debug)]
pub(crate) struct Hosts(Names);

/// Globs on paths: some that must match, some that must not.
#[derive(Debug)]
pub(crate) struct Paths {
    wanted: Vec<PathGlob>,
    except: Vec<PathGlob>,
}

#[derive(Debug)]
pub(super) struct PathGlob {
    pub(super) text: String,
    /// How many bytes of it are not yet a pattern: a path that starts otherwise cannot match.
    plain: usize,
    /// How many bytes at its end are no pattern any more: a path that ends otherwise cannot match.
    tail: usize,
    pub(super) from: From,
}

/// What a glob is relative to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum From {
    Root,
    Home,
    Project,
    Anywhere,
}

// === impl Names ===

impl Names {
    pub(crate) fn new(texts: Vec<String>) -> Result<Self, String> {
        let (mut globs, mut except) = (Vec::with_capacity(texts.len()), Vec::new());
        for text in &texts {
            let (list, text) = match text.strip_prefix('!') {
                Some(rest) => (&mut except, rest),
                None => (&mut globs, text.as_str()),
            };
            list.extend(alternatives(text)?.into_iter().map(flattened));
        }
        if globs.is_empty() && !except.is_empty() {
            return Err("a list of names must name at least one to match".to_owned());
        }
        Ok(Self { texts, globs: NameSet::new(globs), except: NameSet::new(except) })
    }

    pub(crate) fn matches(&self, name: &str) -> bool {
        let name = flat(name);
        self.globs.contains(&name) && !self.except.contains(&name)
    }

    /// The same globs for names of MCP servers and tools without what harnesses change in them.
    pub(crate) fn folded(&self) -> Self {
        let set = |set: &NameSet| NameSet::new(set.iter().map(folded).collect());
        Self { texts: self.texts.clone(), globs: set(&self.globs), except: set(&self.except) }
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
    pub(super) fn plain(&self) -> Option<impl Iterator<Item = &str>> {
        self.globs.patterns.is_empty().then(|| self.globs.plain.iter().map(String::as_str))
    }

    /// The names, and what others begin with, if that is all there is. The second part says whether it is
    /// only a beginning.
    pub(super) fn beginnings(&self) -> Option<Vec<(&str, bool)>> {
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
    pub(super) fn globs(&self) -> impl Iterator<Item = &str> {
        self.globs.iter()
    }

    /// The glob of which a text mentions the longest part.
    pub(crate) fn mentioned(&self, contains: impl Fn(&str) -> bool) -> Option<&str> {
        self.globs.iter().find(|glob| {
            let longest = glob.split(['*', '?', '[', ']']).max_by_key(|run| run.len());
            longest.is_some_and(|run| run.len() >= 3 && contains(run))
        })
    }

    /// For people.
    pub(crate) fn list(&self) -> String {
        listed(&self.texts)
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

// === impl Hosts ===

impl Hosts {
    pub(crate) fn new(texts: &[String]) -> Result<Self, String> {
        let texts: Vec<_> = texts.iter().map(|text| text.trim_end_matches('.').to_lowercase()).collect();
        Names::new(texts).map(Self)
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

    pub(crate) fn names(&self) -> &Names {
        &self.0
    }
}

// === impl Paths ===

impl Paths {
    pub(crate) fn new(texts: &[String]) -> Result<Self, String> {
        let (mut wanted, mut except) = (Vec::new(), Vec::new());
        for text in texts {
            let (list, text) = match text.strip_prefix('!') {
                Some(rest) => (&mut except, rest),
                None => (&mut wanted, text.as_str()),
            };
            for text in alternatives(text)? {
                list.push(PathGlob::new(text));
            }
        }
        if wanted.is_empty() {
            return Err("a list of paths must name at least one to match".to_owned());
        }
        Ok(Self { wanted, except })
    }

    /// The glob that matches, if one does and no exception holds.
    pub(crate) fn matching(&self, path: &PathFact) -> Option<&str> {
        let found = self.wanted.iter().find(|glob| glob.matches(path) || glob.may_match(path))?;
        (!self.except.iter().any(|glob| glob.matches(path))).then_some(found.text.as_str())
    }

    /// The glob that matches for certain, if no exception may hold.
    pub(crate) fn surely(&self, path: &PathFact) -> Option<&str> {
        let known = !path.dynamic && path.resolved.is_some();
        let found = self.wanted.iter().find(|glob| known && glob.matches(path))?;
        let excepted = self.except.iter().any(|glob| glob.matches(path) || glob.may_match(path));
        (!excepted).then_some(found.text.as_str())
    }

    /// The glob that matches, as [`Paths::matching`], and whether it does for certain. A pattern or an
    /// unknown part that could only stand for some unusual name which a glob guards, too, does not
    /// match: `*foo*` is not about `settings*.json`.
    pub(crate) fn matching_for_certain(&self, path: &PathFact) -> Option<(&str, bool)> {
        let certain = self.wanted.iter().find(|glob| glob.matches(path) || glob.is_taken_by(path));
        let found = certain.map(|glob| (glob, true)).or_else(|| {
            let possible = self.wanted.iter().find(|glob| glob.may_match(path) && glob.is_covered_by(path));
            possible.map(|glob| (glob, false))
        })?;
        (!self.except.iter().any(|glob| glob.matches(path))).then_some((found.0.text.as_str(), found.1))
    }

    /// The glob about something below a directory. With `near`, only what is in the directory itself.
    pub(crate) fn below(&self, directory: &PathFact, near: bool) -> Option<&str> {
        let found = self.wanted.iter().find(|glob| glob.is_below(directory, near));
        found.map(|glob| glob.text.as_str())
    }

    pub(super) fn globs(&self) -> impl Iterator<Item = &PathGlob> {
        self.wanted.iter()
    }

    /// The glob of which a text mentions every part that is long enough to be looked for.
    pub(crate) fn mentioned(&self, contains: impl Fn(&str) -> bool) -> Option<&str> {
        let found = self.wanted.iter().find(|glob| {
            let mut parts = parts(&glob.text).peekable();
            parts.peek().is_some() && parts.all(&contains)
        });
        found.map(|glob| glob.text.as_str())
    }

    /// For people.
    pub(crate) fn list(&self) -> String {
        let texts: Vec<_> = self.wanted.iter().map(|glob| glob.text.clone()).collect();
        listed(&texts)
    }
}

// === impl PathGlob ===

impl PathGlob {
    fn new(text: String) -> Self {
        let from = match text.as_str() {
            "~" => From::Home,
            text if text.starts_with("~/") => From::Home,
            text if text.starts_with('/') => From::Root,
            text if text.starts_with("**/") => From::Anywhere,
            _ => From::Project,
        };
        let plain = text.find(['*', '?', '[', '\\']).unwrap_or(text.len());
        let tail =
            text.rsplit(['*', '?', ']', '\\']).next().unwrap_or_default().trim_start_matches('/').len();
        Self { text, plain, tail, from }
    }

    /// What it starts with that is not yet a pattern.
    pub(super) fn start(&self) -> &str {
        self.text.get(..self.plain).unwrap_or_default()
    }

    /// Whether it is about something below a directory, by its first letters alone.
    fn is_below(&self, directory: &PathFact, near: bool) -> bool {
        if directory.dynamic || directory.pattern || self.from == From::Anywhere {
            return false;
        }
        let Some(form) = self.form(directory) else { return false };
        let base = form.trim_end_matches('/');
        let rest = if base.is_empty() {
            Some(self.start().trim_start_matches('/'))
        } else {
            self.start().strip_prefix(base).and_then(|rest| rest.strip_prefix('/'))
        };
        let Some(rest) = rest else { return false };
        let inside = !rest.is_empty() || self.plain < self.text.len();
        inside && (!near || !rest.trim_end_matches('/').contains('/'))
    }

    pub(super) fn form<'a>(&self, path: &'a PathFact) -> Option<&'a str> {
        match self.from {
            From::Root => path.resolved.as_deref(),
            From::Home => path.in_home.as_deref(),
            From::Project => path.in_project.as_deref(),
            From::Anywhere => path.resolved.as_deref().or(Some(path.text.as_str())),
        }
    }

    fn matches(&self, path: &PathFact) -> bool {
        let (start, end) = (self.start(), self.text.get(self.text.len() - self.tail..).unwrap_or_default());
        self.form(path).is_some_and(|form| {
            form.starts_with(start) && form.ends_with(end) && glob_match(&self.text, form)
        })
    }

    /// A pattern or an unknown part may stand for a path that matches.
    fn may_match(&self, path: &PathFact) -> bool {
        // `find ~ -name '*.rs'` goes everywhere; that alone does not make it about all that is guarded
        // by its directory, only about what is guarded by its name.
        let by_directory = |form: &str| {
            let Some((root, name)) = form.split_once("**") else { return false };
            let wide = !name.is_empty() && root.len() < self.plain;
            let bare = self.text.ends_with("/*") || self.text.ends_with("/**");
            wide && (bare || name.starts_with('*') && self.text.ends_with('*'))
        };
        // Most patterns begin with other letters; seeing that is far cheaper than looking for an overlap.
        let begins_alike = |form: &str| {
            let plain = form.find(['*', '?', '[']).unwrap_or(form.len()).min(self.plain);
            self.text.as_bytes().get(..plain) == form.as_bytes().get(..plain)
        };
        (path.pattern || path.dynamic)
            && self.form(path).is_some_and(|form| {
                begins_alike(form)
                    && !by_directory(form)
                    && (self.from != From::Anywhere || self.is_named_by(form))
                    && overlap(&self.text, form)
            })
    }

    /// Whether a pattern stands for the plainest path that this guards.
    fn is_covered_by(&self, path: &PathFact) -> bool {
        self.form(path).is_some_and(|form| overlap(&self.plainest(), form))
    }

    /// Whether a pattern is known to take a path that this guards: it takes all of a directory, or leaves
    /// open only where the directory is.
    fn is_taken_by(&self, path: &PathFact) -> bool {
        let Some(form) = self.form(path).filter(|_| self.may_match(path) && self.is_covered_by(path)) else {
            return false;
        };
        let mut parts = form.trim_end_matches('/').rsplit('/');
        let (last, parent) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
        let is_open = |part: &str| part.contains(['*', '?', '[']);
        let takes_all = !last.is_empty() && last.chars().all(|letter| matches!(letter, '*' | '?' | '.'));
        !is_open(parent) && !parent.is_empty() && (!is_open(last) || takes_all)
    }

    /// The shortest path that matches, but for directories it may lie in.
    fn plainest(&self) -> String {
        let (start, rest) =
            self.text.strip_prefix("**/").map_or(("", self.text.as_str()), |rest| ("**/", rest));
        let mut plain = start.to_owned();
        let mut letters = rest.chars().peekable();
        while let Some(letter) = letters.next() {
            match letter {
                '*' if letters.next_if_eq(&'*').is_some() => plain.push('x'),
                '*' => {}
                '?' => plain.push('x'),
                '[' => {
                    let set: String = letters.by_ref().take_while(|letter| *letter != ']').collect();
                    plain.extend(set.trim_start_matches(['!', '^']).chars().next());
                }
                letter => plain.push(letter),
            }
        }
        plain
    }

    /// A glob that may lie anywhere overlaps with any pattern at all: `src/**/*.css` might be
    /// `src/.claude/settings.json`. It is only meant by one that has something of its name.
    fn is_named_by(&self, form: &str) -> bool {
        let last = |path: &str| path.trim_end_matches('/').rsplit('/').next().unwrap_or_default().to_owned();
        let (own, other) = (last(&self.text), last(form));
        // `find` goes down to it by itself.
        let other = other.trim_start_matches("**");
        if own.ends_with('*') && other.starts_with('*') {
            return false;
        }
        let letters = |part: &str| part.chars().filter(|c| c.is_alphanumeric()).count();
        if letters(&own) >= 3 {
            return letters(other) >= 3 && overlap(&own, other);
        }
        parts(&self.text).all(|part| form.contains(part))
    }
}

fn is_pattern(glob: &str) -> bool {
    glob.contains(['*', '?', '[', '\\'])
}

/// Braces are opened here because overlaps are found without them.
fn alternatives(text: &str) -> Result<Vec<String>, String> {
    well_formed(text)?;
    expand_braces(text).ok_or_else(|| format!("`{text}` has too many alternatives"))
}

/// The glob library takes a broken glob for one that matches nothing: a rule that never matches
/// would look like one that is in force.
pub(crate) fn well_formed(glob: &str) -> Result<(), String> {
    if !glob.contains(['\\', '[']) {
        return Ok(());
    }
    let mut letters = glob.chars();
    while let Some(letter) = letters.next() {
        match letter {
            '\\' if letters.next().is_none() => return Err(format!("`{glob}` ends in a backslash")),
            '[' => {
                // A `]` right after the opening is a letter of the set.
                let set = letters.as_str().trim_start_matches(['!', '^']);
                let inner = set.strip_prefix(']').unwrap_or(set);
                let Some((_, rest)) = inner.split_once(']') else {
                    return Err(format!("`{glob}` has a `[` without its `]`"));
                };
                letters = rest.chars();
            }
            _ => {}
        }
    }
    Ok(())
}

/// A `/` in a name is a letter like any other.
pub(super) fn flat(name: &str) -> Cow<'_, str> {
    if name.contains('/') { Cow::Owned(name.replace('/', "\u{1}")) } else { Cow::Borrowed(name) }
}

/// A glob on the name of an MCP server or tool, for names that were folded by
/// [`fold_mcp_name`](tenterhook_event::fold_mcp_name). Sets of letters stay as they are.
fn folded(glob: &str) -> String {
    let mut folded = String::with_capacity(glob.len());
    let mut in_set = false;
    for letter in glob.chars() {
        match letter {
            '[' => in_set = true,
            ']' => in_set = false,
            _ => {}
        }
        if in_set || matches!(letter, '*' | '?' | ']') || letter.is_alphanumeric() {
            folded.extend(letter.to_lowercase());
        } else if !folded.ends_with('_') {
            folded.push('_');
        }
    }
    folded
}

fn flattened(name: String) -> String {
    if name.contains('/') { flat(&name).into_owned() } else { name }
}

/// The letters of a glob that anything which matches it would contain, part by part.
fn parts(glob: &str) -> impl Iterator<Item = &str> {
    let runs =
        glob.split('/').filter_map(|part| part.split(['*', '?', '[', ']']).max_by_key(|run| run.len()));
    runs.filter(|run| run.len() >= 3)
}

fn listed(texts: &[String]) -> String {
    const SHOWN: usize = 6;
    let shown: Vec<_> = texts.iter().take(SHOWN).map(|text| format!("`{text}`")).collect();
    let more = texts.len().saturating_sub(SHOWN);
    let shown = shown.join(", ");
    if more > 0 { format!("{shown} and {more} more") } else { shown }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_glob_that_could_never_match_is_refused() {
        for glob in ["a[b", "a[]", "a\\", "[!"] {
            assert!(Names::new(vec![glob.to_owned()]).is_err(), "{glob}");
        }
        for glob in ["a[b]", "[]]x", "[!a-z]", "a\\[", "{,e}grep"] {
            assert!(Names::new(vec![glob.to_owned()]).is_ok(), "{glob}");
        }
    }

    #[test]
    fn names_of_servers_match_however_harnesses_spell_them() {
        let names = |globs: &[&str]| {
            let globs = globs.iter().map(|glob| (*glob).to_owned()).collect();
            Names::new(globs).unwrap().folded()
        };
        assert!(names(&["brave-search"]).matches("brave_search"));
        assert!(names(&["Brave.*"]).matches("brave_search") && !names(&["brave-*"]).matches("brave"));
        assert!(names(&["rec[a-z]rds__*"]).matches("records_x"));
        assert!(!names(&["*", "!git-hub"]).matches("git_hub"));
        assert!(names(&["a-b"]).spell_out("a_b") && !names(&["a*"]).spell_out("a_b"));
    }

    #[test]
    fn names_match_as_wholes_whatever_letters_are_in_them() {
        let names = |glob: &str| Names::new(vec![glob.to_owned()]).unwrap();
        assert!(names("mcp*").matches("mcptest/echo"));
        assert!(names("python[0-9]*").matches("python3.11"));
        assert!(names("{,e,f}grep").matches("grep") && names("{,e,f}grep").matches("egrep"));
        assert!(!names("rm").matches("rmdir"));
    }
}
