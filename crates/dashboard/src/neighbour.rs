// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Which account a TCP connection belongs to. Every account of the machine reaches the port, and a link may be seen
//! in the list of processes while a browser is started with it. Linux lists each end of a local connection with its
//! account, so that only the account of the home can use a link and the session it opens.

use std::net::{IpAddr, SocketAddr};

/// The tables of the kernel. A socket of the IPv6 family that connects to `::ffff:127.0.0.1` is in the second one,
/// although its other end is an IPv4 socket.
const TABLES: &[&str] = &["/proc/net/tcp", "/proc/net/tcp6"];

/// The account at the other end of a TCP connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Neighbour {
    /// An account of this machine.
    Account(u32),
    /// A connection from this machine whose account the kernel does not name.
    Unknown,
    /// Another machine, or a kernel without such tables.
    Elsewhere(IpAddr),
}

impl Neighbour {
    /// Looks up the connection between `peer` and our own end, `local`.
    pub fn of(peer: SocketAddr, local: SocketAddr) -> Self {
        let read = |table: &&str| std::fs::read_to_string(table).unwrap_or_default();
        Self::in_tables(TABLES.iter().map(read), peer, local)
    }

    fn in_tables(tables: impl Iterator<Item = String>, peer: SocketAddr, local: SocketAddr) -> Self {
        let mut tables = tables;
        let ip = peer.ip().to_canonical();
        let is_here = ip.is_loopback() || ip == local.ip().to_canonical();
        match tables.find_map(|table| owner(&table, peer, local)) {
            Some(uid) => Self::Account(uid),
            None if is_here && cfg!(target_os = "linux") => Self::Unknown,
            None => Self::Elsewhere(ip),
        }
    }

    /// Whether a link or a browser session of one of the `known` accounts must be refused. A local connection of
    /// unknown account is refused as well: its socket is closed already, or the tables cannot be read.
    pub fn is_refused(self, known: &[u32]) -> bool {
        match self {
            Self::Account(uid) => !known.contains(&uid),
            Self::Unknown => true,
            Self::Elsewhere(_) => false,
        }
    }
}

/// The account of the socket that is bound to `peer` and connected to `local`.
fn owner(table: &str, peer: SocketAddr, local: SocketAddr) -> Option<u32> {
    let forms = [IpAddr::to_canonical as fn(&IpAddr) -> IpAddr, mapped];
    forms.iter().find_map(|form| {
        let place = |address: SocketAddr| format!("{}:{:04X}", in_hex(form(&address.ip())), address.port());
        let sought = format!(": {} {} ", place(peer), place(local));
        let line = table.lines().find(|line| line.contains(&sought))?;
        let fields: Vec<_> = line.split_whitespace().collect();
        // A socket without an inode is closed, and is listed as root's whoever had it.
        fields.get(9).filter(|inode| **inode != "0")?;
        fields.get(7)?.parse().ok()
    })
}

fn mapped(ip: &IpAddr) -> IpAddr {
    match ip.to_canonical() {
        IpAddr::V4(ip) => IpAddr::V6(ip.to_ipv6_mapped()),
        ip @ IpAddr::V6(_) => ip,
    }
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
            Neighbour::in_tables(tables.iter().map(|table| (*table).clone()), peer, local)
        };
        assert_eq!(found(&[&plain]), Neighbour::Account(1001));
        assert_eq!(found(&[&six]), Neighbour::Account(1002));
        assert_eq!(found(&[&line("0100007F:C350", "0100007F:0050", 0, 4)]), Neighbour::Unknown);
        assert_eq!(found(&[&line("0100007F:C350", "0100007F:1EC6", 0, 0)]), Neighbour::Unknown, "closed");
        assert_eq!(found(&[]), Neighbour::Unknown);
        let far = Neighbour::in_tables(std::iter::empty(), "192.0.2.1:50000".parse().unwrap(), local);
        assert!(matches!(far, Neighbour::Elsewhere(_)));
        assert_eq!(in_hex("::1".parse().unwrap()), "00000000000000000000000001000000");
    }

    #[test]
    fn our_own_connections_are_ours_by_every_way_to_the_same_port() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let own = rustix::process::getuid().as_raw();
        for host in ["127.0.0.1", "[::ffff:127.0.0.1]"] {
            let _stream = TcpStream::connect(format!("{host}:{port}")).unwrap();
            let (accepted, peer) = listener.accept().unwrap();
            let neighbour = Neighbour::of(peer, accepted.local_addr().unwrap());
            assert_eq!(neighbour, Neighbour::Account(own), "{host}");
            assert!(!neighbour.is_refused(&[own]) && neighbour.is_refused(&[own.wrapping_add(1)]));
        }
        assert!(Neighbour::Unknown.is_refused(&[own]));
    }
}
