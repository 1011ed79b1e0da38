// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Parses the head of an HTTP request. The parser is strict: what two readers could understand differently is refused,
//! so that the proxy and the target agree on where a request ends and whom it is for.

use crate::{ConnectionTarget, ConnectionTargetError};

/// Maximum number of header fields.
const MAX_FIELDS: usize = 128;
/// Port of `http` addresses.
pub(crate) const HTTP_PORT: u16 = 80;

/// The head of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RequestHead {
    /// Method of the request, such as `CONNECT`.
    pub method: String,
    /// What the request is for.
    pub target: RequestTarget,
    /// Minor version of HTTP/1: 0 or 1.
    pub minor_version: u8,
    /// How long the body is.
    pub body: BodyFraming,
    /// Header fields, in order, without `Host` and without the fields that concern only this connection.
    fields: Vec<(String, Vec<u8>)>,
}

/// What a request is for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RequestTarget {
    /// A tunnel to a host and port.
    Connect(ConnectionTarget),
    /// A resource of a host, over plain HTTP.
    Absolute {
        /// Host and port.
        target: ConnectionTarget,
        /// Path and query, as the target expects them.
        path: String,
    },
}

/// How long the body of a request is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BodyFraming {
    /// There is no body.
    None,
    /// This number of bytes.
    Length(u64),
    /// The body is sent in chunks.
    Chunked,
}

/// Why a head is refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RequestHeadError {
    /// The request line is not `METHOD TARGET HTTP/1.x`.
    #[error("the request line is invalid")]
    RequestLine,
    /// The version is not HTTP/1.0 or HTTP/1.1.
    #[error("only HTTP/1.0 and HTTP/1.1 are supported")]
    Version,
    /// The request is for the proxy itself.
    #[error("this is a proxy: send `CONNECT host:port` or an absolute `http://` address")]
    NotProxied,
    /// The scheme is not `http`.
    #[error("the scheme `{0}` is not supported here: use `CONNECT` for it")]
    Scheme(String),
    /// The target is invalid.
    #[error("invalid target: {0}")]
    Target(#[from] ConnectionTargetError),
    /// A line ends in a bare line feed, or contains a bare carriage return or a control character.
    #[error("a header line contains a control character or a bare line break")]
    ControlCharacter,
    /// A header field has no valid name, or is folded.
    #[error("a header field is invalid")]
    Field,
    /// There are too many header fields.
    #[error("there are more than {MAX_FIELDS} header fields")]
    TooManyFields,
    /// There are several `Host` fields, or none in HTTP/1.1, or it names another host than the target.
    #[error("the `Host` field does not match the address of the request")]
    HostMismatch,
    /// The length of the body is ambiguous.
    #[error("the length of the request's body is ambiguous")]
    AmbiguousLength,
    /// A `CONNECT` request has a body.
    #[error("a `CONNECT` request has no body")]
    ConnectBody,
    /// A `Connection` field names a field that says where the request ends or whom it is for.
    #[error("the `Connection` field names a field that cannot be removed")]
    ConnectionField,
}

/// Fields that concern only the connection to the proxy.
const HOP_FIELDS: &[&str] = &[
    "connection",
    "keep-alive",
    "proxy-authenticate",
    "proxy-authorization",
    "proxy-connection",
    "te",
    "upgrade",
    "http2-settings",
];
/// Fields that a `Connection` field may not remove.
const KEPT_FIELDS: &[&str] = &["content-length", "host", "transfer-encoding", "authorization", "cookie"];

// === impl RequestHead ===

