// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Checks requests over TCP. Any web page in a browser on this machine can reach the port. So `Host` and `Origin`
//! must be ours, and access needs a token that a web page cannot read.

use axum::http::{HeaderMap, HeaderValue, StatusCode, header};

/// Expected host names and token.
#[derive(Debug, Clone)]
pub(crate) struct RequestCheck {
    /// Accepted values of `Host`, with the port.
    hosts: Vec<String>,
    token: String,
}

impl RequestCheck {
    /// Creates the check for a listener on this address.
    pub(crate) fn new(address: std::net::SocketAddr, token: &str) -> Self {
        let port = address.port();
        let mut hosts: Vec<_> =
            ["127.0.0.1", "localhost", "[::1]"].iter().map(|host| format!("{host}:{port}")).collect();
        hosts.push(address.to_string());
        Self { hosts, token: token.to_owned() }
    }

    /// Checks that the request names our host, and that it comes from our own page or from no page.
    pub(crate) fn check_host(&self, headers: &HeaderMap) -> Result<(), (StatusCode, &'static str)> {
        // With a duplicate header, a proxy may have checked the other one.
        for name in [header::HOST, header::ORIGIN, header::AUTHORIZATION] {
            if headers.get_all(name).iter().nth(1).is_some() {
                return Err((StatusCode::BAD_REQUEST, "duplicate security header"));
            }
        }
        let host = text(headers.get(header::HOST));
        if !host.is_some_and(|host| self.hosts.iter().any(|ours| ours.eq_ignore_ascii_case(host))) {
            return Err((StatusCode::MISDIRECTED_REQUEST, "unknown host"));
        }
        if let Some(origin) = headers.get(header::ORIGIN) {
            let ours = |host: &String| {
                text(Some(origin))
                    .is_some_and(|origin| origin.eq_ignore_ascii_case(&format!("http://{host}")))
            };
            if !self.hosts.iter().any(ours) {
                return Err((StatusCode::FORBIDDEN, "requests from other web pages are not allowed"));
            }
        }
        Ok(())
    }

    /// Whether the request contains the token.
    pub(crate) fn has_token(&self, headers: &HeaderMap) -> bool {
        let bearer = text(headers.get(header::AUTHORIZATION)).and_then(|value| value.strip_prefix("Bearer "));
        bearer.is_some_and(|given| is_equal_constant_time(given.as_bytes(), self.token.as_bytes()))
    }
}

fn text(value: Option<&HeaderValue>) -> Option<&str> {
    value?.to_str().ok()
}

/// Compares in constant time, so that the duration reveals nothing about the token.
fn is_equal_constant_time(given: &[u8], right: &[u8]) -> bool {
    let differing = given.iter().zip(right).fold(0, |differing, (a, b)| differing | (a ^ b));
    given.len() == right.len() && differing == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(pairs: &[(&'static str, &str)]) -> HeaderMap {
        pairs.iter().map(|(name, value)| (name.parse().unwrap(), value.parse().unwrap())).collect()
    }

    #[test]
    fn only_our_own_names_and_pages_are_let_in() {
        let check = RequestCheck::new("127.0.0.1:7878".parse().unwrap(), "secret");
        for (host, origin, expected) in [
            ("127.0.0.1:7878", None, true),
            ("localhost:7878", Some("http://localhost:7878"), true),
            ("LOCALHOST:7878", None, true),
            ("evil.example:7878", None, false),
            ("127.0.0.1", None, false),
            ("127.0.0.1:7878", Some("http://evil.example"), false),
            ("127.0.0.1:7878", Some("null"), false),
            ("127.0.0.1:7878", Some("https://127.0.0.1:7878"), false),
        ] {
            let mut pairs = vec![("host", host)];
            pairs.extend(origin.map(|origin| ("origin", origin)));
            assert_eq!(check.check_host(&headers(&pairs)).is_ok(), expected, "{host} {origin:?}");
        }
        assert!(check.check_host(&headers(&[])).is_err(), "no host at all");
        let twice = headers(&[("host", "127.0.0.1:7878"), ("host", "evil.example")]);
        assert_eq!(twice.len(), 2);
        assert!(check.check_host(&twice).is_err());
    }

    #[test]
    fn only_the_whole_token_opens() {
        let check = RequestCheck::new("127.0.0.1:7878".parse().unwrap(), "secret");
        for (value, expected) in [
            ("Bearer secret", true),
            ("Bearer secre", false),
            ("Bearer secrets", false),
            ("Bearer ", false),
            ("secret", false),
        ] {
            assert_eq!(check.has_token(&headers(&[("authorization", value)])), expected, "{value}");
        }
        assert!(!check.has_token(&headers(&[])));
    }
}
