// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The paths of a sandbox as a profile of macOS Seatbelt (`sandbox-exec -f`). Untested: no test runs on macOS.
//!
//! Seatbelt has no namespaces: processes outside stay visible, services on loopback stay reachable, and `/tmp` is shared.
//! The last matching line of a profile decides.

use std::fmt::Write as _;
use std::path::Path;

use crate::path_sets::{PathAccess, PathEntry, PathSets};
use crate::profile::NetworkAccess;

/// Directories of temporary files and devices, which every program writes to.
const SHARED_DIRECTORIES: &[&str] = &["/dev", "/private/tmp", "/private/var/folders", "/private/var/tmp"];

/// Returns the profile.
pub fn seatbelt_profile(sets: &PathSets, network: NetworkAccess) -> String {
    let mut text = String::from("(version 1)\n(allow default)\n(deny file-write*)\n");
    for directory in SHARED_DIRECTORIES {
        let _ = writeln!(text, "(allow file-write* (subpath {}))", quoted(Path::new(directory)));
    }
    for entry in &sets.entries {
        add_entry(&mut text, entry);
    }
    // A directory above a protected path cannot be renamed or removed.
    for entry in sets.with_access(PathAccess::Anchored) {
        let _ = writeln!(text, "(deny file-write-unlink (literal {}))", quoted(&entry.path));
    }
    text.push_str(
        "(deny signal)\n(allow signal (target same-sandbox))\n(deny process-info* (target others))\n",
    );
    if network != NetworkAccess::Host {
        text.push_str("(deny network*)\n(allow network* (local ip \"localhost:*\"))\n");
        text.push_str("(allow network-outbound (remote ip \"localhost:*\"))\n");
    }
    text
}

fn add_entry(text: &mut String, entry: &PathEntry) {
    let kind = if entry.is_directory { "subpath" } else { "literal" };
    let filter = format!("({kind} {})", quoted(&entry.path));
    let _ = match entry.access {
        PathAccess::Write | PathAccess::Anchored => writeln!(text, "(allow file-write* {filter})"),
        PathAccess::Checked => Ok(()),
        // Seatbelt has no directories of its own.
        PathAccess::ReadOnly | PathAccess::Private => {
            writeln!(text, "(deny file-write* {filter})\n(allow file-read* {filter})")
        }
        PathAccess::Hidden => writeln!(text, "(deny file-read* file-write* {filter})"),
    };
}

/// A path as a string of the profile's language.
fn quoted(path: &Path) -> String {
    let text = path.to_string_lossy().replace('\\', "\\\\").replace('"', "\\\"");
    format!("\"{text}\"")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn protected_paths_come_after_the_writable_ones_that_contain_them() {
        let entry = |path: &str, access, is_directory| PathEntry {
            path: path.into(),
            access,
            is_directory,
            exists: true,
            reason: "x".to_owned(),
        };
        let entries = vec![
            entry("/u/.claude", PathAccess::Write, true),
            entry("/u/.claude/settings.json", PathAccess::ReadOnly, false),
            entry("/u/.ssh", PathAccess::Hidden, true),
            entry("/u/w", PathAccess::Write, true),
            entry("/u/w/\"q", PathAccess::Anchored, true),
            entry("/u/w/.mcp.json", PathAccess::Checked, false),
        ];
        let sets = PathSets { entries, ..PathSets::default() };
        let text = seatbelt_profile(&sets, NetworkAccess::None);
        let at = |line: &str| {
            text.lines().position(|other| other == line).unwrap_or_else(|| panic!("{line}\n{text}"))
        };
        assert!(at("(deny file-write*)") < at("(allow file-write* (subpath \"/u/.claude\"))"));
        assert!(
            at("(allow file-write* (subpath \"/u/.claude\"))")
                < at("(deny file-write* (literal \"/u/.claude/settings.json\"))")
        );
        at("(deny file-read* file-write* (subpath \"/u/.ssh\"))");
        assert!(
            at("(allow file-write* (subpath \"/u/w/\\\"q\"))")
                < at("(deny file-write-unlink (literal \"/u/w/\\\"q\"))")
        );
        assert!(!text.contains(".mcp.json"));
        at("(deny network*)");
        assert!(!seatbelt_profile(&sets, NetworkAccess::Host).contains("network"));
        let balance = |letter| text.matches(letter).count();
        assert_eq!(balance('('), balance(')'));
    }
}
