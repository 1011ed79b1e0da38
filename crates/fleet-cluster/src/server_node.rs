// SPDX-License-Identifier: Apache-2.0 OR MIT

//! A copy of the fleet server.

use std::net::SocketAddr;
use std::path::Path;

use crate::cluster_process::{ClusterProcess, ProcessCommand};
use crate::error::ClusterError;
use crate::nats_node::answers_ok;

/// A copy of the fleet server.
#[derive(Debug)]
pub(crate) struct ServerNode {
    pub(crate) process: ClusterProcess,
    pub(crate) address: SocketAddr,
    namespace: Option<String>,
}

/// What all copies share.
pub(crate) struct ServerOptions<'a> {
    pub(crate) program: &'a Path,
    pub(crate) keys: &'a Path,
    pub(crate) nats_urls: &'a [String],
    pub(crate) nats_ca: Option<&'a Path>,
    pub(crate) postgres_url: &'a str,
    pub(crate) password_file: &'a Path,
    pub(crate) admin_key: &'a str,
    pub(crate) replicas: usize,
    pub(crate) stream_bytes: u64,
    pub(crate) extra: &'a [String],
}

impl ServerNode {
    /// Describes the copy with this number.
    pub(crate) fn create(
        dir: &Path,
        number: usize,
        address: SocketAddr,
        options: &ServerOptions<'_>,
        namespace: Option<String>,
    ) -> Result<Self, ClusterError> {
        let name = format!("server-{}", number + 1);
        let state = dir.join(&name);
        std::fs::create_dir_all(&state).map_err(|error| ClusterError::file(&state, error))?;
        let mut command = ProcessCommand::new(options.program, &state)
            .args(["serve", "--listen", &address.to_string(), "--state"])
            .args([state.as_os_str(), "--keys".as_ref(), options.keys.as_os_str()])
            .args(["--postgres", options.postgres_url, "--postgres-password-file"])
            .args([options.password_file])
            .args(["--admin-key", &format!("default=admin={}", options.admin_key)])
            .args(["--replicas", &options.replicas.to_string()])
            .args(["--stream-bytes", &options.stream_bytes.to_string()])
            .args(options.extra)
            .namespace(namespace.clone());
        for url in options.nats_urls {
            command = command.args(["--nats", url]);
        }
        if let Some(ca) = options.nats_ca {
            command = command.args(["--nats-ca".as_ref(), ca.as_os_str()]);
        }
        let process = ClusterProcess::new(&name, command, &dir.join(format!("{name}.log")));
        Ok(Self { process, address, namespace })
    }

    /// Returns the URL of the HTTP API.
    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Whether the server reaches its engines.
    pub(crate) fn is_healthy(&self) -> bool {
        answers_ok(self.namespace.as_deref(), self.address, "/v1/health")
    }
}
