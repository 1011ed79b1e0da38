// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Rewrites names to their usual upper and lower case on file systems that ignore it.
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

/// Returns a path with its well-known names and the given directories in their usual spelling, if that differs and the
/// home directory is one of macOS.
pub(crate) fn to_usual_case(path: &str, home: &str, project: Option<&str>) -> Option<String> {
    if !home.starts_with(MAC_HOMES) {
        return None;
    }
    let known = project.into_iter().chain([home]).flat_map(|directory| directory.split('/'));
    let known: Vec<_> = known.filter(|name| !name.is_empty()).collect();
    let usual = |part: &str| {
        let names = known.iter().chain(USUAL_NAMES);
        names.copied().find(|name| name.eq_ignore_ascii_case(part))
    };
    let differs = |part: &str| usual(part).is_some_and(|name| name != part);
    if !path.split('/').any(differs) {
        return None;
    }
    let parts: Vec<_> = path.split('/').map(|part| usual(part).unwrap_or(part)).collect();
    Some(parts.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn guarded_names_have_their_usual_spelling_on_macos_only() {
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
        assert_eq!(rewrite("/home/me/.SSH/ID_RSA", "/home/me"), "/home/me/.SSH/ID_RSA");
    }
}
