// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The Landlock rules of a sandbox. They hold even if a mount is removed, for example because another program replaced
//! the file below it.

use std::path::{Path, PathBuf};

use landlock::{
    ABI, Access as _, AccessFs, AccessNet, BitFlags, CompatLevel, Compatible as _, NetPort, PathBeneath,
    PathFd, Ruleset, RulesetAttr as _, RulesetCreated, RulesetCreatedAttr as _, RulesetError, RulesetStatus,
    Scope,
};

use crate::file_tree::{FileTree, TreeEntryKind};
use crate::inside::InsideSpec;
use crate::profile::NetworkAccess;
use tenterhook_event::SandboxLevel;

/// The newest version of Landlock whose rights are used. Older kernels enforce those that they know.
const NEWEST_ABI: ABI = ABI::V6;
/// Maximum number of rules that leave out hidden paths.
const MAX_RULES: usize = 4_000;

/// Whether the kernel enforces Landlock rules.
pub(crate) fn is_available() -> bool {
    let ruleset = Ruleset::default().set_compatibility(CompatLevel::HardRequirement);
    ruleset.handle_access(AccessFs::from_all(ABI::V1)).and_then(Ruleset::create).is_ok()
}

/// Restricts this process and its children. Returns whether anything is enforced.
pub(crate) fn restrict(
    spec: &InsideSpec,
    proxy_port: Option<u16>,
    tree: &dyn FileTree,
) -> Result<bool, RulesetError> {
    let all = AccessFs::from_all(NEWEST_ABI);
    let mut ruleset =
        Ruleset::default().handle_access(all)?.scope(Scope::Signal | Scope::AbstractUnixSocket)?;
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
    let hidden: Vec<_> = spec.unreadable.iter().filter(|path| !is_writable(path)).cloned().collect();
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
        for device in ["/dev/null", "/dev/zero", "/dev/full", "/dev/tty", "/dev/ptmx", "/dev/pts", "/dev/shm"]
        {
            created = allow(created, Path::new(device), all)?;
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
