// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The hook protocol (docs/spec/hook-socket.md): one connection, one question, one answer.

use std::sync::Arc;
use std::time::Duration;

use tenterhook_harness::Reply as Native;
use tenterhook_shim::wire::{self, Asked, MAX_HEADER};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::UnixStream;
use tokio::time::{Instant, interval_at, timeout};

use crate::daemon::Daemon;
use crate::hook;
use crate::listen::Peer;

/// How long a question may take to arrive.
const PATIENCE: Duration = Duration::from_secs(10);
/// When whoever waits is told for the first time that we are alive, and how often from then on.
const FIRST_SIGN: Duration = Duration::from_millis(250);
const SIGNS: Duration = Duration::from_secs(1);

/// Reads one question and answers it. `bytes` is what was read already.
pub(super) async fn answer(mut stream: UnixStream, bytes: Vec<u8>, daemon: &Arc<Daemon>, peer: Peer) {
    let asked = timeout(PATIENCE, read(&mut stream, bytes)).await;
    let reply = match asked {
        // Nobody there any more, or somebody who sends and never ends: there is nothing to say.
        Err(_) | Ok(Err(Lost::Gone)) => return,
        Ok(Err(Lost::Malformed(why))) => fallback(why),
        Ok(Ok(Question::Status)) => format!("TH1 status {}\n", daemon.status()).into_bytes(),
        Ok(Ok(Question::Hook(question))) => match decide(&mut stream, daemon, &question, peer).await {
            Some(reply) => reply,
            None => return,
        },
    };
    // Whoever asked may have gone; the leaf says what was decided.
    if stream.write_all(&reply).await.is_ok() {
        let _ = stream.shutdown().await;
    }
}

enum Question {
    Status,
    Hook(Hook),
}

struct Hook {
    harness: String,
    event: String,
    id: String,
    project: Option<String>,
    within: Duration,
    bytes: Vec<u8>,
    /// Where the payload begins.
    header: usize,
}

enum Lost {
    Gone,
    Malformed(&'static str),
}

async fn read(stream: &mut UnixStream, mut bytes: Vec<u8>) -> Result<Question, Lost> {
    loop {
        match Asked::read(&bytes) {
            Err(wire::Malformed(why)) => return Err(Lost::Malformed(why)),
            Ok(Some((Asked::Status, _))) => return Ok(Question::Status),
            Ok(Some((Asked::Hook(request), header))) => {
                let text = |bytes: &[u8]| std::str::from_utf8(bytes).ok().map(ToOwned::to_owned);
                let mut hook = Hook {
                    harness: request.harness.to_owned(),
                    event: request.event.to_owned(),
                    id: request.id.to_owned(),
                    project: request.project.and_then(text),
                    within: Duration::from_millis(request.within_ms),
                    header,
                    bytes: Vec::new(),
                };
                let whole = header + request.payload_len;
                bytes.reserve_exact(whole.saturating_sub(bytes.len()));
                while bytes.len() < whole {
                    more(stream, &mut bytes).await?;
                }
                bytes.truncate(whole);
                hook.bytes = bytes;
                return Ok(Question::Hook(hook));
            }
            Ok(None) if bytes.len() > MAX_HEADER => return Err(Lost::Malformed("the header is too long")),
            Ok(None) => more(stream, &mut bytes).await?,
        }
    }
}

async fn more(stream: &mut UnixStream, bytes: &mut Vec<u8>) -> Result<(), Lost> {
    match stream.read_buf(bytes).await {
        Ok(read) if read > 0 => Ok(()),
        _ => Err(Lost::Gone),
    }
}

/// Decides, and tells whoever waits that we are alive. `None`: they have gone.
async fn decide(stream: &mut UnixStream, daemon: &Arc<Daemon>, hook: &Hook, peer: Peer) -> Option<Vec<u8>> {
    if daemon.is_draining() {
        return Some(fallback("the daemon is ending"));
    }
    let Ok(_room) = daemon.room.try_acquire() else { return Some(fallback("the daemon has too much to do")) };
    let Some(harness) = tenterhook_harness::find(&hook.harness) else {
        return Some(fallback("the daemon does not know this harness"));
    };
    daemon.calls(peer, harness.id);
    let Ok(id) = hook.id.parse() else { return Some(fallback("the event id is no event id")) };
    let asked = hook::Asked {
        harness,
        event: &hook.event,
        id,
        project: hook.project.clone(),
        user: Some(daemon.account(peer.uid().unwrap_or(daemon.uid))),
        within: hook.within,
        payload: hook.bytes.get(hook.header..).unwrap_or_default(),
    };
    let mut work = std::pin::pin!(hook::answer(daemon, asked));
    let mut signs = interval_at(Instant::now() + FIRST_SIGN, SIGNS);
    loop {
        tokio::select! {
            biased;
            reply = &mut work => return Some(encode(&reply)),
            _ = signs.tick() => {
                if stream.write_all(b"TH1 wait\n").await.is_err() {
                    // Whoever asked judges by itself by now. Our decision still becomes a leaf, and
                    // theirs will be linked to it.
                    daemon.approvals.abandon(id);
                    work.await;
                    return None;
                }
            }
        }
    }
}

fn encode(reply: &Native) -> Vec<u8> {
    let Native { stdout, stderr, exit, .. } = reply;
    format!("TH1 reply {exit} {} {}\n{stdout}{stderr}", stdout.len(), stderr.len()).into_bytes()
}

fn fallback(why: &str) -> Vec<u8> {
    format!("TH1 fallback {why}\n").into_bytes()
}
