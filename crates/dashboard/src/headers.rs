// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Sets the security headers of responses over TCP, and reads the cookie and page key of requests.

use std::time::Duration;

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

/// Maximum number of cookies with our name that are checked. Any other server on this host can set cookies with the
/// same name, which a browser may send before ours. Browsers keep fewer cookies than this per host, so ours is always
/// checked.
const MAX_COOKIES: usize = 1024;

/// The cookie of a server's browser sessions.
#[derive(Debug, Clone)]
pub struct SessionCookie {
    name: String,
    life: Duration,
    is_secure: bool,
}

impl SessionCookie {
    /// The cookie of a server that browsers reach at this port of the machine. Its name contains the port, because all
    /// ports of a host share their cookies.
    pub fn of_port(port: u16) -> Self {
        Self { name: format!("tenterhook-{port}"), life: SESSION_LIFETIME, is_secure: false }
    }

    /// The cookie of a service whose copies share their sessions. Browsers send a secure cookie over HTTPS only, and
    /// accept its name only from this host.
    pub fn of_service(name: &str, life: Duration, is_secure: bool) -> Self {
        let prefix = if is_secure { "__Host-" } else { "" };
        Self { name: format!("{prefix}tenterhook-{name}"), life, is_secure }
    }

    /// Formats the header that sets the cookie; an empty value removes it.
    pub fn format(&self, value: &str) -> String {
        let life = if value.is_empty() { 0 } else { self.life.as_secs() };
        let secure = if self.is_secure { "; Secure" } else { "" };
        format!("{}={value}; HttpOnly; SameSite=Strict; Path=/; Max-Age={life}{secure}", self.name)
    }

    /// The values of this cookie in a request. Another server on this host may have set some of them.
    pub fn presented<'a>(&self, headers: &'a HeaderMap) -> Vec<&'a str> {
        let lists = headers.get_all(header::COOKIE).into_iter().filter_map(|value| value.to_str().ok());
        lists
            .flat_map(|list| list.split(';'))
            .filter_map(|pair| pair.trim().strip_prefix(self.name.as_str())?.strip_prefix('='))
            .take(MAX_COOKIES)
            .collect()
    }
}

/// Formats the cookie of a browser session of the daemon.
pub fn session_cookie(port: u16, value: &str) -> String {
    SessionCookie::of_port(port).format(value)
}

/// The cookies with the daemon's name in a request.
pub fn presented_cookies(headers: &HeaderMap, port: u16) -> Vec<&str> {
    SessionCookie::of_port(port).presented(headers)
}

/// Page key of a request.
pub fn page_key(headers: &HeaderMap) -> Option<&str> {
    headers.get(PAGE_KEY_HEADER)?.to_str().ok()
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
        assert_eq!(presented_cookies(&headers, 7878), ["x", "z"]);
        assert!(presented_cookies(&headers, 7879).is_empty());
    }

    #[test]
    fn the_cookie_of_a_service_is_not_read_by_scripts_and_secure_over_https() {
        let plain = SessionCookie::of_service("fleet-1f", Duration::from_mins(2), false);
        assert_eq!(
            plain.format("v"),
            "tenterhook-fleet-1f=v; HttpOnly; SameSite=Strict; Path=/; Max-Age=120"
        );
        assert!(plain.format("").contains("Max-Age=0"));
        let secure = SessionCookie::of_service("fleet-1f", Duration::from_mins(2), true).format("v");
        assert!(
            secure.starts_with("__Host-tenterhook-fleet-1f=v;") && secure.ends_with("; Secure"),
            "{secure}"
        );
    }
}