impl RequestHead {
    /// Parses a complete head, including the empty line at its end.
    pub fn parse(bytes: &[u8]) -> Result<Self, RequestHeadError> {
        let text = bytes.strip_suffix(b"\r\n\r\n").ok_or(RequestHeadError::RequestLine)?;
        let mut lines = split_lines(text);
        let (method, target, minor_version) = parse_request_line(lines.next().unwrap_or_default())?;
        let mut fields = Vec::new();
        for line in lines {
            if fields.len() >= MAX_FIELDS {
                return Err(RequestHeadError::TooManyFields);
            }
            fields.push(parse_field(line)?);
        }
        let body = body_framing(&fields, minor_version)?;
        let hosts: Vec<_> = values_of(&fields, "host").collect();
        match &target {
            RequestTarget::Connect(_) if body != BodyFraming::None => {
                return Err(RequestHeadError::ConnectBody);
            }
            RequestTarget::Connect(_) if hosts.len() > 1 => return Err(RequestHeadError::HostMismatch),
            RequestTarget::Connect(_) => {}
            RequestTarget::Absolute { target, .. } => check_host(&hosts, target, minor_version)?,
        }
        let dropped = connection_options(&fields)?;
        fields.retain(|(name, _)| {
            name != "host" && !HOP_FIELDS.contains(&name.as_str()) && !dropped.contains(name)
        });
        Ok(Self { method, target, minor_version, body, fields })
    }

    /// Returns the head that the target receives: with the path only, its own `Host` field, and without fields that
    /// concern only the connection to the proxy. The connection serves one request.
    pub fn to_target(&self) -> Option<Vec<u8>> {
        let RequestTarget::Absolute { path, .. } = &self.target else { return None };
        self.with_request_target(path, None)
    }

    /// Returns the head that an upstream proxy receives: like [`Self::to_target`], with the whole address.
    pub(crate) fn to_proxy(&self, authorization: Option<&str>) -> Option<Vec<u8>> {
        let RequestTarget::Absolute { target, path } = &self.target else { return None };
        // `*` asks the server itself, which a proxy is asked by an address without a path.
        let path = if path == "*" { "" } else { path };
        let address = format!("http://{}{path}", target.host_header(HTTP_PORT));
        self.with_request_target(&address, authorization)
    }

    fn with_request_target(&self, request_target: &str, authorization: Option<&str>) -> Option<Vec<u8>> {
        let RequestTarget::Absolute { target, .. } = &self.target else { return None };
        let host = target.host_header(HTTP_PORT);
        let (method, version) = (&self.method, self.minor_version);
        let mut head = format!("{method} {request_target} HTTP/1.{version}\r\nHost: {host}\r\n");
        if let Some(authorization) = authorization {
            head.push_str(&format!("Proxy-Authorization: {authorization}\r\n"));
        }
        let mut head = head.into_bytes();
        for (name, value) in &self.fields {
            head.extend_from_slice(name.as_bytes());
            head.extend_from_slice(b": ");
            head.extend_from_slice(value);
            head.extend_from_slice(b"\r\n");
        }
        head.extend_from_slice(b"Connection: close\r\n\r\n");
        Some(head)
    }

    /// Returns the host and port.
    pub fn host_and_port(&self) -> &ConnectionTarget {
        match &self.target {
            RequestTarget::Connect(target) | RequestTarget::Absolute { target, .. } => target,
        }
    }
}

/// Splits at CRLF. Bare line feeds and carriage returns stay in the lines, where they are refused.
fn split_lines(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut rest = Some(text);
    std::iter::from_fn(move || {
        let text = rest?;
        match text.windows(2).position(|two| two == b"\r\n") {
            Some(end) => {
                rest = text.get(end + 2..);
                text.get(..end)
            }
            None => rest.take(),
        }
    })
}

fn parse_request_line(line: &[u8]) -> Result<(String, RequestTarget, u8), RequestHeadError> {
    if !line.iter().all(|byte| (b' '..=b'~').contains(byte)) {
        return Err(RequestHeadError::ControlCharacter);
    }
    let line = str::from_utf8(line).map_err(|_| RequestHeadError::RequestLine)?;
    let mut words = line.split(' ');
    let (Some(method), Some(target), Some(version), None) =
        (words.next(), words.next(), words.next(), words.next())
    else {
        return Err(RequestHeadError::RequestLine);
    };
    if method.is_empty() || !method.bytes().all(is_token_byte) {
        return Err(RequestHeadError::RequestLine);
    }
    let minor_version = match version {
        "HTTP/1.1" => 1,
        "HTTP/1.0" => 0,
        _ => return Err(RequestHeadError::Version),
    };
    let target = match method {
        "CONNECT" => RequestTarget::Connect(ConnectionTarget::parse(target, None)?),
        _ => parse_absolute(method, target)?,
    };
    Ok((method.to_owned(), target, minor_version))
}

