// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Whoever connects to the socket. The kernel says who is at the other end; a stranger's connection is
//! closed unread.
//!
//! A hook call is felt, so it wakes one thread and no other: a few threads wait for connections, and the
//! one that takes a call reads, decides, records and answers it. Whatever would make that thread wait (a
//! slow sender, a hook, a person, another commit) goes on in the runtime, and so does all HTTP.

use std::io::Read;
use std::os::unix::net::{UnixListener, UnixStream};
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use axum::Router;
use tenterhook_shim::wire::MAGIC;
use tokio::io::AsyncReadExt;
use tokio::runtime::Handle;
use tokio::sync::watch;

use super::body::count_bodies;
use super::http::{self, Replayed};
use super::identity::credentials;
use super::stalled::{BusySince, BusyTimes, CrowdedSignal, MAX_STALLED_THREADS, STALL_CHECK_INTERVAL};
use super::turns::Turns;
use super::{Peer, identity, shim};
use crate::daemon::Daemon;
use crate::grpc;

/// How many threads wait for connections at most; beyond that they leave.
const SPARE: usize = 4;
/// How many there are at most. Connections wait in the kernel meanwhile.
const MOST: usize = 16;
/// How long a thread waits for bytes that are on their way; then the runtime does.
const MOMENT: Duration = Duration::from_millis(2);
/// How long the first bytes may take to come.
const PATIENCE: Duration = Duration::from_secs(10);

/// The threads at the socket.
pub(crate) struct Threads(Arc<Shared>);

struct Shared {
    listener: UnixListener,
    daemon: Arc<Daemon>,
    router: Router,
    end: watch::Receiver<bool>,
    runtime: Handle,
    /// How many threads there are, and how many of them wait for a connection.
    threads: AtomicUsize,
    waiting: AtomicUsize,
    ending: AtomicBool,
    busy: BusyTimes,
    /// Told when no thread is left to take connections.
    crowded: CrowdedSignal,
    /// How accounts share the threads; a home of one account has no use for that.
    turns: Option<Turns>,
}

impl Threads {
    /// Begins to answer.
    pub(crate) fn start(
        listener: UnixListener,
        daemon: Arc<Daemon>,
        router: Router,
        end: watch::Receiver<bool>,
    ) -> std::io::Result<Self> {
        let turns = daemon.home.is_machine_wide().then(|| Turns::new(MOST));
        let shared = Arc::new(Shared {
            listener,
            daemon,
            router,
            end,
            runtime: Handle::current(),
            threads: AtomicUsize::new(0),
            waiting: AtomicUsize::new(0),
            ending: AtomicBool::new(false),
            busy: BusyTimes::new(),
            crowded: CrowdedSignal::default(),
            turns,
        });
        for _ in 0..SPARE {
            another(&shared)?;
        }
        let watched = Arc::clone(&shared);
        std::thread::Builder::new().name("stalls".into()).spawn(move || replace_stalled(&watched))?;
        Ok(Self(shared))
    }

