// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Globs of rules, applied to a file tree.

use std::path::{Path, PathBuf};

use fast_glob::glob_match;

use crate::file_tree::{FileTree, TreeEntryKind};

/// Maximum number of paths that one glob expands to. A directory with more is protected as a whole.
const MAX_PATHS_PER_GLOB: usize = 512;

/// A path that a glob names.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct PatternTarget {
    pub(crate) path: PathBuf,
    /// Whether the glob covers everything below the path.
    pub(crate) covers_tree: bool,
    /// Whether the last part of the glob is a wildcard, so that new names may match too.
    pub(crate) by_wildcard: bool,
}

/// Paths of a glob.
#[derive(Debug, Default)]
pub(crate) struct PatternExpansion {
    pub(crate) targets: Vec<PatternTarget>,
    /// Directories in which a new name may match the glob.
    pub(crate) open_directories: Vec<PathBuf>,
    /// Directories with more matching names than are listed.
    pub(crate) full_directories: Vec<PathBuf>,
    /// Directories below which the glob names files at any depth.
    pub(crate) deep_directories: Vec<PathBuf>,
}

/// Expands a glob below a directory. Parts without wildcards need not exist.
pub(crate) fn expand(base: &Path, glob: &str, tree: &dyn FileTree) -> PatternExpansion {
    let parts: Vec<_> = glob.split('/').filter(|part| !part.is_empty()).collect();
    let mut found = PatternExpansion::default();
    add(base.to_owned(), &parts, false, tree, &mut found);
    found
}

fn add(path: PathBuf, parts: &[&str], by_wildcard: bool, tree: &dyn FileTree, found: &mut PatternExpansion) {
    let target = |path, covers_tree| PatternTarget { path, covers_tree, by_wildcard };
    match parts {
        [] => found.targets.push(target(path, false)),
        // `X/*` matches every name in X.
        ["**" | "*"] => found.targets.push(target(path, true)),
        ["**", ..] => found.deep_directories.push(path),
        [part, rest @ ..] if !has_wildcard(part) => add(path.join(part), rest, by_wildcard, tree, found),
        [part, rest @ ..] => {
            // `settings*.json` protects `settings.json` even if it does not exist.
            let plain = part.replace('*', "");
            let has_plain = !part.starts_with('*') && !has_wildcard(&plain);
            if has_plain {
                add(path.join(&plain), rest, true, tree, found);
            }
            if tree.kind(&path) == Some(TreeEntryKind::Directory) {
                for name in tree.names(&path) {
                    // A name that is not UTF-8 cannot be compared with the glob.
                    let matched = name.to_str().is_some_and(|name| glob_match(part, name));
                    if !matched || has_plain && name == *plain {
                        continue;
                    }
                    if found.targets.len() >= MAX_PATHS_PER_GLOB {
                        found.full_directories.push(path.clone());
                        break;
                    }
                    add(path.join(name), rest, true, tree, found);
                }
            }
            found.open_directories.push(path);
        }
    }
}

pub(crate) fn has_wildcard(part: &str) -> bool {
    part.contains(['*', '?', '['])
}

/// Returns the start of a glob up to the first part with a wildcard.
pub(crate) fn literal_start(glob: &str) -> PathBuf {
    let start = if glob.starts_with('/') { "/" } else { "" };
    let parts = glob.split('/').filter(|part| !part.is_empty()).take_while(|part| !has_wildcard(part));
    Path::new(start).join(parts.collect::<PathBuf>())
}

/// Whether a glob of a rule matches a path.
pub(crate) fn matches(glob: &str, path: &Path, home: &Path) -> bool {
    let in_home = || Some(format!("~/{}", path.strip_prefix(home).ok()?.to_str()?));
    let text = if glob.starts_with("~/") { in_home() } else { path.to_str().map(ToOwned::to_owned) };
    text.is_some_and(|text| glob_match(glob, &text))
}
