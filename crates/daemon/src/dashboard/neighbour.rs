// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Whose connection it is. Every account of the machine reaches the port, and a link may be seen in the
//! list of processes while a browser is started with it; where the kernel tells whose connection it is,
//! only the account of the home may use one.

use std::net::{IpAddr, SocketAddr};

/// The other end of a connection over TCP.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Neighbour(pub(crate) SocketAddr);

/// Whether another account than these has the other end. Unknown is not strange: it may be forwarded.
pub(crate) fn is_strange(neighbour: Neighbour, known: &[u32]) -> bool {
    let file = if neighbour.0.is_ipv4() { "/proc/net/tcp" } else { "/proc/net/tcp6" };
    let table = std::fs::read_to_string(file).unwrap_or_default();
    owner(&table, neighbour.0).is_some_and(|uid| !known.contains(&uid))
}

/// Whose the local end at an address is, by the kernel's table.
fn owner(table: &str, address: SocketAddr) -> Option<u32> {
    let sought = format!("{}:{:04X}", in_hex(address.ip()), address.port());
    table.lines().skip(1).find_map(|line| {
        let fields: Vec<_> = line.split_whitespace().collect();
        (*fields.get(1)? == sought).then_some(())?;
        fields.get(7)?.parse().ok()
    })
}

/// Words of 32 bits, each as this machine has them in memory.
fn in_hex(ip: IpAddr) -> String {
    let bytes = match ip {
        IpAddr::V4(ip) => ip.octets().to_vec(),
        IpAddr::V6(ip) => ip.octets().to_vec(),
    };
    let words = bytes.chunks_exact(4).map(|word| word.try_into().map(u32::from_ne_bytes).unwrap_or_default());
    words.fold(String::new(), |hex, word| hex + &format!("{word:08X}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(target_endian = "little")]
    fn the_table_of_the_kernel_says_whose_a_connection_is() {
        let table = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n   \
            0: 0100007F:1EC6 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 1 1\n   \
            1: 0100007F:C350 0100007F:1EC6 01 00000000:00000000 00:00000000 00000000  1001        0 2 1\n";
        assert_eq!(owner(table, "127.0.0.1:50000".parse().unwrap()), Some(1001));
        assert_eq!(owner(table, "127.0.0.1:7878".parse().unwrap()), Some(1000));
        assert_eq!(owner(table, "127.0.0.1:1".parse().unwrap()), None);
        assert_eq!(in_hex("::1".parse().unwrap()), "00000000000000000000000001000000");
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn our_own_connection_is_ours() {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let stream = std::net::TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let neighbour = Neighbour(stream.local_addr().unwrap());
        let own = rustix::process::getuid().as_raw();
        assert!(!is_strange(neighbour, &[own]));
        assert!(is_strange(neighbour, &[own.wrapping_add(1)]));
    }
}
