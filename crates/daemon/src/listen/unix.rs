// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Serves the Unix socket. The kernel identifies the peer; a connection from an account that may not use this
//! daemon is closed unread.
//!
//! The latency of a hook call matters, so a call wakes only one thread: a few threads wait for connections, and the
//! one that accepts a call reads, evaluates, records and answers it. Work that would block this thread (a slow
//! sender, a hook, an approval, another commit) continues in the runtime, and so does all HTTP.

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

use super::counted_body::count_bodies;
use super::http::{self, Replayed};
use super::identity::peer_credentials;
use super::stalled::{BusySince, BusyTimes, CrowdedSignal, MAX_STALLED_THREADS, STALL_CHECK_INTERVAL};
use super::thread_shares::ThreadShares;
use super::{Peer, identity, shim};
use crate::daemon::Daemon;
use crate::grpc;

/// Maximum number of threads that wait for connections; further threads exit.
const MAX_IDLE_THREADS: usize = 4;
/// Maximum number of threads. Further connections wait in the kernel.
const MAX_THREADS: usize = 16;
/// Maximum time that a thread waits for bytes; after that the runtime waits.
const INLINE_READ_TIMEOUT: Duration = Duration::from_millis(2);
/// Maximum time for the first bytes to arrive.
const FIRST_BYTES_TIMEOUT: Duration = Duration::from_secs(10);

/// The threads that serve the socket.
pub(crate) struct HookThreads(Arc<HookThreadState>);

struct HookThreadState {
    listener: UnixListener,
    daemon: Arc<Daemon>,
    router: Router,
    end: watch::Receiver<bool>,
    runtime: Handle,
    /// Number of threads, and number of threads that wait for a connection.
    threads: AtomicUsize,
    waiting: AtomicUsize,
    ending: AtomicBool,
    busy: BusyTimes,
    /// Signalled when no thread is waiting for connections.
    crowded: CrowdedSignal,
    /// Shares of each account; `None` for a daemon that serves one account.
    thread_shares: Option<ThreadShares>,
}

impl HookThreads {
    pub(crate) fn start(
        listener: UnixListener,
        daemon: Arc<Daemon>,
        router: Router,
        end: watch::Receiver<bool>,
    ) -> std::io::Result<Self> {
        let thread_shares = daemon.home.is_machine_wide().then(|| ThreadShares::new(MAX_THREADS));
        let shared = Arc::new(HookThreadState {
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
            thread_shares,
        });
        for _ in 0..MAX_IDLE_THREADS {
            spawn_thread(&shared)?;
        }
        let watched = Arc::clone(&shared);
        std::thread::Builder::new().name("stalls".into()).spawn(move || replace_stalled(&watched))?;
        Ok(Self(shared))
    }

    /// Stops accepting connections. Returns when every thread has completed its call, or after `timeout`.
    pub(crate) async fn end(self, timeout: Duration) {
        let shared = &self.0;
        shared.ending.store(true, Ordering::Release);
        shared.crowded.signal();
        // Wakes threads that wait for a connection. Where this has no effect, the connections made below wake them.
        let _ = rustix::net::shutdown(&shared.listener, rustix::net::Shutdown::Both);
        let began = tokio::time::Instant::now();
        while shared.threads.load(Ordering::Acquire) > 0 && began.elapsed() < timeout {
            if let Ok(place) = shared.listener.local_addr() {
                let _ = UnixStream::connect_addr(&place);
            }
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    }
}

/// Starts a thread that waits for connections.
fn spawn_thread(shared: &Arc<HookThreadState>) -> std::io::Result<()> {
    shared.threads.fetch_add(1, Ordering::AcqRel);
    shared.waiting.fetch_add(1, Ordering::AcqRel);
    let own = Arc::clone(shared);
    let started = std::thread::Builder::new().name("hooks".into()).spawn(move || run_thread(&own));
    if started.is_err() {
        shared.waiting.fetch_sub(1, Ordering::AcqRel);
        shared.threads.fetch_sub(1, Ordering::AcqRel);
    }
    started.map(drop)
}

/// Replaces the last thread that waited for connections, or signals that none is left.
fn add_or_signal(shared: &Arc<HookThreadState>) {
    if shared.threads.load(Ordering::Acquire) >= MAX_THREADS {
        shared.crowded.signal();
    } else if spawn_thread(shared).is_err() {
        tracing::warn!("cannot start another thread for hooks");
        shared.crowded.signal();
    }
}

/// Replaces stalled threads when no thread is waiting for connections.
fn replace_stalled(shared: &Arc<HookThreadState>) {
    while !shared.ending.load(Ordering::Acquire) {
        if shared.waiting.load(Ordering::Acquire) > 0 {
            shared.crowded.wait();
        }
        std::thread::sleep(STALL_CHECK_INTERVAL);
        let stalled = shared.busy.count_stalled().min(MAX_STALLED_THREADS);
        let is_ending = shared.ending.load(Ordering::Acquire);
        if stalled == 0 || is_ending || shared.waiting.load(Ordering::Acquire) > 0 {
            continue;
        }
        let missing = (MAX_THREADS + stalled).saturating_sub(shared.threads.load(Ordering::Acquire));
        if missing > 0 {
            tracing::warn!(stalled, "calls wait for a disk or a lock; more threads were started");
        }
        if (0..missing).any(|_| spawn_thread(shared).is_err()) {
            tracing::warn!("cannot start another thread for hooks");
        }
    }
}

/// Runs a thread, counted in `threads` until it exits and in `waiting` while it accepts.
fn run_thread(shared: &Arc<HookThreadState>) {
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
                // If no thread can be started, the existing threads become free soon enough.
                if last {
                    add_or_signal(shared);
                }
                serve_in_turn(shared, &since, stream);
            }
            Err(error) => {
                tracing::warn!(%error, "a connection could not be accepted");
                // No file descriptors are left: another connection must end first.
                std::thread::sleep(Duration::from_millis(20));
            }
        }
        if shared.waiting.fetch_add(1, Ordering::AcqRel) >= MAX_IDLE_THREADS {
            shared.waiting.fetch_sub(1, Ordering::AcqRel);
            break;
        }
    }
    shared.threads.fetch_sub(1, Ordering::AcqRel);
}

