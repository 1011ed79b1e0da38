// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Checkpoint sinks. A checkpoint stored outside the machine reveals a log that was rolled back.
//!
//! This crate has no network stack: webhooks and witnesses need a [`Transport`] from the caller.

use std::os::unix::net::UnixDatagram;
use std::path::PathBuf;

use tenterhook_files::{FileClass, read_text};

use crate::checkpoint::Checkpoint;
use crate::hash::Hash;
use crate::note::{SignatureLine, VerifierKey};
use crate::sign::replace_file;

/// Maximum length of a checkpoint file.
const MAX_CHECKPOINT_BYTES: u64 = 1 << 20;

/// A checkpoint that is being published.
pub struct Publication<'a> {
    /// The signed note.
    pub note: &'a str,
    /// The note's content.
    pub checkpoint: &'a Checkpoint,
    /// Creates the proof that this checkpoint extends an older one with this many leaves.
    pub consistency: &'a dyn Fn(u64) -> Result<Vec<Hash>, SinkError>,
}

/// A destination for checkpoints.
pub trait CheckpointSink: Send {
    /// Name of the sink in messages.
    fn name(&self) -> String;

    /// Publishes a checkpoint. Returns the cosignatures of a witness, if the sink is one.
    fn publish(&mut self, publication: &Publication<'_>) -> Result<Vec<SignatureLine>, SinkError>;
}

/// Error for a checkpoint that could not be published.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SinkError {
    /// The sink has a checkpoint with more leaves than the log.
    #[error("the sink has a checkpoint of {held} records, but the log has {here}: the log was rolled back")]
    RolledBack {
        /// Number of leaves in the sink's checkpoint.
        held: u64,
        /// Number of leaves in the log.
        here: u64,
    },
    /// The sink has a checkpoint that this log does not extend.
    #[error("the sink has a checkpoint that this log does not extend")]
    Fork,
    /// The sink is not reachable, or refused the checkpoint.
    #[error("{0}")]
    Failed(String),
}

/// Error for a request that was not sent or got no response.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct TransportError(pub String);

impl From<TransportError> for SinkError {
    fn from(error: TransportError) -> Self {
        Self::Failed(error.0)
    }
}

/// Sends HTTP requests.
pub trait Transport: Send {
    /// Sends a `POST` request. Returns the response's status and body.
    fn post(&self, url: &str, content_type: &str, body: &[u8]) -> Result<(u16, Vec<u8>), TransportError>;
}

/// A file, preferably on another machine. A smaller checkpoint never replaces a larger one.
#[derive(Debug)]
pub struct FileSink(pub PathBuf);

/// The systemd journal, through its socket.
#[derive(Debug)]
pub struct JournalSink(pub PathBuf);

/// A server that receives each checkpoint.
pub struct WebhookSink<T> {
    /// URL of the server.
    pub url: String,
    /// HTTP client for requests.
    pub transport: T,
}

/// A witness that speaks the <https://c2sp.org/tlog-witness> protocol.
pub struct WitnessSink<T> {
    /// Submission prefix of the witness.
    pub url: String,
    /// Key of the witness.
    pub key: VerifierKey,
    /// HTTP client for requests.
    pub transport: T,
    /// Number of leaves in the last checkpoint that the witness cosigned.
    pub seen: u64,
}

fn sink_failure(error: impl std::fmt::Display) -> SinkError {
    SinkError::Failed(error.to_string())
}

impl CheckpointSink for FileSink {
    fn name(&self) -> String {
        format!("file `{}`", self.0.display())
    }

    fn publish(&mut self, publication: &Publication<'_>) -> Result<Vec<SignatureLine>, SinkError> {
        let new = publication.checkpoint;
        match read_text(&self.0, FileClass::Untrusted, MAX_CHECKPOINT_BYTES) {
            Ok(Some(held)) => {
                let (held, _) = Checkpoint::parse(&held).map_err(sink_failure)?;
                if held.origin != new.origin {
                    return Err(SinkError::Fork);
                }
                if held.size > new.size {
                    return Err(SinkError::RolledBack { held: held.size, here: new.size });
                }
                let proof = (publication.consistency)(held.size)?;
                crate::proof::check_consistency((held.size, held.root), (new.size, new.root), &proof)
                    .map_err(|_| SinkError::Fork)?;
            }
            Ok(None) => {}
            Err(error) => return Err(sink_failure(error)),
        }
        replace_file(&self.0, publication.note.as_bytes(), 0o644).map_err(sink_failure)?;
        Ok(Vec::new())
    }
}

