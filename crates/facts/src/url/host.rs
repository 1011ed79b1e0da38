// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Parses host names and IP addresses into a normalized spelling.

use std::net::{IpAddr, Ipv6Addr};

use tenterhook_host_address::parse_ipv4;

/// A host in its normalized spelling.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct ParsedHost {
    pub(super) name: String,
    pub(super) numeric: bool,
    pub(super) loopback: bool,
}

/// Maximum length of a host name in DNS.
const MAX_HOST_BYTES: usize = 253;
/// Maximum length of a written host name: every character may be percent-encoded.
const MAX_ENCODED_HOST_BYTES: usize = 4 * MAX_HOST_BYTES;

/// Parses a host without port and brackets. `None` if it is not a host.
pub(super) fn parse_host(text: &str) -> Option<ParsedHost> {
    if text.len() > MAX_ENCODED_HOST_BYTES {
        return None;
    }
    let name = normalize_spelling(text);
    let name = name.trim_end_matches('.');
    if name.len() > MAX_HOST_BYTES
        || name.is_empty()
        || name.contains(|c: char| c.is_whitespace() || c.is_control())
    {
        return None;
    }
    let address = parse_ipv4(name).map(IpAddr::V4).or_else(|| parse_v6(name));
    Some(match address {
        Some(address) => ParsedHost {
            name: address.to_string(),
            numeric: true,
            // A connection to the unspecified address reaches this machine.
            loopback: address.is_loopback() || address.is_unspecified(),
        },
        None => ParsedHost { name: name.to_owned(), numeric: false, loopback: is_local(name) },
    })
}

fn is_local(name: &str) -> bool {
    matches!(name, "localhost" | "localhost.localdomain" | "ip6-localhost" | "ip6-loopback")
        || name.ends_with(".localhost")
}

/// Decodes percent-encoding, lower-cases, and replaces letters and dots that are equivalent in host names.
fn normalize_spelling(text: &str) -> String {
    let decoded = percent_decode(text);
    let letters = decoded.chars().filter_map(|c| match c {
        '\u{3002}' | '\u{ff0e}' | '\u{ff61}' => Some('.'),
        '\u{ff01}'..='\u{ff5e}' => char::from_u32(u32::from(c) - 0xfee0),
        '\u{ad}' | '\u{200b}' | '\u{2060}' | '\u{feff}' => None,
        c => Some(c),
    });
    letters.flat_map(char::to_lowercase).collect()
}

/// Decodes percent-encoding: `%41` becomes `A`.
pub(super) fn percent_decode(text: &str) -> String {
    if !text.contains('%') {
        return text.to_owned();
    }
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&first, after)) = rest.split_first() {
        let digits = after.first_chunk::<2>().filter(|_| first == b'%');
        let value = digits.and_then(|[high, low]| {
            let digit = |byte: &u8| char::from(*byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
            Some(digit(high)? * 16 + digit(low)?)
        });
        bytes.push(value.unwrap_or(first));
        rest = if value.is_some() { after.get(2..).unwrap_or_default() } else { after };
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Parses an IPv6 address; an address that embeds an IPv4 address is converted to the IPv4 address.
fn parse_v6(name: &str) -> Option<IpAddr> {
    let (address, _zone) = name.split_once('%').unwrap_or((name, ""));
    let address: Ipv6Addr = address.parse().ok()?;
    Some(address.to_canonical())
}
