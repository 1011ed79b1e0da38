// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The target of a connection, in one normalised spelling. This spelling is judged, resolved and connected to, so two
//! readers cannot disagree on the meaning of a name.

use std::fmt;
use std::net::{IpAddr, Ipv6Addr};

use tenterhook_host_address::parse_ipv4;

/// Maximum length of a host name in DNS.
const MAX_HOST_BYTES: usize = 253;
/// Maximum length of one label of a host name.
const MAX_LABEL_BYTES: usize = 63;

/// Host and port of a connection.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ConnectionTarget {
    /// Host as a name or an address.
    pub host: ConnectionHost,
    /// The port; never 0.
    pub port: u16,
}

/// The host of a connection.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum ConnectionHost {
    /// A name: lower case, without a trailing dot.
    Name(String),
    /// An IP address, from any spelling.
    Address(IpAddr),
}

/// Why a text is not the target of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ConnectionTargetError {
    /// The host is empty.
    #[error("the host is empty")]
    EmptyHost,
    /// The host is longer than DNS permits.
    #[error("the host is longer than a host name can be")]
    TooLong,
    /// The host contains a percent sign: an encoding, or the zone of an IPv6 address.
    #[error("the host contains a percent sign; write the host without encoding and without a zone")]
    Percent,
    /// The host contains a letter outside ASCII.
    #[error("the host contains a character outside ASCII; write the name in its `xn--` form")]
    NonAscii,
    /// The host contains a character that host names cannot contain.
    #[error("the host contains a character that host names cannot contain")]
    InvalidCharacter,
    /// The host has an empty label, or one that is too long.
    #[error("the host has an empty part, or one of more than 63 characters")]
    InvalidLabel,
    /// The host ends in a number but is not an IPv4 address.
    #[error("the host ends in a number but is not an IPv4 address")]
    InvalidAddress,
    /// The port is missing, 0, or not a number up to 65535.
    #[error("the port is missing or not a number from 1 to 65535")]
    InvalidPort,
    /// The authority contains a user name.
    #[error("the address contains a user name, which can imitate a host; remove it")]
    UserName,
}

// === impl ConnectionTarget ===

impl ConnectionTarget {
    /// Parses `host:port`; the default is used if the port is missing. IPv6 addresses are in brackets.
    pub fn parse(authority: &str, default_port: Option<u16>) -> Result<Self, ConnectionTargetError> {
        if authority.contains('@') {
            return Err(ConnectionTargetError::UserName);
        }
        let (host, port) = match authority.strip_prefix('[') {
            Some(inner) => {
                let (address, after) = inner.split_once(']').ok_or(ConnectionTargetError::InvalidAddress)?;
                if address.contains('%') {
                    return Err(ConnectionTargetError::Percent);
                }
                let address: Ipv6Addr = address.parse().map_err(|_| ConnectionTargetError::InvalidAddress)?;
                let port = match after.strip_prefix(':') {
                    Some(port) => Some(port),
                    None if after.is_empty() => None,
                    None => return Err(ConnectionTargetError::InvalidAddress),
                };
                (ConnectionHost::from_address(IpAddr::V6(address)), port)
            }
            None => match authority.split_once(':') {
                Some((host, port)) => (ConnectionHost::parse(host)?, Some(port)),
                None => (ConnectionHost::parse(authority)?, None),
            },
        };
        let port = match port {
            Some(text) => Some(parse_port(text)?),
            None => default_port,
        };
        Self::new(host, port.unwrap_or_default())
    }

    /// Combines a host and a port.
    pub fn new(host: ConnectionHost, port: u16) -> Result<Self, ConnectionTargetError> {
        if port == 0 { Err(ConnectionTargetError::InvalidPort) } else { Ok(Self { host, port }) }
    }

    /// Returns the value of a `Host` header for this target: without the port if it is the default one.
    pub fn host_header(&self, default_port: u16) -> String {
        if self.port == default_port { self.host.to_authority() } else { self.to_string() }
    }
}

impl fmt::Display for ConnectionTarget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.host.to_authority(), self.port)
    }
}

// === impl ConnectionHost ===

impl ConnectionHost {
    /// Parses a host without port and brackets.
    pub fn parse(text: &str) -> Result<Self, ConnectionTargetError> {
        if text.contains('%') {
            return Err(ConnectionTargetError::Percent);
        }
        if !text.is_ascii() {
            return Err(ConnectionTargetError::NonAscii);
        }
        let name = text.strip_suffix('.').unwrap_or(text).to_ascii_lowercase();
        if name.is_empty() {
            return Err(ConnectionTargetError::EmptyHost);
        }
        if name.len() > MAX_HOST_BYTES {
            return Err(ConnectionTargetError::TooLong);
        }
        if name.contains(':') {
            let address: Ipv6Addr = name.parse().map_err(|_| ConnectionTargetError::InvalidAddress)?;
            return Ok(Self::from_address(IpAddr::V6(address)));
        }
        let is_allowed =
            |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '-' | '_' | '.');
        if !name.chars().all(is_allowed) {
            return Err(ConnectionTargetError::InvalidCharacter);
        }
        if name.split('.').any(|label| label.is_empty() || label.len() > MAX_LABEL_BYTES) {
            return Err(ConnectionTargetError::InvalidLabel);
        }
        // The C library takes such a name for an address, so it must be one.
        if name.rsplit('.').next().is_some_and(is_number) {
            let address = parse_ipv4(&name).ok_or(ConnectionTargetError::InvalidAddress)?;
            return Ok(Self::Address(IpAddr::V4(address)));
        }
        Ok(Self::Name(name))
    }

    /// Wraps an address. An IPv4-mapped address becomes the IPv4 address, which the kernel connects to.
    pub fn from_address(address: IpAddr) -> Self {
        Self::Address(address.to_canonical())
    }

    /// Returns the host as it is written before a port: IPv6 addresses are in brackets.
    pub fn to_authority(&self) -> String {
        match self {
            Self::Address(IpAddr::V6(address)) => format!("[{address}]"),
            _ => self.to_string(),
        }
    }
}

