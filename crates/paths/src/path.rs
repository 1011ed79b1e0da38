// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Resolves paths lexically and determines their location relative to project, home and temporary directories.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use super::Certainty;
use super::usual_case::to_usual_case;

/// Placeholder for an unknown home directory, so that `~/x` still resolves.
const UNKNOWN_HOME: &str = "/home/~";
/// Directories for temporary files.
pub(crate) const TEMP_DIRS: &[&str] =
    &["/tmp", "/var/tmp", "/var/folders", "/dev/shm", "/c/Windows/Temp", "/c/Temp", "/c/tmp"];
/// Directories in a home directory whose content can be downloaded or built again.
const CACHE_DIRS: &[&str] = &[
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
    "AppData/Local/Temp",
    "AppData/Local/npm-cache",
    "AppData/Local/pip/Cache",
    "AppData/Local/Yarn/Cache",
    "AppData/Local/pnpm-cache",
    "AppData/Local/NuGet",
];

/// Where a path points, relative to project, home and temporary directories.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "Place"))]
pub enum PathLocation {
    /// The project directory itself.
    ProjectRoot,
    /// A path inside the project.
    InsideProject,
    /// A path neither in the project nor in a temporary directory.
    OutsideProject,
    /// A home directory itself.
    Home,
    /// The root of the file system.
    Root,
    /// A path in a temporary directory.
    Temp,
    /// Not known: the path contains a variable, or is relative to an unknown directory.
    Unknown,
}

/// A path that a call names.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PathFact {
    /// The path as written, with quoting and known variables resolved.
    pub text: String,
    /// Whether part of the path is only known at run time.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub dynamic: bool,
    /// Whether `*`, `?` or `[…]` in the path are a pattern.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub pattern: bool,
    /// The absolute path, without `.` and `..`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resolved: Option<String>,
    /// The path relative to the home directory that contains it, as `~/…`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub in_home: Option<String>,
    /// The path relative to the project.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub in_project: Option<String>,
    /// Locations that apply to the path.
    pub places: Vec<PathLocation>,
    /// Whether the command does not read the path, because it writes to the path or excludes it.
    #[serde(rename = "spared", skip_serializing_if = "std::ops::Not::not")]
    pub is_not_read: bool,
    /// Whether this is another name of a path earlier in the list, such as its real path through a linked project. A
    /// rule that allows the first name allows this name too.
    #[serde(rename = "again", skip_serializing_if = "std::ops::Not::not")]
    pub is_alias: bool,
    /// The part of a directory walk that goes through home directories, as `~/**…`. Set only if the walk starts above
    /// them, as in `find / -name x`. Used only by rules that ask or deny, because the walk also visits other
    /// directories.
    #[serde(skip)]
    pub walk_in_homes: Option<String>,
    /// The absolute path with every `..` still in it; `None` if there is no `..`.
    #[serde(skip)]
    pub unnormalized: Option<String>,
}

impl PathFact {
    /// Whether the path may refer to several paths, because of a pattern or an unknown part.
    pub fn is_open(&self) -> bool {
        self.dynamic || self.pattern
    }

    /// Returns `Certain` only if every character of the path is known.
    pub fn certainty(&self) -> Certainty {
        if self.is_open() { Certainty::Possible } else { Certainty::Certain }
    }
}

/// The directories that paths are resolved and classified against.
#[derive(Debug, Clone)]
pub struct PathRoots {
    /// Home directory; a placeholder if it is unknown.
    pub home: String,
    /// Project directory; `None` if it is a home directory or a parent of one.
    pub project: Option<String>,
    /// Real paths of linked directories, each with the name by which the directory is known.
    pub(crate) aliases: Vec<(String, String)>,
}

/// A path as written in a call, before it is resolved.
#[derive(Debug)]
pub struct WrittenPath<'a> {
    /// The path as written.
    pub text: &'a str,
    /// The text with `*` for each unknown part.
    pub shape: &'a str,
    /// Whether part of the path is only known at run time.
    pub dynamic: bool,
    /// Whether `*`, `?` or `[…]` in the path are a pattern.
    pub pattern: bool,
}

