// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Where a path points, by its letters, and by the links that somebody saw: nothing here looks at a disk.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use super::Certainty;

/// Stands for the home directory when nobody knows it, so that `~/x` still has a place.
const SOME_HOME: &str = "/home/~";
pub(crate) const TEMP: &[&str] = &["/tmp", "/var/tmp", "/var/folders", "/dev/shm"];
/// Directories in a home that hold only what can be fetched or built again.
const CACHES: &[&str] = &[
    ".cache",
    "Library/Caches",
    ".npm/_cacache",
    ".npm/_npx",
    ".cargo/registry",
    ".cargo/git",
    ".gradle/caches",
    ".m2/repository",
    ".yarn/cache",
    ".bun/install/cache",
    "go/pkg/mod/cache",
    "Library/Developer/Xcode/DerivedData",
    ".pnpm-store",
    ".nuget/packages",
    ".ivy2/cache",
    ".terraform.d/plugin-cache",
];

/// Where a path points.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Place {
    /// The project's own directory.
    ProjectRoot,
    /// Something in the project.
    InsideProject,
    /// Neither in the project nor in a directory for temporary files.
    OutsideProject,
    /// A home directory itself.
    Home,
    /// The root of the file system.
    Root,
    /// Something in a directory for temporary files.
    Temp,
    /// It cannot be told: a variable, or a relative path in an unknown directory.
    Unknown,
}

/// One path a call names.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PathFact {
    /// As written, with quoting and known variables resolved.
    pub text: String,
    /// Whether part of it is only known when it runs.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub dynamic: bool,
    /// Whether `*`, `?` or `[…]` in it are a pattern.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub pattern: bool,
    /// From the root, without `.` and `..`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resolved: Option<String>,
    /// From the home it lies in, as `~/…`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub in_home: Option<String>,
    /// From the project's root.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub in_project: Option<String>,
    /// Where it points.
    pub places: Vec<Place>,
    /// Whether the command does not read it: it writes to it, or leaves it out.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub spared: bool,
    /// Whether it is the path before it, by the real name of the project, home or directory for
    /// temporary files it lies in. Who vouches for one vouches for both.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub again: bool,
    /// From the root, with every `..` still in it; only if there is one.
    #[serde(skip)]
    pub walked: Option<String>,
}

impl PathFact {
    /// Whether a pattern or an unknown part of it may stand for several paths.
    pub fn is_open(&self) -> bool {
        self.dynamic || self.pattern
    }

    /// Whether the path is known to the letter.
    pub fn certainty(&self) -> Certainty {
        if self.is_open() { Certainty::Possible } else { Certainty::Certain }
    }
}

/// What paths are resolved against.
#[derive(Debug, Clone)]
pub struct Ground {
    /// The home directory; a stand-in if it is unknown.
    pub home: String,
    /// The directory of the project, unless that is a home or above one.
    pub project: Option<String>,
    /// Directories that links lead to, and the names they are known by here.
    pub(crate) roots: Vec<(String, String)>,
}

/// A path as it was found.
#[derive(Debug)]
pub struct Found<'a> {
    /// As written.
    pub text: &'a str,
    /// The text with `*` for whatever is not known.
    pub shape: &'a str,
    /// Whether part of it is only known when it runs.
    pub dynamic: bool,
    /// Whether `*`, `?` or `[…]` in it are a pattern.
    pub pattern: bool,
}

// === impl Ground ===

impl Ground {
    /// Paths are resolved against this home and project.
    pub fn new(home: Option<&str>, project: Option<&str>) -> Self {
        let home = home.and_then(|home| resolve(None, home)).unwrap_or_else(|| SOME_HOME.to_owned());
        let project = project.and_then(|project| resolve(None, project));
        // An agent started in a home, or above one, has no project there: all of it is somebody's.
        let project = project.filter(|project| below(&home, project).is_none());
        Self { home, project, roots: Vec::new() }
    }

    /// The place of a path, seen from a working directory.
    pub fn fact(&self, found: &Found<'_>, cwd: Option<&str>) -> PathFact {
        // In a directory that is a pattern everything is one.
        let below_pattern =
            !found.shape.starts_with('/') && cwd.is_some_and(|cwd| cwd.contains(['*', '?', '[']));
        let pattern = found.pattern || below_pattern;
        let starts_unknown = found.dynamic && found.shape.starts_with('*');
        let resolved = if starts_unknown { None } else { resolve(cwd, found.shape) };
        let in_home = match &resolved {
            Some(path) => self.in_home(path).or_else(|| self.in_home(&self.named(path))),
            // Nobody knows where it starts, so it may well start at home.
            None => found.shape.trim_start_matches('*').split_once('/').map(|(first, rest)| {
                if first.is_empty() { format!("~/{rest}") } else { format!("~/{first}/{rest}") }
            }),
        };
        let in_project = match (&resolved, &self.project) {
            (Some(path), Some(project)) => below(&self.named(path), project).map(str::to_owned),
            _ => None,
        };
        let places = match &resolved {
            Some(path) if !found.dynamic => {
                let named = self.named(path);
                self.places(if pattern { reach(&named) } else { &named })
            }
            _ => vec![Place::Unknown],
        };
        let walked = resolved.as_ref().filter(|_| goes_up(found.shape)).map(|_| {
            let shape = found.shape.strip_prefix("file://").unwrap_or(found.shape);
            let start = if shape.starts_with('/') { "" } else { cwd.unwrap_or_default() };
            format!("{start}/{shape}")
        });
        PathFact {
            text: found.text.to_owned(),
            dynamic: found.dynamic,
            pattern,
            resolved,
            in_home,
            in_project,
            places,
            spared: false,
            again: false,
            walked,
        }
    }

