// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Derives the paths of a sandbox from the rules of a policy and a profile.

mod hidden_paths;
mod programs;
mod roots;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use tenterhook_policy::{FileOp, PathLocation, PathRule};

use crate::file_tree::{FileTree, TreeEntryKind};
use crate::path_pattern::{PatternTarget, expand, literal_start, matches};
use crate::profile::SandboxProfile;
use crate::refusals::ProtectedGlob;
use crate::repositories::Repository;

pub use self::roots::SandboxRoots;

/// Directories of which a sandbox has its own, empty version.
pub(crate) const PRIVATE_DIRECTORIES: &[&str] = &["/dev", "/proc", "/run", "/tmp", "/var/run", "/var/tmp"];

/// What a run may do with a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PathAccess {
    /// Read and write.
    Write,
    /// Read and write, but the directory cannot be renamed or removed, because a protected path is below it.
    Anchored,
    /// Write; changes to settings in it are undone after the run.
    Checked,
    /// The run has an empty directory of its own here, which is removed after it.
    Private,
    /// Read, but not write.
    ReadOnly,
    /// Neither read nor write: the path appears empty.
    Hidden,
}

/// A path of a sandbox.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PathEntry {
    /// Absolute path outside the sandbox.
    pub path: PathBuf,
    /// What the run may do with the path.
    pub access: PathAccess,
    /// Whether the path is a directory, or will be one.
    pub is_directory: bool,
    /// Whether the path exists. If not, it is created before the run.
    pub exists: bool,
    /// Id of the rule, or `profile`, `project` or `tenterhook`.
    pub reason: String,
}

/// A part of a rule that only hooks enforce.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct UnexpressedRule {
    /// Id of the rule.
    pub rule: String,
    /// The glob, or the first glob of several.
    pub glob: String,
    /// Why the sandbox does not enforce it.
    pub why: String,
}

/// The paths of a sandbox. A directory comes before what is below it.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct PathSets {
    /// The paths with an access of their own. Everything else is read-only.
    pub entries: Vec<PathEntry>,
    /// Parts of rules that only hooks enforce.
    pub unexpressed: Vec<UnexpressedRule>,
    /// Globs of rules against writing. They explain why a path is read-only that would be so without them.
    pub(crate) protected_globs: Vec<ProtectedGlob>,
    /// Home directory, for globs.
    pub(crate) home: PathBuf,
}

/// Collects entries; the strictest access of a path counts.
struct Derivation<'a> {
    roots: &'a SandboxRoots,
    tree: &'a dyn FileTree,
    writable: Vec<PathBuf>,
    own: Vec<PathBuf>,
    readable: Vec<PathBuf>,
    entries: BTreeMap<PathBuf, PathEntry>,
    /// Directories without links, by their name in a rule or profile.
    real_directories: BTreeMap<PathBuf, PathBuf>,
    unexpressed: Vec<UnexpressedRule>,
    protected_globs: Vec<ProtectedGlob>,
}

impl PathSets {
    /// Derives the paths of a sandbox. Reads nothing but the given tree.
    pub fn derive(
        rules: &[PathRule],
        profile: &SandboxProfile,
        roots: &SandboxRoots,
        tree: &dyn FileTree,
    ) -> Self {
        let expand_home = |path: &String| expand_home(path, &roots.home);
        let mut derivation = Derivation {
            roots,
            tree,
            writable: Vec::new(),
            own: Vec::new(),
            readable: Vec::new(),
            entries: BTreeMap::new(),
            real_directories: BTreeMap::new(),
            unexpressed: Vec::new(),
            protected_globs: Vec::new(),
        };
        derivation.own = profile.own.iter().map(|path| derivation.real(&expand_home(path))).collect();
        derivation.readable = profile.read.iter().map(|path| derivation.real(&expand_home(path))).collect();
        derivation.add_writable(profile);
        derivation.add_private(profile);
        derivation.add_programs();
        for path in &profile.read_only {
            let real = derivation.real(&expand_home(path));
            derivation.add_read_only(&real, path.ends_with('/'));
        }
        for rule in rules {
            derivation.add_rule(rule);
        }
        derivation.add_named_programs();
        derivation.add_own_state();
        derivation.add_program_settings();
        derivation.finish()
    }

