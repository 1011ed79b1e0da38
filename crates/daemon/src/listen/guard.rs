// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Who may come in over TCP. A browser on this machine can reach the port as well, from any page: so
//! the `Host` and the `Origin` must be ours, and only a token that a page cannot read opens the door.

use axum::http::{HeaderMap, HeaderValue, StatusCode, header};

/// What a request over TCP must show.
#[derive(Debug, Clone)]
pub(crate) struct Allowed {
    /// Ways to name us in `Host`, with the port.
    hosts: Vec<String>,
    token: String,
}

impl Allowed {
    /// For a listener on this address.
    pub(crate) fn new(address: std::net::SocketAddr, token: &str) -> Self {
        let port = address.port();
        let mut hosts: Vec<_> =
            ["127.0.0.1", "localhost", "[::1]"].iter().map(|host| format!("{host}:{port}")).collect();
        hosts.push(address.to_string());
        Self { hosts, token: token.to_owned() }
    }

    /// Whether the request names our host, and comes from our own page or from no page.
    pub(crate) fn names_us(&self, headers: &HeaderMap) -> Result<(), (StatusCode, &'static str)> {
        // With a duplicate header, a proxy may have checked the other one.
        for name in [header::HOST, header::ORIGIN, header::AUTHORIZATION] {
            if headers.get_all(name).iter().nth(1).is_some() {
                return Err((StatusCode::BAD_REQUEST, "a header that may stand once stands twice"));
            }
        }
        let host = text(headers.get(header::HOST));
        if !host.is_some_and(|host| self.hosts.iter().any(|ours| ours.eq_ignore_ascii_case(host))) {
            return Err((StatusCode::MISDIRECTED_REQUEST, "this is not the host you asked for"));
        }
        if let Some(origin) = headers.get(header::ORIGIN) {
            let ours = |host: &String| {
                text(Some(origin))
                    .is_some_and(|origin| origin.eq_ignore_ascii_case(&format!("http://{host}")))
            };
            if !self.hosts.iter().any(ours) {
                return Err((StatusCode::FORBIDDEN, "pages of others may not ask"));
            }
        }
        Ok(())
    }

    /// Whether the request carries the token.
    pub(crate) fn opens(&self, headers: &HeaderMap) -> bool {
        let bearer = text(headers.get(header::AUTHORIZATION)).and_then(|value| value.strip_prefix("Bearer "));
        bearer.is_some_and(|given| same(given.as_bytes(), self.token.as_bytes()))
    }
}

fn text(value: Option<&HeaderValue>) -> Option<&str> {
    value?.to_str().ok()
}

/// Compares without saying by its time how much was right.
fn same(given: &[u8], right: &[u8]) -> bool {
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
        let allowed = Allowed::new("127.0.0.1:7878".parse().unwrap(), "secret");
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
            assert_eq!(allowed.names_us(&headers(&pairs)).is_ok(), expected, "{host} {origin:?}");
        }
        assert!(allowed.names_us(&headers(&[])).is_err(), "no host at all");
        let twice = headers(&[("host", "127.0.0.1:7878"), ("host", "evil.example")]);
        assert_eq!(twice.len(), 2);
        assert!(allowed.names_us(&twice).is_err());
    }

    #[test]
    fn only_the_whole_token_opens() {
        let allowed = Allowed::new("127.0.0.1:7878".parse().unwrap(), "secret");
        for (value, expected) in [
            ("Bearer secret", true),
            ("Bearer secre", false),
            ("Bearer secrets", false),
            ("Bearer ", false),
            ("secret", false),
        ] {
            assert_eq!(allowed.opens(&headers(&[("authorization", value)])), expected, "{value}");
        }
        assert!(!allowed.opens(&headers(&[])));
    }
}
