// SPDX-License-Identifier: Apache-2.0 OR MIT

//! One text → one address.

use super::UrlFact;
use super::host::{decoded, host};

/// Schemes whose addresses need no slashes, and take backslashes for them.
const WEB: &[&str] = &["http", "https", "ws", "wss", "ftp", "ftps"];
/// Schemes of what is nowhere on the network.
const NOWHERE: &[&str] = &["data", "file", "mailto", "javascript", "about", "blob", "tel", "urn", "unix"];

/// Reads an address that says by itself that it is one.
pub(super) fn address(text: &str) -> Option<UrlFact> {
    let clean = cleaned(text);
    if let Some((scheme, rest)) = scheme(&clean) {
        if NOWHERE.contains(&scheme.as_str()) {
            return None;
        }
        if WEB.contains(&scheme.as_str()) {
            let rest = rest.trim_start_matches(['/', '\\']);
            return authority(text, &scheme, upto(rest, &['/', '\\', '?', '#']));
        }
        // `git::https://…`, `ext::sh`: a helper's name, then what it is given.
        if let Some(rest) = rest.strip_prefix(':') {
            return rest.contains("://").then(|| address(rest)).flatten().map(|fact| named(fact, text));
        }
        if let Some(rest) = rest.strip_prefix("//") {
            return authority(text, &scheme, upto(rest, &['/', '?', '#']));
        }
    }
    // `$SCHEME://host`
    if let Some((before, rest)) = clean.split_once("://")
        && before.contains('*')
    {
        return authority(text, "*", upto(rest, &['/', '?', '#']));
    }
    let fact = host_and_port(&clean).or_else(|| place(&clean));
    // Without a scheme, only what looks like a host is one: `a:b` is not, and neither is `12:30`.
    let fact = fact.filter(|fact| {
        fact.user.is_some()
            || fact.host.contains('.') && !fact.numeric
            || fact.port.is_some() && !digits(&clean)
    })?;
    Some(named(fact, text))
}

/// Every way the address may be read: those who fetch do not agree on a `\` before an `@`.
pub(super) fn readings(text: &str) -> Vec<UrlFact> {
    let mut facts: Vec<_> = address(text).into_iter().collect();
    let clean = cleaned(text);
    let other =
        scheme(&clean).filter(|(scheme, _)| WEB.contains(&scheme.as_str())).and_then(|(scheme, rest)| {
            let rest = upto(rest.trim_start_matches(['/', '\\']), &['/', '?', '#']);
            (rest.contains('\\') && rest.contains('@')).then(|| authority(text, &scheme, rest))?
        });
    facts.extend(other.filter(|other| facts.iter().all(|fact| fact.host != other.host)));
    facts
}

/// Reads `host`, `host:port`, `user@host:port/path`, as programs do that expect an address.
pub(super) fn bare(text: &str, scheme: &str) -> Option<UrlFact> {
    let clean = cleaned(text);
    authority(text, scheme, upto(clean.trim_start_matches(['/', '\\']), &['/', '\\', '?', '#']))
}

/// Reads `[user@]host:path`, as `scp` does: what has a slash before its colon is a file.
pub(super) fn place(text: &str) -> Option<UrlFact> {
    let (user, rest) = match text.split_once('@') {
        Some((user, rest)) if !user.contains(['/', ':', '[']) => (Some(user), rest),
        _ => (None, text),
    };
    let head = match rest.strip_prefix('[') {
        Some(inner) => inner.split_once("]:")?.0,
        None => rest.split_once(':')?.0,
    };
    // One letter is a drive.
    if head.contains(['/', '\\']) || head.len() < 2 && user.is_none() {
        return None;
    }
    let fact = authority(text, "", &if head.contains(':') { format!("[{head}]") } else { head.to_owned() })?;
    Some(UrlFact { user: user.map(str::to_owned), ..fact })
}

/// Reads what lies between `//` and the path.
fn authority(text: &str, scheme: &str, authority: &str) -> Option<UrlFact> {
    let (user, place) = match authority.rsplit_once('@') {
        Some((user, place)) => (Some(user), place),
        None => (None, authority),
    };
    let (name, port) = split_port(place);
    let name = decoded(name);
    // An encoded `@` is there to be decoded by somebody.
    let (inner, name) = match name.rsplit_once('@') {
        Some((user, name)) => (Some(user), name),
        None => (None, name.as_str()),
    };
    let (name, inner_port) = if inner.is_some() { split_port(name) } else { (name, None) };
    let host = host(name)?;
    let user = user.or(inner).map(|user| user.split_once(':').map_or(user, |(user, _)| user).to_owned());
    Some(UrlFact {
        text: text.to_owned(),
        scheme: scheme.to_owned(),
        host: host.name,
        port: port.or(inner_port),
        user,
        numeric: host.numeric,
        loopback: host.loopback,
        dynamic: false,
    })
}

fn split_port(place: &str) -> (&str, Option<u16>) {
    if let Some((inner, after)) = place.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        return (inner, after.strip_prefix(':').and_then(|port| port.parse().ok()));
    }
    match place.split_once(':') {
        // An address of the sixth version without its brackets.
        Some((_, rest)) if rest.contains(':') && place.parse::<std::net::Ipv6Addr>().is_ok() => (place, None),
        Some((name, port)) => (name, port.parse().ok()),
        None => (place, None),
    }
}

fn host_and_port(text: &str) -> Option<UrlFact> {
    let (_, port) = upto(text, &['/', '?', '#']).rsplit_once(':')?;
    port.parse::<u16>().ok()?;
    bare(text, "").filter(|fact| fact.user.is_none())
}

/// Whether both sides of the colon are nothing but digits.
fn digits(text: &str) -> bool {
    text.chars().all(|c| c.is_ascii_digit() || c == ':')
}

/// As the standard has it: no blanks around, no line breaks and tabs anywhere.
fn cleaned(text: &str) -> String {
    text.trim_matches(|c: char| c <= ' ').replace(['\t', '\n', '\r'], "")
}

/// The scheme in small letters, and what follows its colon.
fn scheme(text: &str) -> Option<(String, &str)> {
    let (scheme, rest) = text.split_once(':')?;
    let letter = |c: char| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.');
    let is = scheme.starts_with(|c: char| c.is_ascii_alphabetic()) && scheme.chars().all(letter);
    is.then(|| (scheme.to_ascii_lowercase(), rest))
}

fn upto<'a>(text: &'a str, ends: &[char]) -> &'a str {
    text.split(ends).next().unwrap_or_default()
}

fn named(fact: UrlFact, text: &str) -> UrlFact {
    UrlFact { text: text.to_owned(), ..fact }
}
