// SPDX-License-Identifier: Apache-2.0 OR MIT

//! What a word says of a package: its name, and where it comes from.

use tenterhook_programs::SpecStyle;

use super::From;

/// The hosts for which package managers have a word of their own.
const HOSTS: &[&str] = &["github:", "gitlab:", "bitbucket:", "gist:", "sourcehut:", "gh:"];
const ARCHIVES: &[&str] = &[
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

/// The name of a package and where it comes from; `None` when the word is none.
pub(super) fn name_of(style: SpecStyle, word: &str) -> Option<(String, From)> {
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
        let from = place_of(address.trim()).unwrap_or(From::Url);
        return Some((python_or_plain(style, name.trim()), from));
    }
    if let Some(from) = place_of(word) {
        return Some((said_name(word).unwrap_or_else(|| word.to_owned()), from));
    }
    let upto = |ends: &[char]| word.split(ends).next().unwrap_or_default().to_owned();
    let registry = |name: String| (!name.is_empty()).then_some((name, From::Registry));
    match style {
        SpecStyle::Npm => npm(word),
        SpecStyle::Python => registry(normal(&python(word))),
        SpecStyle::At => registry(upto(&['@'])),
        SpecStyle::Go => {
            let host = word.split('/').next().unwrap_or_default();
            let module = host.contains(['.', '*']) && word.contains('/') && !host.starts_with('.');
            if module || word.contains('@') {
                registry(upto(&['@']))
            } else {
                Some((word.to_owned(), From::Path))
            }
        }
        SpecStyle::Colon => registry(upto(&[':'])),
        SpecStyle::Equals => registry(upto(&['=', '/'])),
        SpecStyle::Brew => {
            let name = upto(&['@']);
            let from = if name.contains('/') { From::Git } else { From::Registry };
            Some((name, from))
        }
        SpecStyle::Nix => match word.split_once('#') {
            Some(("nixpkgs" | "", name)) => registry(name.to_owned()),
            Some(_) => Some((word.to_owned(), From::Git)),
            None => registry(word.trim_start_matches("nixpkgs.").to_owned()),
        },
        SpecStyle::Deno => match word.split_once(':') {
            Some(("npm" | "jsr", name)) => npm(name),
            _ => Some((word.to_owned(), From::Path)),
        },
        SpecStyle::Plain => registry(word.to_owned()),
    }
}

/// What `npm init name` really runs: `create-name`.
pub(super) fn created(word: &str) -> (String, From) {
    let Some((name, from)) = npm(word) else { return (word.to_owned(), From::Registry) };
    if from != From::Registry {
        return (name, from);
    }
    let name = match name.strip_prefix('@').map(|rest| rest.split_once('/')) {
        Some(Some((scope, name))) => format!("@{scope}/create-{name}"),
        Some(None) => format!("{name}/create"),
        None => format!("create-{name}"),
    };
    (name, from)
}

/// Where it comes from, if the word is a place.
fn place_of(word: &str) -> Option<From> {
    let starts = |starts: &[&str]| starts.iter().any(|start| word.starts_with(start));
    if starts(&["git+", "git://", "git@", "ssh://", "svn+", "hg+", "bzr+"]) || is_hosted(word) {
        return Some(From::Git);
    }
    if starts(&["file:", "link:", "portal:", "./", "../", "/", "~"]) || matches!(word, "." | "..") {
        return Some(From::Path);
    }
    // `.[dev]`: this directory, with extras.
    if starts(&[".["]) {
        return Some(From::Path);
    }
    if word.contains("://") {
        let address = word.split(['#', '?']).next().unwrap_or_default();
        return Some(if address.strip_suffix(".git").is_some() { From::Git } else { From::Url });
    }
    ARCHIVES.iter().any(|end| word.ends_with(end)).then_some(From::Path)
}

fn is_hosted(word: &str) -> bool {
    HOSTS.iter().any(|host| word.starts_with(host))
}

/// The name that an address gives: `…#egg=name`.
fn said_name(word: &str) -> Option<String> {
    let (_, name) = word.split_once("egg=")?;
    let name = normal(&python(name.split('&').next().unwrap_or_default()));
    (!name.is_empty()).then_some(name)
}

fn npm(word: &str) -> Option<(String, From)> {
    let scoped = word.starts_with('@');
    let (name, version) = match word.char_indices().skip(usize::from(scoped)).find(|(_, c)| *c == '@') {
        Some((at, _)) => word.split_at_checked(at)?,
        None => (word, ""),
    };
    if let Some(other) = version.strip_prefix("@npm:").filter(|other| !other.is_empty()) {
        return npm(other);
    }
    if let Some(other) = name.strip_prefix("npm:") {
        return npm(other);
    }
    if version.strip_prefix('@').is_some_and(|version| place_of(version) == Some(From::Path)) {
        return Some((name.to_owned(), From::Path));
    }
    if name.is_empty() {
        return None;
    }
    let repository = !scoped && name.contains('/');
    Some(if repository { (word.to_owned(), From::Git) } else { (name.to_owned(), From::Registry) })
}

fn python(word: &str) -> String {
    word.split(['[', '=', '<', '>', '!', '~', ';', ' ', '@', '(']).next().unwrap_or_default().to_owned()
}

fn python_or_plain(style: SpecStyle, name: &str) -> String {
    if style == SpecStyle::Python { normal(&python(name)) } else { name.to_owned() }
}

/// Python takes `Foo_Bar`, `foo.bar` and `foo-bar` for one name.
fn normal(name: &str) -> String {
    let mut normal = String::with_capacity(name.len());
    for letter in name.chars() {
        let letter = if matches!(letter, '_' | '.') { '-' } else { letter.to_ascii_lowercase() };
        if letter != '-' || !normal.ends_with('-') {
            normal.push(letter);
        }
    }
    normal
}
