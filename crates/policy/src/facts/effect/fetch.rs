// SPDX-License-Identifier: Apache-2.0 OR MIT

//! `curl` and `wget`: what they keep, and what they send.

use super::super::Word;
use super::Does::{self, Append, Read, Write};
use super::given::{Given, Touch};
use super::within;

const CURL_VALUES: &str = "AbcCdDeEFhHKmoPQrtTuUwxXyYz";

pub(super) fn curl(given: &Given<'_>) -> Vec<Touch> {
    let mut touches = Vec::new();
    let (mut named, mut to) = (false, None);
    let mut urls = Vec::new();
    let mut rest = given.words;
    while let Some((word, after)) = rest.split_first() {
        rest = after;
        let text = word.text.as_str();
        let (name, value, inner) = if let Some(long) = text.strip_prefix("--") {
            match long.split_once('=') {
                Some((name, _)) => (name, Some(word.tail(name.len() + 3)), true),
                None => (long, None, false),
            }
        } else if text.len() > 1 && text.starts_with('-') && !word.opens {
            named |= text.split(|c| CURL_VALUES.contains(c)).next().is_some_and(|own| own.contains('O'));
            let Some((at, letter)) = text.char_indices().skip(1).find(|(_, c)| CURL_VALUES.contains(*c))
            else {
                continue;
            };
            let end = at + letter.len_utf8();
            let value = (end < text.len()).then(|| word.tail(end));
            let inner = value.is_some();
            (text.get(at..end).unwrap_or_default(), value, inner)
        } else {
            urls.push(word.clone());
            continue;
        };
        named |= matches!(name, "remote-name" | "remote-name-all");
        let role = role(name);
        if role == Role::None {
            continue;
        }
        let value = value.or_else(|| {
            let next = rest.first().cloned();
            rest = rest.get(1..).unwrap_or_default();
            next
        });
        let Some(value) = value else { continue };
        match role {
            Role::Path(does) => touches.push(Touch::new(does, &value).inner(inner)),
            Role::Directory => to = Some(value),
            Role::Data => touches.extend(sent(&value)),
            Role::Url => urls.push(value),
            Role::Other | Role::None => {}
        }
    }
    for url in &urls {
        if let Some(path) = url.text.strip_prefix("file://") {
            touches.push(Touch::new(Read, &url.tail(url.text.len() - path.len())));
        } else if named {
            touches.extend(kept(url).map(|name| Touch::new(Write, &within(to.as_ref(), &name))));
        }
    }
    touches
}

#[derive(Clone, Copy, PartialEq)]
enum Role {
    /// An option without a value.
    None,
    Path(Does),
    Directory,
    /// `@file`, `name=@file`, `name=<file`
    Data,
    Url,
    Other,
}

fn role(option: &str) -> Role {
    match option {
        "o" | "output" | "D" | "dump-header" | "c" | "cookie-jar" | "trace" | "trace-ascii" | "stderr"
        | "etag-save" | "hsts" | "libcurl" => Role::Path(Write),
        "T" | "upload-file" | "K" | "config" | "etag-compare" => Role::Path(Read),
        "output-dir" => Role::Directory,
        "d" | "data" | "data-ascii" | "data-binary" | "data-urlencode" | "F" | "form" | "json" | "H"
        | "header" | "b" | "cookie" | "w" | "write-out" => Role::Data,
        "url" => Role::Url,
        // What only shows who one is does not leave the machine.
        "cert" | "key" | "netrc-file" => Role::Other,
        name if name.len() == 1 => Role::Other,
        "request" | "user" | "user-agent" | "referer" | "proxy" | "max-time" | "connect-timeout"
        | "retry" | "data-raw" | "form-string" | "cacert" | "capath" | "resolve" | "interface"
        | "limit-rate" | "retry-delay" | "range" | "max-redirs" | "retry-max-time" | "proto"
        | "unix-socket" | "connect-to" | "oauth2-bearer" | "aws-sigv4" | "ciphers" | "dns-servers"
        | "max-filesize" | "url-query" => Role::Other,
        _ => Role::None,
    }
}

/// The file in `@file`, `name=@file` or `name=<file`.
fn sent(value: &Word) -> Option<Touch> {
    let text = value.text.as_str();
    let start = if text.starts_with('@') {
        1
    } else {
        let at = text.find('=')?;
        let rest = text.get(at + 1..)?;
        if !rest.starts_with(['@', '<']) {
            return None;
        }
        at + 2
    };
    let mut path = value.tail(start);
    // `;type=text/plain` belongs to the form.
    if let Some((name, _)) = path.text.split_once(';') {
        path = Word { text: name.to_owned(), shape: name.to_owned(), ..path.clone() };
    }
    Some(Touch::new(Read, &path).inner(true))
}

/// The name under which an address is kept.
fn kept(url: &Word) -> Option<Word> {
    let path = url.text.split(['?', '#']).next().unwrap_or_default();
    let path = path.split_once("://").map_or(path, |(_, rest)| rest);
    let (_, name) = path.rsplit_once('/')?;
    let name = if url.dynamic && name.is_empty() { "*" } else { name };
    (!name.is_empty()).then(|| Word { dynamic: url.dynamic, ..Word::literal(name) })
}

pub(super) fn wget(given: &Given<'_>) -> Vec<Touch> {
    let mut touches = Vec::new();
    let (mut to, mut named) = (None, false);
    let mut urls = Vec::new();
    let mut rest = given.words;
    while let Some((word, after)) = rest.split_first() {
        rest = after;
        let text = word.text.as_str();
        let (name, value, inner) = if let Some(long) = text.strip_prefix("--") {
            match long.split_once('=') {
                Some((name, _)) => (name, Some(word.tail(name.len() + 3)), true),
                None => (long, None, false),
            }
        } else if text.len() > 1 && text.starts_with('-') && !word.opens {
            let found = text.char_indices().skip(1).find(|(_, c)| "oOaeBTwQPUtilADRIX".contains(*c));
            let Some((at, letter)) = found else { continue };
            let end = at + letter.len_utf8();
            let value = (end < text.len()).then(|| word.tail(end));
            let inner = value.is_some();
            (text.get(at..end).unwrap_or_default(), value, inner)
        } else {
            urls.push(word);
            continue;
        };
        let does = match name {
            "O" | "output-document" | "o" | "output-file" => Some(Write),
            "a" | "append-output" => Some(Append),
            "i" | "input-file" | "post-file" | "body-file" | "load-cookies" | "config" => Some(Read),
            "P" | "directory-prefix" => None,
            name if name.len() == 1
                || matches!(name, "header" | "post-data" | "user" | "password" | "method") =>
            {
                if value.is_none() {
                    rest = rest.get(1..).unwrap_or_default();
                }
                continue;
            }
            _ => continue,
        };
        named |= matches!(name, "O" | "output-document");
        let value = value.or_else(|| {
            let next = rest.first().cloned();
            rest = rest.get(1..).unwrap_or_default();
            next
        });
        match (does, value) {
            (Some(does), Some(value)) => touches.push(Touch::new(does, &value).inner(inner)),
            (None, value) => to = value,
            _ => {}
        }
    }
    let written = urls.into_iter().filter(|_| !named).filter_map(kept);
    touches.extend(written.map(|name| Touch::new(Write, &within(to.as_ref(), &name))));
    touches
}
