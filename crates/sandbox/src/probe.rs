// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Which level of confinement a machine supports. Every step is tried in a child process: on some systems, a user
//! namespace can be created but nothing can be mounted in it.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde::Serialize;

use crate::landlock_rules;
use tenterhook_event::SandboxLevel;

/// Places in which `bwrap` is installed. Not `PATH`: a directory of a project may be in it.
const BUBBLEWRAP_PLACES: &[&str] =
    &["/usr/bin/bwrap", "/bin/bwrap", "/usr/local/bin/bwrap", "/run/current-system/sw/bin/bwrap"];

/// What a machine supports.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Availability {
    /// The strongest level.
    pub level: SandboxLevel,
    /// Why namespaces are not available.
    pub namespaces_missing: Option<String>,
    /// Whether Landlock alone can restrict a run.
    pub landlock: bool,
    /// What the user can do to get a stronger level.
    pub hint: Option<&'static str>,
}

/// Returns the path of `bwrap`.
pub fn find_bubblewrap() -> Option<PathBuf> {
    BUBBLEWRAP_PLACES.iter().map(PathBuf::from).find(|path| path.is_file())
}

/// Whether Landlock alone can restrict a run: Linux 6.12 or newer.
pub fn has_landlock() -> bool {
    landlock_rules::is_available_alone()
}

/// Tries what a sandbox needs, and returns the strongest level that works.
pub fn available_level() -> Availability {
    let namespaces = match find_bubblewrap() {
        None => Err(("bubblewrap is not installed".to_owned(), Some(INSTALL_HINT))),
        Some(bubblewrap) => namespaces_problem(&bubblewrap).map_or(Ok(()), |message| {
            let hint = is_restricted_by_apparmor().then_some(APPARMOR_HINT);
            Err((message, hint.or(Some(NAMESPACES_HINT))))
        }),
    };
    let landlock = has_landlock();
    let (namespaces_missing, hint) = match namespaces {
        Ok(()) => (None, None),
        Err((message, hint)) => (Some(message), hint),
    };
    let level = match (&namespaces_missing, landlock) {
        (None, _) => SandboxLevel::NamespacesLandlock,
        (Some(_), true) => SandboxLevel::Landlock,
        (Some(_), false) => SandboxLevel::Hooks,
    };
    Availability { level, namespaces_missing, landlock, hint }
}

/// Hint if bubblewrap is missing.
pub const INSTALL_HINT: &str =
    "install it: `apt install bubblewrap`, `dnf install bubblewrap` or `pacman -S bubblewrap`";
/// Hint if AppArmor restricts user namespaces.
pub const APPARMOR_HINT: &str = "allow bubblewrap to use user namespaces: install an AppArmor profile for /usr/bin/bwrap (`docs/guide/sandbox.md`)";
/// Hint if the kernel or a container refuses namespaces.
pub const NAMESPACES_HINT: &str = "allow user namespaces (`sysctl user.max_user_namespaces`); in a container, allow them in its seccomp profile";

/// Returns the reason why a sandbox with namespaces cannot be created.
fn namespaces_problem(bubblewrap: &Path) -> Option<String> {
    let arguments = [
        "--unshare-user",
        "--disable-userns",
        "--unshare-pid",
        "--unshare-net",
        "--cap-drop",
        "ALL",
        "--die-with-parent",
        "--ro-bind",
        "/",
        "/",
        "--dev",
        "/dev",
        "--proc",
        "/proc",
        "--tmpfs",
        "/tmp",
        "--",
        "/proc/self/exe",
        "--version",
    ];
    let output = Command::new(bubblewrap).args(arguments).env_clear().stdin(Stdio::null()).output();
    let output = match output {
        Ok(output) if output.status.success() => return None,
        Ok(output) => output,
        Err(error) => return Some(error.to_string()),
    };
    let message = String::from_utf8_lossy(&output.stderr);
    Some(message.lines().next().unwrap_or("bubblewrap failed").trim_start_matches("bwrap: ").to_owned())
}

fn is_restricted_by_apparmor() -> bool {
    std::fs::read_to_string("/proc/sys/kernel/apparmor_restrict_unprivileged_userns")
        .is_ok_and(|text| text.trim() == "1")
}
