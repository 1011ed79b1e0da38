// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Resolves names to addresses, and classifies addresses on this machine.

use std::future::Future;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, UdpSocket};

use crate::AddressClass;

/// Port of the discard service. No packet is sent to it.
const DISCARD_PORT: u16 = 9;

/// Resolves names to addresses.
pub trait NameResolver: Send + Sync + 'static {
    /// Returns all addresses of a name.
    fn resolve(&self, name: &str) -> impl Future<Output = io::Result<Vec<IpAddr>>> + Send;

    /// Returns what an address reaches from this machine.
    fn classify(&self, address: IpAddr) -> AddressClass {
        AddressClass::of(address)
    }
}

/// Resolves names as other programs of this machine do.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemResolver;

impl NameResolver for SystemResolver {
    async fn resolve(&self, name: &str) -> io::Result<Vec<IpAddr>> {
        // The port is not used for the query.
        Ok(tokio::net::lookup_host((name, 0)).await?.map(|address| address.ip()).collect())
    }

    fn classify(&self, address: IpAddr) -> AddressClass {
        match AddressClass::of(address) {
            AddressClass::Public if is_own_address(address) => AddressClass::ThisMachine,
            class => class,
        }
    }
}

/// Whether the kernel delivers packets for an address to this machine: the packets then have the same address as their
/// source. Connecting a UDP socket only selects the route and sends nothing.
fn is_own_address(address: IpAddr) -> bool {
    let unspecified = match address {
        IpAddr::V4(_) => IpAddr::V4(Ipv4Addr::UNSPECIFIED),
        IpAddr::V6(_) => IpAddr::V6(Ipv6Addr::UNSPECIFIED),
    };
    // Without a route there is no connection either.
    let source = UdpSocket::bind((unspecified, 0)).and_then(|socket| {
        socket.connect((address, DISCARD_PORT))?;
        socket.local_addr()
    });
    source.is_ok_and(|source| source.ip() == address)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_of_this_machine_are_found() {
        assert!(is_own_address(Ipv4Addr::LOCALHOST.into()));
        // Reserved for documentation; no interface has it.
        assert!(!is_own_address("192.0.2.1".parse().unwrap()));
        let class = |text: &str| SystemResolver.classify(text.parse().unwrap());
        assert_eq!(class("127.0.0.1"), AddressClass::Loopback);
        assert_eq!(class("10.0.0.1"), AddressClass::Private);
        assert_eq!(class("1.1.1.1"), AddressClass::Public);
    }
}
