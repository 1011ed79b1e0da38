// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Rewrites names to their usual upper and lower case, because many file systems ignore it.
//!
//! On macOS `~/.SSH/ID_RSA` is `~/.ssh/id_rsa`. Rules name files in their usual spelling.

/// Start of home directories on macOS, whose file systems ignore upper and lower case by default.
const MAC_HOMES: &str = "/Users/";

/// Names in guarded paths, in their usual spelling.
const USUAL_NAMES: &[&str] = &[
    ".aws",
    ".bash_profile",
    ".bashrc",
    ".claude",
    ".codex",
    ".config",
    ".cursor",
    ".docker",
    ".env",
    ".gemini",
    ".git",
    ".gitconfig",
    ".gnupg",
    ".kube",
    ".netrc",
    ".npmrc",
    ".profile",
    ".ssh",
    ".tenterhook",
    ".zprofile",
    ".zshenv",
    ".zshrc",
    "Applications",
    "Desktop",
    "Documents",
    "Keychains",
    "LaunchAgents",
    "LaunchDaemons",
    "Library",
    "Pictures",
    "System",
    "Users",
    "authorized_keys",
    "bin",
    "config",
    "credentials",
    "etc",
    "hooks",
    "id_dsa",
    "id_ecdsa",
    "id_ed25519",
    "id_rsa",
    "known_hosts",
    "private",
    "settings.json",
    "sudoers",
    "usr",
];

/// Returns a path with its well-known names in their usual spelling, if that differs. On macOS, these are also the given
/// directories and names that are ordinary words. Elsewhere, only names with a dot and names below them are rewritten:
/// a directory `.SSH` has no other purpose.
pub(crate) fn to_usual_case(path: &str, home: &str, project: Option<&str>) -> Option<String> {
    let mac = home.starts_with(MAC_HOMES) || path.starts_with(MAC_HOMES);
    // Elsewhere, a name with a dot has to come first, and most paths have none.
    if !mac && !path.contains("/.") && !path.starts_with('.') {
        return None;
    }
    let known = project.into_iter().chain([home]).filter(|_| mac).flat_map(|directory| directory.split('/'));
    let known: Vec<_> = known.filter(|name| !name.is_empty()).collect();
    let mut in_known = mac;
    let mut usual = |part: &str| {
        let names = known.iter().chain(USUAL_NAMES);
        let name = names.copied().find(|name| name.eq_ignore_ascii_case(part));
        let name = name.filter(|name| in_known || name.starts_with('.'));
        in_known |= name.is_some_and(|name| name != ".config");
        name
    };
    let mut differs = false;
    let mut parts = Vec::new();
    for part in path.split('/') {
        let name = usual(part).unwrap_or(part);
        differs |= name != part;
        parts.push(name);
    }
    differs.then(|| parts.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn guarded_names_have_their_usual_spelling() {
        let rewrite = |path: &'static str, home: &str| {
            to_usual_case(path, home, Some("/Users/me/App")).unwrap_or_else(|| path.to_owned())
        };
        for (path, expected) in [
            ("/Users/me/.SSH/ID_RSA", "/Users/me/.ssh/id_rsa"),
            ("/users/ME/documents/a.TXT", "/Users/me/Documents/a.TXT"),
            ("/users/me/app/.GIT/hooks", "/Users/me/App/.git/hooks"),
            ("/Users/me/App/README.md", "/Users/me/App/README.md"),
        ] {
            assert_eq!(rewrite(path, "/Users/me"), expected);
        }
    }

    #[test]
    fn elsewhere_only_names_with_a_dot_are_rewritten() {
        for (path, expected) in [
            ("/home/me/.SSH/ID_RSA", Some("/home/me/.ssh/id_rsa")),
            ("/home/me/.ssh/Authorized_Keys", Some("/home/me/.ssh/authorized_keys")),
            ("/Users/other/.CLAUDE/Settings.json", Some("/Users/other/.claude/settings.json")),
            ("/home/me/.GIT", Some("/home/me/.git")),
            ("/home/me/documents/Config", None),
            ("/home/me/.ssh/id_rsa", None),
            ("/srv/BIN/Library", None),
        ] {
            assert_eq!(to_usual_case(path, "/home/me", Some("/home/me/App")).as_deref(), expected, "{path}");
        }
    }
}
