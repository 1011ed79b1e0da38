// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The arguments of `bwrap`, which creates the namespaces and mounts of a sandbox.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use crate::path_sets::{PRIVATE_DIRECTORIES, PathAccess, PathEntry, PathSets};
use crate::profile::NetworkAccess;

/// Directory with Tenterhook's own files in a sandbox.
pub const INSIDE_DIRECTORY: &str = "/run/tenterhook-sandbox";
/// Name of the empty file that hides files and sockets.
pub const EMPTY_FILE: &str = "empty";
/// Name of the program that runs inside first.
pub const INSIDE_PROGRAM: &str = "program";

/// Variables that name sockets and sessions outside a sandbox.
const REMOVED_VARIABLES: &[&str] = &[
    "DBUS_SESSION_BUS_ADDRESS",
    "DBUS_SYSTEM_BUS_ADDRESS",
    "DISPLAY",
    "DOCKER_HOST",
    "CONTAINER_HOST",
    "GPG_AGENT_INFO",
    "NVIM",
    "NVIM_LISTEN_ADDRESS",
    "PULSE_SERVER",
    "SSH_AGENT_PID",
    "SSH_AUTH_SOCK",
    "STY",
    "TMUX",
    "TMUX_PANE",
    "VSCODE_IPC_HOOK",
    "VSCODE_IPC_HOOK_CLI",
    "WAYLAND_DISPLAY",
    "XAUTHORITY",
    "ZELLIJ",
    "KITTY_LISTEN_ON",
];

/// Settings of the kernel in `/proc`. They belong to root, and for a run of root the kernel checks only the owner.
const KERNEL_SETTINGS: &[&str] = &[
    "/proc/acpi",
    "/proc/bus",
    "/proc/fs",
    "/proc/irq",
    "/proc/latency_stats",
    "/proc/mtrr",
    "/proc/scsi",
    "/proc/sys",
    "/proc/sysrq-trigger",
];

/// What a sandbox consists of.
#[derive(Debug, Clone)]
pub struct SandboxMounts<'a> {
    /// Paths and what the run may do with each.
    pub sets: &'a PathSets,
    /// Network of the run.
    pub network: NetworkAccess,
    /// Paths that stay visible although they are in a private directory such as `/tmp`.
    pub visible: Vec<PathBuf>,
    /// Sockets that stay reachable.
    pub sockets: Vec<PathBuf>,
    /// Sockets of other programs that are hidden.
    pub hidden_sockets: Vec<PathBuf>,
    /// Directories with sockets of other programs that are hidden.
    pub hidden_directories: Vec<PathBuf>,
    /// Directory outside with the files of [`INSIDE_DIRECTORY`].
    pub inside_files: &'a Path,
    /// Program that runs inside first.
    pub program: &'a Path,
    /// Working directory of the command.
    pub working_directory: &'a Path,
    /// Whether `/var/run` and `/var/tmp` are directories of their own.
    pub var_directories: Vec<PathBuf>,
    /// Directory of the account in `/run/user`.
    pub runtime_directory: Option<PathBuf>,
    /// Variables that are set.
    pub variables: BTreeMap<String, String>,
    /// Variables that are kept although they name a socket.
    pub kept_variables: Vec<String>,
    /// Whether the run gets a terminal session of its own.
    pub new_session: bool,
}