    /// The path by the name that its project, home or directory for temporary files is known by.
    pub(crate) fn named<'a>(&self, path: &'a str) -> Cow<'a, str> {
        let under = self.roots.iter().find_map(|(real, name)| Some((name, below(path, real)?)));
        match under {
            None => Cow::Borrowed(path),
            Some((name, "")) => Cow::Owned(name.clone()),
            Some((name, rest)) => Cow::Owned(format!("{name}/{rest}")),
        }
    }

    fn in_home(&self, path: &str) -> Option<String> {
        self.below_home(path).map(tilde)
    }

    /// What remains of a path below the home it lies in; empty for a home itself.
    fn below_home<'a>(&self, path: &'a str) -> Option<&'a str> {
        let roots = [self.home.as_str(), "/root", "/var/root"];
        roots.into_iter().find_map(|home| below(path, home)).or_else(|| {
            let others = path.strip_prefix("/home/").or_else(|| path.strip_prefix("/Users/"))?;
            Some(others.split_once('/').map_or("", |(_, rest)| rest))
        })
    }

    fn places(&self, path: &str) -> Vec<Place> {
        let mut places = Vec::with_capacity(2);
        match self.project.as_deref().and_then(|project| below(path, project)) {
            Some("") => places.push(Place::ProjectRoot),
            Some(_) => places.push(Place::InsideProject),
            None if self.is_temporary(path) => places.push(Place::Temp),
            None => places.push(Place::OutsideProject),
        }
        if path == "/" {
            places.push(Place::Root);
        }
        if self.below_home(path) == Some("") {
            places.push(Place::Home);
        }
        places
    }

    /// A home or project may itself lie in a directory for temporary files; neither it nor what
    /// holds it is temporary then.
    fn is_temporary(&self, path: &str) -> bool {
        let in_temp = TEMP.iter().any(|temp| below(path, temp).is_some_and(|rest| !rest.is_empty()));
        let holds_project = self.project.as_deref().is_some_and(|project| below(project, path).is_some());
        let in_cache = below(path, &self.home).is_some_and(is_cache);
        if in_cache && !holds_project {
            return true;
        }
        in_temp && !holds_project && below(path, &self.home).is_none() && below(&self.home, path).is_none()
    }
}

/// Whether a path below a home is in a cache. The directory of all caches may hold other things too.
fn is_cache(path: &str) -> bool {
    let within = CACHES.iter().any(|cache| below(path, cache).is_some());
    within && !matches!(path, ".cache" | "Library/Caches")
}

fn tilde(rest: &str) -> String {
    if rest.is_empty() { "~".to_owned() } else { ["~/", rest].concat() }
}

/// The text with a leading `~` replaced.
pub fn expand_tilde(text: &str, home: &str) -> Option<String> {
    let rest = text.strip_prefix('~')?;
    (rest.is_empty() || rest.starts_with('/')).then(|| format!("{home}{rest}"))
}

/// What remains of a path below a directory; empty for the directory itself.
pub fn below<'a>(path: &'a str, directory: &str) -> Option<&'a str> {
    let rest = path.strip_prefix(directory.trim_end_matches('/'))?;
    match rest.strip_prefix('/') {
        Some(rest) => Some(rest),
        None => rest.is_empty().then_some(""),
    }
}

/// Whether it has a `..` in it: where that leads is not said by letters, if it comes behind a link.
fn goes_up(path: &str) -> bool {
    path.contains("..") && path.split('/').any(|part| part == "..")
}

/// Resolves `.`, `..` and doubled slashes. `None` when a relative path has nothing to start from.
pub fn resolve(cwd: Option<&str>, text: &str) -> Option<String> {
    let text = text.strip_prefix("file://").unwrap_or(text);
    let start = if text.starts_with('/') { "" } else { cwd? };
    let mut path = String::with_capacity(start.len() + text.len() + 2);
    for part in start.split('/').chain(text.split('/')) {
        match part {
            "" | "." => continue,
            ".." => path.truncate(path.rfind('/').unwrap_or(0)),
            part => {
                path.push('/');
                path.push_str(part);
            }
        }
        path.drain(..other_name_of_root(&path).len());
    }
    if path.is_empty() {
        path.push('/');
    }
    Some(path)
}

/// The part of a path that is another name of the root: a process's own view of it, or where macOS keeps the rest.
fn other_name_of_root(path: &str) -> &str {
    let is_view = |rest: &str| rest.split_once('/').is_some_and(|(_, name)| name == "root");
    if path.strip_prefix("/proc/").is_some_and(is_view) {
        return path;
    }
    match path {
        "/private/tmp" | "/private/var" | "/private/etc" => "/private",
        _ => "",
    }
}

/// How far a pattern reaches: `/x/*` takes all of `/x`, while `/x/a*` names things in it.
fn reach(path: &str) -> &str {
    let mut rest = path;
    while let Some((parent, last)) = rest.rsplit_once('/') {
        if !takes_everything(last) {
            break;
        }
        if parent.is_empty() {
            return "/";
        }
        rest = parent;
    }
    rest
}

fn takes_everything(part: &str) -> bool {
    let mut in_set = false;
    let named = part.chars().any(|c| {
        match c {
            '[' => in_set = true,
            ']' => in_set = false,
            _ => return !in_set && (c.is_alphanumeric() || matches!(c, '~' | '#')),
        }
        false
    });
    !named && part.contains(['*', '?', '['])
}

#[cfg(test)]
mod tests;
