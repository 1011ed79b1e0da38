// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Sends one HTTP POST request with a time limit and a maximum response size.

use std::sync::Arc;
use std::time::Duration;

/// A POST request.
#[derive(Debug, Clone)]
pub struct HttpPost {
    /// URL to post to.
    pub url: String,
    /// Headers of the request.
    pub headers: Vec<(String, String)>,
    /// Body of the request.
    pub body: Vec<u8>,
    /// Time limit for the whole exchange.
    pub timeout: Duration,
    /// Maximum size of the response body. A longer body is an error.
    pub max_response_bytes: usize,
}

/// The request could not be sent, or the response could not be read.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
pub struct HttpPostError(#[from] Box<ureq::Error>);

impl From<ureq::Error> for HttpPostError {
    fn from(error: ureq::Error) -> Self {
        Self(Box::new(error))
    }
}

/// Why a request has no usable response.
#[derive(Debug, thiserror::Error)]
pub enum HttpPostFailure {
    /// The time limit was exceeded.
    #[error("timed out")]
    TimedOut,
    /// The request failed. Contains the reason.
    #[error("{0}")]
    Failed(String),
}

/// Sends the request and returns the body of a 2xx response. Any other status is a failure; redirects are not followed.
pub async fn fetch_body(post: HttpPost) -> Result<Vec<u8>, HttpPostFailure> {
    let timeout = post.timeout;
    let sent = tokio::task::spawn_blocking(move || post.send());
    let (status, body) = match tokio::time::timeout(timeout, sent).await {
        Ok(Ok(Ok(response))) => response,
        Ok(Ok(Err(error))) => return Err(HttpPostFailure::Failed(error.to_string())),
        Ok(Err(error)) => return Err(HttpPostFailure::Failed(error.to_string())),
        Err(_) => return Err(HttpPostFailure::TimedOut),
    };
    if (200..300).contains(&status) {
        Ok(body)
    } else {
        Err(HttpPostFailure::Failed(format!("HTTP status {status}")))
    }
}

/// Sends the request in the background and ignores the response.
pub fn send_in_background(post: HttpPost) {
    tokio::task::spawn_blocking(move || post.send());
}

impl HttpPost {
    /// Sends the request on this thread. Returns the HTTP status and the body, even for an error status.
    pub fn send(self) -> Result<(u16, Vec<u8>), HttpPostError> {
        let agent: ureq::Agent = ureq::Agent::config_builder()
            .timeout_global(Some(self.timeout))
            // A redirect could send the payload to another server.
            .max_redirects(0)
            .http_status_as_error(false)
            // The environment must not redirect hook calls to a proxy.
            .proxy(None)
            .tls_config(tls_config())
            .build()
            .into();
        let mut request = agent.post(&self.url);
        if !self.headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("content-type")) {
            request = request.header("content-type", "application/json");
        }
        for (name, value) in &self.headers {
            request = request.header(name, value);
        }
        let mut response = request.send(self.body.as_slice())?;
        let max_bytes = u64::try_from(self.max_response_bytes).unwrap_or(u64::MAX);
        let body = response.body_mut().with_config().limit(max_bytes).read_to_vec();
        Ok((response.status().as_u16(), body?))
    }
}

/// Returns a TLS configuration with the cryptography library that the ledger uses, so that the program contains only
/// one such library.
fn tls_config() -> ureq::tls::TlsConfig {
    let provider = rustls::crypto::aws_lc_rs::default_provider();
    ureq::tls::TlsConfig::builder().unversioned_rustls_crypto_provider(Arc::new(provider)).build()
}
