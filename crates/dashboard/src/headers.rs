// SPDX-License-Identifier: Apache-2.0 OR MIT

//! What browsers are told with every answer over TCP, and what they show with every question.

use axum::http::{HeaderMap, HeaderValue, header};

use crate::access::SESSION_LIFETIME;

/// Only our own files run, nothing stands in a page of others, and nothing is asked of anybody else.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; \
    img-src 'self' data:; font-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'self'";

const HEADERS: &[(&str, &str)] = &[
    ("content-security-policy", POLICY),
    ("x-content-type-options", "nosniff"),
    ("referrer-policy", "no-referrer"),
    ("x-frame-options", "DENY"),
    ("cross-origin-opener-policy", "same-origin"),
    ("cross-origin-resource-policy", "same-origin"),
    ("cross-origin-embedder-policy", "require-corp"),
    ("permissions-policy", "camera=(), geolocation=(), microphone=(), payment=(), usb=()"),
];

/// The header in which a page shows its key.
const KEY: &str = "tenterhook-page";

/// Adds what every answer says.
pub fn add(headers: &mut HeaderMap) {
    for (name, value) in HEADERS {
        headers.insert(*name, HeaderValue::from_static(value));
    }
    if !headers.contains_key(header::CACHE_CONTROL) {
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    }
}

/// The cookie of a browser that was let in. Its name has the port: cookies know only the machine.
pub fn cookie(port: u16, value: &str) -> String {
    let life = if value.is_empty() { 0 } else { SESSION_LIFETIME.as_secs() };
    format!("{}={value}; HttpOnly; SameSite=Strict; Path=/; Max-Age={life}", name(port))
}

/// The most cookies of our name that are looked at. Any local server can set cookies for this machine, ahead of ours;
/// browsers keep fewer than this for one host.
const MAX_COOKIES: usize = 1024;

/// The cookies of our name that a request shows: another local server may have set some as well.
pub fn presented(headers: &HeaderMap, port: u16) -> impl Iterator<Item = &str> {
    let name = name(port);
    let lists = headers.get_all(header::COOKIE).into_iter().filter_map(|value| value.to_str().ok());
    lists
        .flat_map(|list| list.split(';'))
        .filter_map(move |pair| pair.trim().strip_prefix(name.as_str())?.strip_prefix('='))
        .take(MAX_COOKIES)
}

/// The key that a page shows.
pub fn key(headers: &HeaderMap) -> Option<&str> {
    headers.get(KEY)?.to_str().ok()
}

fn name(port: u16) -> String {
    format!("tenterhook-{port}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_cookies_of_this_port_count() {
        let headers = HeaderMap::from_iter([(
            header::COOKIE,
            HeaderValue::from_static("a=1; tenterhook-7878=x; tenterhook-78789=y; tenterhook-7878=z"),
        )]);
        assert_eq!(presented(&headers, 7878).collect::<Vec<_>>(), ["x", "z"]);
        assert_eq!(presented(&headers, 7879).count(), 0);
    }
}
