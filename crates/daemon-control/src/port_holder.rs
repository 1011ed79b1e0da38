// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Finds the process that listens on a TCP port of this machine.

use std::path::Path;

/// State of a listening socket, as written in `/proc/net/tcp`.
const LISTEN_STATE: &str = "0A";

/// Returns the process that listens on a port, as `name (process 123)`. Returns `None` if the process is not visible,
/// for example because it belongs to another account.
pub fn describe(port: u16) -> Option<String> {
    let inodes: Vec<String> = ["/proc/net/tcp", "/proc/net/tcp6"]
        .iter()
        .filter_map(|table| fs_err::read_to_string(table).ok())
        .flat_map(|table| listening_inodes(&table, port))
        .collect();
    let processes = fs_err::read_dir("/proc").ok()?.flatten().map(|entry| entry.path());
    let holder = processes.filter(|path| is_process(path)).find(|path| has_socket(path, &inodes))?;
    let name = fs_err::read_to_string(holder.join("comm")).unwrap_or_default();
    let id = holder.file_name()?.to_str()?.to_owned();
    Some(format!("{} (process {id})", name.trim()))
}

/// Returns the inodes of sockets that listen on a port.
fn listening_inodes(table: &str, port: u16) -> Vec<String> {
    let wanted = format!("{port:04X}");
    let line = |line: &str| {
        let fields: Vec<_> = line.split_whitespace().collect();
        let local_port = fields.get(1)?.rsplit(':').next()?;
        (local_port == wanted && fields.get(3) == Some(&LISTEN_STATE))
            .then(|| fields.get(9).map(ToString::to_string))?
    };
    table.lines().skip(1).filter_map(line).collect()
}

fn is_process(path: &Path) -> bool {
    path.file_name().and_then(|name| name.to_str()).is_some_and(|name| name.parse::<u32>().is_ok())
}

fn has_socket(process: &Path, inodes: &[String]) -> bool {
    let Ok(descriptors) = std::fs::read_dir(process.join("fd")) else { return false };
    descriptors.flatten().any(|entry| {
        let target = std::fs::read_link(entry.path()).unwrap_or_default();
        let target = target.to_str().unwrap_or_default();
        inodes.iter().any(|inode| target == format!("socket:[{inode}]"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(target_os = "linux")]
    fn the_holder_of_a_port_is_named() {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let described = describe(port).unwrap();
        assert!(described.ends_with(&format!("(process {})", std::process::id())), "{described}");
    }
}
