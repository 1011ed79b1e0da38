// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Globs on paths.

use fast_glob::glob_match;
use serde::de::{Deserialize, Deserializer, Error};
use serde::{Deserialize as DeriveDeserialize, Serialize};
use tenterhook_facts::{Certainty, PathFact};
use tenterhook_paths::globs_overlap;

use super::open_form::{OpenForm, OpenForms, OpenPatternPart, WILDCARDS, is_open, open_form, path_form};
use super::{GlobError, expand_alternatives, list_for_display, literal_parts, read_globs};

/// Globs on paths: globs that must match, and exclusions that must not.
#[derive(Debug, Serialize)]
pub(crate) struct PathGlobs {
    wanted: Vec<PathGlob>,
    except: Vec<PathGlob>,
}

#[derive(Debug, Serialize, DeriveDeserialize)]
pub(crate) struct PathGlob {
    pub(crate) text: String,
    /// Number of literal bytes at the start: a path that starts differently cannot match.
    plain: usize,
    /// Number of literal bytes at the end: a path that ends differently cannot match.
    tail: usize,
    pub(crate) from: GlobBase,
}

/// A glob that guards a path.
#[derive(Debug, Clone, Copy)]
pub(crate) struct GlobGuard<'a> {
    pub(crate) glob: &'a str,
    pub(crate) certainty: Certainty,
}

/// The directory that a glob is relative to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, DeriveDeserialize)]
pub(crate) enum GlobBase {
    Root,
    Home,
    Project,
    Anywhere,
}

// === impl PathGlobs ===

impl PathGlobs {
    pub(crate) fn new(texts: &[String]) -> Result<Self, GlobError> {
        let (mut wanted, mut except) = (Vec::new(), Vec::new());
        for text in texts {
            let (list, text) = match text.strip_prefix('!') {
                Some(rest) => (&mut except, rest),
                None => (&mut wanted, text.as_str()),
            };
            for text in expand_alternatives(text)? {
                list.push(PathGlob::new(text));
            }
        }
        if wanted.is_empty() {
            return Err(GlobError::OnlyExclusions("paths"));
        }
        Ok(Self { wanted, except })
    }

    /// Returns the glob that guards a path, and whether the match is certain; `None` if an exclusion matches.
    ///
    /// A path with a pattern or an unknown part is certainly guarded if every path that it can become is guarded, or if
    /// it covers everything in a guarded directory. It is possibly guarded if its directory is guarded, or if its name
    /// contains the distinctive part of a guarded name. It is not enough that the path *could* be a guarded one:
    /// `README*` could be `README.pem`.
    pub(crate) fn find_guard(&self, path: &PathFact) -> Option<GlobGuard<'_>> {
        let mut possible = None;
        let mut forms = OpenForms::new(path);
        for glob in &self.wanted {
            // One possible match is enough.
            let wanted = if possible.is_none() { Certainty::Possible } else { Certainty::Certain };
            match glob.guards(path, &mut forms, wanted) {
                Some(Certainty::Certain) => {
                    return self.unless_excluded(
                        path,
                        GlobGuard { glob: &glob.text, certainty: Certainty::Certain },
                    );
                }
                Some(Certainty::Possible) => possible = Some(glob),
                None => {}
            }
        }
        let glob = &possible?.text;
        self.unless_excluded(path, GlobGuard { glob, certainty: Certainty::Possible })
    }

    fn unless_excluded<'a>(&self, path: &PathFact, guard: GlobGuard<'a>) -> Option<GlobGuard<'a>> {
        (!self.except.iter().any(|glob| glob.matches(path))).then_some(guard)
    }

    /// Returns the first glob that certainly matches; `None` if an exclusion may match.
    pub(crate) fn find_certain(&self, path: &PathFact) -> Option<&str> {
        let known = !path.dynamic && path.resolved.is_some();
        let found = self.wanted.iter().find(|glob| known && glob.matches(path))?;
        let excepted = self.except.iter().any(|glob| glob.matches(path) || glob.may_match(path));
        (!excepted).then_some(found.text.as_str())
    }

    /// Returns the first glob that matches something below a directory; with `near`, something directly in it.
    pub(crate) fn find_below(&self, directory: &PathFact, near: bool) -> Option<&str> {
        let found = self.wanted.iter().find(|glob| glob.is_below(directory, near));
        found.map(|glob| glob.text.as_str())
    }

    pub(crate) fn globs(&self) -> impl Iterator<Item = &PathGlob> {
        self.wanted.iter()
    }

    /// Returns the first glob whose literal parts all occur in a text. Parts that are too short to search for are
    /// ignored.
    pub(crate) fn find_mentioned(&self, contains: impl Fn(&str) -> bool) -> Option<&str> {
        let found = self.wanted.iter().find(|glob| {
            let mut parts = literal_parts(&glob.text).peekable();
            // `fetch` contains `etc`, but does not mention `/etc`.
            let rooted = first_directory(&glob.text).is_none_or(&contains);
            rooted && parts.peek().is_some() && parts.all(&contains)
        });
        found.map(|glob| glob.text.as_str())
    }

    /// Returns the globs that must match, and the exclusions.
    pub(crate) fn texts(&self) -> (Vec<String>, Vec<String>) {
        let texts = |globs: &[PathGlob]| globs.iter().map(|glob| glob.text.clone()).collect();
        (texts(&self.wanted), texts(&self.except))
    }

    /// Returns the first globs, for messages.
    pub(crate) fn display_list(&self) -> String {
        list_for_display(self.wanted.iter().map(|glob| &glob.text))
    }
}

