// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The HTTP proxy of a network that the machine reaches the internet through.

mod no_proxy;

use std::io;
use std::net::SocketAddr;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use tokio::io::AsyncWriteExt as _;
use tokio::net::TcpStream;
use tokio::time::timeout;

use self::no_proxy::NoProxyList;
use crate::address_class::is_loopback_name;
use crate::head_reader::{HeadBuffer, HeadRead, split_http_head};
use crate::{
    AddressClass, ConnectionHost, ConnectionTarget, ConnectionTargetError, ProxyLimits, ProxyProtocol,
};

/// Port of a proxy whose address has none, as in curl.
const DEFAULT_PORT: u16 = 1080;

/// The proxies that a user's environment names.
#[derive(Debug, Clone, Default)]
pub struct UpstreamProxies {
    http: Option<UpstreamProxy>,
    other: Option<UpstreamProxy>,
    direct: NoProxyList,
}

/// A proxy of the user's network.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct UpstreamProxy {
    target: ConnectionTarget,
    /// Value of `Proxy-Authorization`.
    authorization: Option<String>,
}

/// Why the address of a proxy is not used. Contains no password.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum UpstreamProxyError {
    /// Only `http://` is supported.
    #[error("`{variable}` names a proxy with `{scheme}://`, and only `http://` is supported")]
    Scheme {
        /// The environment variable.
        variable: &'static str,
        /// The scheme that is not supported.
        scheme: String,
    },
    /// The host or port is invalid.
    #[error("`{variable}` names an invalid proxy: {error}")]
    Address {
        /// The environment variable.
        variable: &'static str,
        /// Why it is invalid.
        error: ConnectionTargetError,
    },
}

/// Why a proxy opens no tunnel.
#[derive(Debug, thiserror::Error)]
pub(crate) enum TunnelError {
    #[error("the upstream proxy cannot be reached: {0}")]
    Io(#[from] io::Error),
    #[error("the upstream proxy refused the connection: {0}")]
    Refused(String),
    #[error("the upstream proxy did not answer with HTTP")]
    Invalid,
}

// === impl UpstreamProxies ===

impl UpstreamProxies {
    /// Reads the variables that other programs read too: `https_proxy`, `http_proxy`, `all_proxy` and `no_proxy`, each also
    /// in upper case.
    pub fn from_variables<'a>(
        variable: impl Fn(&str) -> Option<&'a str>,
    ) -> Result<Self, UpstreamProxyError> {
        let read = |names: &[&'static str]| {
            let mut given = names.iter().filter_map(|name| Some((*name, variable(name)?.trim())));
            let found = given.find(|(_, value)| !value.is_empty());
            found.map(|(name, value)| UpstreamProxy::parse(name, value)).transpose()
        };
        let direct = ["no_proxy", "NO_PROXY"].iter().find_map(|name| variable(name)).unwrap_or_default();
        Ok(Self {
            http: read(&["http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"])?,
            other: read(&["https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"])?,
            direct: NoProxyList::parse(direct),
        })
    }

    /// Returns the proxy for a target. This machine and its links are always connected to directly.
    pub(crate) fn find(&self, protocol: ProxyProtocol, target: &ConnectionTarget) -> Option<&UpstreamProxy> {
        let is_local = match &target.host {
            ConnectionHost::Name(name) => is_loopback_name(name),
            ConnectionHost::Address(address) => {
                use AddressClass as Class;
                let local = [Class::Loopback, Class::Unspecified, Class::LinkLocal, Class::Metadata];
                local.contains(&AddressClass::of(*address))
            }
        };
        if is_local || self.direct.contains(target) {
            return None;
        }
        match protocol {
            ProxyProtocol::Http => self.http.as_ref(),
            ProxyProtocol::HttpConnect | ProxyProtocol::Socks5 => self.other.as_ref(),
        }
    }
}

// === impl UpstreamProxy ===

impl UpstreamProxy {
    fn parse(variable: &'static str, text: &str) -> Result<Self, UpstreamProxyError> {
        let rest = match text.split_once("://") {
            None => text,
            Some((scheme, rest)) if scheme.eq_ignore_ascii_case("http") => rest,
            Some((scheme, _)) => {
                return Err(UpstreamProxyError::Scheme { variable, scheme: scheme.to_ascii_lowercase() });
            }
        };
        let rest = rest.split(['/', '?', '#']).next().unwrap_or_default();
        let (user, authority) = match rest.rsplit_once('@') {
            Some((user, authority)) => (Some(user), authority),
            None => (None, rest),
        };
        let target = ConnectionTarget::parse(authority, Some(DEFAULT_PORT))
            .map_err(|error| UpstreamProxyError::Address { variable, error })?;
        let authorization = user.map(|user| {
            let user =
                if user.contains(':') { decode_percent(user) } else { decode_percent(&format!("{user}:")) };
            format!("Basic {}", STANDARD.encode(user))
        });
        Ok(Self { target, authorization })
    }

    /// The value of `Proxy-Authorization`.
    pub(crate) fn authorization(&self) -> Option<&str> {
        self.authorization.as_deref()
    }

    /// Connects to the proxy. Its address is the user's choice, so it is not judged.
    pub(crate) async fn connect(&self) -> io::Result<(TcpStream, SocketAddr)> {
        let port = self.target.port;
        let stream = match &self.target.host {
            ConnectionHost::Address(address) => TcpStream::connect((*address, port)).await?,
            ConnectionHost::Name(name) => TcpStream::connect((name.as_str(), port)).await?,
        };
        let address = stream.peer_addr()?;
        Ok((stream, address))
    }

