// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Requests to the fleet server over HTTPS.

use std::sync::Arc;
use std::time::Duration;

use tenterhook_fleet_protocol::{FleetMessage, MAX_MESSAGE_BYTES};

/// Time limit for a request.
const SERVER_REQUEST_TIMEOUT: Duration = Duration::from_secs(30);

/// The fleet server, as a machine reaches it.
#[derive(Debug, Clone)]
pub struct ServerClient {
    url: String,
    ca: Option<String>,
}

/// Error for a request to the fleet server.
#[derive(Debug, thiserror::Error)]
pub enum ServerError {
    /// The URL is invalid, or would send secrets without encryption.
    #[error(
        "invalid URL `{0}`: expected `https://HOST[:PORT]`; `http://` is accepted for this machine alone"
    )]
    Url(String),
    /// The certificate authority cannot be read.
    #[error("the certificate authority of the fleet server is invalid: {0}")]
    Ca(String),
    /// The server is not reachable.
    #[error("the fleet server is not reachable: {0}")]
    Unreachable(String),
    /// The server refused the request.
    #[error("the fleet server refused the request (status {status}): {message}")]
    Refused {
        /// HTTP status of the response.
        status: u16,
        /// Cause in the server's words.
        message: String,
    },
    /// The response is invalid.
    #[error("unexpected response of the fleet server: {0}")]
    Response(String),
}

impl ServerClient {
    /// Creates a client for a server. `ca` is a certificate authority in PEM; without it, the public ones are used.
    pub fn new(url: &str, ca: Option<&str>) -> Result<Self, ServerError> {
        let url = url.trim_end_matches('/');
        let is_local = ["http://127.0.0.1", "http://localhost", "http://[::1]"]
            .iter()
            .filter_map(|prefix| url.strip_prefix(prefix))
            .any(|rest| rest.is_empty() || rest.starts_with([':', '/']) && !rest.contains('@'));
        let is_encrypted =
            url.strip_prefix("https://").is_some_and(|rest| !rest.is_empty() && !rest.contains('@'));
        if !is_local && !is_encrypted {
            return Err(ServerError::Url(url.chars().take(200).collect()));
        }
        Ok(Self { url: url.to_owned(), ca: ca.map(ToOwned::to_owned) })
    }

    /// Returns the URL of the server.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Sends a message and returns the response. Blocks the thread.
    pub fn post<Q: FleetMessage, A: FleetMessage>(&self, path: &str, message: &Q) -> Result<A, ServerError> {
        let body = message.encode().map_err(|error| ServerError::Response(error.to_string()))?;
        let agent: ureq::Agent = ureq::Agent::config_builder()
            .timeout_global(Some(SERVER_REQUEST_TIMEOUT))
            .max_redirects(0)
            .http_status_as_error(false)
            .proxy(None)
            .tls_config(self.tls_config()?)
            .build()
            .into();
        let unreachable = |error: ureq::Error| ServerError::Unreachable(error.to_string());
        let request = agent.post(format!("{}{path}", self.url)).header("content-type", "application/json");
        let mut response = request.send(&body).map_err(unreachable)?;
        let limit = u64::try_from(MAX_MESSAGE_BYTES).unwrap_or(u64::MAX);
        let bytes = response.body_mut().with_config().limit(limit).read_to_vec().map_err(unreachable)?;
        let status = response.status().as_u16();
        if (200..300).contains(&status) {
            return A::decode(&bytes).map_err(|error| ServerError::Response(error.to_string()));
        }
        if status >= 500 {
            return Err(ServerError::Unreachable(format!("status {status}")));
        }
        let message = serde_json::from_slice::<serde_json::Value>(&bytes).ok();
        let message = message
            .and_then(|value| value.pointer("/error/message")?.as_str().map(ToOwned::to_owned))
            .unwrap_or_else(|| String::from_utf8_lossy(&bytes).chars().take(300).collect());
        // The text is printed on terminals.
        let message = message.chars().filter(|c| !c.is_control()).take(500).collect();
        Err(ServerError::Refused { status, message })
    }

    /// Returns a TLS configuration with `aws-lc-rs`, which the ledger also uses for signatures.
    fn tls_config(&self) -> Result<ureq::tls::TlsConfig, ServerError> {
        let library = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
        let config = ureq::tls::TlsConfig::builder().unversioned_rustls_crypto_provider(library);
        let Some(pem) = &self.ca else { return Ok(config.build()) };
        let invalid = |error: ureq::Error| ServerError::Ca(error.to_string());
        let mut certificates = Vec::new();
        for part in ureq::tls::parse_pem(pem.as_bytes()) {
            if let ureq::tls::PemItem::Certificate(certificate) = part.map_err(invalid)? {
                certificates.push(certificate);
            }
        }
        if certificates.is_empty() {
            return Err(ServerError::Ca("no certificate".to_owned()));
        }
        Ok(config.root_certs(ureq::tls::RootCerts::Specific(Arc::new(certificates))).build())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_sent_only_encrypted_or_to_this_machine() {
        for url in [
            "https://fleet.example",
            "https://fleet.example:8443/",
            "http://127.0.0.1:8080",
            "http://[::1]:1",
        ] {
            assert!(ServerClient::new(url, None).is_ok(), "{url}");
        }
        for url in [
            "http://fleet.example",
            "http://127.0.0.1.example.com",
            "http://127.0.0.1:1@fleet.example",
            "http://localhost@fleet.example",
            "https://",
            "ftp://fleet.example",
            "fleet.example",
        ] {
            assert!(matches!(ServerClient::new(url, None), Err(ServerError::Url(_))), "{url}");
        }
    }
}
