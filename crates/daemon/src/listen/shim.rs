// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The hook protocol (docs/spec/hook-socket.md): one connection, one question, one answer.

use std::future::Future;
use std::io::{Read, Write};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use tenterhook_event::EventId;
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
/// How often a thread reads; whoever sends in small pieces is left to the runtime.
const READS: usize = 64;
/// An answer up to this length, in bytes, is taken by the kernel whether or not anybody reads.
const SHORT: usize = 64 * 1024;

/// An answer on its way, and the event it is about.
struct Work {
    id: Option<EventId>,
    daemon: Arc<Daemon>,
    answer: Pin<Box<dyn Future<Output = Vec<u8>> + Send>>,
}

/// Answers on this thread, as far as that needs no waiting. What is left of a question that is still on its
/// way comes back; everything else that takes its time goes on in the runtime.
pub(super) fn answer_now(
    mut stream: std::os::unix::net::UnixStream,
    mut bytes: Vec<u8>,
    daemon: &Arc<Daemon>,
    peer: Peer,
) -> Option<(std::os::unix::net::UnixStream, Vec<u8>)> {
    let mut reads = 0;
    let mut work = loop {
        match Question::read(&mut bytes) {
            Question::Unfinished { .. } if reads == READS => return Some((stream, bytes)),
            Question::Unfinished { missing } => {
                reads += 1;
                let before = bytes.len();
                bytes.resize(before + missing.clamp(1, SHORT), 0);
                let read = stream.read(bytes.get_mut(before..).unwrap_or_default());
                bytes.truncate(before + *read.as_ref().unwrap_or(&0));
                match read {
                    Ok(0) => return None,
                    Ok(_) => {}
                    Err(_) => return Some((stream, bytes)),
                }
            }
            question => break Work::on(question, daemon, peer),
        }
    };
    match work.answer.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
        // Whoever asked may have gone; the leaf says what was decided.
        Poll::Ready(reply) if reply.len() <= SHORT => drop(stream.write_all(&reply)),
        Poll::Ready(reply) => {
            tokio::spawn(async move {
                if let Some(mut stream) = in_runtime(stream) {
                    let _ = stream.write_all(&reply).await;
                }
            });
        }
        // Asked once more there, with somebody to wake.
        Poll::Pending => {
            tokio::spawn(async move {
                if let Some(stream) = in_runtime(stream) {
                    finish(stream, work).await;
                }
            });
        }
    }
    None
}

fn in_runtime(stream: std::os::unix::net::UnixStream) -> Option<UnixStream> {
    stream.set_nonblocking(true).ok()?;
    UnixStream::from_std(stream).ok()
}

/// Reads one question and answers it. `bytes` is what was read already.
pub(super) async fn answer(mut stream: UnixStream, bytes: Vec<u8>, daemon: &Arc<Daemon>, peer: Peer) {
    // Nobody there any more, or somebody who sends and never ends: there is nothing to say.
    if let Ok(Some(question)) = timeout(PATIENCE, read(&mut stream, bytes)).await {
        finish(stream, Work::on(question, daemon, peer)).await;
    }
}

async fn read(stream: &mut UnixStream, mut bytes: Vec<u8>) -> Option<Question> {
    loop {
        match Question::read(&mut bytes) {
            Question::Unfinished { missing } => {
                bytes.reserve(missing.min(SHORT));
                let read = stream.read_buf(&mut bytes).await.ok()?;
                if read == 0 {
                    return None;
                }
            }
            question => return Some(question),
        }
    }
}

/// Waits for the answer, and tells whoever waits for it that we are alive.
async fn finish(mut stream: UnixStream, work: Work) {
    let Work { id, daemon, mut answer } = work;
    let mut signs = interval_at(Instant::now() + FIRST_SIGN, SIGNS);
    let reply = loop {
        tokio::select! {
            biased;
            reply = &mut answer => break reply,
            _ = signs.tick() => {
                if stream.write_all(b"TH1 wait\n").await.is_err() {
                    // Whoever asked judges by itself by now. Our decision still becomes a leaf, and
                    // theirs will be linked to it.
                    if let Some(id) = id {
                        daemon.approvals.abandon(id);
                    }
                    answer.await;
                    return;
                }
            }
        }
    };
    if stream.write_all(&reply).await.is_ok() {
        let _ = stream.shutdown().await;
    }
}

