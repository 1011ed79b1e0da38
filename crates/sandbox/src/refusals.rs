// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Which observed calls the sandbox refuses, by its paths. Calls that would fail outside as well are left out: programs
//! often try to write where they may not.

use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use rustix::fs::{Access, access};
use rustix::process::getuid;
use serde::{Deserialize, Serialize};

use crate::call_observer::{ObservedCall, PathOperation};
use crate::path_pattern::{literal_start, matches};
use crate::path_sets::{PRIVATE_DIRECTORIES, PathAccess, PathEntry, PathSets, expand_home};

/// A glob of a rule against writing.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct ProtectedGlob {
    pub(crate) glob: String,
    pub(crate) rule: String,
    pub(crate) except: Vec<String>,
}

/// An access that the sandbox refused.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct RefusedAccess {
    /// The path, without links in its directory.
    pub path: PathBuf,
    /// What the call would have done.
    pub operation: PathOperation,
    /// Id of the rule that protects the path, `tenterhook` or `profile`; `None` if no entry makes the path writable.
    pub protected_by: Option<String>,
}

impl PathSets {
    /// Returns the access if the sandbox refuses it, and if it would succeed outside. `visible` are directories of the
    /// machine below the private ones.
    pub fn refused_access(&self, call: &ObservedCall, visible: &[PathBuf]) -> Option<RefusedAccess> {
        let path = real_path(call);
        let is_private = PRIVATE_DIRECTORIES.iter().any(|directory| path.starts_with(directory))
            && !visible.iter().any(|directory| path.starts_with(directory));
        if is_private || path.starts_with("/sys") {
            return None;
        }
        let entry = self.deciding_entry(&path);
        let is_read = call.operation == PathOperation::Read;
        let is_refused = match entry.map(|entry| entry.access) {
            Some(PathAccess::Hidden) => true,
            Some(PathAccess::ReadOnly) | None => !is_read,
            Some(PathAccess::Write | PathAccess::Anchored | PathAccess::Checked | PathAccess::Private) => {
                false
            }
        };
        if !is_refused || !would_succeed(call.operation, &path) {
            return None;
        }
        let by_rule = || self.rule_against_writing(&path).filter(|_| !is_read);
        let protected_by = entry.map(|entry| entry.reason.clone()).or_else(by_rule);
        Some(RefusedAccess { path, operation: call.operation, protected_by })
    }

    /// Whether a rule against writing names paths in a directory.
    pub(crate) fn has_protected_below(&self, directory: &Path) -> bool {
        self.protected_globs.iter().any(|protected| {
            let start = literal_start(&protected.glob);
            expand_home(start.to_str().unwrap_or_default(), &self.home).starts_with(directory)
        })
    }

    /// Returns the rule against writing a path that is read-only anyway.
    pub(crate) fn rule_against_writing(&self, path: &Path) -> Option<String> {
        let is_matched = |glob: &str| matches(glob, path, &self.home);
        let protected = self.protected_globs.iter().find(|protected| {
            is_matched(&protected.glob) && !protected.except.iter().any(|glob| is_matched(glob))
        });
        protected.map(|protected| protected.rule.clone())
    }

    /// Returns the innermost entry that contains a path.
    fn deciding_entry(&self, path: &Path) -> Option<&PathEntry> {
        let containing = self.entries.iter().filter(|entry| entry.access != PathAccess::Checked);
        containing
            .filter(|entry| path.starts_with(&entry.path))
            .max_by_key(|entry| entry.path.components().count())
    }
}

/// Returns the path without links in its directory, and without a link at its end if the call follows it.
fn real_path(call: &ObservedCall) -> PathBuf {
    let follows = !matches!(call.operation, PathOperation::Remove | PathOperation::Create);
    if follows && let Ok(real) = call.path.canonicalize() {
        return real;
    }
    match (call.path.parent(), call.path.file_name()) {
        (Some(directory), Some(name)) => {
            directory.canonicalize().map_or_else(|_| call.path.clone(), |directory| directory.join(name))
        }
        _ => call.path.clone(),
    }
}

/// Whether a call would succeed outside the sandbox.
fn would_succeed(operation: PathOperation, path: &Path) -> bool {
    let found = std::fs::symlink_metadata(path);
    let is_in_writable =
        || path.parent().is_some_and(|directory| access(directory, Access::WRITE_OK).is_ok());
    match (operation, found) {
        (PathOperation::Read, Ok(_)) => access(path, Access::READ_OK).is_ok(),
        (PathOperation::Write, Ok(found)) => !found.is_dir() && access(path, Access::WRITE_OK).is_ok(),
        (PathOperation::Remove, Ok(_)) | (PathOperation::Write | PathOperation::Create, Err(_)) => {
            is_in_writable()
        }
        (PathOperation::Change, Ok(found)) => getuid().is_root() || found.uid() == getuid().as_raw(),
        (PathOperation::Create, Ok(_))
        | (PathOperation::Read | PathOperation::Remove | PathOperation::Change, Err(_)) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sets(directory: &Path) -> PathSets {
        let entry = |name: &str, access, reason: &str| PathEntry {
            path: directory.join(name),
            access,
            is_directory: true,
            exists: true,
            reason: reason.to_owned(),
        };
        let entries = vec![
            entry("work", PathAccess::Write, "project"),
            entry("work/.git/hooks", PathAccess::ReadOnly, "persistence"),
            entry("keys", PathAccess::Hidden, "credential-read"),
        ];
        let protected_globs = vec![ProtectedGlob {
            glob: format!("{}/.*rc", directory.display()),
            rule: "persistence".to_owned(),
            except: Vec::new(),
        }];
        PathSets { entries, protected_globs, ..PathSets::default() }
    }

    #[test]
    fn accesses_that_the_sandbox_refuses_name_the_rule() {
        let directory = tempfile::tempdir_in(env!("CARGO_MANIFEST_DIR")).unwrap();
        let root = directory.path().canonicalize().unwrap();
        std::fs::create_dir_all(root.join("work/.git/hooks")).unwrap();
        std::fs::create_dir_all(root.join("keys")).unwrap();
        std::fs::write(root.join("keys/id"), "x").unwrap();
        let sets = sets(&root);
        let refused = |operation, name: &str| {
            let call = ObservedCall { operation, path: root.join(name) };
            sets.refused_access(&call, &[]).map(|refused| refused.protected_by)
        };
        let by = |rule: &str| Some(Some(rule.to_owned()));
        assert_eq!(refused(PathOperation::Write, "work/a"), None);
        assert_eq!(refused(PathOperation::Write, "work/.git/hooks/pre-commit"), by("persistence"));
        assert_eq!(refused(PathOperation::Read, "work/.git/hooks/pre-commit"), None);
        assert_eq!(refused(PathOperation::Read, "keys/id"), by("credential-read"));
        assert_eq!(refused(PathOperation::Write, "other"), Some(None));
        assert_eq!(refused(PathOperation::Write, ".zshrc"), by("persistence"));
        // They fail outside too.
        assert_eq!(refused(PathOperation::Write, "none/other"), None);
        assert_eq!(refused(PathOperation::Remove, "other"), None);
        assert_eq!(refused(PathOperation::Create, "keys"), None);
        std::os::unix::fs::symlink(root.join("keys/id"), root.join("work/link")).unwrap();
        assert_eq!(refused(PathOperation::Read, "work/link"), by("credential-read"));
        assert_eq!(refused(PathOperation::Remove, "work/link"), None, "the link itself");
    }
}