fn parse_absolute(method: &str, text: &str) -> Result<RequestTarget, RequestHeadError> {
    let Some((scheme, rest)) = text.split_once("://") else { return Err(RequestHeadError::NotProxied) };
    if !scheme.eq_ignore_ascii_case("http") {
        let is_scheme = scheme.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte));
        return Err(if is_scheme && !scheme.is_empty() {
            RequestHeadError::Scheme(scheme.to_ascii_lowercase())
        } else {
            RequestHeadError::NotProxied
        });
    }
    // A fragment is never sent, and some readers take a backslash for a slash.
    if rest.contains(['#', '\\']) {
        return Err(RequestHeadError::RequestLine);
    }
    let end = rest.find(['/', '?']).unwrap_or(rest.len());
    let (authority, path) = rest.split_at_checked(end).ok_or(RequestHeadError::RequestLine)?;
    let target = ConnectionTarget::parse(authority, Some(HTTP_PORT))?;
    let path = match path.chars().next() {
        None if method == "OPTIONS" => "*".to_owned(),
        None => "/".to_owned(),
        Some('?') => format!("/{path}"),
        Some(_) => path.to_owned(),
    };
    Ok(RequestTarget::Absolute { target, path })
}

/// Parses one header line. The name is in lower case.
fn parse_field(line: &[u8]) -> Result<(String, Vec<u8>), RequestHeadError> {
    let is_control = |byte: u8| byte < b' ' && byte != b'\t' || byte == 0x7f;
    if line.iter().any(|byte| is_control(*byte)) {
        return Err(RequestHeadError::ControlCharacter);
    }
    let colon = line.iter().position(|byte| *byte == b':').ok_or(RequestHeadError::Field)?;
    let (name, value) = line.split_at_checked(colon).ok_or(RequestHeadError::Field)?;
    // A name with a space is a folded line, or one that some readers take for another name.
    if name.is_empty() || !name.iter().copied().all(is_token_byte) {
        return Err(RequestHeadError::Field);
    }
    let name = String::from_utf8_lossy(name).to_ascii_lowercase();
    Ok((name, value.get(1..).unwrap_or_default().trim_ascii().to_vec()))
}

fn is_token_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte)
}

fn values_of<'a>(fields: &'a [(String, Vec<u8>)], wanted: &'a str) -> impl Iterator<Item = &'a [u8]> {
    fields.iter().filter(move |(name, _)| name == wanted).map(|(_, value)| value.as_slice())
}

fn body_framing(fields: &[(String, Vec<u8>)], minor_version: u8) -> Result<BodyFraming, RequestHeadError> {
    let lengths: Vec<_> = values_of(fields, "content-length").collect();
    let encodings: Vec<_> = values_of(fields, "transfer-encoding").collect();
    match (lengths.as_slice(), encodings.as_slice()) {
        ([], []) => Ok(BodyFraming::None),
        ([length], []) => {
            let is_plain = !length.is_empty() && length.iter().all(u8::is_ascii_digit);
            let length = is_plain.then(|| str::from_utf8(length).ok()?.parse().ok()).flatten();
            match length.ok_or(RequestHeadError::AmbiguousLength)? {
                0 => Ok(BodyFraming::None),
                length => Ok(BodyFraming::Length(length)),
            }
        }
        ([], [encoding]) if minor_version == 1 && encoding.eq_ignore_ascii_case(b"chunked") => {
            Ok(BodyFraming::Chunked)
        }
        _ => Err(RequestHeadError::AmbiguousLength),
    }
}

fn check_host(hosts: &[&[u8]], target: &ConnectionTarget, minor_version: u8) -> Result<(), RequestHeadError> {
    match hosts {
        [] if minor_version == 0 => Ok(()),
        [host] => {
            let named = str::from_utf8(host)
                .ok()
                .and_then(|host| ConnectionTarget::parse(host, Some(HTTP_PORT)).ok());
            if named.as_ref() == Some(target) { Ok(()) } else { Err(RequestHeadError::HostMismatch) }
        }
        _ => Err(RequestHeadError::HostMismatch),
    }
}

