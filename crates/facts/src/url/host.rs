// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Hosts: names and numbers, in one spelling each.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// One host.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Host {
    pub(super) name: String,
    pub(super) numeric: bool,
    pub(super) loopback: bool,
}

/// No name server knows a longer name, so nothing can be reached by one.
const LONGEST: usize = 253;
/// Every letter may be written with three.
const LONGEST_WRITTEN: usize = 4 * LONGEST;

/// Reads a host without port and brackets. `None` when it is none.
pub(super) fn host(text: &str) -> Option<Host> {
    if text.len() > LONGEST_WRITTEN {
        return None;
    }
    let name = spelled(text);
    let name = name.trim_end_matches('.');
    if name.len() > LONGEST || name.is_empty() || name.contains(|c: char| c.is_whitespace() || c.is_control())
    {
        return None;
    }
    let address = v4(name).map(IpAddr::V4).or_else(|| v6(name));
    Some(match address {
        Some(address) => Host {
            name: address.to_string(),
            numeric: true,
            // A connection to the unspecified address ends up at this machine.
            loopback: address.is_loopback() || address.is_unspecified(),
        },
        None => Host { name: name.to_owned(), numeric: false, loopback: is_local(name) },
    })
}

fn is_local(name: &str) -> bool {
    matches!(name, "localhost" | "localhost.localdomain" | "ip6-localhost" | "ip6-loopback")
        || name.ends_with(".localhost")
}

/// Percent-encoding undone, small letters, the letters and dots that count as others replaced.
fn spelled(text: &str) -> String {
    let decoded = decoded(text);
    let letters = decoded.chars().filter_map(|c| match c {
        '\u{3002}' | '\u{ff0e}' | '\u{ff61}' => Some('.'),
        '\u{ff01}'..='\u{ff5e}' => char::from_u32(u32::from(c) - 0xfee0),
        '\u{ad}' | '\u{200b}' | '\u{2060}' | '\u{feff}' => None,
        c => Some(c),
    });
    letters.flat_map(char::to_lowercase).collect()
}

/// The text with `%41` as `A`.
pub(super) fn decoded(text: &str) -> String {
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

/// `127.0.0.1`, `127.1`, `0177.0.0.1`, `0x7f.1`, `2130706433`: one to four numbers, the last of
/// which fills what is left.
fn v4(name: &str) -> Option<Ipv4Addr> {
    let mut parts = name.split('.').map(number).collect::<Option<Vec<_>>>()?;
    let last = parts.pop()?;
    if parts.len() > 3 {
        return None;
    }
    let mut value = 0u64;
    for part in &parts {
        if *part > 255 {
            return None;
        }
        value = value << 8 | part;
    }
    let left = 8 * (4 - parts.len());
    (last < 1 << left).then_some(())?;
    u32::try_from(value << left | last).ok().map(Ipv4Addr::from_bits)
}

fn number(part: &str) -> Option<u64> {
    let (digits, radix) = match part.strip_prefix("0x") {
        Some("") => return Some(0),
        Some(digits) => (digits, 16),
        None if part.len() > 1 && part.starts_with('0') => (part, 8),
        None => (part, 10),
    };
    digits.chars().all(|c| c.is_digit(radix)).then(|| u64::from_str_radix(digits, radix).ok())?
}

/// An address of the sixth version; one that only wraps an older one becomes that.
fn v6(name: &str) -> Option<IpAddr> {
    let (address, _zone) = name.split_once('%').unwrap_or((name, ""));
    let address: Ipv6Addr = address.parse().ok()?;
    Some(address.to_canonical())
}
