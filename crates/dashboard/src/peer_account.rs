// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Finds the account that opened a TCP connection. Every account of the machine can reach the daemon's port, and a
//! one-time link is visible in the process list while a browser is started with it. Linux lists the account of each
//! end of a local connection. With this list, only the account that owns the state directory can use a link and its
//! session.

use std::net::{IpAddr, SocketAddr};

/// Socket tables of the kernel. An IPv6 socket that connects to `::ffff:127.0.0.1` is in the second table, although the
/// other end of its connection is an IPv4 socket.
const SOCKET_TABLES: &[&str] = &["/proc/net/tcp", "/proc/net/tcp6"];

/// The account at the other end of a TCP connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum PeerAccount {
    /// An account of this machine.
    Account(u32),
    /// A local connection whose account is unknown.
    Unknown,
    /// A connection from another machine, or a local one on a platform without socket tables.
    Remote(IpAddr),
}

impl PeerAccount {
    /// Looks up the connection between `peer` and our end, `local`.
    pub fn of_connection(peer: SocketAddr, local: SocketAddr) -> Self {
        let read = |table: &&str| std::fs::read_to_string(table).unwrap_or_default();
        Self::find_in_tables(SOCKET_TABLES.iter().map(read), peer, local)
    }

    fn find_in_tables(tables: impl Iterator<Item = String>, peer: SocketAddr, local: SocketAddr) -> Self {
        let mut tables = tables;
        let ip = peer.ip().to_canonical();
        let is_here = ip.is_loopback() || ip == local.ip().to_canonical();
        match tables.find_map(|table| socket_owner(&table, peer, local)) {
            Some(uid) => Self::Account(uid),
            None if is_here && cfg!(target_os = "linux") => Self::Unknown,
            None => Self::Remote(ip),
        }
    }

    /// Whether this connection is refused, because the link or browser session belongs only to the `known` accounts. A
    /// local connection whose account is unknown is refused as well: its socket is already closed, or the tables cannot
    /// be read.
    pub fn is_refused(self, known: &[u32]) -> bool {
        match self {
            Self::Account(uid) => !known.contains(&uid),
            Self::Unknown => true,
            Self::Remote(_) => false,
        }
    }
}

/// The account of the socket that is bound to `peer` and connected to `local`, from the text of a socket table.
fn socket_owner(table: &str, peer: SocketAddr, local: SocketAddr) -> Option<u32> {
    let forms = [IpAddr::to_canonical as fn(&IpAddr) -> IpAddr, to_ipv6_mapped_form];
    forms.iter().find_map(|form| {
        let place =
            |address: SocketAddr| format!("{}:{:04X}", address_hex(form(&address.ip())), address.port());
        let sought = format!(": {} {} ", place(peer), place(local));
        let line = table.lines().find(|line| line.contains(&sought))?;
        let fields: Vec<_> = line.split_whitespace().collect();
        // A closed socket has no inode and is listed under root, regardless of its account.
        fields.get(9).filter(|inode| **inode != "0")?;
        fields.get(7)?.parse().ok()
    })
}

fn to_ipv6_mapped_form(ip: &IpAddr) -> IpAddr {
    match ip.to_canonical() {
        IpAddr::V4(ip) => IpAddr::V6(ip.to_ipv6_mapped()),
        ip @ IpAddr::V6(_) => ip,
    }
}

/// Formats an address as the kernel does: 32-bit words in native byte order.
fn address_hex(ip: IpAddr) -> String {
    let bytes = match ip {
        IpAddr::V4(ip) => ip.octets().to_vec(),
        IpAddr::V6(ip) => ip.octets().to_vec(),
    };
    let words = bytes.chunks_exact(4).map(|word| word.try_into().map(u32::from_ne_bytes).unwrap_or_default());
    words.fold(String::new(), |hex, word| hex + &format!("{word:08X}"))
}

#[cfg(test)]
#[cfg(target_os = "linux")]
mod tests {
    use std::net::{TcpListener, TcpStream};

    use super::*;

    const HEAD: &str =
        "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n";

    fn line(local: &str, remote: &str, uid: u32, inode: u32) -> String {
        let rest = format!("01 00000000:00000000 00:00000000 00000000  {uid}        0 {inode} 1");
        format!("{HEAD}   1: {local} {remote} {rest}\n")
    }

    #[test]
    #[cfg(target_endian = "little")]
    fn a_connection_is_found_by_both_ends_in_either_table() {
        let (peer, local) = ("127.0.0.1:50000".parse().unwrap(), "127.0.0.1:7878".parse().unwrap());
        let plain = line("0100007F:C350", "0100007F:1EC6", 1001, 2);
        let six =
            line("0000000000000000FFFF00000100007F:C350", "0000000000000000FFFF00000100007F:1EC6", 1002, 3);
        let found = |tables: &[&String]| {
            PeerAccount::find_in_tables(tables.iter().map(|table| (*table).clone()), peer, local)
        };
        assert_eq!(found(&[&plain]), PeerAccount::Account(1001));
        assert_eq!(found(&[&six]), PeerAccount::Account(1002));
        assert_eq!(found(&[&line("0100007F:C350", "0100007F:0050", 0, 4)]), PeerAccount::Unknown);
        assert_eq!(found(&[&line("0100007F:C350", "0100007F:1EC6", 0, 0)]), PeerAccount::Unknown, "closed");
        assert_eq!(found(&[]), PeerAccount::Unknown);
        let far = PeerAccount::find_in_tables(std::iter::empty(), "192.0.2.1:50000".parse().unwrap(), local);
        assert!(matches!(far, PeerAccount::Remote(_)));
        assert_eq!(address_hex("::1".parse().unwrap()), "00000000000000000000000001000000");
    }

    #[test]
    fn our_own_connections_are_ours_by_every_way_to_the_same_port() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let own = rustix::process::getuid().as_raw();
        for host in ["127.0.0.1", "[::ffff:127.0.0.1]"] {
            let _stream = TcpStream::connect(format!("{host}:{port}")).unwrap();
            let (accepted, peer) = listener.accept().unwrap();
            let account = PeerAccount::of_connection(peer, accepted.local_addr().unwrap());
            assert_eq!(account, PeerAccount::Account(own), "{host}");
            assert!(!account.is_refused(&[own]) && account.is_refused(&[own.wrapping_add(1)]));
        }
        assert!(PeerAccount::Unknown.is_refused(&[own]));
    }
}
