// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Lists the hosts from which ordinary projects clone, download and push.

/// Hosts of repositories, packages and releases. The names below them count as well.
const KNOWN_CODE_HOSTS: &[&str] = &[
    "apache.org",
    "bitbucket.org",
    "codeberg.org",
    "crates.io",
    "debian.org",
    "dev.azure.com",
    "freedesktop.org",
    "gitea.com",
    "github.com",
    "githubusercontent.com",
    "gitlab.com",
    "gnome.org",
    "gnu.org",
    "go.dev",
    "huggingface.co",
    "kernel.org",
    "launchpad.net",
    "nodejs.org",
    "npmjs.org",
    "php.net",
    "pypi.org",
    "python.org",
    "pythonhosted.org",
    "ruby-lang.org",
    "rust-lang.org",
    "sourceforge.net",
    "sqlite.org",
    "sr.ht",
    "ubuntu.com",
    "visualstudio.com",
];

/// Whether a host is one of the well-known hosts of repositories, packages and releases.
pub(crate) fn is_known_code_host(host: &str) -> bool {
    let host = host.to_ascii_lowercase();
    let is_below =
        |known: &str| host.strip_suffix(known).is_some_and(|rest| rest.is_empty() || rest.ends_with('.'));
    KNOWN_CODE_HOSTS.iter().any(|known| is_below(known))
}

/// Returns the host of an address such as `https://user@host:1/path` or `user@host:path`; `None` for a local path.
pub(crate) fn remote_host(address: &str) -> Option<&str> {
    let (rest, ends) = match address.split_once("://") {
        Some(("file", _)) => return None,
        Some((_, rest)) => (rest, ['/', ':', '?']),
        None => {
            let (host, _) = address.split_once(':').filter(|(host, _)| !host.contains('/'))?;
            (host, ['/', ':', '?'])
        }
    };
    let authority = rest.split('/').next().unwrap_or_default();
    let host = authority.rsplit('@').next()?.split(ends).next()?;
    (!host.is_empty()).then_some(host)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_host_of_an_address_is_found() {
        for (address, host) in [
            ("https://github.com/a/b.git", Some("github.com")),
            ("https://x:y@git.example:8443/a", Some("git.example")),
            ("git@host.example:a/b.git", Some("host.example")),
            ("ssh://git@host.example/a", Some("host.example")),
            ("../b.git", None),
            ("/srv/b.git", None),
            ("file:///srv/b.git", None),
        ] {
            assert_eq!(remote_host(address), host, "{address}");
        }
        assert!(is_known_code_host("codeload.GitHub.com") && is_known_code_host("sr.ht"));
        assert!(!is_known_code_host("notgithub.com") && !is_known_code_host("github.com.evil.example"));
    }
}
