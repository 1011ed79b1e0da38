// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The Landlock rules of a sandbox. They hold even if a mount is removed, for example because another program replaced
//! the file below it.

use std::path::{Path, PathBuf};

use landlock::{
    ABI, Access as _, AccessFs, AccessNet, BitFlags, CompatLevel, Compatible as _, NetPort, PathBeneath,
    PathFd, Ruleset, RulesetAttr as _, RulesetCreated, RulesetCreatedAttr as _, RulesetError, RulesetStatus,
    Scope, make_bitflags,
};

use crate::file_tree::{FileTree, TreeEntryKind};
use crate::inside::InsideSpec;
use crate::profile::NetworkAccess;
use tenterhook_event::SandboxLevel;

/// The newest version of Landlock whose rights are used. Older kernels enforce those that they know, in addition to mounts.
const NEWEST_ABI: ABI = ABI::V6;
/// What a run cannot reach outside.
const SCOPES: BitFlags<Scope> = make_bitflags!(Scope::{Signal | AbstractUnixSocket});
/// Maximum number of rules that leave out hidden paths.
const MAX_RULES: usize = 4_000;

/// What a run without a mount namespace may use in `/dev`.
const WRITABLE_DEVICES: &[&str] =
    &["/dev/null", "/dev/zero", "/dev/full", "/dev/tty", "/dev/ptmx", "/dev/pts", "/dev/shm"];
/// What it may only read there.
const READABLE_DEVICES: &[&str] = &["/dev/random", "/dev/urandom"];

/// Whether Landlock alone can restrict a run. Older versions do not know truncation, TCP, signals or abstract sockets.
pub(crate) fn is_available_alone() -> bool {
    let ruleset = Ruleset::default().set_compatibility(CompatLevel::HardRequirement);
    let ruleset = ruleset.handle_access(AccessFs::from_all(NEWEST_ABI));
    let ruleset = ruleset.and_then(|ruleset| ruleset.scope(SCOPES));
    let ruleset =
        ruleset.and_then(|ruleset| ruleset.handle_access(AccessNet::ConnectTcp | AccessNet::BindTcp));
    ruleset.and_then(Ruleset::create).is_ok()
}

/// Restricts this process and its children. Returns whether anything is enforced.
pub(crate) fn restrict(
    spec: &InsideSpec,
    proxy_port: Option<u16>,
    tree: &dyn FileTree,
) -> Result<bool, RulesetError> {
    let handled = AccessFs::from_all(NEWEST_ABI);
    // A run of root without namespaces could otherwise create the device file of a disk.
    let all = handled & !(AccessFs::MakeChar | AccessFs::MakeBlock);
    let compatibility = match spec.level {
        SandboxLevel::Landlock => CompatLevel::HardRequirement,
        _ => CompatLevel::BestEffort,
    };
    let ruleset = Ruleset::default().set_compatibility(compatibility);
    let mut ruleset = ruleset.handle_access(handled)?.scope(SCOPES)?;
    // In a network namespace of its own, a run may use its loopback as it likes.
    let restricts_tcp = spec.level == SandboxLevel::Landlock && spec.network != NetworkAccess::Host;
    if restricts_tcp {
        ruleset = ruleset.handle_access(AccessNet::ConnectTcp | AccessNet::BindTcp)?;
    }
    let mut created = ruleset.create()?;
    if let Some(port) = proxy_port.filter(|_| restricts_tcp) {
        created = created.add_rule(NetPort::new(port, AccessNet::ConnectTcp))?;
    }

    // Names are not secret, and programs list the root directory.
    created = allow(created, Path::new("/"), AccessFs::ReadDir.into())?;
    let reads = AccessFs::Execute | AccessFs::ReadFile | AccessFs::ReadDir;
    let is_writable = |path: &PathBuf| spec.writable.iter().any(|root| path.starts_with(root));
    let mut hidden: Vec<_> = spec.unreadable.iter().filter(|path| !is_writable(path)).cloned().collect();
    if spec.level == SandboxLevel::Landlock {
        // Root could read disks and memory there. In its own `/dev`, a run has none.
        hidden.push(PathBuf::from("/dev"));
    }
    for path in all_except(Path::new("/"), &hidden, tree) {
        created = allow(created, &path, reads)?;
    }
    for path in &spec.readable {
        created = allow(created, path, reads)?;
    }
    let own = ["/dev", "/proc", "/tmp"].map(PathBuf::from);
    let own = own.iter().filter(|_| spec.level == SandboxLevel::NamespacesLandlock).chain(&spec.private);
    for path in spec.writable.iter().chain(own) {
        // Without a mount namespace, a protected path inside must be left out.
        if spec.level == SandboxLevel::Landlock {
            let protected: Vec<_> =
                spec.protected.iter().filter(|protected| protected.starts_with(path)).cloned().collect();
            for path in all_except(path, &protected, tree) {
                created = allow(created, &path, all)?;
            }
        } else {
            created = allow(created, path, all)?;
        }
    }
    if spec.level == SandboxLevel::Landlock {
        for device in WRITABLE_DEVICES {
            created = allow(created, Path::new(device), all)?;
        }
        for device in READABLE_DEVICES {
            created = allow(created, Path::new(device), AccessFs::ReadFile.into())?;
        }
    }
    Ok(created.restrict_self()?.ruleset != RulesetStatus::NotEnforced)
}

/// Allows access to a path and what is below it. A path that does not exist needs no rule.
fn allow(
    ruleset: RulesetCreated,
    path: &Path,
    access: BitFlags<AccessFs>,
) -> Result<RulesetCreated, RulesetError> {
    let Ok(file) = PathFd::new(path) else { return Ok(ruleset) };
    let is_directory = std::fs::metadata(path).is_ok_and(|found| found.is_dir());
    let access = if is_directory { access } else { access & AccessFs::from_file(NEWEST_ABI) };
    ruleset.add_rule(PathBeneath::new(file, access))
}

/// Returns paths that together cover everything below a directory except the given paths. New names in a directory
/// above such a path are not covered.
pub(crate) fn all_except(root: &Path, except: &[PathBuf], tree: &dyn FileTree) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut waiting = vec![root.to_owned()];
    while let Some(directory) = waiting.pop() {
        if except.iter().any(|path| directory.starts_with(path)) {
            continue;
        }
        if !except.iter().any(|path| path.starts_with(&directory)) {
            found.push(directory);
            continue;
        }
        for name in tree.names(&directory) {
            let path = directory.join(name);
            // A link could lead to a path that is left out.
            if tree.kind(&path) != Some(TreeEntryKind::Link) && found.len() < MAX_RULES {
                waiting.push(path);
            }
        }
    }
    found
}
