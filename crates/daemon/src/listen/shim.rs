// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Serves the hook protocol (docs/spec/hook-socket.md): one question and one answer per connection.

use std::future::Future;
use std::io::{Read, Write};
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt as _;
use tenterhook_event::EventId;
use tenterhook_harness::{CallMeta, HookReply as Native};
use tenterhook_home::call_meta;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::UnixStream;
use tokio::time::{Instant, Interval, interval_at, timeout};

use crate::callbacks::Callbacks;
use crate::daemon::Daemon;
use crate::hook;
use crate::listen::Peer;
use crate::listen::question::{HookQuestion, Question};
use crate::shares::Share;
use crate::undelivered::{self, UndeliveredAnswer};

/// Maximum time for a question to arrive, and for its answer to be read.
const TRANSFER_TIMEOUT: Duration = Duration::from_secs(10);
/// Delay before a waiting caller receives its first `wait` message, and interval between the following ones.
const FIRST_WAIT_DELAY: Duration = Duration::from_millis(250);
const WAIT_INTERVAL: Duration = Duration::from_secs(1);
/// Maximum number of reads on a hook thread; the runtime reads from callers that send smaller pieces.
const MAX_BLOCKING_READS: usize = 64;
/// Answers up to this size are buffered by the kernel even if the caller does not read them.
const MAX_BUFFERED_BYTES: usize = 64 * 1024;

/// Message for a large question that is not read.
const NO_MEMORY: &str = "the calls of this account take too much memory";

/// An answer in progress, and the call it belongs to.
struct PendingAnswer {
    call: Option<AskedCall>,
    daemon: Arc<Daemon>,
    answer: Pin<Box<dyn Future<Output = Vec<u8>> + Send>>,
    /// Memory of a large question, counted against its account.
    _memory: Option<Share<u32>>,
}

/// A hook program's call, kept in case its answer does not arrive.
struct AskedCall {
    id: EventId,
    hook: Arc<HookQuestion>,
    peer: Peer,
}

