// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Sends a POST request and streams the response, which a separate thread reads.
//!
//! The thread is not joined: dropping [`HttpResponse`] closes the connection, which ends the thread.

use std::io::{self, Read as _};
use std::time::Duration;

use tokio::sync::mpsc::{Receiver, Sender, channel};

/// Maximum number of bytes read from the body of an error response.
const MAX_ERROR_BODY_BYTES: u64 = 64 * 1024;
/// Maximum number of queued response pieces. The thread blocks when the queue is full.
const MAX_QUEUED_PIECES: usize = 64;

/// A POST request.
#[derive(Clone)]
pub(super) struct ProviderHttpRequest {
    pub(super) url: String,
    /// Headers, including the API key. Because of the key, the type does not implement `Debug`.
    pub(super) headers: Vec<(&'static str, String)>,
    pub(super) body: Vec<u8>,
}

/// A piece of the response. The first piece is `Begun`, `Refused`, `Silent` or `Broke`.
pub(super) enum ResponsePiece {
    /// The server accepted the request.
    Begun,
    /// The server replied with an error status.
    Refused { status: u16, retry_after: Option<String>, body: String },
    /// Bytes of the body.
    Bytes(Vec<u8>),
    /// End of the body.
    End,
    /// The idle timeout expired.
    Silent,
    /// The connection failed.
    Broke(String),
}

/// A response in progress.
pub(super) struct HttpResponse {
    pieces: Receiver<ResponsePiece>,
    agent: Option<ureq::Agent>,
}

impl ProviderHttpRequest {
    /// Sends the request. `connect` is the timeout for resolving the address and connecting. `idle` is the timeout
    /// between two pieces.
    pub(super) fn send(self, connect: Duration, idle: Duration) -> io::Result<HttpResponse> {
        let agent: ureq::Agent = ureq::Agent::config_builder()
            .timeout_resolve(Some(connect))
            .timeout_connect(Some(connect))
            .timeout_per_read(Some(idle))
            .timeout_per_write(Some(idle))
            // A redirect could send the key to another server.
            .max_redirects(0)
            .http_status_as_error(false)
            // Only the binary reads the environment, so the environment's proxy settings are not used here.
            .proxy(None)
            .tls_config(tls_config())
            .build()
            .into();
        let (send, pieces) = channel(MAX_QUEUED_PIECES);
        let thread_agent = agent.clone();
        std::thread::Builder::new().name("model".to_owned()).spawn(move || {
            let last =
                self.run_request(&thread_agent, &send).unwrap_or_else(|error| transport_failure(&error));
            // Sending fails if the response was dropped.
            drop(send.blocking_send(last));
        })?;
        Ok(HttpResponse { pieces, agent: Some(agent) })
    }

    fn run_request(
        &self,
        agent: &ureq::Agent,
        pieces: &Sender<ResponsePiece>,
    ) -> Result<ResponsePiece, ureq::Error> {
        let mut request = agent.post(&self.url).header("content-type", "application/json");
        for (name, value) in &self.headers {
            request = request.header(*name, value);
        }
        let mut response = request.send(self.body.as_slice())?;
        let status = response.status();
        if !status.is_success() {
            let retry_after = response.headers().get("retry-after");
            let retry_after = retry_after.and_then(|value| Some(value.to_str().ok()?.to_owned()));
            let mut body = Vec::new();
            // A partial body is still useful for the error message.
            drop(response.body_mut().as_reader().take(MAX_ERROR_BODY_BYTES).read_to_end(&mut body));
            let body = String::from_utf8_lossy(&body).into_owned();
            return Ok(ResponsePiece::Refused { status: status.as_u16(), retry_after, body });
        }
        let mut is_open = pieces.blocking_send(ResponsePiece::Begun).is_ok();
        let mut reader = response.body_mut().as_reader();
        let mut buffer = vec![0; 16 * 1024];
        while is_open {
            let read = reader.read(&mut buffer)?;
            let Some(bytes) = buffer.get(..read).filter(|bytes| !bytes.is_empty()) else { break };
            is_open = pieces.blocking_send(ResponsePiece::Bytes(bytes.to_vec())).is_ok();
        }
        Ok(ResponsePiece::End)
    }
}

/// Returns a TLS configuration with `aws-lc-rs`, which the ledger also uses for signatures.
fn tls_config() -> ureq::tls::TlsConfig {
    let library = rustls::crypto::aws_lc_rs::default_provider();
    ureq::tls::TlsConfig::builder().unversioned_rustls_crypto_provider(std::sync::Arc::new(library)).build()
}

fn transport_failure(error: &ureq::Error) -> ResponsePiece {
    match error {
        ureq::Error::Timeout(ureq::Timeout::PerRead | ureq::Timeout::PerWrite) => ResponsePiece::Silent,
        error => ResponsePiece::Broke(error.to_string()),
    }
}

impl HttpResponse {
    /// Waits for the next piece. Returns `None` after the last piece.
    pub(super) async fn next_piece(&mut self) -> Option<ResponsePiece> {
        self.pieces.recv().await
    }
}

impl Drop for HttpResponse {
    fn drop(&mut self) {
        if let Some(agent) = self.agent.take() {
            agent.shutdown();
        }
    }
}
