// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The arguments of `bwrap`, which creates the namespaces and mounts of a sandbox.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use crate::mount_steps::{MountStep, mount_steps};
use crate::path_sets::{PRIVATE_DIRECTORIES, PathSets};
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
    /// Whether the run belongs to root, who owns the settings of the kernel.
    pub is_root: bool,
}

/// Who makes the mounts of a sandbox.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MountMethod {
    /// [`PreparedMounts`](crate::prepared_mounts::PreparedMounts), before `bwrap` starts.
    Prepared,
    /// `bwrap`.
    Bubblewrap,
}

/// Returns the arguments of `bwrap`, up to the program that runs inside. `bwrap` reads the table of all mounts for each mount
/// that it makes, so it starts faster if [`PreparedMounts`](crate::prepared_mounts::PreparedMounts) were made before.
pub fn arguments(mounts: &SandboxMounts<'_>, method: MountMethod) -> Vec<OsString> {
    let is_prepared = method == MountMethod::Prepared;
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
    // Mounts that were prepared keep what they permit.
    arguments.add(&[if is_prepared { "--bind" } else { "--ro-bind" }, "/", "/"]);
    arguments.add(&["--dev", "/dev", "--proc", "/proc"]);
    for path in KERNEL_SETTINGS.iter().filter(|_| mounts.is_root) {
        arguments.add(&["--ro-bind-try", path, path]);
    }
    let (private, other) = if is_prepared { Default::default() } else { mount_steps(mounts) };
    for step in &private {
        arguments.add_step(step);
    }
    if let Some(directory) = &mounts.runtime_directory {
        arguments.add(&["--perms", "0700", "--dir"]);
        arguments.add_path(directory);
    }
    for step in &other {
        arguments.add_step(step);
    }
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

pub(crate) fn outermost(paths: &[PathBuf]) -> impl Iterator<Item = &PathBuf> {
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

    fn bind_at(&mut self, option: &str, from: &Path, to: &Path) {
        self.add(&[option]);
        self.add_path(from);
        self.add_path(to);
    }

    fn add_step(&mut self, step: &MountStep) {
        match step {
            MountStep::Bind { source, target, is_writable } => {
                self.bind_at(if *is_writable { "--bind" } else { "--ro-bind" }, source, target);
            }
            MountStep::EmptyDirectory { target, mode } => {
                self.add(&["--perms", &format!("{mode:04o}"), "--tmpfs"]);
                self.add_path(target);
            }
            MountStep::Seal { target } => {
                self.add(&["--remount-ro"]);
                self.add_path(target);
            }
        }
    }
}
