// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Sets the security headers of responses over TCP, and reads the cookie and page key of requests.

use axum::http::{HeaderMap, HeaderValue, header};

use crate::access::SESSION_LIFETIME;

/// Only the dashboard's own scripts run, other sites cannot embed it, and it cannot connect to other servers.
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

/// Name of the request header that contains the page key.
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

/// Formats the cookie of a browser session. Its name contains the port, because all ports of a host share their
/// cookies.
pub fn session_cookie(port: u16, value: &str) -> String {
    let life = if value.is_empty() { 0 } else { SESSION_LIFETIME.as_secs() };
    format!("{}={value}; HttpOnly; SameSite=Strict; Path=/; Max-Age={life}", cookie_name(port))
}

/// Maximum number of cookies with our name that are checked. Any other server on this host can set cookies with the
/// same name, which a browser may send before ours. Browsers keep fewer cookies than this per host, so ours is always
/// checked.
const MAX_COOKIES: usize = 1024;

/// The cookies with our name in a request. Another server on this host may have set some of them.
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