// === impl PathGlob ===

impl PathGlob {
    fn new(text: String) -> Self {
        let from = match text.as_str() {
            "~" => GlobBase::Home,
            text if text.starts_with("~/") => GlobBase::Home,
            text if text.starts_with('/') => GlobBase::Root,
            text if text.starts_with("**/") => GlobBase::Anywhere,
            _ => GlobBase::Project,
        };
        let plain = text.find(['*', '?', '[', '\\']).unwrap_or(text.len());
        let tail =
            text.rsplit(['*', '?', ']', '\\']).next().unwrap_or_default().trim_start_matches('/').len();
        Self { text, plain, tail, from }
    }

    /// Returns the literal start of the glob.
    pub(crate) fn start(&self) -> &str {
        self.text.get(..self.plain).unwrap_or_default()
    }

    /// Whether the literal start of the glob is below a directory.
    fn is_below(&self, directory: &PathFact, near: bool) -> bool {
        if directory.dynamic || self.from == GlobBase::Anywhere {
            return false;
        }
        if directory.pattern {
            return self.is_below_walk(directory);
        }
        let Some(form) = self.path_form(directory) else { return false };
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

    /// Whether a search such as `find ~ -name .gnupg` finds a directory that is part of the literal start of
    /// the glob.
    fn is_below_walk(&self, found: &PathFact) -> bool {
        let walked = open_form(found, self.from).filter(|form| form.contains("**"));
        let Some(form) = walked else { return false };
        let name = split_name(form).1;
        let name = name.strip_prefix("**").unwrap_or(name);
        is_distinctive(name)
            && !name.contains(WILDCARDS)
            && self.start().split('/').rev().skip(1).any(|part| part == name)
    }

    pub(crate) fn path_form<'a>(&self, path: &'a PathFact) -> Option<&'a str> {
        path_form(path, self.from)
    }

    fn matches(&self, path: &PathFact) -> bool {
        let (start, end) =
            (self.start(), self.text.get(self.text.len().saturating_sub(self.tail)..).unwrap_or_default());
        self.path_form(path).is_some_and(|form| {
            form.starts_with(start) && form.ends_with(end) && glob_match(&self.text, form)
        })
    }

    /// Whether the path contains a pattern or an unknown part, and could turn out to be a path that matches.
    fn may_match(&self, path: &PathFact) -> bool {
        let form = self.path_form(path).filter(|_| path.is_open()).map(OpenForm::new);
        form.is_some_and(|form| self.begins_like(&form) && self.overlaps(&form))
    }

    /// Whether the letters before the first wildcard agree. Most patterns begin with other letters, and comparing them is
    /// far cheaper than computing the overlap.
    fn begins_like(&self, form: &OpenForm<'_>) -> bool {
        let plain = form.plain.min(self.plain);
        self.text.as_bytes().get(..plain) == form.text.as_bytes().get(..plain)
    }

    fn overlaps(&self, form: &OpenForm<'_>) -> bool {
        !self.is_only_searched_by(form)
            && (self.from != GlobBase::Anywhere || self.shares_name_with(form.text))
            && globs_overlap(&self.text, form.text)
    }

    /// Whether `find ~ -name '*.rs'` passes the guarded paths: it searches all directories. Such a search can match a
    /// glob that guards files by name, but not a glob that guards a whole directory.
    fn is_only_searched_by(&self, form: &OpenForm<'_>) -> bool {
        // The glob has no literal start.
        if self.plain == 0 {
            return false;
        }
        let Some((root, name)) = form.walk else { return false };
        let wide = !name.is_empty() && root.len() < self.plain;
        let bare = self.text.ends_with("/*") || self.text.ends_with("/**");
        wide && (bare || name.starts_with('*') && self.text.ends_with('*'))
    }

    /// Whether this glob guards a path at least as certainly as wanted, and how certainly.
    fn guards(&self, path: &PathFact, forms: &mut OpenForms<'_>, wanted: Certainty) -> Option<Certainty> {
        // A glob matches the text of a pattern only if it matches every path that the pattern matches.
        if self.matches(path) {
            return Some(Certainty::Certain);
        }
        let form = forms.get(self.from).filter(|form| self.begins_like(form))?;
        let guards_directory = self.guards_directory();
        // The overlap takes longest to compute, so it is computed last.
        let certainty = self.certainty_of_overlap(form, path.dynamic, guards_directory)?;
        if wanted.is_certain() && !certainty.is_certain() {
            return None;
        }
        let is_plain_match = !is_open(form.name.text) || guards_directory;
        let is_guarded = self.overlaps(form) && (is_plain_match || self.is_simplest_in(form.text));
        is_guarded.then_some(certainty)
    }

    /// Whether this glob guards every file of a directory, as `/etc/**` does.
    fn guards_directory(&self) -> bool {
        let directory = self.text.trim_end_matches('/').trim_end_matches('*');
        directory.is_empty() || directory.ends_with('/')
    }

    /// How certainly this glob guards a path that it overlaps with; `None` if not at all.
    fn certainty_of_overlap(
        &self,
        form: &OpenForm<'_>,
        is_dynamic: bool,
        guards_directory: bool,
    ) -> Option<Certainty> {
        let OpenForm { directory, parent, name, .. } = *form;
        if form.has_open_directory {
            if self.is_named_in(name) {
                let is_certain = !is_open(name.text);
                return Some(if is_certain { Certainty::Certain } else { Certainty::Possible });
            }
            // The name of the directory is itself a pattern: `~/.s*/*`.
            let is_covered = form.is_whole_directory || guards_directory;
            return (is_covered && self.directory_is_named_in(parent)).then_some(Certainty::Possible);
        }
        if !is_open(name.text) {
            // Only the location of the directory is unknown: `$DIR/.ssh/id_rsa`.
            return Some(Certainty::Certain);
        }
        let is_guarded_directory = self.text.starts_with(directory)
            && directory == split_name(&self.text).0
            && !is_shared_directory(directory);
        match (is_guarded_directory, is_dynamic) {
            (true, false) => Some(Certainty::Certain),
            // The path is one unknown file of the directory.
            (true, true) => Some(Certainty::Possible),
            (false, false) if form.is_whole_directory && !is_temporary_directory(directory) => {
                Some(Certainty::Possible)
            }
            (false, _) => self.is_named_in(name).then_some(Certainty::Possible),
        }
    }

    /// Whether a pattern for names points at the name that this glob guards: it contains the distinctive part of that
    /// name, begins like it, or spells most of it. The ending of `*.conf` is not distinctive; its directory is.
    fn is_named_in(&self, pattern: OpenPatternPart<'_>) -> bool {
        if pattern.is_unnamed() {
            return false;
        }
        let own = self.guarded_name();
        distinctive_part(own).is_some_and(|distinctive| {
            pattern.is_start_of(own)
                || pattern.contains(distinctive)
                || pattern.spells_most_of(own) && globs_overlap(own, pattern.text)
        })
    }

    /// Returns the name that this glob guards: its last component, or the name of the directory whose files it guards.
    fn guarded_name(&self) -> &str {
        let mut text = self.text.as_str();
        for ending in ["/**", "/*"] {
            while let Some(rest) = text.strip_suffix(ending) {
                text = rest;
            }
        }
        split_name(text).1
    }

    /// Whether a pattern for directories points at the directory that this glob guards: it names hidden directories, as
    /// guarded directories mostly are, or spells most of the name.
    fn directory_is_named_in(&self, pattern: OpenPatternPart<'_>) -> bool {
        let is_hidden = pattern.text.starts_with(['.', '[']);
        if !is_hidden && pattern.is_unnamed() {
            return false;
        }
        let own = split_name(split_name(&self.text).0).1;
        let is_aimed = is_hidden || pattern.spells_most_of(own);
        is_aimed && !is_open(own) && globs_overlap(own, pattern.text)
    }

    /// Whether a pattern matches the simplest path that this glob matches. `*foo*` does not match the simplest path of
    /// `settings*.json`, which is `settings.json`, although both match `settings-foo.json`.
    fn is_simplest_in(&self, form: &str) -> bool {
        globs_overlap(&self.simplest_path(), form)
    }

    /// Returns the shortest path that matches, without the directories that a leading `**/` may match.
    fn simplest_path(&self) -> String {
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

    /// Whether a pattern has something in common with the name in a glob that starts with `**/`. Overlap alone is not
    /// enough, because such a glob overlaps with nearly every pattern: `src/**` might be `src/.claude/settings.json`.
    fn shares_name_with(&self, form: &str) -> bool {
        let (own, mut other) = (split_name(&self.text).1, split_name(form).1);
        // `find` descends to the file itself, so leading `**` are ignored.
        while let Some(rest) = other.strip_prefix("**") {
            other = rest;
        }
        if own.ends_with('*') && other.starts_with('*') {
            return false;
        }
        if is_distinctive(own) {
            return is_distinctive(other) && globs_overlap(own, other);
        }
        literal_parts(&self.text).all(|part| form.contains(part))
    }
}

