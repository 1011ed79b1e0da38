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

use crate::callbacks::Callbacks;
use crate::daemon::Daemon;
use crate::hook;
use crate::listen::Peer;
use crate::shares::Share;

/// How long a question may take to arrive.
const PATIENCE: Duration = Duration::from_secs(10);
/// When whoever waits is told for the first time that we are alive, and how often from then on.
const FIRST_SIGN: Duration = Duration::from_millis(250);
const SIGNS: Duration = Duration::from_secs(1);
/// The longest that a call waits, whatever the asker says: our own hook waits 55 s.
const MAX_WITHIN: Duration = Duration::from_mins(1);
/// How often a thread reads; whoever sends in small pieces is left to the runtime.
const READS: usize = 64;
/// An answer up to this length, in bytes, is taken by the kernel whether or not anybody reads.
const SHORT: usize = 64 * 1024;

/// Why a large question is not read.
const NO_MEMORY: &str = "the calls of this account take too much memory";

/// An answer on its way, and the event it is about.
struct Work {
    id: Option<EventId>,
    daemon: Arc<Daemon>,
    answer: Pin<Box<dyn Future<Output = Vec<u8>> + Send>>,
    /// Memory of a large question, counted for its account.
    memory: Option<Share<u32>>,
}

/// Answers on this thread, as far as that needs no waiting. What is left of a question that is still on its
/// way comes back; everything else that takes its time goes on in the runtime.
pub(super) fn answer_now(
    mut stream: std::os::unix::net::UnixStream,
    mut bytes: Vec<u8>,
    daemon: &Arc<Daemon>,
    peer: Peer,
) -> Option<(std::os::unix::net::UnixStream, Vec<u8>)> {
    let (mut reads, mut memory) = (0, None);
    let mut work = loop {
        let question = Question::read(&mut bytes);
        if !has_memory(&mut memory, &question, daemon, peer) {
            let _ = stream.write_all(&fallback(NO_MEMORY));
            return None;
        }
        match question {
            Question::Unfinished { .. } if reads == READS => return Some((stream, bytes)),
            Question::Unfinished { missing, .. } => {
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
            question => break Work::on(question, daemon, peer, memory),
        }
    };
    match work.answer.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
        // Whoever asked may have gone; the leaf says what was decided.
        Poll::Ready(reply) if reply.len() <= SHORT => drop(stream.write_all(&reply)),
        Poll::Ready(reply) => {
            tokio::spawn(async move {
                if let Some(mut stream) = in_runtime(stream) {
                    let _ = timeout(PATIENCE, stream.write_all(&reply)).await;
                }
                drop(work.memory);
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
    let mut memory = None;
    let reading = read(&mut stream, bytes, &mut memory, daemon, peer);
    if let Ok(Some(question)) = timeout(PATIENCE, reading).await {
        finish(stream, Work::on(question, daemon, peer, memory)).await;
    }
}

async fn read(
    stream: &mut UnixStream,
    mut bytes: Vec<u8>,
    memory: &mut Option<Share<u32>>,
    daemon: &Daemon,
    peer: Peer,
) -> Option<Question> {
    loop {
        let question = Question::read(&mut bytes);
        if !has_memory(memory, &question, daemon, peer) {
            return Some(Question::Malformed(NO_MEMORY));
        }
        match question {
            Question::Unfinished { missing, .. } => {
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
    let Work { id, daemon, mut answer, memory: _memory } = work;
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
    if let Ok(Ok(())) = timeout(PATIENCE, stream.write_all(&reply)).await {
        let _ = stream.shutdown().await;
    }
}

/// Counts the memory of a question that is larger than what every connection may have. Says whether there was enough.
fn has_memory(memory: &mut Option<Share<u32>>, question: &Question, daemon: &Daemon, peer: Peer) -> bool {
    let length = match question {
        Question::Unfinished { announced, .. } => *announced,
        Question::Hook(hook) => hook.bytes.len(),
        Question::Status { .. } | Question::Malformed(_) => 0,
    };
    if length > SHORT && memory.is_none() {
        *memory = daemon.reserve_bytes(peer, length);
        return memory.is_some();
    }
    true
}

/// What somebody asks.
enum Question {
    Status {
        revision: u32,
    },
    Hook(Hook),
    /// So many bytes are still on their way, at least.
    Unfinished {
        missing: usize,
        /// How long the whole question will be, if that is known already.
        announced: usize,
    },
    Malformed(&'static str),
}

struct Hook {
    harness: String,
    event: String,
    id: String,
    /// Version of the hook program.
    version: String,
    /// Revision of TH1 that it speaks.
    revision: u32,
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
            Ok(Some((Asked::Status { revision }, _))) => return Self::Status { revision },
            Ok(Some((Asked::Hook(request), header))) => (request, header),
            Ok(None) if bytes.len() > MAX_HEADER => return Self::Malformed("the header is too long"),
            Ok(None) => return Self::Unfinished { missing: MAX_HEADER, announced: 0 },
        };
        let whole = header + request.payload_len;
        if let Some(missing) = whole.checked_sub(bytes.len()).filter(|missing| *missing > 0) {
            return Self::Unfinished { missing, announced: whole };
        }
        let text = |bytes: &[u8]| std::str::from_utf8(bytes).ok().map(ToOwned::to_owned);
        let mut hook = Hook {
            harness: request.harness.to_owned(),
            event: request.event.to_owned(),
            id: request.id.to_owned(),
            version: request.version.to_owned(),
            revision: request.revision,
            project: request.project.and_then(text),
            parent: request.parent,
            within: Duration::from_millis(request.within_ms).min(MAX_WITHIN),
            header,
            bytes: Vec::new(),
        };
        bytes.truncate(whole);
        hook.bytes = std::mem::take(bytes);
        Self::Hook(hook)
    }
}

impl Work {
    fn on(question: Question, daemon: &Arc<Daemon>, peer: Peer, memory: Option<Share<u32>>) -> Self {
        let ready = |reply: Vec<u8>| {
            let answer = Box::pin(std::future::ready(reply));
            Self { id: None, daemon: Arc::clone(daemon), answer, memory: None }
        };
        match question {
            Question::Hook(hook) => {
                let Ok(id) = hook.id.parse() else {
                    return ready(with_version(hook.revision, fallback("the event id is no event id")));
                };
                let answer = Box::pin(decide(Arc::clone(daemon), hook, id, peer));
                Self { id: Some(id), daemon: Arc::clone(daemon), answer, memory }
            }
            Question::Status { revision } => {
                ready(with_version(revision, format!("TH1 status {}\n", daemon.status()).into_bytes()))
            }
            Question::Malformed(why) => ready(fallback(why)),
            Question::Unfinished { .. } => ready(fallback("the question is cut short")),
        }
    }
}

async fn decide(daemon: Arc<Daemon>, hook: Hook, id: EventId, peer: Peer) -> Vec<u8> {
    daemon.hook_versions.count(&hook.version);
    let revision = hook.revision;
    with_version(revision, decide_call(&daemon, hook, id, peer).await)
}

async fn decide_call(daemon: &Arc<Daemon>, hook: Hook, id: EventId, peer: Peer) -> Vec<u8> {
    if daemon.is_draining() {
        return fallback("the daemon is ending");
    }
    let Some(_call) = daemon.begin_call(peer) else { return fallback("too many calls of this account") };
    let Some(harness) = tenterhook_harness::find(&hook.harness) else {
        return fallback("the daemon does not know this harness");
    };
    daemon.calls(peer, harness.id, hook.parent);
    let asked = hook::Asked {
        harness,
        peer,
        event: &hook.event,
        id,
        project: hook.project.clone(),
        user: Some(daemon.account(peer.uid().unwrap_or(daemon.uid))),
        within: hook.within,
        hook_version: &hook.version,
        payload: hook.bytes.get(hook.header..).unwrap_or_default(),
        callbacks: Callbacks::default(),
    };
    encode(&hook::answer(daemon, asked).await)
}

fn encode(reply: &Native) -> Vec<u8> {
    let Native { stdout, stderr, exit, .. } = reply;
    format!("TH1 reply {exit} {} {}\n{stdout}{stderr}", stdout.len(), stderr.len()).into_bytes()
}

/// The answer after the daemon's version, if the asker knows that message.
fn with_version(revision: u32, mut answer: Vec<u8>) -> Vec<u8> {
    const VERSION_LINE: &str = concat!("TH1 version ", env!("CARGO_PKG_VERSION"), "\n");
    if revision >= 2 {
        answer.splice(..0, VERSION_LINE.bytes());
    }
    answer
}

fn fallback(why: &str) -> Vec<u8> {
    format!("TH1 fallback {why}\n").into_bytes()
}
