// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Ports for servers that are killed and started again.

use std::hash::{BuildHasher as _, RandomState};
use std::net::{Ipv4Addr, TcpListener};

/// Range of the ports. It is below the range from which the kernel takes ports of outgoing connections, which could
/// otherwise take the port of a killed server before it is started again.
const FIRST_PORT: u16 = 11_000;
const PORT_COUNT: u16 = 20_000;

/// Returns different ports on loopback that are free now.
pub(crate) fn free_ports(count: usize) -> Vec<u16> {
    let random = RandomState::new().hash_one(std::process::id());
    let start = u16::try_from(random % u64::from(PORT_COUNT)).unwrap_or_default();
    let candidates = (0..PORT_COUNT).map(|offset| FIRST_PORT + (start + offset) % PORT_COUNT);
    candidates.filter(|port| TcpListener::bind((Ipv4Addr::LOCALHOST, *port)).is_ok()).take(count).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ports_differ_and_are_outside_the_range_of_outgoing_connections() {
        let mut ports = free_ports(8);
        assert!(ports.iter().all(|port| (FIRST_PORT..32_768).contains(port)), "{ports:?}");
        ports.sort_unstable();
        ports.dedup();
        assert_eq!(ports.len(), 8);
    }
}
