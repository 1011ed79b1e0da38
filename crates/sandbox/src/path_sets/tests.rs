// SPDX-License-Identifier: Apache-2.0 OR MIT

//! From rules to paths to arguments of bubblewrap, with a file tree that exists only in memory.

use std::collections::BTreeMap;
use std::ffi::OsString;

use super::*;
use crate::bubblewrap::{MountMethod, SandboxMounts, arguments};
use crate::profile::NetworkAccess;
use crate::repositories::Repository;

/// Files by their path; a directory has no text, and a link starts with an arrow.
struct MemoryTree(BTreeMap<PathBuf, Option<&'static str>>);

impl MemoryTree {
    fn new(files: &[(&str, &'static str)]) -> Self {
        let mut tree = BTreeMap::new();
        for (path, text) in files {
            let path = Path::new(path);
            tree.extend(path.ancestors().skip(1).map(|above| (above.to_owned(), None)));
            tree.insert(path.to_owned(), (!path.ends_with(".keep")).then_some(*text));
        }
        Self(tree)
    }
}

impl FileTree for MemoryTree {
    fn kind(&self, path: &Path) -> Option<TreeEntryKind> {
        Some(match self.0.get(path)? {
            None => TreeEntryKind::Directory,
            Some(text) if text.starts_with("-> ") => TreeEntryKind::Link,
            Some(_) => TreeEntryKind::File,
        })
    }

    fn names(&self, directory: &Path) -> Vec<OsString> {
        let below = self.0.keys().filter(|path| path.parent() == Some(directory));
        below.filter_map(|path| path.file_name().map(ToOwned::to_owned)).collect()
    }

    fn settings_text(&self, path: &Path) -> Option<String> {
        self.0.get(path)?.map(ToOwned::to_owned)
    }

    fn canonical(&self, path: &Path) -> PathBuf {
        for above in path.ancestors() {
            if let Some(target) =
                self.0.get(above).copied().flatten().and_then(|text| text.strip_prefix("-> "))
            {
                let rest = path.strip_prefix(above).unwrap();
                return if rest == Path::new("") {
                    PathBuf::from(target)
                } else {
                    Path::new(target).join(rest)
                };
            }
        }
        path.to_owned()
    }
}

fn rule(id: &str, denies: bool, does: &[FileOp], globs: &[&str]) -> PathRule {
    PathRule {
        rule: id.to_owned(),
        denies,
        does: does.to_vec(),
        globs: globs.iter().map(|glob| (*glob).to_owned()).collect(),
        ..PathRule::default()
    }
}

fn rules() -> Vec<PathRule> {
    vec![
        rule(
            "hook-settings",
            true,
            &[FileOp::Write],
            &["~/.claude/settings*.json", "~/.claude/hooks/**", "**/.claude/settings*.json"],
        ),
        rule("persistence", false, &[FileOp::Write, FileOp::Append], &["**/.git/hooks/**", "~/.bashrc"]),
        rule("credential-read", true, &[FileOp::Read], &["~/.ssh/**", "~/.aws/credentials"]),
        rule("recursive-delete", true, &[FileOp::Delete], &["~/**"]),
        PathRule {
            inexpressible: vec!["by".to_owned()],
            ..rule("system", true, &[FileOp::Write], &["/etc/**"])
        },
    ]
}

fn derive() -> PathSets {
    let tree = MemoryTree::new(&[
        ("/h/.claude/settings.json", "{\"statusLine\": {\"command\": \"sh ~/.claude/tools/status.sh\"}}"),
        ("/h/.claude/hooks/check.sh", ""),
        ("/h/.claude/tools/status.sh", ""),
        ("/h/.claude/projects/.keep", ""),
        ("/h/.bashrc", ""),
        ("/h/.ssh/id_ed25519", ""),
        ("/h/.aws/credentials", ""),
        ("/h/p/.git/hooks/pre-commit", ""),
        ("/h/p/.git/config", ""),
        ("/h/p/src/main.rs", ""),
        ("/h/state/ledger/key", ""),
    ]);
    let profile = SandboxProfile {
        write: vec!["~/.claude".to_owned()],
        read_only: vec!["~/.claude/skills/".to_owned(), "~/.claude/.env".to_owned()],
        private: vec!["~/.claude/shell-snapshots".to_owned()],
        ..SandboxProfile::default()
    };
    let git_dir = PathBuf::from("/h/p/.git");
    let repository =
        Repository { root: "/h/p".into(), own_git_dir: git_dir.clone(), git_dir, is_worktree: false };
    let roots = SandboxRoots {
        home: "/h".into(),
        project: "/h/p".into(),
        repositories: vec![repository],
        is_searched: true,
        unread: Vec::new(),
        state: "/h/state".into(),
        config: "/h/config".into(),
        secret_state: vec!["/h/state/ledger".into()],
        program_directories: vec!["/h/.claude/local".into(), "/h/p/bin".into(), "/usr/bin".into()],
    };
    PathSets::derive(&rules(), &profile, &roots, &tree)
}

fn access(sets: &PathSets, path: &str) -> Option<(PathAccess, String)> {
    let entry = sets.entries.iter().find(|entry| entry.path == Path::new(path))?;
    Some((entry.access, entry.reason.clone()))
}

#[test]
fn rules_become_paths_with_the_rule_that_protects_each() {
    let sets = derive();
    let is = |path: &str, wanted: PathAccess, reason: &str| {
        assert_eq!(access(&sets, path), Some((wanted, reason.to_owned())), "{path}");
    };
    is("/h/p", PathAccess::Write, "project");
    is("/h/.claude", PathAccess::Write, "profile");
    is("/h/.claude/settings.json", PathAccess::ReadOnly, "hook-settings");
    is("/h/.claude/hooks", PathAccess::ReadOnly, "hook-settings");
    is("/h/.claude/tools", PathAccess::ReadOnly, "programs in settings");
    is("/h/.claude/skills", PathAccess::ReadOnly, "profile");
    is("/h/.claude/.env", PathAccess::Checked, "profile");
    is("/h/.claude/shell-snapshots", PathAccess::Private, "profile");
    is("/h/.claude/local", PathAccess::ReadOnly, "programs on the PATH");
    is("/h/p/.git/hooks", PathAccess::ReadOnly, "persistence");
    is("/h/p/.git", PathAccess::Anchored, "holds a protected path");
    is("/h/p/.claude", PathAccess::ReadOnly, "hook-settings");
    is("/h/p/.envrc", PathAccess::Checked, "tenterhook");
    is("/h/.ssh", PathAccess::Hidden, "credential-read");
    is("/h/.aws/credentials", PathAccess::Hidden, "credential-read");
    is("/h/state/ledger", PathAccess::Hidden, "tenterhook");
    // Read-only as everything else is.
    assert_eq!(access(&sets, "/h/.bashrc"), None);
    assert_eq!(access(&sets, "/h/p/bin"), None, "the project belongs to the run");
    let left: Vec<_> = sets.unexpressed.iter().map(|part| (part.rule.as_str(), part.why.as_str())).collect();
    assert!(left.contains(&("system", "depends on `by`")), "{left:?}");
    assert!(left.contains(&("recursive-delete", "only deleting, moving or running")), "{left:?}");
}

#[test]
fn a_directory_is_mounted_before_what_is_protected_in_it() {
    let sets = derive();
    let mounts = SandboxMounts {
        sets: &sets,
        network: NetworkAccess::None,
        visible: Vec::new(),
        sockets: Vec::new(),
        hidden_sockets: vec!["/h/.claude/editor.sock".into()],
        hidden_directories: vec!["/h/.gnupg".into()],
        inside_files: Path::new("/h/state/run/inside"),
        program: Path::new("/usr/bin/tenterhook"),
        working_directory: Path::new("/h/p"),
        var_directories: Vec::new(),
        runtime_directory: None,
        variables: BTreeMap::new(),
        kept_variables: vec!["SSH_AUTH_SOCK".to_owned()],
        new_session: true,
        is_root: true,
    };
    let words = |method| -> Vec<_> {
        arguments(&mounts, method).into_iter().map(|word| word.into_string().unwrap()).collect()
    };
    let prepared = words(MountMethod::Prepared).join(" ");
    assert!(
        prepared.contains("--bind / /") && !prepared.contains("bind /h/") && !prepared.contains("tmpfs"),
        "{prepared}"
    );
    let words = words(MountMethod::Bubblewrap);
    let text = words.join(" ");
    let at = |wanted: &str| text.find(wanted).unwrap_or_else(|| panic!("`{wanted}` is missing: {text}"));
    for (first, second) in [
        ("--ro-bind / /", "--bind /h/p /h/p"),
        ("--bind /h/.claude /h/.claude", "--ro-bind /h/.claude/settings.json /h/.claude/settings.json"),
        ("--bind /h/.claude /h/.claude", "--tmpfs /h/.claude/shell-snapshots"),
        ("--bind /h/p /h/p", "--bind /h/p/.git /h/p/.git"),
        ("--bind /h/p/.git /h/p/.git", "--ro-bind /h/p/.git/hooks /h/p/.git/hooks"),
        ("--tmpfs /h/.ssh", "--remount-ro /h/.ssh"),
        ("--bind /h/.claude /h/.claude", "--ro-bind /h/state/run/inside/empty /h/.claude/editor.sock"),
    ] {
        assert!(at(first) < at(second), "`{first}` comes before `{second}`: {text}");
    }
    for option in [
        "--disable-userns",
        "--unshare-net",
        "--cap-drop ALL",
        "--new-session",
        "--die-with-parent",
        "--unsetenv DBUS_SESSION_BUS_ADDRESS",
    ] {
        at(option);
    }
    assert!(!text.contains("--unsetenv SSH_AUTH_SOCK"), "{text}");
    let host = SandboxMounts { network: NetworkAccess::Host, new_session: false, ..mounts };
    let host = arguments(&host, MountMethod::Bubblewrap);
    assert!(!host.contains(&"--unshare-net".into()) && !host.contains(&"--new-session".into()));
}