// === impl PathRoots ===

impl PathRoots {
    /// Creates the roots for this home and project directory.
    pub fn new(home: Option<&str>, project: Option<&str>) -> Self {
        let home = home.and_then(|home| resolve(None, home)).unwrap_or_else(|| UNKNOWN_HOME.to_owned());
        let project = project.and_then(|project| resolve(None, project));
        // An agent that was started in a home directory, or in a parent of one, has no project: everything there
        // belongs to a user.
        let project = project.filter(|project| strip_directory(&home, project).is_none());
        Self { home, project, aliases: Vec::new() }
    }

    /// Resolves a path relative to a working directory and finds its locations.
    pub fn classify(&self, found: &WrittenPath<'_>, cwd: Option<&str>) -> PathFact {
        // In a directory that is named by a pattern, every path is a pattern.
        let below_pattern =
            !found.shape.starts_with('/') && cwd.is_some_and(|cwd| cwd.contains(['*', '?', '[']));
        let pattern = found.pattern || below_pattern;
        let starts_unknown = found.dynamic && found.shape.starts_with('*');
        let resolved = if starts_unknown { None } else { resolve(cwd, found.shape) };
        let resolved =
            resolved.map(|path| to_usual_case(&path, &self.home, self.project.as_deref()).unwrap_or(path));
        let in_home = match &resolved {
            Some(path) => self.in_home(path).or_else(|| self.in_home(&self.to_known_name(path))),
            // The start of the path is unknown, so it may be the home directory.
            None => found.shape.trim_start_matches('*').split_once('/').map(|(first, rest)| {
                if first.is_empty() { format!("~/{rest}") } else { format!("~/{first}/{rest}") }
            }),
        };
        let in_project = match (&resolved, &self.project) {
            (Some(path), Some(project)) => {
                strip_directory(&self.to_known_name(path), project).map(str::to_owned)
            }
            _ => None,
        };
        let places = match &resolved {
            Some(path) if !found.dynamic => {
                let named = self.to_known_name(path);
                self.locations(if pattern { covered_directory(&named) } else { &named })
            }
            _ => vec![PathLocation::Unknown],
        };
        let walk_in_homes = resolved.as_deref().and_then(|path| self.walk_into_homes(path));
        let unnormalized = resolved.as_ref().filter(|_| has_parent_component(found.shape)).map(|_| {
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
            is_not_read: false,
            is_alias: false,
            walk_in_homes,
            unnormalized,
        }
    }

    /// Replaces the real path of a project, home or temporary directory by the name by which it is known.
    pub(crate) fn to_known_name<'a>(&self, path: &'a str) -> Cow<'a, str> {
        let under = self.aliases.iter().find_map(|(real, name)| Some((name, strip_directory(path, real)?)));
        match under {
            None => Cow::Borrowed(path),
            Some((name, "")) => Cow::Owned(name.clone()),
            Some((name, rest)) => Cow::Owned(format!("{name}/{rest}")),
        }
    }

    fn in_home(&self, path: &str) -> Option<String> {
        self.strip_home(path).map(with_tilde)
    }

    /// Returns the part of a directory walk that goes through home directories, if the walk starts above them.
    fn walk_into_homes(&self, path: &str) -> Option<String> {
        let (root, walk) = path.split_at_checked(path.find("**")?)?;
        let root = root.strip_suffix('/')?;
        let is_above = matches!(root, "" | "/home" | "/Users")
            || strip_directory(&self.home, root).is_some_and(|rest| !rest.is_empty());
        is_above.then(|| with_tilde(walk))
    }

    /// Returns the rest of a path below the home directory that contains it; empty for a home directory itself.
    fn strip_home<'a>(&self, path: &'a str) -> Option<&'a str> {
        let roots = [self.home.as_str(), "/root", "/var/root"];
        roots.into_iter().find_map(|home| strip_directory(path, home)).or_else(|| {
            let others = path.strip_prefix("/home/").or_else(|| path.strip_prefix("/Users/"));
            let others = others.or_else(|| strip_windows_homes(path))?;
            Some(others.split_once('/').map_or("", |(_, rest)| rest))
        })
    }

    fn locations(&self, path: &str) -> Vec<PathLocation> {
        let mut places = Vec::with_capacity(2);
        match self.project.as_deref().and_then(|project| strip_directory(path, project)) {
            Some("") => places.push(PathLocation::ProjectRoot),
            Some(_) => places.push(PathLocation::InsideProject),
            None if self.is_temporary(path) => places.push(PathLocation::Temp),
            None => places.push(PathLocation::OutsideProject),
        }
        if path == "/" || is_drive_root(path) {
            places.push(PathLocation::Root);
        }
        if self.strip_home(path) == Some("") {
            places.push(PathLocation::Home);
        }
        places
    }

    /// Whether a path is temporary or cached. A home or project directory may itself be in a temporary directory. In
    /// that case neither the directory nor its parents are treated as temporary.
    fn is_temporary(&self, path: &str) -> bool {
        let in_temp =
            TEMP_DIRS.iter().any(|temp| strip_directory(path, temp).is_some_and(|rest| !rest.is_empty()));
        let holds_project =
            self.project.as_deref().is_some_and(|project| strip_directory(project, path).is_some());
        let in_cache = strip_directory(path, &self.home).is_some_and(is_cache)
            || strip_windows_homes(path)
                .and_then(|homes| homes.split_once('/'))
                .is_some_and(|(_, rest)| is_cache(rest));
        if in_cache && !holds_project {
            return true;
        }
        in_temp
            && !holds_project
            && strip_directory(path, &self.home).is_none()
            && strip_directory(&self.home, path).is_none()
    }
}