/// What somebody asks.
enum Question {
    Status,
    Hook(Hook),
    /// So many bytes are still on their way, at least.
    Unfinished {
        missing: usize,
    },
    Malformed(&'static str),
}

struct Hook {
    harness: String,
    event: String,
    id: String,
    project: Option<String>,
    parent: u32,
    within: Duration,
    bytes: Vec<u8>,
    /// Where the payload begins.
    header: usize,
}

impl Question {
    /// Reads what is there. The bytes of a whole question go into it.
    fn read(bytes: &mut Vec<u8>) -> Self {
        let (request, header) = match Asked::read(bytes) {
            Err(wire::Malformed(why)) => return Self::Malformed(why),
            Ok(Some((Asked::Status, _))) => return Self::Status,
            Ok(Some((Asked::Hook(request), header))) => (request, header),
            Ok(None) if bytes.len() > MAX_HEADER => return Self::Malformed("the header is too long"),
            Ok(None) => return Self::Unfinished { missing: MAX_HEADER },
        };
        let whole = header + request.payload_len;
        if let Some(missing) = whole.checked_sub(bytes.len()).filter(|missing| *missing > 0) {
            return Self::Unfinished { missing };
        }
        let text = |bytes: &[u8]| std::str::from_utf8(bytes).ok().map(ToOwned::to_owned);
        let mut hook = Hook {
            harness: request.harness.to_owned(),
            event: request.event.to_owned(),
            id: request.id.to_owned(),
            project: request.project.and_then(text),
            parent: request.parent,
            within: Duration::from_millis(request.within_ms),
            header,
            bytes: Vec::new(),
        };
        bytes.truncate(whole);
        hook.bytes = std::mem::take(bytes);
        Self::Hook(hook)
    }
}

impl Work {
    fn on(question: Question, daemon: &Arc<Daemon>, peer: Peer) -> Self {
        let ready = |reply: Vec<u8>| {
            let answer = Box::pin(std::future::ready(reply));
            Self { id: None, daemon: Arc::clone(daemon), answer }
        };
        match question {
            Question::Hook(hook) => {
                let Ok(id) = hook.id.parse() else { return ready(fallback("the event id is no event id")) };
                let answer = Box::pin(decide(Arc::clone(daemon), hook, id, peer));
                Self { id: Some(id), daemon: Arc::clone(daemon), answer }
            }
            Question::Status => ready(format!("TH1 status {}\n", daemon.status()).into_bytes()),
            Question::Malformed(why) => ready(fallback(why)),
            Question::Unfinished { .. } => ready(fallback("the question is cut short")),
        }
    }
}

async fn decide(daemon: Arc<Daemon>, hook: Hook, id: EventId, peer: Peer) -> Vec<u8> {
    if daemon.is_draining() {
        return fallback("the daemon is ending");
    }
    let Ok(_room) = daemon.room.try_acquire() else { return fallback("the daemon has too much to do") };
    let Some(harness) = tenterhook_harness::find(&hook.harness) else {
        return fallback("the daemon does not know this harness");
    };
    daemon.calls(peer, harness.id, hook.parent);
    let asked = hook::Asked {
        harness,
        event: &hook.event,
        id,
        project: hook.project.clone(),
        user: Some(daemon.account(peer.uid().unwrap_or(daemon.uid))),
        within: hook.within,
        payload: hook.bytes.get(hook.header..).unwrap_or_default(),
        caller: daemon.other_account(peer),
    };
    encode(&hook::answer(&daemon, asked).await)
}

fn encode(reply: &Native) -> Vec<u8> {
    let Native { stdout, stderr, exit, .. } = reply;
    format!("TH1 reply {exit} {} {}\n{stdout}{stderr}", stdout.len(), stderr.len()).into_bytes()
}

fn fallback(why: &str) -> Vec<u8> {
    format!("TH1 fallback {why}\n").into_bytes()
}
