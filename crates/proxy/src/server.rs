// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Accepts the connections of clients and limits their number.

use std::collections::VecDeque;
use std::io;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::net::TcpListener;
use tokio::sync::{Semaphore, oneshot};
use tokio::task::JoinSet;

use crate::{
    ConnectionEvent, ConnectionJudge, NameResolver, ProxyLimits, SystemResolver, UpstreamProxies, connection,
};

/// Wait before the next attempt if no connection can be accepted, for example because there are no descriptors left.
const ACCEPT_RETRY: Duration = Duration::from_millis(100);

/// Function that is called with each event. It must not block.
type Observer = Box<dyn Fn(ConnectionEvent) + Send + Sync>;

/// A proxy: accepts connections, has them judged, and relays them.
pub struct Proxy<J, R = SystemResolver> {
    judge: J,
    resolver: R,
    limits: ProxyLimits,
    observer: Option<Observer>,
    upstream: UpstreamProxies,
}

/// What all connections of a proxy use.
pub(crate) struct SharedState<J, R> {
    pub(crate) judge: J,
    pub(crate) resolver: R,
    pub(crate) limits: ProxyLimits,
    observer: Option<Observer>,
    pub(crate) upstream: UpstreamProxies,
    /// One permit for each connection that is judged or open.
    pub(crate) slots: Semaphore,
    pub(crate) waiting: WaitingClients,
}

/// The clients that have not sent a request yet, oldest first.
pub(crate) struct WaitingClients {
    max: usize,
    queue: Mutex<VecDeque<(u64, oneshot::Sender<()>)>>,
}

// === impl Proxy ===

impl<J: ConnectionJudge> Proxy<J> {
    /// Creates a proxy that resolves names as this machine does.
    pub fn new(judge: J) -> Self {
        let (limits, upstream) = (ProxyLimits::default(), UpstreamProxies::default());
        Self { judge, resolver: SystemResolver, limits, observer: None, upstream }
    }
}

impl<J: ConnectionJudge, R: NameResolver> Proxy<J, R> {
    /// Resolves names with this resolver.
    #[must_use]
    pub fn with_resolver<N: NameResolver>(self, resolver: N) -> Proxy<J, N> {
        let Self { judge, limits, observer, upstream, .. } = self;
        Proxy { judge, resolver, limits, observer, upstream }
    }

    /// Uses these limits.
    #[must_use]
    pub fn with_limits(self, limits: ProxyLimits) -> Self {
        Self { limits, ..self }
    }

    /// Connects through these proxies.
    #[must_use]
    pub fn with_upstream(self, upstream: UpstreamProxies) -> Self {
        Self { upstream, ..self }
    }

    /// Calls a function with each event. The function must not block.
    #[must_use]
    pub fn with_observer(self, observer: impl Fn(ConnectionEvent) + Send + Sync + 'static) -> Self {
        Self { observer: Some(Box::new(observer)), ..self }
    }

    /// Serves connections until the future is dropped, which also ends all connections. Must run in a tokio runtime.
    pub async fn serve(self, listener: std::net::TcpListener) -> io::Result<()> {
        listener.set_nonblocking(true)?;
        let listener = TcpListener::from_std(listener)?;
        let Self { judge, resolver, limits, observer, upstream } = self;
        let slots = Semaphore::new(limits.connections);
        let waiting = WaitingClients { max: limits.waiting_clients.max(1), queue: Mutex::default() };
        let shared = Arc::new(SharedState { judge, resolver, limits, observer, upstream, slots, waiting });
        // Dropping the set ends its tasks.
        let mut tasks = JoinSet::new();
        let mut id = 0;
        loop {
            tokio::select! {
                accepted = listener.accept() => match accepted {
                    Ok((client, _)) => {
                        id += 1;
                        let (evict, evicted) = oneshot::channel();
                        shared.waiting.add(id, evict);
                        let (shared, id) = (Arc::clone(&shared), id);
                        tasks.spawn(async move { connection::serve(&shared, id, client, evicted).await });
                    }
                    Err(error) if is_about_one_client(&error) => {}
                    Err(_) => tokio::time::sleep(ACCEPT_RETRY).await,
                },
                Some(_) = tasks.join_next() => {}
            }
        }
    }
}

/// Whether an error concerns one client that has gone, and not the listener.
fn is_about_one_client(error: &io::Error) -> bool {
    use io::ErrorKind as Kind;
    matches!(error.kind(), Kind::ConnectionAborted | Kind::ConnectionReset | Kind::Interrupted)
}

// === impl SharedState ===

impl<J, R> SharedState<J, R> {
    pub(crate) fn observe(&self, event: ConnectionEvent) {
        if let Some(observer) = &self.observer {
            observer(event);
        }
    }
}

// === impl WaitingClients ===

impl WaitingClients {
    /// Adds a client, and ends the oldest one if there are too many.
    fn add(&self, id: u64, evict: oneshot::Sender<()>) {
        let mut queue = self.lock();
        let oldest = if queue.len() >= self.max { queue.pop_front() } else { None };
        queue.push_back((id, evict));
        drop(queue);
        if let Some((_, evict)) = oldest {
            // The client may have ended by itself.
            let _ = evict.send(());
        }
    }

    /// Removes a client that has sent its request or has ended.
    pub(crate) fn remove(&self, id: u64) {
        let mut queue = self.lock();
        // The queue is sorted by id.
        if let Ok(at) = queue.binary_search_by_key(&id, |(id, _)| *id) {
            queue.remove(at);
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, VecDeque<(u64, oneshot::Sender<()>)>> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