/// Returns the fields that the `Connection` fields name. They concern only the connection to the proxy.
fn connection_options(fields: &[(String, Vec<u8>)]) -> Result<Vec<String>, RequestHeadError> {
    let mut options = Vec::new();
    for name in ["connection", "proxy-connection"] {
        for value in values_of(fields, name) {
            let words = value.split(|byte| *byte == b',').map(<[u8]>::trim_ascii);
            for word in words.filter(|word| !word.is_empty()) {
                let word = String::from_utf8_lossy(word).to_ascii_lowercase();
                if KEPT_FIELDS.contains(&word.as_str()) {
                    return Err(RequestHeadError::ConnectionField);
                }
                options.push(word);
            }
        }
    }
    Ok(options)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn parse(text: &str) -> Result<RequestHead, RequestHeadError> {
        RequestHead::parse(text.as_bytes())
    }

    fn forwarded(text: &str) -> String {
        String::from_utf8(parse(text).unwrap().to_target().unwrap()).unwrap()
    }

    #[test]
    fn a_plain_request_becomes_one_for_the_target() {
        let head = "GET http://Example.COM:8080/a?b=1 HTTP/1.1\r\nHost: example.com:8080\r\nX-Own: 1\r\n\
                    Connection: keep-alive, x-hop\r\nX-Hop: 2\r\nProxy-Authorization: Basic eA==\r\n\
                    Proxy-Connection: keep-alive\r\nUpgrade: h2c\r\nAccept: */*\r\n\r\n";
        assert_eq!(
            forwarded(head),
            "GET /a?b=1 HTTP/1.1\r\nHost: example.com:8080\r\nx-own: 1\r\naccept: */*\r\nConnection: close\r\n\r\n"
        );
        assert_eq!(
            forwarded("GET http://[::1] HTTP/1.0\r\n\r\n"),
            "GET / HTTP/1.0\r\nHost: [::1]\r\nConnection: close\r\n\r\n"
        );
        assert!(forwarded("GET http://a?x HTTP/1.0\r\n\r\n").starts_with("GET /?x HTTP"));
        assert!(forwarded("OPTIONS http://a HTTP/1.0\r\n\r\n").starts_with("OPTIONS * HTTP"));
    }

    #[test]
    fn a_tunnel_has_a_host_and_a_port() {
        let head = parse("CONNECT Example.com:443 HTTP/1.1\r\nHost: other.example\r\n\r\n").unwrap();
        assert_eq!(head.host_and_port().to_string(), "example.com:443");
        assert_eq!(head.to_target(), None);
        assert_eq!(parse("CONNECT a HTTP/1.1\r\n\r\n"), Err(ConnectionTargetError::InvalidPort.into()));
        assert_eq!(
            parse("CONNECT http://a:80 HTTP/1.1\r\n\r\n"),
            Err(ConnectionTargetError::InvalidPort.into())
        );
    }

    #[test]
    fn what_two_readers_could_understand_differently_is_refused() {
        use RequestHeadError as E;
        let with = |fields: &str| {
            parse(&format!("POST http://a.example/ HTTP/1.1\r\nHost: a.example\r\n{fields}\r\n"))
        };
        for (fields, expected) in [
            ("Content-Length: 1\r\nContent-Length: 1\r\n", E::AmbiguousLength),
            ("Content-Length: 1\r\nTransfer-Encoding: chunked\r\n", E::AmbiguousLength),
            ("Content-Length: +1\r\n", E::AmbiguousLength),
            ("Content-Length: 1, 1\r\n", E::AmbiguousLength),
            ("Content-Length:\r\n", E::AmbiguousLength),
            ("Transfer-Encoding: gzip, chunked\r\n", E::AmbiguousLength),
            ("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n", E::AmbiguousLength),
            ("Transfer-Encoding: xchunked\r\n", E::AmbiguousLength),
            ("Content-Length : 1\r\n", E::Field),
            ("X: a\r\n folded\r\n", E::Field),
            ("no colon\r\n", E::Field),
            (": empty\r\n", E::Field),
            ("X: a\nContent-Length: 5\r\n", E::ControlCharacter),
            ("X: a\rb\r\n", E::ControlCharacter),
            ("X: a\0b\r\n", E::ControlCharacter),
            ("Host: a.example\r\n", E::HostMismatch),
            ("Connection: content-length\r\n", E::ConnectionField),
            ("Connection: close, Host\r\n", E::ConnectionField),
        ] {
            assert_eq!(with(fields), Err(expected), "{fields:?}");
        }
        for (head, expected) in [
            ("GET http://a/ HTTP/1.1\r\nHost: b\r\n\r\n", E::HostMismatch),
            ("GET http://a/ HTTP/1.1\r\nHost: a:81\r\n\r\n", E::HostMismatch),
            ("GET http://a/ HTTP/1.1\r\n\r\n", E::HostMismatch),
            ("GET http://u@a/ HTTP/1.1\r\nHost: a\r\n\r\n", ConnectionTargetError::UserName.into()),
            ("GET http://a\\@b/ HTTP/1.1\r\nHost: a\r\n\r\n", E::RequestLine),
            ("GET http://a/#b HTTP/1.1\r\nHost: a\r\n\r\n", E::RequestLine),
            ("GET http:///x HTTP/1.1\r\nHost: a\r\n\r\n", ConnectionTargetError::EmptyHost.into()),
            ("GET https://a/ HTTP/1.1\r\nHost: a\r\n\r\n", E::Scheme("https".to_owned())),
            ("GET / HTTP/1.1\r\nHost: a\r\n\r\n", E::NotProxied),
            ("GET http://a/ HTTP/2.0\r\nHost: a\r\n\r\n", E::Version),
            ("GET  http://a/ HTTP/1.1\r\nHost: a\r\n\r\n", E::RequestLine),
            ("GET http://a/ b HTTP/1.1\r\nHost: a\r\n\r\n", E::RequestLine),
            ("GET http://a/\tHTTP/1.1\r\nHost: a\r\n\r\n", E::ControlCharacter),
            ("CONNECT a:1 HTTP/1.1\r\nContent-Length: 5\r\n\r\n", E::ConnectBody),
            ("CONNECT a:1 HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n", E::ConnectBody),
            ("POST http://a/ HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n", E::AmbiguousLength),
        ] {
            assert_eq!(parse(head), Err(expected), "{head:?}");
        }
        assert_eq!(with(&"X: 1\r\n".repeat(MAX_FIELDS)), Err(E::TooManyFields));
        assert_eq!(with("Content-Length: 0\r\n").unwrap().body, BodyFraming::None);
        assert_eq!(with("Transfer-Encoding: Chunked\r\n").unwrap().body, BodyFraming::Chunked);
    }

    proptest! {
        #[test]
        fn a_forwarded_head_is_one_request_for_the_same_target(
            path in "/[a-z%?=&.]{0,12}",
            fields in prop::collection::vec(("[A-Za-z-]{1,10}", "[ -~]{0,16}"), 0..6),
        ) {
            let fields = fields.iter().map(|(name, value)| name.clone() + ": " + value + "
    ").collect::<String>();
            let head = format!("GET http://a.example{path} HTTP/1.1\r\nHost: a.example\r\n{fields}\r\n");
            if let Ok(parsed) = parse(&head) {
                let sent = parsed.to_target().unwrap();
                let end = sent.windows(4).position(|four| four == b"\r\n\r\n").unwrap();
                prop_assert_eq!(end + 4, sent.len(), "one head");
                let lines: Vec<_> = split_lines(&sent).filter(|line| line.starts_with(b"Host: ")).collect();
                prop_assert_eq!(lines, vec![&b"Host: a.example"[..]]);
            }
        }

        #[test]
        fn no_input_panics(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let _ = RequestHead::parse(&bytes);
            let _ = RequestHead::parse(&[b"GET http://a/ HTTP/1.1\r\n", bytes.as_slice(), b"\r\n\r\n"].concat());
        }
    }
}
