// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Proposes a profile from what a run was refused. What a rule protects is never proposed.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::call_observer::PathOperation;
use crate::refusals::RefusedAccess;

/// Directories below the home directory that belong to many programs. Each program has a directory in them.
const SHARED_DIRECTORIES: &[&str] = &[
    ".cache",
    ".config",
    ".local",
    ".local/bin",
    ".local/share",
    ".local/state",
    "Library",
    "Library/Caches",
    "Library/Application Support",
];

/// A proposed profile.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct ProfileProposal {
    /// Directories that the run tried to write to, with the number of refused paths.
    pub write: BTreeMap<String, usize>,
    /// Files in the home directory that the run tried to write.
    pub write_files: BTreeSet<String>,
    /// Paths outside the home directory, which are not proposed.
    pub outside: BTreeSet<PathBuf>,
    /// Paths that a rule protects, with the rule. They are not proposed.
    pub protected: BTreeMap<PathBuf, String>,
}

impl ProfileProposal {
    /// Derives a proposal from refused accesses.
    pub fn derive(refused: &[RefusedAccess], home: &Path) -> Self {
        let mut proposal = Self::default();
        for access in refused {
            match &access.protected_by {
                Some(rule) => drop(proposal.protected.insert(access.path.clone(), rule.clone())),
                None => proposal.add(access, home),
            }
        }
        proposal
    }

    fn add(&mut self, access: &RefusedAccess, home: &Path) {
        let Ok(below) = access.path.strip_prefix(home) else {
            self.outside.insert(access.path.clone());
            return;
        };
        let is_shared = |path: &Path| SHARED_DIRECTORIES.iter().any(|shared| Path::new(shared) == path);
        let mut chosen = PathBuf::new();
        for part in below.components() {
            chosen.push(part);
            if !is_shared(&chosen) {
                break;
            }
        }
        let name = format!("~/{}", chosen.display());
        let is_directory =
            chosen != below || access.path.is_dir() || access.operation == PathOperation::Create;
        if is_directory {
            *self.write.entry(name).or_default() += 1;
        } else {
            self.write_files.insert(name);
        }
    }

    /// Whether the run needs nothing that a profile could allow.
    pub fn is_empty(&self) -> bool {
        self.write.is_empty() && self.write_files.is_empty()
    }

    /// The text of a profile that includes another one, with the proposed lines marked as in a diff.
    pub fn to_diff(&self, includes: &str) -> String {
        let mut text = format!(" version: 1\n includes: [{includes}]\n");
        if !self.write.is_empty() {
            text.push_str("+write:\n");
            for (path, count) in &self.write {
                let _ = writeln!(text, "+  - {}  # {count} refused", quoted(path));
            }
        }
        if !self.write_files.is_empty() {
            text.push_str("+write_files:\n");
            for path in &self.write_files {
                let _ = writeln!(text, "+  - {}", quoted(path));
            }
        }
        text
    }
}

/// A path as YAML text.
fn quoted(path: &str) -> String {
    let is_plain = path.chars().all(|letter| letter.is_ascii_alphanumeric() || "~/._-".contains(letter));
    if is_plain { path.to_owned() } else { serde_json::Value::from(path).to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::SandboxProfile;

    fn refused(path: &str, operation: PathOperation, rule: Option<&str>) -> RefusedAccess {
        RefusedAccess { path: PathBuf::from(path), operation, protected_by: rule.map(ToOwned::to_owned) }
    }

    #[test]
    fn directories_of_programs_are_proposed_and_protected_paths_are_not() {
        let write = PathOperation::Write;
        let proposal = ProfileProposal::derive(
            &[
                refused("/h/.cache/tool/a/b", write, None),
                refused("/h/.cache/tool/c", PathOperation::Create, None),
                refused("/h/.local/share/x y/z", write, None),
                refused("/h/.toolrc", write, None),
                refused("/h/.bashrc", write, Some("persistence")),
                refused("/etc/hosts", write, None),
            ],
            Path::new("/h"),
        );
        let diff = proposal.to_diff("default");
        assert_eq!(
            diff,
            " version: 1\n includes: [default]\n+write:\n+  - ~/.cache/tool  # 2 refused\n\
             +  - \"~/.local/share/x y\"  # 1 refused\n+write_files:\n+  - ~/.toolrc\n"
        );
        assert_eq!(proposal.protected[Path::new("/h/.bashrc")], "persistence");
        assert!(proposal.outside.contains(Path::new("/etc/hosts")));
        let lines: Vec<_> = diff.lines().filter_map(|line| line.get(1..)).collect();
        let profile = SandboxProfile::parse("mine", &(lines.join("\n") + "\n")).unwrap();
        assert_eq!(profile.write, ["~/.cache/tool", "~/.local/share/x y"]);
    }
}
