// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The hook protocol (docs/spec/hook-socket.md): one connection, one question, one answer.

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

/// How long a question may take to arrive.
const PATIENCE: Duration = Duration::from_secs(10);
/// When whoever waits is told for the first time that we are alive, and how often from then on.
const FIRST_SIGN: Duration = Duration::from_millis(250);
const SIGNS: Duration = Duration::from_secs(1);
/// How often a thread reads; whoever sends in small pieces is left to the runtime.
const READS: usize = 64;
/// An answer up to this length, in bytes, is taken by the kernel whether or not anybody reads.
const SHORT: usize = 64 * 1024;

/// Why a large question is not read.
const NO_MEMORY: &str = "the calls of this account take too much memory";

/// An answer on its way, and the call it is about.
struct Work {
    call: Option<AskedCall>,
    daemon: Arc<Daemon>,
    answer: Pin<Box<dyn Future<Output = Vec<u8>> + Send>>,
    /// Memory of a large question, counted for its account.
    _memory: Option<Share<u32>>,
}

/// A call of a hook program, for the case that its answer does not arrive.
struct AskedCall {
    id: EventId,
    hook: Arc<HookQuestion>,
    peer: Peer,
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
    // A call that waits for nothing is finished here; the rest of any other call runs in the runtime.
    match (&mut work.answer).now_or_never() {
        Some(reply) if reply.len() <= SHORT => {
            if stream.write_all(&reply).is_err() {
                tokio::spawn(async move { work.report_undelivered().await });
            }
        }
        Some(reply) => {
            tokio::spawn(async move {
                if let Some(stream) = in_runtime(stream)
                    && !deliver(stream, &reply).await
                {
                    work.report_undelivered().await;
                }
            });
        }
        None => {
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
async fn finish(mut stream: UnixStream, mut work: Work) {
    let mut signs = interval_at(Instant::now() + FIRST_SIGN, SIGNS);
    let mut is_watched = true;
    let reply = loop {
        tokio::select! {
            biased;
            reply = &mut work.answer => break reply,
            () = input_ended(&stream), if is_watched => is_watched = false,
            _ = signs.tick() => {}
        }
        // A caller that closed only its own side still reads.
        if stream.write_all(b"TH1 wait\n").await.is_err() {
            // The caller was killed, or evaluates the call itself by now. Our decision becomes a record all the same,
            // and a decision of the caller will be linked to it.
            let noted = work.note_undelivered();
            work.finish_without_caller(&mut signs).await;
            work.record_undelivered(noted).await;
            return;
        }
    };
    if !deliver(stream, &reply).await {
        work.report_undelivered().await;
    }
}

/// Returns when the caller has closed its side of the connection.
async fn input_ended(stream: &UnixStream) {
    loop {
        if stream.readable().await.is_err() {
            return;
        }
        match stream.try_read(&mut [0]) {
            Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => {}
            Ok(0) | Err(_) => return,
            // A caller has nothing more to say: one that goes on is not listened to.
            Ok(_) => std::future::pending().await,
        }
    }
}

/// Sends the answer. Says whether the caller took it: one that closes the connection with bytes unread did not.
async fn deliver(mut stream: UnixStream, reply: &[u8]) -> bool {
    if !matches!(timeout(PATIENCE, stream.write_all(reply)).await, Ok(Ok(()))) {
        return false;
    }
    let _ = stream.shutdown().await;
    !matches!(timeout(PATIENCE, stream.read(&mut [0])).await, Ok(Err(_)))
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

impl Work {
    fn on(question: Question, daemon: &Arc<Daemon>, peer: Peer, memory: Option<Share<u32>>) -> Self {
        let ready = |reply: Vec<u8>| {
            let answer = Box::pin(std::future::ready(reply));
            Self { call: None, daemon: Arc::clone(daemon), answer, _memory: None }
        };
        match question {
            Question::Hook(hook) => {
                let Ok(id) = hook.id.parse() else {
                    return ready(with_version(hook.revision, fallback("the event id is no event id")));
                };
                let hook = Arc::new(hook);
                let answer = Box::pin(decide(Arc::clone(daemon), Arc::clone(&hook), id, peer));
                let call = Some(AskedCall { id, hook, peer });
                Self { call, daemon: Arc::clone(daemon), answer, _memory: memory }
            }
            Question::Status { revision } => {
                ready(with_version(revision, format!("TH1 status {}\n", daemon.status()).into_bytes()))
            }
            Question::Malformed(why) => ready(fallback(why)),
            Question::Unfinished { .. } => ready(fallback("the question is cut short")),
        }
    }

    /// Lets the call be decided and recorded. No person is kept waiting for it: an approval may be asked for only later,
    /// when hooks have answered.
    async fn finish_without_caller(&mut self, signs: &mut Interval) {
        loop {
            if let Some(call) = &self.call {
                self.daemon.approvals.abandon(call.id);
            }
            tokio::select! {
                _ = &mut self.answer => return,
                _ = signs.tick() => {}
            }
        }
    }

    /// Notes that the answer does not arrive, before anything else can happen to the call.
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
    let asked = hook::Asked {
        harness,
        peer,
        event: &hook.event,
        id,
        project: hook.project.clone(),
        user: Some(daemon.account_name(peer.uid().unwrap_or(daemon.uid))),
        within: hook.within,
        hook_version: &hook.version,
        payload: hook.payload(),
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