impl fmt::Display for ConnectionHost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Name(name) => f.write_str(name),
            Self::Address(address) => write!(f, "{address}"),
        }
    }
}

fn parse_port(text: &str) -> Result<u16, ConnectionTargetError> {
    // `parse` alone would accept a plus sign.
    let is_plain = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    is_plain
        .then(|| text.parse().ok())
        .flatten()
        .filter(|port| *port != 0)
        .ok_or(ConnectionTargetError::InvalidPort)
}

/// Whether the C library may take a label for a number.
fn is_number(label: &str) -> bool {
    let is_hex = label.strip_prefix("0x").is_some_and(|hex| hex.chars().all(|c| c.is_ascii_hexdigit()));
    is_hex || label.chars().all(|c| c.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use proptest::prelude::*;

    use super::*;

    fn host(text: &str) -> String {
        ConnectionHost::parse(text).map_or_else(|error| format!("{error:?}"), |host| host.to_string())
    }

    #[test]
    fn every_spelling_of_an_address_becomes_the_address() {
        for text in [
            "127.0.0.1",
            "127.1",
            "127.0.1",
            "0x7f.1",
            "0x7f000001",
            "2130706433",
            "0177.0.0.1",
            "017700000001",
            "127.0.0.1.",
            "0X7F.1",
            "::ffff:127.0.0.1",
            "::FFFF:7f00:1",
        ] {
            assert_eq!(host(text), "127.0.0.1", "{text}");
        }
        assert_eq!(host("0xa9fea9fe"), "169.254.169.254");
        assert_eq!(host("169.254.43518"), "169.254.169.254");
    }

    #[test]
    fn names_are_normalised_or_refused() {
        for (text, expected) in [
            ("GitHub.COM", "github.com"),
            ("github.com.", "github.com"),
            ("xn--mnchen-3ya.example", "xn--mnchen-3ya.example"),
            ("_srv.example", "_srv.example"),
            ("", "EmptyHost"),
            (".", "EmptyHost"),
            ("github.com..", "InvalidLabel"),
            ("a..b", "InvalidLabel"),
            (".a", "InvalidLabel"),
            ("münchen.example", "NonAscii"),
            ("１２７.0.0.1", "NonAscii"),
            ("a%2eb", "Percent"),
            ("fe80::1%eth0", "Percent"),
            ("a b", "InvalidCharacter"),
            ("a/b", "InvalidCharacter"),
            ("a\\b", "InvalidCharacter"),
            ("a\0b", "InvalidCharacter"),
            ("256.0.0.1", "InvalidAddress"),
            ("1.2.3.4.5", "InvalidAddress"),
            ("example.08", "InvalidAddress"),
            ("a.1", "InvalidAddress"),
            ("1::2::3", "InvalidAddress"),
        ] {
            assert_eq!(host(text), expected, "{text:?}");
        }
        assert_eq!(host(&"a".repeat(64)), "InvalidLabel");
        assert_eq!(host(&"a.".repeat(130)), "TooLong");
    }

    #[test]
    fn ports_are_plain_numbers() {
        let parse = |text| ConnectionTarget::parse(text, Some(80)).map(|target| target.to_string());
        assert_eq!(parse("a.example"), Ok("a.example:80".to_owned()));
        assert_eq!(parse("[::1]:443"), Ok("[::1]:443".to_owned()));
        assert_eq!(parse("[::1]"), Ok("[::1]:80".to_owned()));
        assert_eq!(parse("[::ffff:10.0.0.1]"), Ok("10.0.0.1:80".to_owned()));
        for text in ["a:0", "a:", "a:+1", "a:65536", "a:1:2", "a: 1"] {
            assert_eq!(parse(text), Err(ConnectionTargetError::InvalidPort), "{text}");
        }
        assert_eq!(parse("[::1]x"), Err(ConnectionTargetError::InvalidAddress));
        assert_eq!(parse("[::1"), Err(ConnectionTargetError::InvalidAddress));
        assert_eq!(parse("good.example@bad.example"), Err(ConnectionTargetError::UserName));
        assert_eq!(ConnectionTarget::parse("a", None), Err(ConnectionTargetError::InvalidPort));
    }

    proptest! {
        #[test]
        fn a_normalised_host_stays_as_it_is(text in "[ -~]{0,40}") {
            if let Ok(host) = ConnectionHost::parse(&text) {
                prop_assert_eq!(ConnectionHost::parse(&host.to_string()), Ok(host));
            }
        }

        #[test]
        fn a_host_that_the_system_takes_for_an_address_is_one(text in "[0-9a-fx.]{1,24}") {
            // The standard library reads four decimal numbers only, a subset of what `inet_aton` reads.
            if let Ok(address) = text.parse::<Ipv4Addr>() {
                prop_assert_eq!(ConnectionHost::parse(&text), Ok(ConnectionHost::Address(address.into())));
            }
        }
    }
}