/// Answers a question on this thread if the call does not have to wait for anything. A call that has to wait continues
/// in the runtime. If the question is incomplete, returns the connection and the bytes read so far.
pub(super) fn answer_now(
    mut stream: std::os::unix::net::UnixStream,
    mut bytes: Vec<u8>,
    daemon: &Arc<Daemon>,
    peer: Peer,
) -> Option<(std::os::unix::net::UnixStream, Vec<u8>)> {
    let (mut reads, mut memory) = (0, None);
    let mut pending = loop {
        let question = Question::read(&mut bytes);
        if !has_memory(&mut memory, &question, daemon, peer) {
            let _ = stream.write_all(&fallback(NO_MEMORY));
            return None;
        }
        match question {
            Question::Unfinished { .. } if reads == MAX_BLOCKING_READS => return Some((stream, bytes)),
            Question::Unfinished { missing, .. } => {
                reads += 1;
                let before = bytes.len();
                bytes.resize(before + missing.clamp(1, MAX_BUFFERED_BYTES), 0);
                let read = stream.read(bytes.get_mut(before..).unwrap_or_default());
                bytes.truncate(before + *read.as_ref().unwrap_or(&0));
                match read {
                    Ok(0) => return None,
                    Ok(_) => {}
                    Err(_) => return Some((stream, bytes)),
                }
            }
            question => break PendingAnswer::on(question, daemon, peer, memory),
        }
    };
    // A call that waits for nothing is finished here; any other call continues in the runtime.
    match (&mut pending.answer).now_or_never() {
        Some(reply) if reply.len() <= MAX_BUFFERED_BYTES => {
            if stream.write_all(&reply).is_err() {
                tokio::spawn(async move { pending.report_undelivered().await });
            }
        }
        Some(reply) => {
            tokio::spawn(async move {
                if let Some(stream) = in_runtime(stream)
                    && !deliver(stream, &reply).await
                {
                    pending.report_undelivered().await;
                }
            });
        }
        None => {
            tokio::spawn(async move {
                if let Some(stream) = in_runtime(stream) {
                    finish(stream, pending).await;
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

/// Reads one question and answers it. `bytes` contains what was already read.
pub(super) async fn answer(mut stream: UnixStream, bytes: Vec<u8>, daemon: &Arc<Daemon>, peer: Peer) {
    // A caller that disconnects or never finishes its question gets no answer.
    let mut memory = None;
    let reading = read(&mut stream, bytes, &mut memory, daemon, peer);
    if let Ok(Some(question)) = timeout(TRANSFER_TIMEOUT, reading).await {
        finish(stream, PendingAnswer::on(question, daemon, peer, memory)).await;
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
                bytes.reserve(missing.min(MAX_BUFFERED_BYTES));
                let read = stream.read_buf(&mut bytes).await.ok()?;
                if read == 0 {
                    return None;
                }
            }
            question => return Some(question),
        }
    }
}

/// Waits for the answer, and sends `wait` messages to the caller meanwhile.
async fn finish(mut stream: UnixStream, mut pending: PendingAnswer) {
    let mut waits = interval_at(Instant::now() + FIRST_WAIT_DELAY, WAIT_INTERVAL);
    let mut is_watched = true;
    let reply = loop {
        tokio::select! {
            biased;
            reply = &mut pending.answer => break reply,
            () = input_ended(&stream), if is_watched => is_watched = false,
            _ = waits.tick() => {}
        }
        // A caller may close its writing side and still read the answer.
        if stream.write_all(b"TH1 wait\n").await.is_err() {
            // The caller was killed, or is now evaluating the call itself. This decision is recorded anyway, and a
            // decision made by the caller will be linked to it.
            let noted = pending.note_undelivered();
            pending.finish_without_caller(&mut waits).await;
            pending.record_undelivered(noted).await;
            return;
        }
    };
    if !deliver(stream, &reply).await {
        pending.report_undelivered().await;
    }
}

/// Returns once the caller has closed its side of the connection.
async fn input_ended(stream: &UnixStream) {
    loop {
        if stream.readable().await.is_err() {
            return;
        }
        match stream.try_read(&mut [0]) {
            Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => {}
            Ok(0) | Err(_) => return,
            // The protocol has no message after the question, so further bytes are ignored.
            Ok(_) => std::future::pending().await,
        }
    }
}

/// Sends the answer. Returns whether the caller read it: if the caller closes the connection with unread
/// bytes, the kernel reports an error here.
async fn deliver(mut stream: UnixStream, reply: &[u8]) -> bool {
    if !matches!(timeout(TRANSFER_TIMEOUT, stream.write_all(reply)).await, Ok(Ok(()))) {
        return false;
    }
    let _ = stream.shutdown().await;
    !matches!(timeout(TRANSFER_TIMEOUT, stream.read(&mut [0])).await, Ok(Err(_)))
}

/// Reserves memory for a question that is larger than the size allowed without a reservation. Returns whether enough
/// was available.
fn has_memory(memory: &mut Option<Share<u32>>, question: &Question, daemon: &Daemon, peer: Peer) -> bool {
    let length = match question {
        Question::Unfinished { announced, .. } => *announced,
        Question::Hook(hook) => hook.bytes.len(),
        Question::Status { .. } | Question::Malformed(_) => 0,
    };
    if length > MAX_BUFFERED_BYTES && memory.is_none() {
        *memory = daemon.reserve_bytes(peer, length);
        return memory.is_some();
    }
    true
}

impl PendingAnswer {
    fn on(question: Question, daemon: &Arc<Daemon>, peer: Peer, memory: Option<Share<u32>>) -> Self {
        let ready = |reply: Vec<u8>| {
            let answer = Box::pin(std::future::ready(reply));
            Self { call: None, daemon: Arc::clone(daemon), answer, _memory: None }
        };
        match question {
            Question::Hook(hook) => {
                let Ok(id) = hook.id.parse() else {
                    return ready(with_version(hook.revision, fallback("invalid event id")));
                };
                let hook = Arc::new(hook);
                let answer = Box::pin(decide(Arc::clone(daemon), Arc::clone(&hook), id, peer));
                let call = Some(AskedCall { id, hook, peer });
                Self { call, daemon: Arc::clone(daemon), answer, _memory: memory }
            }
            Question::Status { revision } => ready(with_version(
                revision,
                format!("TH1 status {}\n", daemon.status_line(peer)).into_bytes(),
            )),
            Question::Malformed(why) => ready(fallback(why)),
            Question::Unfinished { .. } => ready(fallback("the question is cut short")),
        }
    }

    /// Finishes and records the call. Its approval is abandoned repeatedly, because the approval may be requested
    /// only after hooks have answered.
    async fn finish_without_caller(&mut self, waits: &mut Interval) {
        loop {
            if let Some(call) = &self.call {
                self.daemon.approvals.abandon(call.id);
            }
            tokio::select! {
                _ = &mut self.answer => return,
                _ = waits.tick() => {}
            }
        }
    }

    /// Notes that the answer does not arrive. This happens before the harness can report a result of the call.
    fn note_undelivered(&self) -> Option<UndeliveredAnswer> {
        let AskedCall { id, hook, .. } = self.call.as_ref()?;
        let harness = tenterhook_harness::find_harness(&hook.harness)?;
        undelivered::note(
            &self.daemon,
            harness,
            &CallMeta::new(*id, call_meta::now(), &hook.event),
            hook.payload(),
        )
    }

    async fn record_undelivered(self, noted: Option<UndeliveredAnswer>) {
        let Self { call, daemon, .. } = self;
        if let (Some(answer), Some(call)) = (noted, call) {
            undelivered::record(&daemon, call.peer, &answer).await;
        }
    }

    async fn report_undelivered(self) {
        let noted = self.note_undelivered();
        self.record_undelivered(noted).await;
    }
}

async fn decide(daemon: Arc<Daemon>, hook: Arc<HookQuestion>, id: EventId, peer: Peer) -> Vec<u8> {
    daemon.hook_versions.count(&hook.version);
    let revision = hook.revision;
    with_version(revision, decide_call(&daemon, &hook, id, peer).await)
}

async fn decide_call(daemon: &Arc<Daemon>, hook: &HookQuestion, id: EventId, peer: Peer) -> Vec<u8> {
    if daemon.is_draining() {
        return fallback("the daemon is ending");
    }
    let Some(_call) = daemon.begin_call(peer) else { return fallback("too many calls of this account") };
    let Some(harness) = tenterhook_harness::find_harness(&hook.harness) else {
        return fallback("the daemon does not know this harness");
    };
    daemon.register_agent(peer, harness.id, hook.parent);
    let incoming = hook::IncomingCall {
        harness,
        peer,
        event: &hook.event,
        id,
        project: hook.project.clone(),
        user: Some(daemon.account_name(peer.uid().unwrap_or(daemon.uid))),
        within: hook.within,
        headless: hook.headless,
        hook_version: &hook.version,
        payload: hook.payload(),
        callbacks: Callbacks::default(),
    };
    encode(&hook::answer(daemon, incoming).await)
}

fn encode(reply: &Native) -> Vec<u8> {
    let Native { stdout, stderr, exit, .. } = reply;
    format!("TH1 reply {exit} {} {}\n{stdout}{stderr}", stdout.len(), stderr.len()).into_bytes()
}

/// Puts the daemon's version before the answer, if the caller understands that message.
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
