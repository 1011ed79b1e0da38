// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The hosts that are connected to without a proxy, from the variable `no_proxy`.

use std::net::IpAddr;

use crate::{ConnectionHost, ConnectionTarget};

/// Hosts that are connected to without a proxy.
#[derive(Debug, Clone, Default)]
pub(super) struct NoProxyList(Vec<NoProxyEntry>);

/// One entry of the list, and the port to which it is limited.
#[derive(Debug, Clone)]
struct NoProxyEntry {
    host: DirectHost,
    port: Option<u16>,
}

#[derive(Debug, Clone)]
enum DirectHost {
    All,
    /// A name and all names below it.
    Name(String),
    /// Addresses with this start.
    Network(IpAddr, u8),
}

impl NoProxyList {
    /// Parses a list that is separated by commas or spaces. An entry that is neither a name nor an address matches nothing.
    pub(super) fn parse(text: &str) -> Self {
        let entries = text.split([',', ' ', '\t']).map(str::trim).filter(|entry| !entry.is_empty());
        Self(entries.filter_map(NoProxyEntry::parse).collect())
    }

    pub(super) fn contains(&self, target: &ConnectionTarget) -> bool {
        self.0.iter().any(|entry| {
            entry.port.is_none_or(|port| port == target.port)
                && match (&entry.host, &target.host) {
                    (DirectHost::All, _) => true,
                    (DirectHost::Name(name), ConnectionHost::Name(host)) => {
                        let above = host.strip_suffix(name.as_str());
                        above.is_some_and(|above| above.is_empty() || above.ends_with('.'))
                    }
                    (DirectHost::Network(network, bits), ConnectionHost::Address(address)) => {
                        shares_start(*network, *address, *bits)
                    }
                    _ => false,
                }
        })
    }
}

impl NoProxyEntry {
    fn parse(entry: &str) -> Option<Self> {
        if entry == "*" {
            return Some(Self { host: DirectHost::All, port: None });
        }
        if let Some(host) = parse_network(entry) {
            return Some(Self { host, port: None });
        }
        let (host, port) = match entry.rsplit_once(':') {
            Some((host, port)) => (host, Some(port.parse().ok()?)),
            None => (entry, None),
        };
        let name = || {
            let name = host.trim_start_matches('*').trim_start_matches('.').trim_end_matches('.');
            (!name.is_empty()).then(|| DirectHost::Name(name.to_ascii_lowercase()))
        };
        let host = parse_network(host).or_else(name)?;
        Some(Self { host, port })
    }
}

/// Parses an address, also in brackets, or a network such as `10.0.0.0/8`.
fn parse_network(text: &str) -> Option<DirectHost> {
    let (address, bits) = match text.split_once('/') {
        Some((address, bits)) => (address, Some(bits.parse::<u8>().ok()?)),
        None => (text, None),
    };
    let address = address.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).unwrap_or(address);
    let address: IpAddr = address.parse().ok()?;
    let most = if address.is_ipv4() { 32 } else { 128 };
    Some(DirectHost::Network(address, bits.unwrap_or(most).min(most)))
}

fn shares_start(network: IpAddr, address: IpAddr, bits: u8) -> bool {
    let differs = |difference: u128, width: u32| {
        let ignored = width.saturating_sub(u32::from(bits));
        difference.checked_shr(ignored).unwrap_or_default() != 0
    };
    match (network, address.to_canonical()) {
        (IpAddr::V4(network), IpAddr::V4(address)) => {
            !differs(u128::from(network.to_bits() ^ address.to_bits()), u32::BITS)
        }
        (IpAddr::V6(network), IpAddr::V6(address)) => {
            !differs(network.to_bits() ^ address.to_bits(), u128::BITS)
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_match_names_networks_and_ports() {
        let rows = [
            ("example.com", "example.com:443", true),
            ("example.com", "a.example.com:443", true),
            ("example.com", "notexample.com:443", false),
            (".example.com", "example.com:443", true),
            ("*.example.com", "a.example.com:443", true),
            ("EXAMPLE.com.", "example.com:1", true),
            ("example.com:8080", "example.com:443", false),
            ("example.com:8080", "example.com:8080", true),
            ("*", "anything:1", true),
            ("10.0.0.0/8", "10.9.8.7:443", true),
            ("10.0.0.0/8", "11.0.0.1:443", false),
            ("0.0.0.0/0", "8.8.8.8:443", true),
            ("10.1.2.3", "10.1.2.3:443", true),
            ("10.1.2.3:80", "10.1.2.3:443", false),
            ("10.1.2.3", "110.1.2.3:443", false),
            ("fd00::/8", "[fd12::1]:443", true),
            ("[fd00::1]:443", "[fd00::1]:443", true),
            ("[fd00::1]:443", "[fd00::1]:444", false),
            ("10.0.0.0/8", "a.example:443", false),
            ("10.0.0.0/99", "10.0.0.0:443", true),
            ("a b,c", "b:1", true),
            (",, ,", "b:1", false),
            (".", "b:1", false),
        ];
        for (list, target, expected) in rows {
            let target = ConnectionTarget::parse(target, None).unwrap();
            assert_eq!(NoProxyList::parse(list).contains(&target), expected, "{list} {target}");
        }
    }
}
