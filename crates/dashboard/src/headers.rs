// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Security headers of responses over TCP, and the cookie and page key of requests.

use axum::http::{HeaderMap, HeaderValue, header};

use crate::access::SESSION_LIFETIME;

/// Only our own scripts run, other sites cannot embed the dashboard, and it connects to no other server.
const CONTENT_SECURITY_POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; \
    img-src 'self' data:; font-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'self'";

const SECURITY_HEADERS: &[(&str, &str)] = &[
    ("content-security-policy", CONTENT_SECURITY_POLICY),
    ("x-content-type-options", "nosniff"),
    ("referrer-policy", "no-referrer"),
    ("x-frame-options", "DENY"),
    ("cross-origin-opener-policy", "same-origin"),
    ("cross-origin-resource-policy", "same-origin"),
    ("cross-origin-embedder-policy", "require-corp"),
    ("permissions-policy", "camera=(), geolocation=(), microphone=(), payment=(), usb=()"),
];

/// Request header with the page key.
const PAGE_KEY_HEADER: &str = "tenterhook-page";

/// Adds the security headers to a response.
pub fn add_security_headers(headers: &mut HeaderMap) {
    for (name, value) in SECURITY_HEADERS {
        headers.insert(*name, HeaderValue::from_static(value));
    }
    if !headers.contains_key(header::CACHE_CONTROL) {
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    }
}

/// Cookie of a browser session. Its name contains the port, because cookies are shared by all ports of a host.
pub fn session_cookie(port: u16, value: &str) -> String {
    let life = if value.is_empty() { 0 } else { SESSION_LIFETIME.as_secs() };
    format!("{}={value}; HttpOnly; SameSite=Strict; Path=/; Max-Age={life}", cookie_name(port))
}

/// Maximum number of cookies of our name that are checked. Any local server can set cookies for this host, before ours;
/// browsers keep fewer than this per host.
const MAX_COOKIES: usize = 1024;

/// Cookies of our name in a request. Another local server may have set some of them.
pub fn presented_cookies(headers: &HeaderMap, port: u16) -> impl Iterator<Item = &str> {
    let name = cookie_name(port);
    let lists = headers.get_all(header::COOKIE).into_iter().filter_map(|value| value.to_str().ok());
    lists
        .flat_map(|list| list.split(';'))
        .filter_map(move |pair| pair.trim().strip_prefix(name.as_str())?.strip_prefix('='))
        .take(MAX_COOKIES)
}

/// Page key of a request.
pub fn page_key(headers: &HeaderMap) -> Option<&str> {
    headers.get(PAGE_KEY_HEADER)?.to_str().ok()
}

fn cookie_name(port: u16) -> String {
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
        assert_eq!(presented_cookies(&headers, 7878).collect::<Vec<_>>(), ["x", "z"]);
        assert_eq!(presented_cookies(&headers, 7879).count(), 0);
    }
}
