// SPDX-License-Identifier: Apache-2.0 OR MIT

//! SOCKS5 without authentication (RFC 1928). Only `CONNECT` is supported.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use crate::{ConnectionHost, ConnectionTarget, ConnectionTargetError};

/// First byte of SOCKS5.
pub(crate) const VERSION: u8 = 5;
/// First byte of SOCKS4, which is refused.
pub(crate) const VERSION_4: u8 = 4;
/// Reply to SOCKS4: request rejected.
pub(crate) const SOCKS4_REJECTED: [u8; 8] = [0, 0x5b, 0, 0, 0, 0, 0, 0];
/// Method of a greeting: no authentication.
const NO_AUTHENTICATION: u8 = 0;
/// Reply to a greeting without a supported method.
const NO_METHOD: u8 = 0xff;

/// A SOCKS5 request to connect.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SocksRequest {
    /// Host and port.
    pub target: ConnectionTarget,
    /// Length of the request in bytes.
    pub length: usize,
}

/// Why a request is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum SocksError {
    /// The request is not SOCKS5.
    #[error("the SOCKS request is invalid")]
    Malformed,
    /// The command is `BIND` or `UDP ASSOCIATE`.
    #[error("SOCKS supports only CONNECT here; BIND and UDP are refused")]
    Command,
    /// The type of the address is unknown.
    #[error("unknown type of a SOCKS address")]
    AddressType,
    /// The target is invalid.
    #[error("invalid target: {0}")]
    Target(#[from] ConnectionTargetError),
}

/// Reply code of a SOCKS5 server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SocksReply {
    Succeeded = 0,
    GeneralFailure = 1,
    NotAllowed = 2,
    HostUnreachable = 4,
    ConnectionRefused = 5,
    CommandNotSupported = 7,
    AddressTypeNotSupported = 8,
}

// === impl SocksError ===

impl SocksError {
    pub(crate) fn reply(self) -> SocksReply {
        match self {
            Self::Malformed => SocksReply::GeneralFailure,
            Self::Command => SocksReply::CommandNotSupported,
            Self::AddressType => SocksReply::AddressTypeNotSupported,
            Self::Target(_) => SocksReply::NotAllowed,
        }
    }
}

impl SocksReply {
    /// Returns the bytes of the reply. The bound address is not disclosed.
    pub(crate) fn to_bytes(self) -> [u8; 10] {
        [VERSION, self as u8, 0, 1, 0, 0, 0, 0, 0, 0]
    }
}

/// Parses a greeting. Returns the length of the greeting and the answer; `None` if it is incomplete. The answer selects
/// no authentication, or no method.
pub(crate) fn parse_greeting(bytes: &[u8]) -> Option<(usize, [u8; 2], bool)> {
    let count = usize::from(*bytes.get(1)?);
    let methods = bytes.get(2..2 + count)?;
    let is_supported = methods.contains(&NO_AUTHENTICATION);
    let method = if is_supported { NO_AUTHENTICATION } else { NO_METHOD };
    Some((2 + count, [VERSION, method], is_supported))
}

/// Parses a request. `None` if it is incomplete.
pub fn parse_socks_request(bytes: &[u8]) -> Option<Result<SocksRequest, SocksError>> {
    let [version, command, reserved, kind] = *bytes.first_chunk::<4>()?;
    if version != VERSION || reserved != 0 {
        return Some(Err(SocksError::Malformed));
    }
    if command != 1 {
        return Some(Err(SocksError::Command));
    }
    let rest = bytes.get(4..)?;
    let (host, used) = match kind {
        1 => {
            let octets = rest.first_chunk::<4>()?;
            (Ok(ConnectionHost::from_address(IpAddr::V4(Ipv4Addr::from(*octets)))), 4)
        }
        4 => {
            let octets = rest.first_chunk::<16>()?;
            (Ok(ConnectionHost::from_address(IpAddr::V6(Ipv6Addr::from(*octets)))), 16)
        }
        3 => {
            let length = usize::from(*rest.first()?);
            let name = rest.get(1..1 + length)?;
            let host = str::from_utf8(name)
                .map_err(|_| ConnectionTargetError::NonAscii)
                .and_then(ConnectionHost::parse);
            (host, 1 + length)
        }
        _ => return Some(Err(SocksError::AddressType)),
    };
    let port = u16::from_be_bytes(*rest.get(used..)?.first_chunk::<2>()?);
    let target = host.and_then(|host| ConnectionTarget::new(host, port));
    Some(target.map(|target| SocksRequest { target, length: 4 + used + 2 }).map_err(SocksError::Target))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn request(kind: u8, address: &[u8], port: u16) -> Vec<u8> {
        [&[5, 1, 0, kind], address, &port.to_be_bytes()].concat()
    }

    fn target(bytes: &[u8]) -> String {
        match parse_socks_request(bytes) {
            Some(Ok(request)) => request.target.to_string(),
            other => format!("{other:?}"),
        }
    }

    #[test]
    fn every_kind_of_address_is_read() {
        assert_eq!(target(&request(1, &[10, 0, 0, 1], 443)), "10.0.0.1:443");
        assert_eq!(target(&request(3, b"\x0bExample.COM", 80)), "example.com:80");
        assert_eq!(
            target(&request(3, b"\x0a2130706433", 80)),
            "127.0.0.1:80",
            "an address in the form of a name"
        );
        assert_eq!(target(&request(3, b"\x03::1", 80)), "[::1]:80");
        let mapped = Ipv4Addr::LOCALHOST.to_ipv6_mapped().octets();
        assert_eq!(target(&request(4, &mapped, 80)), "127.0.0.1:80");
    }

    #[test]
    fn other_commands_and_invalid_requests_are_refused() {
        let error = |bytes: &[u8]| parse_socks_request(bytes).unwrap().unwrap_err();
        assert_eq!(error(&[5, 2, 0, 1, 1, 1, 1, 1, 0, 80]), SocksError::Command);
        assert_eq!(error(&[5, 3, 0, 1, 1, 1, 1, 1, 0, 80]).reply(), SocksReply::CommandNotSupported);
        assert_eq!(error(&[5, 1, 1, 1]), SocksError::Malformed);
        assert_eq!(error(&request(9, &[0; 20], 80)), SocksError::AddressType);
        assert_eq!(error(&request(3, b"\x00", 80)), SocksError::Target(ConnectionTargetError::EmptyHost));
        assert_eq!(
            error(&request(3, b"\x03a\0b", 80)),
            SocksError::Target(ConnectionTargetError::InvalidCharacter)
        );
        assert_eq!(
            error(&request(1, &[8, 8, 8, 8], 0)),
            SocksError::Target(ConnectionTargetError::InvalidPort)
        );
        assert_eq!(error(&request(3, b"\x02\xff\xff", 80)).reply(), SocksReply::NotAllowed);
        assert_eq!(parse_greeting(&[5, 2, 2, 0]), Some((4, [5, 0], true)));
        assert_eq!(parse_greeting(&[5, 1, 2]), Some((3, [5, 0xff], false)));
        assert_eq!(parse_greeting(&[5, 2, 0]), None);
    }

    proptest! {
        #[test]
        fn a_longer_input_gives_the_same_request(bytes in prop::collection::vec(any::<u8>(), 0..60), cut in 0usize..60) {
            let short = bytes.get(..cut.min(bytes.len())).unwrap();
            if let Some(parsed) = parse_socks_request(short) {
                prop_assert_eq!(parse_socks_request(&bytes), Some(parsed));
            }
        }
    }
}