/// Whether a path relative to a home directory is in a cache. The directory that contains all caches is not treated
/// as a cache, because it may also contain other files.
fn is_cache(path: &str) -> bool {
    // Most paths are in none of them, and comparing one letter is cheap.
    let first = path.bytes().next();
    let mut begin_alike = CACHE_DIRS.iter().filter(|cache| cache.bytes().next() == first);
    let within = begin_alike.any(|cache| strip_directory(path, cache).is_some());
    within && !matches!(path, ".cache" | "Library/Caches")
}

fn with_tilde(rest: &str) -> String {
    if rest.is_empty() { "~".to_owned() } else { ["~/", rest].concat() }
}

/// Replaces a leading `~` by the home directory; `None` if the text does not start with `~`.
pub fn expand_tilde(text: &str, home: &str) -> Option<String> {
    let rest = text.strip_prefix('~')?;
    (rest.is_empty() || rest.starts_with('/')).then(|| format!("{home}{rest}"))
}

/// Returns the rest of a path below a directory; empty for the directory itself, `None` for a path outside it.
pub fn strip_directory<'a>(path: &'a str, directory: &str) -> Option<&'a str> {
    let directory = if directory.ends_with('/') { directory.trim_end_matches('/') } else { directory };
    let rest = path.strip_prefix(directory)?;
    match rest.strip_prefix('/') {
        Some(rest) => Some(rest),
        None => rest.is_empty().then_some(""),
    }
}

/// Whether a path contains `..`, which cannot be resolved lexically if a symbolic link precedes it.
fn has_parent_component(path: &str) -> bool {
    path.contains("..") && path.split('/').any(|part| part == "..")
}

/// Makes a path absolute and resolves `.`, `..` and doubled slashes lexically. `None` for a relative path without a
/// working directory.
pub fn resolve(cwd: Option<&str>, text: &str) -> Option<String> {
    let decoded = text.strip_prefix("file://").map(percent_decode);
    let text = decoded.as_deref().unwrap_or(text);
    let windows = from_windows(cwd, text);
    let text = windows.as_deref().unwrap_or(text);
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
        let alias_len = root_alias(&path).len();
        if alias_len > 0 {
            path.drain(..alias_len);
        }
    }
    if path.is_empty() {
        path.push('/');
    }
    Some(path)
}

