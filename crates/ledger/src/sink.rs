// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Where checkpoints go so that a log cannot be rolled back unseen.
//!
//! Nothing here has a network stack: whoever wants a webhook or a witness brings a [`Transport`].

use std::os::unix::net::UnixDatagram;
use std::path::PathBuf;

use tenterhook_files::{FileClass, read_text};

use crate::checkpoint::Checkpoint;
use crate::hash::Hash;
use crate::note::{Line, VerifierKey};
use crate::sign::replace;

/// No checkpoint in a file is longer.
const MAX_HELD_BYTES: u64 = 1 << 20;

/// A checkpoint on its way out.
pub struct Publication<'a> {
    /// The signed note.
    pub note: &'a str,
    /// What it says.
    pub checkpoint: &'a Checkpoint,
    /// The proof that this checkpoint extends an older one of so many leaves.
    pub consistency: &'a dyn Fn(u64) -> Result<Vec<Hash>, SinkError>,
}

/// Somewhere that checkpoints go.
pub trait Sink: Send {
    /// What it is called in messages.
    fn name(&self) -> String;

    /// Takes a checkpoint. A witness gives back its cosignatures.
    fn publish(&mut self, publication: &Publication<'_>) -> Result<Vec<Line>, SinkError>;
}

/// The checkpoint did not arrive.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SinkError {
    /// The sink has seen more leaves than there are now.
    #[error("it holds a checkpoint of {held} leaves, the log has {here}: the log was rolled back")]
    RolledBack {
        /// How many leaves the sink has seen.
        held: u64,
        /// How many there are.
        here: u64,
    },
    /// The sink has seen another log.
    #[error("it holds a checkpoint that this log does not extend")]
    Fork,
    /// It cannot be reached, or says no.
    #[error("{0}")]
    Failed(String),
}

/// The request did not arrive, or no answer came back.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct TransportError(pub String);

impl From<TransportError> for SinkError {
    fn from(error: TransportError) -> Self {
        Self::Failed(error.0)
    }
}

/// Carries bytes to a server: `POST`, and its answer.
pub trait Transport: Send {
    /// Sends a request; status and body come back.
    fn post(&self, url: &str, content_type: &str, body: &[u8]) -> Result<(u16, Vec<u8>), TransportError>;
}

/// A file elsewhere, best on another machine's disk. It never goes backwards.
#[derive(Debug)]
pub struct FileSink(pub PathBuf);

/// The system's journal, through its socket.
#[derive(Debug)]
pub struct JournalSink(pub PathBuf);

/// A server that is told of each checkpoint.
pub struct WebhookSink<T> {
    /// Where.
    pub url: String,
    /// How.
    pub transport: T,
}

/// A witness, as <https://c2sp.org/tlog-witness> has it.
pub struct WitnessSink<T> {
    /// The submission prefix.
    pub url: String,
    /// The witness's key, for cosignatures.
    pub key: VerifierKey,
    /// How.
    pub transport: T,
    /// How many leaves the witness has seen.
    pub seen: u64,
}

fn failed(error: impl std::fmt::Display) -> SinkError {
    SinkError::Failed(error.to_string())
}

// === impl FileSink ===

impl Sink for FileSink {
    fn name(&self) -> String {
        format!("file `{}`", self.0.display())
    }

    fn publish(&mut self, publication: &Publication<'_>) -> Result<Vec<Line>, SinkError> {
        let new = publication.checkpoint;
        match read_text(&self.0, FileClass::Untrusted, MAX_HELD_BYTES) {
            Ok(Some(held)) => {
                let (held, _) = Checkpoint::parse(&held).map_err(failed)?;
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
            Err(error) => return Err(failed(error)),
        }
        replace(&self.0, publication.note.as_bytes(), 0o644).map_err(failed)?;
        Ok(Vec::new())
    }
}

// === impl JournalSink ===

impl JournalSink {
    /// Where the journal listens.
    pub const SOCKET: &str = "/run/systemd/journal/socket";
}

impl Sink for JournalSink {
    fn name(&self) -> String {
        "journal".into()
    }