/// Returns the arguments of `bwrap`, up to the program that runs inside.
pub fn arguments(mounts: &SandboxMounts<'_>) -> Vec<OsString> {
    let mut arguments = ArgumentList::default();
    // Without further user namespaces, the run cannot change mounts, not even in a namespace of its own.
    arguments.add(&["--unshare-user", "--disable-userns", "--unshare-pid", "--unshare-ipc", "--unshare-uts"]);
    arguments.add(&["--unshare-cgroup-try", "--cap-drop", "ALL", "--die-with-parent"]);
    if mounts.network != NetworkAccess::Host {
        arguments.add(&["--unshare-net"]);
    }
    if mounts.new_session {
        arguments.add(&["--new-session"]);
    }
    arguments.add(&["--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "--tmpfs", "/run"]);
    arguments.add(&["--perms", "1777", "--tmpfs", "/tmp"]);
    for path in KERNEL_SETTINGS {
        arguments.add(&["--ro-bind-try", path, path]);
    }
    for directory in &mounts.var_directories {
        arguments.add(&["--perms", "1777", "--tmpfs"]);
        arguments.add_path(directory);
    }
    if let Some(directory) = &mounts.runtime_directory {
        arguments.add(&["--perms", "0700", "--dir"]);
        arguments.add_path(directory);
    }
    for path in outermost(&mounts.visible) {
        arguments.bind("--ro-bind", path);
    }
    let mut tmpfs = Vec::new();
    let empty = mounts.inside_files.join(EMPTY_FILE);
    for entry in &mounts.sets.entries {
        arguments.add_entry(entry, &empty);
        if entry.access == PathAccess::Hidden && entry.is_directory {
            tmpfs.push(entry.path.clone());
        }
    }
    // A mount of a directory above would show them again, so they come after it.
    for directory in mounts.hidden_directories.iter().filter(|path| !mounts.sets.is_hidden(path)) {
        arguments.hide_directory(directory);
        tmpfs.push(directory.clone());
    }
    let is_covered = |path: &Path| mounts.hidden_directories.iter().any(|above| path.starts_with(above));
    for socket in mounts.hidden_sockets.iter().filter(|path| !is_covered(path)) {
        arguments.bind_at("--ro-bind", &empty, socket);
    }
    for socket in &mounts.sockets {
        arguments.bind("--ro-bind", socket);
    }
    // Exceptions below a hidden directory were mounted before.
    for directory in tmpfs {
        arguments.add(&["--remount-ro"]);
        arguments.add_path(&directory);
    }
    let inside = Path::new(INSIDE_DIRECTORY);
    arguments.bind_at("--ro-bind", mounts.inside_files, inside);
    arguments.bind_at("--ro-bind", mounts.program, &inside.join(INSIDE_PROGRAM));
    for name in
        REMOVED_VARIABLES.iter().filter(|name| !mounts.kept_variables.iter().any(|kept| kept == *name))
    {
        arguments.add(&["--unsetenv", name]);
    }
    for (name, value) in &mounts.variables {
        arguments.add(&["--setenv", name, value]);
    }
    arguments.add(&["--chdir"]);
    arguments.add_path(mounts.working_directory);
    arguments.add(&["--"]);
    arguments.0
}

/// Returns the paths that need a mount because they are in a private directory, without those below another one.
pub fn paths_in_private_directories(paths: &[PathBuf]) -> Vec<PathBuf> {
    let is_private = |path: &PathBuf| {
        PRIVATE_DIRECTORIES
            .iter()
            .any(|directory| path.starts_with(directory) && path != Path::new(directory))
    };
    outermost(&paths.iter().filter(|path| is_private(path)).cloned().collect::<Vec<_>>()).cloned().collect()
}

fn outermost(paths: &[PathBuf]) -> impl Iterator<Item = &PathBuf> {
    let is_below = move |path: &PathBuf| paths.iter().any(|other| path != other && path.starts_with(other));
    let mut seen = std::collections::BTreeSet::new();
    paths.iter().filter(move |path| !is_below(path) && seen.insert((*path).clone()))
}

/// The arguments of a program.
#[derive(Debug, Default)]
struct ArgumentList(Vec<OsString>);

impl ArgumentList {
    fn add(&mut self, arguments: &[&str]) {
        self.0.extend(arguments.iter().map(OsString::from));
    }

    fn add_path(&mut self, path: &Path) {
        self.0.push(path.into());
    }

    fn bind(&mut self, option: &str, path: &Path) {
        self.bind_at(option, path, path);
    }

    fn bind_at(&mut self, option: &str, from: &Path, to: &Path) {
        self.add(&[option]);
        self.add_path(from);
        self.add_path(to);
    }

    fn hide_directory(&mut self, directory: &Path) {
        self.add(&["--perms", "0555", "--tmpfs"]);
        self.add_path(directory);
    }

    fn add_entry(&mut self, entry: &PathEntry, empty: &Path) {
        match entry.access {
            PathAccess::Write | PathAccess::Anchored => self.bind("--bind", &entry.path),
            PathAccess::Checked => {}
            PathAccess::Private => {
                self.add(&["--perms", "0700", "--tmpfs"]);
                self.add_path(&entry.path);
            }
            PathAccess::ReadOnly => self.bind("--ro-bind", &entry.path),
            PathAccess::Hidden if entry.is_directory => self.hide_directory(&entry.path),
            PathAccess::Hidden => self.bind_at("--ro-bind", empty, &entry.path),
        }
    }
}
