// SPDX-License-Identifier: Apache-2.0 OR MIT

//! A NATS server of the cluster.

use std::fmt::Write as _;
use std::io::{Read as _, Write as _};
use std::net::{IpAddr, SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::cluster_process::{ClusterProcess, ProcessCommand};
use crate::error::ClusterError;

/// Time limit of a request for the health of a server.
const HEALTH_TIMEOUT: Duration = Duration::from_secs(2);

/// Addresses of a NATS server.
#[derive(Debug, Clone, Copy)]
pub(crate) struct NatsAddress {
    pub(crate) ip: IpAddr,
    pub(crate) client_port: u16,
    pub(crate) route_port: u16,
    pub(crate) monitor_port: u16,
}

/// Certificate and key of a server, and their authority.
#[derive(Debug, Clone)]
pub(crate) struct TlsFiles {
    pub(crate) ca: PathBuf,
    pub(crate) certificate: PathBuf,
    pub(crate) key: PathBuf,
}

/// A NATS server of the cluster.
#[derive(Debug)]
pub(crate) struct NatsNode {
    pub(crate) process: ClusterProcess,
    pub(crate) address: NatsAddress,
    namespace: Option<String>,
}

/// What all servers of a cluster share.
pub(crate) struct NatsCluster<'a> {
    pub(crate) program: &'a Path,
    pub(crate) accounts: &'a Path,
    pub(crate) addresses: &'a [NatsAddress],
    pub(crate) tls: Option<&'a TlsFiles>,
    pub(crate) max_store_bytes: u64,
}

impl NatsNode {
    /// Writes the configuration of the server with this number.
    pub(crate) fn create(
        dir: &Path,
        number: usize,
        cluster: &NatsCluster<'_>,
        namespace: Option<String>,
    ) -> Result<Self, ClusterError> {
        let address =
            *cluster.addresses.get(number).ok_or_else(|| ClusterError::process("nats", "no address"))?;
        let dir = dir.join(format!("nats-{}", number + 1));
        std::fs::create_dir_all(&dir).map_err(|error| ClusterError::file(&dir, error))?;
        let routes: Vec<String> = cluster
            .addresses
            .iter()
            .map(|other| format!("nats://{}", SocketAddr::new(other.ip, other.route_port)))
            .collect();
        let NatsAddress { ip, client_port, route_port, monitor_port } = address;
        let mut text = format!(
            "server_name: n{}\nlisten: \"{}\"\nhttp: \"{}\"\n\
             jetstream {{ store_dir: \"{}\", max_mem: 64MB, max_file: {}, sync_interval: always }}\n\
             cluster {{ name: fleet, listen: \"{}\", routes: [{}] }}\ninclude \"{}\"\n",
            number + 1,
            SocketAddr::new(ip, client_port),
            SocketAddr::new(ip, monitor_port),
            dir.join("store").display(),
            cluster.max_store_bytes,
            SocketAddr::new(ip, route_port),
            routes.join(", "),
            relative(cluster.accounts),
        );
        if let Some(tls) = cluster.tls {
            // Writing to a string cannot fail.
            let _ = writeln!(
                text,
                "tls {{ cert_file: \"{}\", key_file: \"{}\" }}",
                tls.certificate.display(),
                tls.key.display()
            );
        }
        let config = dir.join("nats.conf");
        std::fs::write(&config, text).map_err(|error| ClusterError::file(&config, error))?;
        let command = ProcessCommand::new(cluster.program, &dir)
            .args(["-c".as_ref(), config.as_os_str()])
            .namespace(namespace.clone());
        let process = ClusterProcess::new(&format!("nats-{}", number + 1), command, &dir.join("nats.log"));
        Ok(Self { process, address, namespace })
    }

    /// Returns the URL for clients.
    pub(crate) fn url(&self, tls: bool) -> String {
        let scheme = if tls { "tls" } else { "nats" };
        format!("{scheme}://{}", SocketAddr::new(self.address.ip, self.address.client_port))
    }

    /// Whether the server and its part of JetStream are ready.
    pub(crate) fn is_healthy(&self) -> bool {
        let address = SocketAddr::new(self.address.ip, self.address.monitor_port);
        answers_ok(self.namespace.as_deref(), address, "/healthz")
    }
}

/// Whether a server answers a request with status 200. In a network namespace, another program asks.
pub(crate) fn answers_ok(namespace: Option<&str>, address: SocketAddr, path: &str) -> bool {
    let Some(namespace) = namespace else {
        return http_get(address, path).is_ok_and(|text| text.starts_with("HTTP/1.1 200"));
    };
    let script = "import sys, urllib.request; urllib.request.urlopen(sys.argv[1], timeout=2).read()";
    let command = ProcessCommand::new(Path::new("/usr/bin/python3"), Path::new("/"))
        .args(["-c", script, &format!("http://{address}{path}")])
        .namespace(Some(namespace.to_owned()));
    command.run("health").is_ok()
}

/// Returns the path of a file beside the directory of a server: NATS resolves includes relative to the configuration.
fn relative(accounts: &Path) -> String {
    format!("../{}", accounts.file_name().unwrap_or_default().to_string_lossy())
}

/// Sends a request and returns the beginning of the response.
fn http_get(address: SocketAddr, path: &str) -> std::io::Result<String> {
    let mut stream = TcpStream::connect_timeout(&address, HEALTH_TIMEOUT)?;
    stream.set_read_timeout(Some(HEALTH_TIMEOUT))?;
    stream.set_write_timeout(Some(HEALTH_TIMEOUT))?;
    stream.write_all(
        format!("GET {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n").as_bytes(),
    )?;
    let mut text = Vec::new();
    stream.take(1 << 20).read_to_end(&mut text)?;
    Ok(String::from_utf8_lossy(&text).into_owned())
}
