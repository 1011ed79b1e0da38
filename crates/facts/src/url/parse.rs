// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Parses one string as an address.

use super::UrlFact;
use super::host::{parse_host, percent_decode};

/// Schemes whose addresses need no slashes and accept backslashes as slashes.
const WEB_SCHEMES: &[&str] = &["http", "https", "ws", "wss", "ftp", "ftps"];
/// Schemes that do not refer to a host on the network.
const LOCAL_SCHEMES: &[&str] =
    &["data", "file", "mailto", "javascript", "about", "blob", "tel", "urn", "unix"];

/// Parses a string that is recognizable as an address without context.
pub(super) fn parse_address(text: &str) -> Option<UrlFact> {
    let clean = clean_address(text);
    if let Some((scheme, rest)) = split_scheme(&clean) {
        if LOCAL_SCHEMES.contains(&scheme.as_str()) {
            return None;
        }
        if WEB_SCHEMES.contains(&scheme.as_str()) {
            let rest = rest.trim_start_matches(['/', '\\']);
            return parse_authority(text, &scheme, before_any(rest, &['/', '\\', '?', '#']));
        }
        // `git::https://…`, `ext::sh`: the name of a helper, then its argument.
        if let Some(rest) = rest.strip_prefix(':') {
            return rest
                .contains("://")
                .then(|| parse_address(rest))
                .flatten()
                .map(|fact| with_text(fact, text));
        }
        if let Some(rest) = rest.strip_prefix("//") {
            return parse_authority(text, &scheme, before_any(rest, &['/', '?', '#']));
        }
    }
    // `$SCHEME://host`
    if let Some((before, rest)) = clean.split_once("://")
        && before.contains('*')
    {
        return parse_authority(text, "*", before_any(rest, &['/', '?', '#']));
    }
    // `//host/path` takes the scheme of the page that names it.
    if let Some(rest) = clean.strip_prefix("//") {
        let fact = parse_authority(text, "*", before_any(rest, &['/', '?', '#']));
        return fact.filter(|fact| fact.host.contains('.'));
    }
    let fact = parse_host_and_port(&clean).or_else(|| parse_location(&clean));
    // Without a scheme, the text must look like a host: `a:b` and `12:30` do not.
    let fact = fact.filter(|fact| {
        fact.user.is_some()
            || fact.host.contains('.') && !fact.numeric
            || fact.port.is_some() && !is_digits_only(&clean)
    })?;
    Some(with_text(fact, text))
}

/// Returns every reading of an address: clients disagree on a `\` before an `@`.
pub(super) fn parse_readings(text: &str) -> Vec<UrlFact> {
    let mut facts: Vec<_> = parse_address(text).into_iter().collect();
    let clean = clean_address(text);
    let other = split_scheme(&clean).filter(|(scheme, _)| WEB_SCHEMES.contains(&scheme.as_str())).and_then(
        |(scheme, rest)| {
            let rest = before_any(rest.trim_start_matches(['/', '\\']), &['/', '?', '#']);
            (rest.contains('\\') && rest.contains('@')).then(|| parse_authority(text, &scheme, rest))?
        },
    );
    facts.extend(other.filter(|other| facts.iter().all(|fact| fact.host != other.host)));
    facts
}

/// Parses `host`, `host:port` and `user@host:port/path`, for programs that expect an address.
pub(super) fn parse_bare(text: &str, scheme: &str) -> Option<UrlFact> {
    let clean = clean_address(text);
    parse_authority(text, scheme, before_any(clean.trim_start_matches(['/', '\\']), &['/', '\\', '?', '#']))
}

/// Parses `[user@]host:path` as `scp` does: a word with a slash before its colon is a file.
pub(super) fn parse_location(text: &str) -> Option<UrlFact> {
    let (user, rest) = match text.split_once('@') {
        Some((user, rest)) if !user.contains(['/', ':', '[']) => (Some(user), rest),
        _ => (None, text),
    };
    let head = match rest.strip_prefix('[') {
        Some(inner) => inner.split_once("]:")?.0,
        None => rest.split_once(':')?.0,
    };
    // A single letter is a Windows drive.
    if head.contains(['/', '\\']) || head.len() < 2 && user.is_none() {
        return None;
    }
    let fact =
        parse_authority(text, "", &if head.contains(':') { format!("[{head}]") } else { head.to_owned() })?;
    Some(UrlFact { user: user.map(str::to_owned), ..fact })
}

/// Parses the part between `//` and the path.
fn parse_authority(text: &str, scheme: &str, authority: &str) -> Option<UrlFact> {
    let (user, place) = match authority.rsplit_once('@') {
        Some((user, place)) => (Some(user), place),
        None => (None, authority),
    };
    let (name, port) = split_port(place);
    let name = percent_decode(name);
    // An encoded `@` may be decoded by the client.
    let (inner, name) = match name.rsplit_once('@') {
        Some((user, name)) => (Some(user), name),
        None => (None, name.as_str()),
    };
    let (name, inner_port) = if inner.is_some() { split_port(name) } else { (name, None) };
    let host = parse_host(name)?;
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
        // An IPv6 address without brackets.
        Some((_, rest)) if rest.contains(':') && place.parse::<std::net::Ipv6Addr>().is_ok() => (place, None),
        Some((name, port)) => (name, port.parse().ok()),
        None => (place, None),
    }
}

fn parse_host_and_port(text: &str) -> Option<UrlFact> {
    let (_, port) = before_any(text, &['/', '?', '#']).rsplit_once(':')?;
    port.parse::<u16>().ok()?;
    parse_bare(text, "").filter(|fact| fact.user.is_none())
}

/// Whether a string consists of digits and colons only.
fn is_digits_only(text: &str) -> bool {
    text.chars().all(|c| c.is_ascii_digit() || c == ':')
}

/// Removes surrounding whitespace, and line breaks and tabs anywhere, as the URL standard requires.
fn clean_address(text: &str) -> String {
    text.trim_matches(|c: char| c <= ' ').replace(['\t', '\n', '\r'], "")
}

/// Returns the scheme in lower case, and the text after its colon.
fn split_scheme(text: &str) -> Option<(String, &str)> {
    let (scheme, rest) = text.split_once(':')?;
    let letter = |c: char| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.');
    let is = scheme.starts_with(|c: char| c.is_ascii_alphabetic()) && scheme.chars().all(letter);
    is.then(|| (scheme.to_ascii_lowercase(), rest))
}

fn before_any<'a>(text: &'a str, ends: &[char]) -> &'a str {
    text.split(ends).next().unwrap_or_default()
}

fn with_text(fact: UrlFact, text: &str) -> UrlFact {
    UrlFact { text: text.to_owned(), ..fact }
}