/// Whether a part of a name has at least three letters or digits.
fn is_distinctive(part: &str) -> bool {
    part.chars().filter(|letter| letter.is_alphanumeric()).nth(2).is_some()
}

/// Returns the longest literal run of a name with at least three letters. The ending of `*.conf` is left out.
fn distinctive_part(name: &str) -> Option<&str> {
    let distinctive = if is_open(name) {
        name.split(WILDCARDS).filter(|run| !run.starts_with('.')).max_by_key(|run| run.len())
    } else {
        Some(name)
    };
    distinctive.filter(|run| run.len() > 2)
}

/// Returns the directory of a path, and its last component.
pub(super) fn split_name(path: &str) -> (&str, &str) {
    let path = path.trim_end_matches('/');
    // Names are short, so that looking at each byte is faster than preparing a search.
    let slash = path.bytes().rposition(|byte| byte == b'/');
    let parts = slash.and_then(|at| Some((path.get(..at)?, path.get(at + 1..)?)));
    parts.unwrap_or(("", path))
}

/// Whether a directory contains files of many programs, so that one guarded file does not mean that the other files
/// need a guard.
fn is_shared_directory(directory: &str) -> bool {
    const SHARED_DIRECTORIES: &[&str] = &[
        "",
        "/etc",
        "/var",
        "/usr",
        "/opt",
        "/home",
        "/proc",
        "/root",
        "~",
        "~/.config",
        "~/.local",
        "~/.local/share",
    ];
    SHARED_DIRECTORIES.contains(&directory)
        || directory.starts_with("~/Library") && directory.matches('/').count() <= 2
        || is_temporary_directory(directory)
}

fn is_temporary_directory(directory: &str) -> bool {
    matches!(directory, "/tmp" | "/var/tmp" | "/dev/shm")
}

// === impl Deserialize ===

impl<'de> Deserialize<'de> for PathGlobs {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        if deserializer.is_human_readable() {
            return Self::new(&read_globs(deserializer)?).map_err(Error::custom);
        }
        let (wanted, except) = Deserialize::deserialize(deserializer)?;
        Ok(Self { wanted, except })
    }
}

#[cfg(feature = "schema")]
crate::conditions::schema_of_texts!(PathGlobs);

/// Returns `/etc` of the glob `/etc/x*`, if that directory is known.
fn first_directory(glob: &str) -> Option<&str> {
    let name = glob.strip_prefix('/')?;
    let end = name.find('/')?;
    let directory = glob.get(..=end)?;
    let is_known = directory.len() > 3 && !directory.contains(['*', '?', '[', '\\']);
    is_known.then_some(directory)
}
