// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Parses package specifications: the name, and where the package comes from.

use tenterhook_programs::SpecStyle;

use super::PackageOrigin;

/// Prefixes with which package managers abbreviate hosting services.
const HOST_PREFIXES: &[&str] = &["github:", "gitlab:", "bitbucket:", "gist:", "sourcehut:", "gh:"];
/// File name endings of package archives.
const ARCHIVE_SUFFIXES: &[&str] = &[
    ".tgz",
    ".tar.gz",
    ".tar.bz2",
    ".whl",
    ".zip",
    ".deb",
    ".rpm",
    ".gem",
    ".vsix",
    ".apk",
    ".nupkg",
    ".snap",
    ".flatpak",
    ".pkg.tar.zst",
    ".rock",
    ".rb",
    ".jar",
    ".conda",
];

/// Returns the name and origin of a package; `None` if the word is not a package.
pub(super) fn parse_package_spec(style: SpecStyle, word: &str) -> Option<(String, PackageOrigin)> {
    if word.is_empty() {
        return None;
    }
    // `name @ address`, `alias@address`
    if let Some((name, address)) = word.split_once('@')
        && matches!(style, SpecStyle::Python | SpecStyle::Npm)
        && (address.contains("://") || is_hosted(address.trim()))
        && !name.contains("://")
        && !name.is_empty()
    {
        let from = origin_of_location(address.trim()).unwrap_or(PackageOrigin::Url);
        return Some((name_for_style(style, name.trim()), from));
    }
    if let Some(from) = origin_of_location(word) {
        return Some((egg_name(word).unwrap_or_else(|| word.to_owned()), from));
    }
    let before = |ends: &[char]| word.split(ends).next().unwrap_or_default().to_owned();
    let registry = |name: String| (!name.is_empty()).then_some((name, PackageOrigin::Registry));
    match style {
        SpecStyle::Npm => parse_npm(word),
        SpecStyle::Python => registry(normalize_python_name(&python_name(word))),
        SpecStyle::At => registry(before(&['@'])),
        SpecStyle::Go => {
            let host = word.split('/').next().unwrap_or_default();
            let module = host.contains(['.', '*']) && word.contains('/') && !host.starts_with('.');
            if module || word.contains('@') {
                registry(before(&['@']))
            } else {
                Some((word.to_owned(), PackageOrigin::Path))
            }
        }
        SpecStyle::Colon => registry(before(&[':'])),
        SpecStyle::Equals => registry(before(&['=', '/'])),
        SpecStyle::Brew => {
            let name = before(&['@']);
            let from = if name.contains('/') { PackageOrigin::Git } else { PackageOrigin::Registry };
            Some((name, from))
        }
        SpecStyle::Nix => match word.split_once('#') {
            Some(("nixpkgs" | "", name)) => registry(name.to_owned()),
            Some(_) => Some((word.to_owned(), PackageOrigin::Git)),
            None => registry(word.trim_start_matches("nixpkgs.").to_owned()),
        },
        SpecStyle::Deno => match word.split_once(':') {
            Some(("npm" | "jsr", name)) => parse_npm(name),
            _ => Some((word.to_owned(), PackageOrigin::Path)),
        },
        SpecStyle::Plain => registry(word.to_owned()),
    }
}

/// Returns the package that `npm init name` runs: `create-name`.
pub(super) fn create_package(word: &str) -> (String, PackageOrigin) {
    let Some((name, from)) = parse_npm(word) else { return (word.to_owned(), PackageOrigin::Registry) };
    if from != PackageOrigin::Registry {
        return (name, from);
    }
    let name = match name.strip_prefix('@').map(|rest| rest.split_once('/')) {
        Some(Some((scope, name))) => format!("@{scope}/create-{name}"),
        Some(None) => format!("{name}/create"),
        None => format!("create-{name}"),
    };
    (name, from)
}

/// Returns the origin of a package if the word is an address or a path.
fn origin_of_location(word: &str) -> Option<PackageOrigin> {
    let starts = |starts: &[&str]| starts.iter().any(|start| word.starts_with(start));
    if starts(&["git+", "git://", "git@", "ssh://", "svn+", "hg+", "bzr+"]) || is_hosted(word) {
        return Some(PackageOrigin::Git);
    }
    if starts(&["file:", "link:", "portal:", "./", "../", "/", "~"]) || matches!(word, "." | "..") {
        return Some(PackageOrigin::Path);
    }
    // `.[dev]`: the current directory, with extras.
    if starts(&[".["]) {
        return Some(PackageOrigin::Path);
    }
    if word.contains("://") {
        let address = word.split(['#', '?']).next().unwrap_or_default();
        return Some(if address.strip_suffix(".git").is_some() {
            PackageOrigin::Git
        } else {
            PackageOrigin::Url
        });
    }
    ARCHIVE_SUFFIXES.iter().any(|end| word.ends_with(end)).then_some(PackageOrigin::Path)
}

fn is_hosted(word: &str) -> bool {
    HOST_PREFIXES.iter().any(|host| word.starts_with(host))
}

/// Returns the name in an address of the form `…#egg=name`.
fn egg_name(word: &str) -> Option<String> {
    let (_, name) = word.split_once("egg=")?;
    let name = normalize_python_name(&python_name(name.split('&').next().unwrap_or_default()));
    (!name.is_empty()).then_some(name)
}

fn parse_npm(word: &str) -> Option<(String, PackageOrigin)> {
    let scoped = word.starts_with('@');
    let (name, version) = match word.char_indices().skip(usize::from(scoped)).find(|(_, c)| *c == '@') {
        Some((at, _)) => word.split_at_checked(at)?,
        None => (word, ""),
    };
    if let Some(other) = version.strip_prefix("@npm:").filter(|other| !other.is_empty()) {
        return parse_npm(other);
    }
    if let Some(other) = name.strip_prefix("npm:") {
        return parse_npm(other);
    }
    if version
        .strip_prefix('@')
        .is_some_and(|version| origin_of_location(version) == Some(PackageOrigin::Path))
    {
        return Some((name.to_owned(), PackageOrigin::Path));
    }
    if name.is_empty() {
        return None;
    }
    let repository = !scoped && name.contains('/');
    Some(if repository {
        (word.to_owned(), PackageOrigin::Git)
    } else {
        (name.to_owned(), PackageOrigin::Registry)
    })
}

fn python_name(word: &str) -> String {
    word.split(['[', '=', '<', '>', '!', '~', ';', ' ', '@', '(']).next().unwrap_or_default().to_owned()
}

fn name_for_style(style: SpecStyle, name: &str) -> String {
    if style == SpecStyle::Python { normalize_python_name(&python_name(name)) } else { name.to_owned() }
}

/// Normalizes a Python package name: `Foo_Bar`, `foo.bar` and `foo-bar` are the same.
fn normalize_python_name(name: &str) -> String {
    let mut normal = String::with_capacity(name.len());
    for letter in name.chars() {
        let letter = if matches!(letter, '_' | '.') { '-' } else { letter.to_ascii_lowercase() };
        if letter != '-' || !normal.ends_with('-') {
            normal.push(letter);
        }
    }
    normal
}
