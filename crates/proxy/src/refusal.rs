// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Why a connection is refused, and how a client reads it.

/// Maximum length of each text in a reply.
const MAX_TEXT_CHARS: usize = 600;

/// Why a connection is refused. Both texts are read by a model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConnectionRefusal {
    /// Reason for the refusal, read by a model.
    pub reason: String,
    /// What to do instead.
    pub suggestion: Option<String>,
}

// === impl ConnectionRefusal ===

impl ConnectionRefusal {
    /// Creates a refusal without a suggestion.
    pub fn new(reason: impl Into<String>) -> Self {
        Self { reason: reason.into(), suggestion: None }
    }

    /// Adds what to do instead.
    #[must_use]
    pub fn with_suggestion(self, suggestion: impl Into<String>) -> Self {
        Self { suggestion: Some(suggestion.into()), ..self }
    }

    /// Returns the reply to an HTTP client. `about` is the target, if it is known.
    pub(crate) fn to_http(&self, status: HttpStatus, about: Option<&str>) -> Vec<u8> {
        let about = about.map(|about| format!(" to {}", one_line(about))).unwrap_or_default();
        let mut body =
            format!("Tenterhook refused this connection{about}.\nreason: {}\n", one_line(&self.reason));
        if let Some(suggestion) = &self.suggestion {
            body += &format!("suggestion: {}\n", one_line(suggestion));
        }
        let head = format!(
            "HTTP/1.1 {}\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: {}\r\nConnection: close\r\n\
             Cache-Control: no-store\r\nX-Tenterhook: refused\r\n\r\n",
            status.line(),
            body.len()
        );
        (head + &body).into_bytes()
    }
}

/// Status of a reply that the proxy makes itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum HttpStatus {
    BadRequest,
    Forbidden,
    HeadTooLarge,
    BadGateway,
    Busy,
    GatewayTimeout,
}

impl HttpStatus {
    fn line(self) -> &'static str {
        match self {
            Self::BadRequest => "400 Bad Request",
            Self::Forbidden => "403 Forbidden",
            Self::HeadTooLarge => "431 Request Header Fields Too Large",
            Self::BadGateway => "502 Bad Gateway",
            Self::Busy => "503 Service Unavailable",
            Self::GatewayTimeout => "504 Gateway Timeout",
        }
    }
}

/// Shortens a text, and replaces line breaks and control characters, so that a text cannot add lines to a reply.
fn one_line(text: &str) -> String {
    text.chars().take(MAX_TEXT_CHARS).map(|c| if c.is_control() { ' ' } else { c }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reply_has_one_reason_and_one_suggestion_and_no_other_lines() {
        let refusal = ConnectionRefusal::new("a\r\nSet-Cookie: b").with_suggestion("use c\x1b[2J");
        let reply = String::from_utf8(refusal.to_http(HttpStatus::Forbidden, Some("x.example:443"))).unwrap();
        assert!(reply.starts_with("HTTP/1.1 403 Forbidden\r\n"), "{reply}");
        let body = reply.split_once("\r\n\r\n").unwrap().1;
        assert_eq!(
            body,
            "Tenterhook refused this connection to x.example:443.\nreason: a  Set-Cookie: b\nsuggestion: use c [2J\n"
        );
        assert!(reply.contains(&format!("Content-Length: {}\r\n", body.len())), "{reply}");
    }
}