/// Serves a connection when its account has a free share, then the account's waiting connections.
fn serve_in_turn(shared: &HookThreadState, since: &BusySince, stream: UnixStream) {
    let peer = peer_credentials(&stream);
    let Some((thread_shares, known)) = shared.thread_shares.as_ref().zip(peer) else {
        return serve_or_drop(shared, since, stream, peer);
    };
    let uid = shared.daemon.account_of(known);
    let first = thread_shares.begin(uid, stream, || shared.daemon.begin_connection(known));
    let mut next = first.map(|stream| (stream, peer));
    while let Some((stream, peer)) = next {
        serve_or_drop(shared, since, stream, peer);
        next = thread_shares.finish(uid).map(|stream| {
            let peer = peer_credentials(&stream);
            (stream, peer)
        });
    }
}

/// Serves a connection. After a panic the connection is closed, and its hook evaluates the call itself.
fn serve_or_drop(shared: &HookThreadState, since: &BusySince, stream: UnixStream, peer: Option<Peer>) {
    shared.busy.begin(since);
    let served = std::panic::catch_unwind(AssertUnwindSafe(|| serve(shared, stream, peer)));
    since.end();
    if served.is_err() {
        tracing::error!("a call could not be answered because of a bug");
    }
}

/// Serves a connection as far as possible without blocking.
fn serve(shared: &HookThreadState, mut stream: UnixStream, peer: Option<Peer>) {
    let mut bytes = Vec::new();
    let daemon = &shared.daemon;
    let now = peer.filter(|peer| is_admitted(daemon, *peer)).and_then(|peer| {
        stream.set_read_timeout(Some(INLINE_READ_TIMEOUT)).ok()?;
        // A request from the shim nearly always fits one read. The buffer is on the stack, because a heap block of
        // this size makes the allocator merge freed memory, which takes longer than the copy.
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
            serve_connection(stream, bytes, daemon, router, end).await;
        }
    });
}

/// Whether a peer may use this daemon.
fn is_admitted(daemon: &Daemon, peer: Peer) -> bool {
    daemon.home.is_machine_wide() || peer.uid().is_some_and(|uid| daemon.is_own_account(uid))
}

async fn serve_connection(
    mut stream: tokio::net::UnixStream,
    mut bytes: Vec<u8>,
    daemon: Arc<Daemon>,
    router: Router,
    end: watch::Receiver<bool>,
) {
    let Ok(credentials) = stream.peer_cred() else { return };
    // Identified at once, before the caller has much time to exit. For a hook call only the account is needed.
    let peer = if bytes.starts_with(MAGIC) {
        Peer::Local { uid: credentials.uid(), pid: credentials.pid().filter(|pid| *pid > 0), start: None }
    } else {
        identity::identify(&stream, credentials.uid(), credentials.pid())
    };
    if !is_admitted(&daemon, peer) {
        tracing::warn!(uid = credentials.uid(), "connection of another account refused");
        return;
    }
    let Some(_place) = daemon.begin_connection(peer) else {
        tracing::warn!(uid = credentials.uid(), "too many connections of one account");
        return;
    };
    let is_undecided = |bytes: &[u8]| bytes.len() < MAGIC.len() && MAGIC.starts_with(bytes);
    while is_undecided(&bytes) || grpc::may_be_http2(&bytes) {
        match tokio::time::timeout(FIRST_BYTES_TIMEOUT, stream.read_buf(&mut bytes)).await {
            Ok(Ok(read)) if read > 0 => {}
            _ => return,
        }
    }
    if bytes.starts_with(MAGIC) {
        shim::answer(stream, bytes, &daemon, peer).await;
    } else {
        let router = count_bodies(router, &daemon, peer);
        let is_own = daemon.is_own_account(credentials.uid());
        let router = if is_own { router } else { http::allow_hook_calls_only(router) };
        let is_grpc = grpc::is_http2(&bytes);
        let stream = Replayed::new(bytes, stream);
        if is_grpc {
            grpc::serve_unix(stream, router, peer, end).await;
        } else {
            http::serve_connection(stream, router, peer, end).await;
        }
    }
}
