// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Finds the directories and files to watch so that every change to a path's target is noticed.

use std::ffi::OsString;
use std::path::{Component, Path, PathBuf};

const MAX_LINKS: usize = 40;

/// A directory or file to watch.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum WatchTarget {
    /// A directory in the path: it may be moved or removed.
    Passed(PathBuf),
    /// A directory in which this name may be created, removed or replaced.
    Named(PathBuf, OsString),
    /// The end of the path: its content or attributes may change.
    Reached(PathBuf),
}

/// Resolves a path through its symbolic links, as the kernel does.
pub(super) fn follow(path: &Path) -> Vec<WatchTarget> {
    let (mut steps, mut links) = (Vec::new(), 0);
    let mut left: Vec<OsString> = split_names(path);
    let mut here = PathBuf::from("/");
    while let Some(name) = left.pop() {
        if name == ".." {
            here.pop();
            continue;
        }
        let next = here.join(&name);
        let target = fs_err::read_link(&next).ok();
        // A directory reports when it is moved. Links, files and missing names do not.
        let is_passed = target.is_none() && next.is_dir() && !left.is_empty();
        if !is_passed {
            steps.push(WatchTarget::Named(here.clone(), name));
        }
        match target {
            Some(target) => {
                links += 1;
                if links > MAX_LINKS {
                    return steps;
                }
                left.extend(split_names(&target));
                if target.is_absolute() {
                    here = PathBuf::from("/");
                }
            }
            None if is_passed => {
                steps.push(WatchTarget::Passed(next.clone()));
                here = next;
            }
            None => {
                if next.exists() && left.is_empty() {
                    steps.push(WatchTarget::Reached(next));
                }
                return steps;
            }
        }
    }
    // The path ends in `..` or `/`.
    steps.push(WatchTarget::Reached(here));
    steps
}

/// Splits a path into its names, last name first.
fn split_names(path: &Path) -> Vec<OsString> {
    let name = |component: Component<'_>| match component {
        Component::Normal(name) => Some(name.to_owned()),
        Component::ParentDir => Some(OsString::from("..")),
        Component::CurDir | Component::RootDir | Component::Prefix(_) => None,
    };
    path.components().rev().filter_map(name).collect()
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    fn named(dir: &Path, name: &str) -> WatchTarget {
        WatchTarget::Named(dir.to_owned(), name.into())
    }

    #[test]
    fn links_are_followed_and_each_of_them_is_watched() {
        let dir = tempfile::tempdir().unwrap();
        let dir = dir.path().canonicalize().unwrap();
        std::fs::create_dir_all(dir.join("real/rules")).unwrap();
        symlink("real", dir.join("turned")).unwrap();
        symlink("../file", dir.join("real/rules/policy")).unwrap();
        std::fs::write(dir.join("real/file"), "").unwrap();
        let steps = follow(&dir.join("turned/rules/policy"));
        for step in [
            named(&dir, "turned"),
            WatchTarget::Passed(dir.join("real")),
            WatchTarget::Passed(dir.join("real/rules")),
            named(&dir.join("real/rules"), "policy"),
            named(&dir.join("real"), "file"),
            WatchTarget::Reached(dir.join("real/file")),
        ] {
            assert!(steps.contains(&step), "{step:?} in {steps:?}");
        }
    }

    #[test]
    fn what_is_missing_is_waited_for_where_it_would_come() {
        let dir = tempfile::tempdir().unwrap();
        let dir = dir.path().canonicalize().unwrap();
        let steps = follow(&dir.join("a/b/c"));
        assert_eq!(steps.last(), Some(&named(&dir, "a")));
        symlink("loop", dir.join("loop")).unwrap();
        assert!(follow(&dir.join("loop")).len() < 100);
    }
}