    /// Ids of the rules that protect paths.
    pub fn protecting_rules(&self) -> impl Iterator<Item = &str> {
        let globs = self.protected_globs.iter().map(|protected| protected.rule.as_str());
        self.entries.iter().map(|entry| entry.reason.as_str()).chain(globs)
    }

    /// Whether a path is hidden, is in a hidden directory, or is in a directory of which the run has its own.
    pub fn is_hidden(&self, path: &Path) -> bool {
        let is_invisible = |entry: &&PathEntry| {
            matches!(entry.access, PathAccess::Hidden | PathAccess::Private) && path.starts_with(&entry.path)
        };
        self.entries.iter().any(|entry| is_invisible(&entry))
    }

    /// Returns the entries with this access.
    pub fn with_access(&self, access: PathAccess) -> impl Iterator<Item = &PathEntry> {
        self.entries.iter().filter(move |entry| entry.access == access)
    }
}

impl Derivation<'_> {
    fn add_writable(&mut self, profile: &SandboxProfile) {
        let roots = self.roots;
        self.add(&roots.project, PathAccess::Write, true, "project");
        self.writable.push(roots.project.clone());
        for repository in &roots.repositories {
            for git_dir in [&repository.git_dir, &repository.own_git_dir] {
                // Only a worktree's own repository is outside the project, and it names the worktree.
                if !self.is_writable(git_dir) && roots.may_write_git_dir(repository) {
                    self.add(git_dir, PathAccess::Write, true, "project");
                    self.writable.push(git_dir.clone());
                }
            }
        }
        let directories = profile.write.iter().map(|path| (path, true));
        let files = profile.write_files.iter().chain(&profile.own).map(|path| (path, false));
        for (path, is_directory) in directories.chain(files) {
            let path = self.real(&expand_home(path, &roots.home));
            let kind = self.tree.kind(&path);
            // A link could lead anywhere. A missing file is created if its directory exists.
            let has_parent = path.parent().is_some_and(|parent| self.tree.kind(parent).is_some());
            if kind == Some(TreeEntryKind::Link) || !is_directory && (self.is_writable(&path) || !has_parent)
            {
                continue;
            }
            let is_directory = kind.map_or(is_directory, |kind| kind == TreeEntryKind::Directory);
            self.add(&path, PathAccess::Write, is_directory, "profile");
            self.writable.push(path);
        }
    }

    /// Adds directories with code that other sessions of the same program run: the run has empty ones of its own.
    fn add_private(&mut self, profile: &SandboxProfile) {
        for path in &profile.private {
            let path = self.real(&expand_home(path, &self.roots.home));
            let kind = self.tree.kind(&path);
            let has_parent = path.parent().is_some_and(|parent| self.tree.kind(parent).is_some());
            // A link could lead anywhere. The run cannot create what is in no writable directory.
            if kind == Some(TreeEntryKind::Directory)
                || kind.is_none() && (has_parent || self.is_writable(&path))
            {
                self.add(&path, PathAccess::Private, true, "profile");
            }
        }
    }

    fn add_rule(&mut self, rule: &PathRule) {
        let is_about = |wanted: &[FileOp]| {
            rule.does.is_empty() || rule.does.iter().any(|operation| wanted.contains(operation))
        };
        let (writes, reads) = (is_about(&[FileOp::Write, FileOp::Append]), is_about(&[FileOp::Read]));
        if let Some(condition) = rule.inexpressible.first() {
            self.leave_to_hooks(rule, rule.globs.first(), &format!("depends on `{condition}`"));
        } else if writes {
            for glob in &rule.globs {
                self.protect(rule, glob);
                let (glob, rule_id) = (glob.clone(), rule.rule.clone());
                let except = rule.except.clone();
                self.protected_globs.push(ProtectedGlob { glob, rule: rule_id, except });
            }
        } else if !reads {
            self.leave_to_hooks(rule, rule.globs.first(), "only deleting, moving or running");
        }
        if reads && rule.denies && rule.inexpressible.is_empty() {
            for glob in &rule.globs {
                self.hide(rule, glob);
            }
        } else if reads && !writes && !rule.denies && rule.inexpressible.is_empty() {
            self.leave_to_hooks(rule, rule.globs.first(), "asks before reading");
        }
    }

    /// Returns the absolute globs of a rule's glob, with the repository or project directory that each belongs to.
    fn anchored(&self, glob: &str) -> Vec<String> {
        let join = |base: &Path, rest: &str| format!("{}/{rest}", base.display());
        let roots = self.roots;
        if let Some(rest) = glob.strip_prefix("~/") {
            return vec![join(&roots.home, rest)];
        }
        if glob.starts_with('/') {
            return vec![glob.to_owned()];
        }
        let rest = glob.strip_prefix("**/");
        let Some(rest) = rest else { return vec![join(&roots.project, glob)] };
        let mut found: Vec<_> = if let Some(rest) = rest.strip_prefix(".git/") {
            let git_dirs = roots.repositories.iter().flat_map(Repository::hook_owners);
            git_dirs.map(|git_dir| join(git_dir, rest)).collect()
        } else {
            roots.working_trees().map(|root| join(root, rest)).collect()
        };
        found.sort();
        found.dedup();
        found
    }

    /// Makes the paths of a glob read-only where they would be writable.
    fn protect(&mut self, rule: &PathRule, glob: &str) {
        for anchored in self.anchored(glob) {
            let (start, anchored) = self.without_links(&anchored);
            if !self.is_writable(&start) && !self.writable.iter().any(|root| root.starts_with(&start)) {
                // Read-only anyway.
                continue;
            }
            let expansion = expand(Path::new("/"), &anchored, self.tree);
            for target in expansion.targets {
                self.protect_target(rule, glob, &target);
            }
            for directory in expansion.open_directories {
                self.protect_open_directory(rule, glob, &directory);
            }
            for directory in expansion.full_directories {
                if self.is_writable(&directory) && self.applies_at(rule, &directory) {
                    self.add(&directory, PathAccess::ReadOnly, true, &rule.rule);
                }
            }
            for directory in expansion.deep_directories {
                if self.is_writable(&directory) {
                    self.leave_to_hooks(rule, Some(&glob.to_owned()), "names files at any depth");
                }
            }
        }
    }

    fn protect_target(&mut self, rule: &PathRule, glob: &str, target: &PatternTarget) {
        let path = &target.path;
        if self.own.contains(path) || self.is_excepted(rule, path) || !self.applies_at(rule, path) {
            return;
        }
        if target.covers_tree && rule.denies && self.writable.iter().any(|root| root.starts_with(path)) {
            // The rule covers a writable directory as a whole.
            let covered = self.writable.iter().filter(|root| root.starts_with(path)).cloned();
            for root in covered.collect::<Vec<_>>() {
                if !self.own.contains(&root) {
                    self.add(&root, PathAccess::ReadOnly, true, &rule.rule);
                }
            }
            return;
        }
        let Some(root) = self.writable_root(path) else { return };
        match self.tree.kind(path) {
            Some(TreeEntryKind::Directory) if target.covers_tree => {
                self.add(path, PathAccess::ReadOnly, true, &rule.rule);
            }
            Some(TreeEntryKind::File) => self.add(path, PathAccess::ReadOnly, false, &rule.rule),
            // A link itself cannot be protected by a mount.
            Some(TreeEntryKind::Link) => self.add(path, PathAccess::Checked, false, &rule.rule),
            // `X{,/**}` names the directory as well as its content.
            Some(TreeEntryKind::Directory) => {}
            None => self.protect_absent(rule, glob, target, &root),
        }
    }

    /// Protects a path that does not exist: its directory is read-only, or it is checked after the run.
    fn protect_absent(&mut self, rule: &PathRule, glob: &str, target: &PatternTarget, root: &Path) {
        let directory = if target.covers_tree { Some(target.path.as_path()) } else { target.path.parent() };
        let Some(directory) = directory else { return };
        // The name of a directory is protected only together with its content.
        let is_tree_name = rule.globs.iter().any(|other| other.strip_suffix("/**") == Some(glob));
        if !target.covers_tree && is_tree_name {
            return;
        }
        let is_root = directory == root || self.is_project_root(directory);
        let is_dedicated = is_dot_path(directory, root);
        if directory == root && !root.starts_with(&self.roots.project) && is_dedicated {
            // In the directory of a harness, an empty settings file does no harm.
            self.add(&target.path, PathAccess::ReadOnly, target.covers_tree, &rule.rule);
        } else if is_root || !is_dedicated {
            if self.tree.kind(directory).is_some() {
                self.add(&target.path, PathAccess::Checked, target.covers_tree, &rule.rule);
            } else {
                self.leave_to_hooks(rule, Some(&glob.to_owned()), "the directory does not exist");
            }
        } else if self.tree.kind(directory) != Some(TreeEntryKind::Link) {
            self.add(directory, PathAccess::ReadOnly, true, &rule.rule);
        }
    }

    /// Protects a directory in which new names may match a glob.
    fn protect_open_directory(&mut self, rule: &PathRule, glob: &str, directory: &Path) {
        let Some(root) = self.writable_root(directory) else { return };
        if !self.applies_at(rule, directory) {
            return;
        }
        let is_root = directory == root || self.is_project_root(directory);
        let is_link = self.tree.kind(directory) == Some(TreeEntryKind::Link);
        if !is_root && !is_link && is_dot_path(directory, &root) {
            self.add(directory, PathAccess::ReadOnly, true, &rule.rule);
        } else {
            self.leave_to_hooks(rule, Some(&glob.to_owned()), "new names in a writable directory");
        }
    }

    fn add_own_state(&mut self) {
        let roots = self.roots;
        for directory in [&roots.state, &roots.config] {
            self.add(directory, PathAccess::ReadOnly, true, "tenterhook");
        }
        for path in &roots.secret_state {
            if let Some(kind) = self.tree.kind(path) {
                self.add(path, PathAccess::Hidden, kind == TreeEntryKind::Directory, "tenterhook");
            }
        }
    }

    /// Adds the directories above protected paths, and removes entries that a directory above covers.
    fn finish(mut self) -> PathSets {
        let own = std::mem::take(&mut self.own);
        let is_strict =
            |access| matches!(access, PathAccess::Private | PathAccess::ReadOnly | PathAccess::Hidden);
        let strict: Vec<_> = self
            .entries
            .values()
            .filter(|entry| is_strict(entry.access))
            .map(|entry| entry.path.clone())
            .collect();
        for path in &strict {
            let Some(root) = self.writable_root(path) else { continue };
            for directory in path.ancestors().skip(1).take_while(|directory| *directory != root) {
                self.add(directory, PathAccess::Anchored, true, "holds a protected path");
            }
        }
        let mut entries: Vec<PathEntry> = Vec::new();
        for entry in self.entries.into_values() {
            let above = entries.iter().rev().find(|above| entry.path.starts_with(&above.path));
            let is_covered = above.is_some_and(|above| match above.access {
                PathAccess::ReadOnly => {
                    !own.contains(&entry.path)
                        && !matches!(entry.access, PathAccess::Hidden | PathAccess::Private)
                }
                PathAccess::Private => true,
                PathAccess::Hidden => !entry.reason.starts_with("exception of") && !own.contains(&entry.path),
                _ => {
                    entry.access == PathAccess::Write
                        && above.access == PathAccess::Write
                        && entry.exists
                        && entry.reason != "profile"
                }
            });
            if !is_covered {
                entries.push(entry);
            }
        }
        let mut unexpressed = self.unexpressed;
        unexpressed.sort();
        unexpressed.dedup();
        let (protected_globs, home) = (self.protected_globs, self.roots.home.clone());
        PathSets { entries, unexpressed, protected_globs, home }
    }

    fn add(&mut self, path: &Path, access: PathAccess, is_directory: bool, reason: &str) {
        let exists = self.tree.kind(path).is_some();
        let entry =
            PathEntry { path: path.to_owned(), access, is_directory, exists, reason: reason.to_owned() };
        let known = self.entries.entry(path.to_owned()).or_insert_with(|| entry.clone());
        if known.access < access {
            *known = entry;
        }
    }

    fn leave_to_hooks(&mut self, rule: &PathRule, glob: Option<&String>, why: &str) {
        let glob = glob.cloned().unwrap_or_default();
        self.unexpressed.push(UnexpressedRule { rule: rule.rule.clone(), glob, why: why.to_owned() });
    }

    /// Returns a path whose directory contains no links.
    fn real(&mut self, path: &Path) -> PathBuf {
        let (Some(directory), Some(name)) = (path.parent(), path.file_name()) else { return path.to_owned() };
        let tree = self.tree;
        let real =
            self.real_directories.entry(directory.to_owned()).or_insert_with(|| tree.canonical(directory));
        real.join(name)
    }

    /// Returns the start of a glob up to its first wildcard, and the glob, without links in that start.
    fn without_links(&mut self, glob: &str) -> (PathBuf, String) {
        let start = literal_start(glob);
        let real = self.real(&start);
        let rest = start.to_str().and_then(|start| glob.strip_prefix(start));
        match (real.to_str(), rest) {
            (Some(text), Some(rest)) if real != start => (real.clone(), format!("{text}{rest}")),
            _ => (start, glob.to_owned()),
        }
    }

    fn is_writable(&self, path: &Path) -> bool {
        self.writable.iter().any(|root| path.starts_with(root))
    }

    fn is_writable_outside_project(&self, path: &Path) -> bool {
        self.is_writable(path) && !path.starts_with(&self.roots.project)
    }

    /// Returns the innermost writable directory that contains a path.
    fn writable_root(&self, path: &Path) -> Option<PathBuf> {
        let within = self.writable.iter().filter(|root| path.starts_with(root));
        within.max_by_key(|root| root.components().count()).cloned()
    }

    fn is_project_root(&self, directory: &Path) -> bool {
        directory == self.roots.project || self.roots.repositories.iter().any(|found| found.root == directory)
    }

    fn is_excepted(&self, rule: &PathRule, path: &Path) -> bool {
        rule.except.iter().any(|glob| matches(glob, path, &self.roots.home))
    }

    fn applies_at(&self, rule: &PathRule, path: &Path) -> bool {
        let in_project = path.starts_with(&self.roots.project);
        let wanted = if in_project { PathLocation::InsideProject } else { PathLocation::OutsideProject };
        rule.locations.is_empty() || rule.locations.contains(&wanted)
    }

    /// Whether a path is in a directory of which a sandbox has its own version.
    fn is_private(&self, path: &Path) -> bool {
        let kept = [&self.roots.home, &self.roots.project];
        PRIVATE_DIRECTORIES.iter().any(|directory| path.starts_with(directory))
            && !kept.iter().any(|kept| path.starts_with(kept))
    }
}

/// Whether a directory below `root` is a hidden directory or is in one, such as those of harnesses.
fn is_dot_path(directory: &Path, root: &Path) -> bool {
    let below = directory.strip_prefix(root).unwrap_or(directory);
    let is_dot = |part: std::path::Component<'_>| {
        // `.bin` holds programs, not settings.
        part.as_os_str().as_encoded_bytes().starts_with(b".") && part.as_os_str() != ".bin"
    };
    below.components().any(is_dot) || root.components().next_back().is_some_and(is_dot)
}

pub(crate) fn expand_home(path: &str, home: &Path) -> PathBuf {
    path.strip_prefix("~/").map_or_else(|| PathBuf::from(path), |rest| home.join(rest))
}