/// Decodes `%2F` and other letters that are written as numbers in a URL.
fn percent_decode(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        let digits = after.get(..2).filter(|_| *first == b'%');
        let digits = digits.and_then(|digits| std::str::from_utf8(digits).ok());
        let letter = digits.and_then(|digits| u8::from_str_radix(digits, 16).ok());
        bytes.push(letter.unwrap_or(*first));
        rest = if letter.is_some() { after.get(2..).unwrap_or_default() } else { after };
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Returns a path of Windows with slashes, as Git Bash writes it: `/c/Users/me` for `C:\Users\me`. `None` for other
/// paths. In a directory of Windows, a backslash separates directories.
fn from_windows(cwd: Option<&str>, text: &str) -> Option<String> {
    let mut letters = text.bytes();
    let (first, second, third) = (letters.next()?, letters.next(), letters.next());
    if first.is_ascii_alphabetic() && second == Some(b':') && matches!(third, Some(b'\\' | b'/')) {
        let rest = text.get(2..).unwrap_or_default().replace('\\', "/");
        return Some(format!("/{}{}", char::from(first.to_ascii_lowercase()), fold_windows_directory(rest)));
    }
    if !text.contains('\\') {
        return None;
    }
    if let Some(share) = text.strip_prefix("\\\\").filter(|share| share.starts_with(char::is_alphanumeric)) {
        return Some(format!("/unc/{}", share.replace('\\', "/")));
    }
    let drive = cwd.filter(|cwd| is_on_drive(cwd))?.get(..2)?;
    let text = text.replace('\\', "/");
    Some(if text.starts_with('/') { format!("{drive}{text}") } else { text })
}

/// Writes the first directory of a drive in its usual case, because Windows ignores case.
fn fold_windows_directory(path: String) -> String {
    const WINDOWS_DIRS: &[&str] =
        &["Users", "Windows", "Program Files", "Program Files (x86)", "ProgramData", "Temp"];
    let first = path.trim_start_matches('/').split('/').next().unwrap_or_default();
    match WINDOWS_DIRS.iter().find(|known| known.eq_ignore_ascii_case(first)) {
        Some(known) => path.replacen(first, known, 1),
        None => path,
    }
}

/// Whether a path is on a drive of Windows: `/c/…`.
fn is_on_drive(path: &str) -> bool {
    let mut letters = path.bytes();
    letters.next() == Some(b'/')
        && letters.next().is_some_and(|letter| letter.is_ascii_alphabetic())
        && matches!(letters.next(), None | Some(b'/'))
}

/// Whether a path is the root of a drive.
fn is_drive_root(path: &str) -> bool {
    path.len() <= 3 && is_on_drive(path)
}

/// Returns the part of a path after the directory that contains the home directories of Windows.
fn strip_windows_homes(path: &str) -> Option<&str> {
    let path = path.strip_prefix("/mnt").filter(|rest| is_on_drive(rest)).unwrap_or(path);
    if !is_on_drive(path) {
        return None;
    }
    path.get(2..)?.strip_prefix("/Users/")
}

/// Returns the prefix of a path that is another name of the root directory: `/proc/PID/root`, or `/private` on macOS.
fn root_alias(path: &str) -> &str {
    if path.as_bytes().get(1) != Some(&b'p') {
        return "";
    }
    let is_view = |rest: &str| rest.split_once('/').is_some_and(|(_, name)| name == "root");
    if path.strip_prefix("/proc/").is_some_and(is_view) {
        return path;
    }
    match path {
        "/private/tmp" | "/private/var" | "/private/etc" => "/private",
        _ => "",
    }
}

/// Returns the directory that a pattern covers completely: `/x` for `/x/*`. A pattern such as `/x/a*` covers only
/// itself.
fn covered_directory(path: &str) -> &str {
    let mut rest = path;
    while let Some((parent, last)) = rest.rsplit_once('/') {
        if !matches_everything(last) {
            break;
        }
        if parent.is_empty() {
            return "/";
        }
        rest = parent;
    }
    rest
}

fn matches_everything(part: &str) -> bool {
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