    /// Nobody is let in any more. Returns when every thread has finished what it had, or after `patience`.
    pub(crate) async fn end(self, patience: Duration) {
        let shared = &self.0;
        shared.ending.store(true, Ordering::Release);
        shared.crowded.signal();
        // Wakes whoever waits for a connection; where it does not, a connection does.
        let _ = rustix::net::shutdown(&shared.listener, rustix::net::Shutdown::Both);
        let began = tokio::time::Instant::now();
        while shared.threads.load(Ordering::Acquire) > 0 && began.elapsed() < patience {
            if let Ok(place) = shared.listener.local_addr() {
                let _ = UnixStream::connect_addr(&place);
            }
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    }
}

/// One more thread waits for connections.
fn another(shared: &Arc<Shared>) -> std::io::Result<()> {
    shared.threads.fetch_add(1, Ordering::AcqRel);
    shared.waiting.fetch_add(1, Ordering::AcqRel);
    let own = Arc::clone(shared);
    let started = std::thread::Builder::new().name("hooks".into()).spawn(move || wait(&own));
    if started.is_err() {
        shared.waiting.fetch_sub(1, Ordering::AcqRel);
        shared.threads.fetch_sub(1, Ordering::AcqRel);
    }
    started.map(drop)
}

/// Starts a thread in the place of the last one that waited for connections, or has the threads looked at.
fn add_or_signal(shared: &Arc<Shared>) {
    if shared.threads.load(Ordering::Acquire) >= MOST {
        shared.crowded.signal();
    } else if another(shared).is_err() {
        tracing::warn!("no further thread can be started for hooks");
        shared.crowded.signal();
    }
}

/// Starts threads in the place of stalled ones when none is left to take connections.
fn replace_stalled(shared: &Arc<Shared>) {
    while !shared.ending.load(Ordering::Acquire) {
        if shared.waiting.load(Ordering::Acquire) > 0 {
            shared.crowded.wait();
        }
        std::thread::sleep(STALL_CHECK_INTERVAL);
        let stalled = shared.busy.stalled().min(MAX_STALLED_THREADS);
        let is_ending = shared.ending.load(Ordering::Acquire);
        if stalled == 0 || is_ending || shared.waiting.load(Ordering::Acquire) > 0 {
            continue;
        }
        let missing = (MOST + stalled).saturating_sub(shared.threads.load(Ordering::Acquire));
        if missing > 0 {
            tracing::warn!(stalled, "calls wait for a disk or a lock; further threads answer others");
        }
        if (0..missing).any(|_| another(shared).is_err()) {
            tracing::warn!("no further thread can be started for hooks");
        }
    }
}

/// The life of a thread: it waits in `waiting`, and is counted in `threads` to its end.
fn wait(shared: &Arc<Shared>) {
    let _inside = shared.runtime.enter();
    let since = shared.busy.add();
    loop {
        let accepted = shared.listener.accept();
        let last = shared.waiting.fetch_sub(1, Ordering::AcqRel) == 1;
        if shared.ending.load(Ordering::Acquire) {
            break;
        }
        match accepted {
            Ok((stream, _)) => {
                // Without another thread those that are there come back soon enough.
                if last {
                    add_or_signal(shared);
                }
                take_in_turn(shared, &since, stream);
            }
            Err(error) => {
                tracing::warn!(%error, "a connection could not be taken");
                // Out of descriptors: somebody has to end first.
                std::thread::sleep(Duration::from_millis(20));
            }
        }
        if shared.waiting.fetch_add(1, Ordering::AcqRel) >= SPARE {
            shared.waiting.fetch_sub(1, Ordering::AcqRel);
            break;
        }
    }
    shared.threads.fetch_sub(1, Ordering::AcqRel);
}

/// Answers a connection when its account has a thread for it, and then those of the account that waited.
fn take_in_turn(shared: &Shared, since: &BusySince, stream: UnixStream) {
    let peer = credentials(&stream);
    let Some((turns, known)) = shared.turns.as_ref().zip(peer) else {
        return take_or_drop(shared, since, stream, peer);
    };
    let uid = shared.daemon.account_of(known);
    let first = turns.begin(uid, stream, || shared.daemon.begin_connection(known));
    let mut next = first.map(|stream| (stream, peer));
    while let Some((stream, peer)) = next {
        take_or_drop(shared, since, stream, peer);
        next = turns.finish(uid).map(|stream| {
            let peer = credentials(&stream);
            (stream, peer)
        });
    }
}

/// Answers a connection. If that panics, the connection ends, and its hook evaluates the call itself.
fn take_or_drop(shared: &Shared, since: &BusySince, stream: UnixStream, peer: Option<Peer>) {
    shared.busy.begin(since);
    let taken = std::panic::catch_unwind(AssertUnwindSafe(|| take(shared, stream, peer)));
    since.end();
    if taken.is_err() {
        tracing::error!("a call could not be answered; that is a bug");
    }
}

/// Answers a connection, as far as that can be done without waiting.
fn take(shared: &Shared, mut stream: UnixStream, peer: Option<Peer>) {
    let mut bytes = Vec::new();
    let daemon = &shared.daemon;
    let now = peer.filter(|peer| admitted(daemon, *peer)).and_then(|peer| {
        stream.set_read_timeout(Some(MOMENT)).ok()?;
        // What a shim sends fits one read nearly always. On the stack: a block of this size on the heap makes the
        // allocator merge what it has freed, which takes longer than the copy.
        let mut first = [0; 8 * 1024];
        let read = stream.read(&mut first).ok()?;
        bytes = first.get(..read)?.to_vec();
        Some(peer)
    });
    let (stream, bytes) = match now {
        Some(peer) if bytes.starts_with(MAGIC) => match shim::answer_now(stream, bytes, daemon, peer) {
            Some(unfinished) => unfinished,
            None => return,
        },
        _ => (stream, bytes),
    };
    let (daemon, router, end) = (Arc::clone(daemon), shared.router.clone(), shared.end.clone());
    shared.runtime.spawn(async move {
        let there = stream.set_nonblocking(true).and_then(|()| tokio::net::UnixStream::from_std(stream));
        if let Ok(stream) = there {
            connection(stream, bytes, daemon, router, end).await;
        }
    });
}

/// Whether somebody is let in at all.
fn admitted(daemon: &Daemon, peer: Peer) -> bool {
    daemon.home.is_machine_wide() || peer.uid().is_some_and(|uid| daemon.is_own(uid))
}

async fn connection(
    mut stream: tokio::net::UnixStream,
    mut bytes: Vec<u8>,
    daemon: Arc<Daemon>,
    router: Router,
    end: watch::Receiver<bool>,
) {
    let Ok(credentials) = stream.peer_cred() else { return };
    // Before the first byte of a request is trusted, and before the caller can have much time to exit. A hook
    // call that is on its way already needs no more than its account.
    let peer = if bytes.starts_with(MAGIC) {
        Peer::Local { uid: credentials.uid(), pid: credentials.pid().filter(|pid| *pid > 0), start: None }
    } else {
        identity::identify(&stream, credentials.uid(), credentials.pid())
    };
    if !admitted(&daemon, peer) {
        tracing::warn!(uid = credentials.uid(), "another account knocked at the socket");
        return;
    }
    let Some(_place) = daemon.begin_connection(peer) else {
        tracing::warn!(uid = credentials.uid(), "too many connections of one account");
        return;
    };
    while bytes.len() < MAGIC.len() && MAGIC.starts_with(&bytes) {
        match tokio::time::timeout(PATIENCE, stream.read_buf(&mut bytes)).await {
            Ok(Ok(read)) if read > 0 => {}
            _ => return,
        }
    }
    while grpc::may_be_http2(&bytes) {
        match tokio::time::timeout(PATIENCE, stream.read_buf(&mut bytes)).await {
            Ok(Ok(read)) if read > 0 => {}
            _ => return,
        }
    }
    if bytes.starts_with(MAGIC) {
        shim::answer(stream, bytes, &daemon, peer).await;
    } else {
        let router = count_bodies(router, &daemon, peer);
        let router = if daemon.is_own(credentials.uid()) { router } else { http::for_hooks_only(router) };
        let is_grpc = grpc::is_http2(&bytes);
        let stream = Replayed::new(bytes, stream);
        if is_grpc {
            grpc::serve_unix(stream, router, peer, end).await;
        } else {
            http::connection(stream, router, peer, end).await;
        }
    }
}