    fn publish(&mut self, publication: &Publication<'_>) -> Result<Vec<Line>, SinkError> {
        let Checkpoint { origin, size, root } = publication.checkpoint;
        let mut datagram = format!(
            "MESSAGE=ledger checkpoint: {size} leaves, root {root}\nPRIORITY=5\nSYSLOG_IDENTIFIER=tenterhook\nTENTERHOOK_ORIGIN={origin}\nTENTERHOOK_SIZE={size}\nTENTERHOOK_CHECKPOINT\n"
        )
        .into_bytes();
        // A value of more than one line comes with its length.
        datagram.extend(u64::try_from(publication.note.len()).unwrap_or(0).to_le_bytes());
        datagram.extend(publication.note.as_bytes());
        datagram.push(b'\n');
        let socket = UnixDatagram::unbound().map_err(failed)?;
        socket.send_to(&datagram, &self.0).map_err(failed)?;
        Ok(Vec::new())
    }
}

// === impl WebhookSink ===

impl<T: Transport> Sink for WebhookSink<T> {
    fn name(&self) -> String {
        format!("webhook `{}`", self.url)
    }

    fn publish(&mut self, publication: &Publication<'_>) -> Result<Vec<Line>, SinkError> {
        let answer = self.transport.post(&self.url, "text/plain; charset=utf-8", publication.note.as_bytes());
        match answer? {
            (200..=299, _) => Ok(Vec::new()),
            (status, _) => Err(failed(format_args!("it answered {status}"))),
        }
    }
}

// === impl WitnessSink ===

/// The body of an `add-checkpoint` request.
pub fn add_checkpoint(old: u64, proof: &[Hash], note: &str) -> Vec<u8> {
    let lines: Vec<String> =
        proof.iter().map(ToString::to_string).chain([String::new(), note.to_owned()]).collect();
    format!("old {old}\n{}", lines.join("\n")).into_bytes()
}

/// The cosignatures in a witness's answer that are by this key and over this text.
pub fn cosignatures(answer: &[u8], key: &VerifierKey, text: &str) -> Vec<Line> {
    let answer = String::from_utf8_lossy(answer);
    let lines = answer.lines().filter_map(|line| line.parse::<Line>().ok());
    lines
        .filter(|line| line.name == key.name() && line.key_id == key.key_id())
        .filter(|line| key.cosigned(text, &line.signature).is_some())
        .collect()
}

impl<T: Transport> Sink for WitnessSink<T> {
    fn name(&self) -> String {
        format!("witness `{}`", self.key.name())
    }

    fn publish(&mut self, publication: &Publication<'_>) -> Result<Vec<Line>, SinkError> {
        let here = publication.checkpoint.size;
        // What it has seen is asked for once; it says so itself when we are wrong.
        for _ in 0..2 {
            let proof = (publication.consistency)(self.seen)?;
            let body = add_checkpoint(self.seen, &proof, publication.note);
            let url = format!("{}/add-checkpoint", self.url.trim_end_matches('/'));
            let (status, answer) = self.transport.post(&url, "text/plain; charset=utf-8", &body)?;
            match status {
                200 => {
                    let lines = cosignatures(&answer, &self.key, &publication.checkpoint.text());
                    if lines.is_empty() {
                        return Err(failed("its answer has no cosignature by its key"));
                    }
                    self.seen = here;
                    return Ok(lines);
                }
                409 => {
                    let text = String::from_utf8_lossy(&answer);
                    self.seen =
                        text.trim().parse().map_err(|_| failed("it does not say what it has seen"))?;
                    if self.seen > here {
                        return Err(SinkError::RolledBack { held: self.seen, here });
                    }
                }
                422 => return Err(SinkError::Fork),
                status => return Err(failed(format_args!("it answered {status}"))),
            }
        }
        Err(failed("it does not agree with itself about what it has seen"))
    }
}