    /// Opens a tunnel through a connection to the proxy. Returns what the target has sent already.
    pub(crate) async fn open_tunnel(
        &self,
        stream: &mut TcpStream,
        target: &ConnectionTarget,
        limits: &ProxyLimits,
    ) -> Result<Vec<u8>, TunnelError> {
        let mut head = format!("CONNECT {target} HTTP/1.1\r\nHost: {target}\r\n");
        if let Some(authorization) = &self.authorization {
            head.push_str(&format!("Proxy-Authorization: {authorization}\r\n"));
        }
        head.push_str("\r\n");
        stream.write_all(head.as_bytes()).await?;
        let mut buffer = HeadBuffer::default();
        let read = buffer.read_until(stream, limits.head_bytes, split_http_head);
        let read = timeout(limits.response_timeout, read).await;
        let head = match read.map_err(|_| io::Error::from(io::ErrorKind::TimedOut))?? {
            HeadRead::Complete(head) => head,
            HeadRead::Closed | HeadRead::TooLarge => return Err(TunnelError::Invalid),
        };
        let status = head.split(|byte| matches!(byte, b'\r' | b'\n')).next().unwrap_or_default();
        let status = String::from_utf8_lossy(status.strip_prefix(b"HTTP/1.").ok_or(TunnelError::Invalid)?);
        // The minor version comes first.
        match status.get(2..) {
            Some(status) if status.starts_with('2') => Ok(buffer.take_rest()),
            Some(status) => Err(TunnelError::Refused(printable(status))),
            None => Err(TunnelError::Invalid),
        }
    }
}

/// Text of another machine for a message: short and without control characters.
fn printable(text: &str) -> String {
    text.chars().filter(|letter| !letter.is_control()).take(80).collect()
}

fn decode_percent(text: &str) -> Vec<u8> {
    let bytes = text.as_bytes();
    let (mut decoded, mut at) = (Vec::new(), 0);
    while let Some(byte) = bytes.get(at) {
        let digits =
            bytes.get(at + 1..at + 3).filter(|_| *byte == b'%').and_then(|two| str::from_utf8(two).ok());
        let value =
            digits.filter(|two| !two.starts_with('+')).and_then(|two| u8::from_str_radix(two, 16).ok());
        decoded.push(value.unwrap_or(*byte));
        at += if value.is_some() { 3 } else { 1 };
    }
    decoded
}

#[cfg(test)]
mod tests {
    use super::*;

    fn proxies(variables: &[(&str, &'static str)]) -> Result<UpstreamProxies, UpstreamProxyError> {
        let value = |name: &str| variables.iter().find(|(other, _)| *other == name).map(|(_, value)| *value);
        UpstreamProxies::from_variables(value)
    }

    fn found(proxies: &UpstreamProxies, protocol: ProxyProtocol, target: &str) -> Option<String> {
        let target = ConnectionTarget::parse(target, None).unwrap();
        proxies.find(protocol, &target).map(|proxy| proxy.target.to_string())
    }

    #[test]
    fn the_environment_names_a_proxy_for_each_protocol() {
        let both = proxies(&[
            ("HTTPS_PROXY", "http://u%40corp:p%3a1@proxy.corp.example:3128/"),
            ("http_proxy", "10.0.0.9:8080"),
            ("no_proxy", "corp.example, .other.example,192.168.0.0/16, [fd00::1]:443"),
        ])
        .unwrap();
        let of = |protocol, target| found(&both, protocol, target);
        let (tunnel, plain) = (ProxyProtocol::HttpConnect, ProxyProtocol::Http);
        assert_eq!(of(tunnel, "a.example:443").as_deref(), Some("proxy.corp.example:3128"));
        assert_eq!(of(ProxyProtocol::Socks5, "1.2.3.4:22").as_deref(), Some("proxy.corp.example:3128"));
        assert_eq!(of(plain, "a.example:80").as_deref(), Some("10.0.0.9:8080"));
        for direct in ["git.corp.example:443", "corp.example:443", "x.other.example:443", "192.168.3.4:443"] {
            assert_eq!(of(tunnel, direct), None, "{direct}");
        }
        for direct in ["localhost:443", "a.localhost:443", "127.0.0.1:443", "[::1]:443", "0.0.0.0:1"] {
            assert_eq!(of(tunnel, direct), None, "{direct}");
        }
        let authorization = both.other.as_ref().unwrap().authorization().unwrap();
        assert_eq!(authorization, format!("Basic {}", STANDARD.encode("u@corp:p:1")));
        assert_eq!(found(&proxies(&[]).unwrap(), tunnel, "a.example:443"), None);
        let all = proxies(&[("ALL_PROXY", "http://p.example"), ("https_proxy", " ")]).unwrap();
        assert_eq!(found(&all, tunnel, "a.example:443").as_deref(), Some("p.example:1080"));
    }

    #[test]
    fn a_proxy_that_is_not_supported_is_named_without_its_password() {
        let error = proxies(&[("HTTPS_PROXY", "socks5h://u:secret@p.example:1080")]).unwrap_err().to_string();
        assert!(error.contains("`HTTPS_PROXY`") && error.contains("socks5h"), "{error}");
        let invalid = proxies(&[("all_proxy", "http://u:secret@:80")]).unwrap_err().to_string();
        for text in [error, invalid] {
            assert!(!text.contains("secret"), "{text}");
        }
    }

    #[test]
    fn percent_signs_are_decoded() {
        for (text, expected) in [("a%41b", "aAb"), ("%", "%"), ("%4", "%4"), ("%zz", "%zz"), ("%25%2f", "%/")]
        {
            assert_eq!(decode_percent(text), expected.as_bytes(), "{text}");
        }
    }
}
