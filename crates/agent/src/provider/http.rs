// SPDX-License-Identifier: Apache-2.0 OR MIT

//! One POST whose answer is a stream, read on a thread of its own.
//!
//! Nobody waits for that thread: dropping [`Answer`] closes the connection, and with it the thread ends.

use std::io::{self, Read as _};
use std::time::Duration;

use tokio::sync::mpsc::{Receiver, Sender, channel};

/// How much of an error's body is read.
const ERROR_BODY: u64 = 64 * 1024;
/// So many pieces may wait to be read before the thread waits too.
const WAITING: usize = 64;

/// A request to make once.
#[derive(Clone)]
pub(super) struct Post {
    pub(super) url: String,
    /// One of them is the key: it is not shown.
    pub(super) headers: Vec<(&'static str, String)>,
    pub(super) body: Vec<u8>,
}

/// What comes back, piece by piece. The first piece tells how the server took the request.
pub(super) enum Piece {
    /// It has begun to answer.
    Begun,
    /// It answered with an error: status, when to ask again, and what it said.
    Refused { status: u16, retry_after: Option<String>, body: String },
    /// Some bytes of its answer.
    Bytes(Vec<u8>),
    /// That was all of it.
    End,
    /// Nothing came for too long.
    Silent,
    /// The connection could not be made, or broke.
    Broke(String),
}

/// An answer under way.
pub(super) struct Answer {
    pieces: Receiver<Piece>,
    agent: Option<ureq::Agent>,
}

impl Post {
    /// Sends it. `connect` bounds the way there, `idle` every silence after.
    pub(super) fn send(self, connect: Duration, idle: Duration) -> io::Result<Answer> {
        let agent: ureq::Agent = ureq::Agent::config_builder()
            .timeout_resolve(Some(connect))
            .timeout_connect(Some(connect))
            .timeout_per_read(Some(idle))
            .timeout_per_write(Some(idle))
            // A redirect could send the key to somebody else.
            .max_redirects(0)
            .http_status_as_error(false)
            // The environment is read by the binary alone.
            .proxy(None)
            .tls_config(tls())
            .build()
            .into();
        let (send, pieces) = channel(WAITING);
        let own = agent.clone();
        std::thread::Builder::new().name("model".to_owned()).spawn(move || {
            let last = self.run(&own, &send).unwrap_or_else(|error| broken(&error));
            // Nobody listens any more: nothing is left to say.
            drop(send.blocking_send(last));
        })?;
        Ok(Answer { pieces, agent: Some(agent) })
    }

    fn run(&self, agent: &ureq::Agent, pieces: &Sender<Piece>) -> Result<Piece, ureq::Error> {
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
            // What could be read of it explains more than nothing.
            drop(response.body_mut().as_reader().take(ERROR_BODY).read_to_end(&mut body));
            let body = String::from_utf8_lossy(&body).into_owned();
            return Ok(Piece::Refused { status: status.as_u16(), retry_after, body });
        }
        let mut listened = pieces.blocking_send(Piece::Begun).is_ok();
        let mut reader = response.body_mut().as_reader();
        let mut buffer = vec![0; 16 * 1024];
        while listened {
            let read = reader.read(&mut buffer)?;
            let Some(bytes) = buffer.get(..read).filter(|bytes| !bytes.is_empty()) else { break };
            listened = pieces.blocking_send(Piece::Bytes(bytes.to_vec())).is_ok();
        }
        Ok(Piece::End)
    }
}

/// TLS by the library that signs the ledger as well.
fn tls() -> ureq::tls::TlsConfig {
    let library = rustls::crypto::aws_lc_rs::default_provider();
    ureq::tls::TlsConfig::builder().unversioned_rustls_crypto_provider(std::sync::Arc::new(library)).build()
}

fn broken(error: &ureq::Error) -> Piece {
    match error {
        ureq::Error::Timeout(ureq::Timeout::PerRead | ureq::Timeout::PerWrite) => Piece::Silent,
        error => Piece::Broke(error.to_string()),
    }
}

impl Answer {
    /// The next piece; none after the last.
    pub(super) async fn next(&mut self) -> Option<Piece> {
        self.pieces.recv().await
    }
}

impl Drop for Answer {
    fn drop(&mut self) {
        if let Some(agent) = self.agent.take() {
            agent.shutdown();
        }
    }
}