impl JournalSink {
    /// Default path of the journal socket.
    pub const SOCKET: &str = "/run/systemd/journal/socket";
}

impl CheckpointSink for JournalSink {
    fn name(&self) -> String {
        "journal".into()
    }

    fn publish(&mut self, publication: &Publication<'_>) -> Result<Vec<SignatureLine>, SinkError> {
        let Checkpoint { origin, size, root } = publication.checkpoint;
        let mut datagram = format!(
            "MESSAGE=ledger checkpoint: {size} records, root {root}\nPRIORITY=5\nSYSLOG_IDENTIFIER=tenterhook\nTENTERHOOK_ORIGIN={origin}\nTENTERHOOK_SIZE={size}\nTENTERHOOK_CHECKPOINT\n"
        )
        .into_bytes();
        // The journal requires a length for a value with several lines.
        datagram.extend(u64::try_from(publication.note.len()).unwrap_or(0).to_le_bytes());
        datagram.extend(publication.note.as_bytes());
        datagram.push(b'\n');
        let socket = UnixDatagram::unbound().map_err(sink_failure)?;
        socket.send_to(&datagram, &self.0).map_err(sink_failure)?;
        Ok(Vec::new())
    }
}

impl<T: Transport> CheckpointSink for WebhookSink<T> {
    fn name(&self) -> String {
        format!("webhook `{}`", self.url)
    }

    fn publish(&mut self, publication: &Publication<'_>) -> Result<Vec<SignatureLine>, SinkError> {
        let answer = self.transport.post(&self.url, "text/plain; charset=utf-8", publication.note.as_bytes());
        match answer? {
            (200..=299, _) => Ok(Vec::new()),
            (status, _) => Err(sink_failure(format_args!("the server responded with status {status}"))),
        }
    }
}

/// Returns the body of an `add-checkpoint` request.
pub fn add_checkpoint(old: u64, proof: &[Hash], note: &str) -> Vec<u8> {
    let lines: Vec<String> =
        proof.iter().map(ToString::to_string).chain([String::new(), note.to_owned()]).collect();
    format!("old {old}\n{}", lines.join("\n")).into_bytes()
}

/// Returns the cosignatures in a witness's response that are valid for this key and text.
pub fn cosignatures(answer: &[u8], key: &VerifierKey, text: &str) -> Vec<SignatureLine> {
    let answer = String::from_utf8_lossy(answer);
    let lines = answer.lines().filter_map(|line| line.parse::<SignatureLine>().ok());
    lines
        .filter(|line| line.name == key.name() && line.key_id == key.key_id())
        .filter(|line| key.cosignature_time(text, &line.signature).is_some())
        .collect()
}

impl<T: Transport> CheckpointSink for WitnessSink<T> {
    fn name(&self) -> String {
        format!("witness `{}`", self.key.name())
    }

    fn publish(&mut self, publication: &Publication<'_>) -> Result<Vec<SignatureLine>, SinkError> {
        let here = publication.checkpoint.size;
        // If the size is outdated, the witness responds with the current size; the loop then tries once more.
        for _ in 0..2 {
            let proof = (publication.consistency)(self.seen)?;
            let body = add_checkpoint(self.seen, &proof, publication.note);
            let url = format!("{}/add-checkpoint", self.url.trim_end_matches('/'));
            let (status, answer) = self.transport.post(&url, "text/plain; charset=utf-8", &body)?;
            match status {
                200 => {
                    let lines = cosignatures(&answer, &self.key, &publication.checkpoint.text());
                    if lines.is_empty() {
                        return Err(sink_failure(
                            "the response has no cosignature by the key of the witness",
                        ));
                    }
                    self.seen = here;
                    return Ok(lines);
                }
                409 => {
                    let text = String::from_utf8_lossy(&answer);
                    self.seen = text.trim().parse().map_err(|_| {
                        sink_failure("the response does not have the size of the last checkpoint")
                    })?;
                    if self.seen > here {
                        return Err(SinkError::RolledBack { held: self.seen, here });
                    }
                }
                422 => return Err(SinkError::Fork),
                status => {
                    return Err(sink_failure(format_args!("the server responded with status {status}")));
                }
            }
        }
        Err(sink_failure("the witness responded with different sizes"))
    }
}
