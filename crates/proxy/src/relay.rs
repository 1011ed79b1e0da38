// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Copies bytes between two connections. A slow reader slows the writer down: each direction has one buffer.

use std::io;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::time::{Instant, sleep_until, timeout};

use crate::{ConnectionEnd, ProxyLimits};

/// Size of the buffer of one direction.
const BUFFER_BYTES: usize = 16 * 1024;
/// How long a client may take to read the last reply before its connection is closed.
const LINGER: Duration = Duration::from_secs(2);
/// Maximum number of bytes that are read and dropped before a connection is closed.
const MAX_DROPPED_BYTES: usize = 1 << 20;

/// Byte counts of one connection, and the time of its last byte.
#[derive(Debug)]
pub(crate) struct Traffic {
    started: Instant,
    pub(crate) sent: AtomicU64,
    pub(crate) received: AtomicU64,
    /// Milliseconds between the start and the last byte.
    last_ms: AtomicU64,
    is_half_open: AtomicBool,
}

impl Traffic {
    pub(crate) fn new() -> Self {
        let (sent, received, last_ms) = (AtomicU64::new(0), AtomicU64::new(0), AtomicU64::new(0));
        Self { started: Instant::now(), sent, received, last_ms, is_half_open: AtomicBool::new(false) }
    }

    pub(crate) fn duration(&self) -> Duration {
        self.started.elapsed()
    }

    /// Counts bytes in one direction.
    pub(crate) fn count(&self, counter: &AtomicU64, bytes: usize) {
        counter.fetch_add(bytes as u64, Ordering::Relaxed);
        let now = u64::try_from(self.started.elapsed().as_millis()).unwrap_or(u64::MAX);
        self.last_ms.store(now, Ordering::Relaxed);
    }

    /// Returns when no byte was transferred for too long.
    pub(crate) async fn wait_idle(&self, limits: &ProxyLimits) {
        loop {
            let half_open = self.is_half_open.load(Ordering::Relaxed);
            let limit = if half_open { limits.half_open_timeout } else { limits.idle_timeout };
            let until = self.started + Duration::from_millis(self.last_ms.load(Ordering::Relaxed)) + limit;
            if until <= Instant::now() {
                return;
            }
            // The limit may become shorter meanwhile.
            sleep_until(until.min(Instant::now() + limits.half_open_timeout)).await;
        }
    }

    /// Copies one direction until its end, and then closes the other side's input.
    pub(crate) async fn copy(
        &self,
        from: &mut (impl AsyncRead + Unpin),
        to: &mut (impl AsyncWrite + Unpin),
        counter: &AtomicU64,
    ) -> io::Result<()> {
        let mut buffer = vec![0; BUFFER_BYTES];
        loop {
            let read = from.read(&mut buffer).await?;
            if read == 0 {
                self.is_half_open.store(true, Ordering::Relaxed);
                return to.shutdown().await;
            }
            to.write_all(buffer.get(..read).unwrap_or_default()).await?;
            self.count(counter, read);
        }
    }
}

/// Copies both directions until both have ended, one fails, or both are idle.
pub(crate) async fn relay(
    client: &mut TcpStream,
    target: &mut TcpStream,
    traffic: &Traffic,
    limits: &ProxyLimits,
) -> ConnectionEnd {
    let (mut client_read, mut client_write) = client.split();
    let (mut target_read, mut target_write) = target.split();
    let both = async {
        tokio::try_join!(
            traffic.copy(&mut client_read, &mut target_write, &traffic.sent),
            traffic.copy(&mut target_read, &mut client_write, &traffic.received),
        )
    };
    tokio::select! {
        copied = both => if copied.is_ok() { ConnectionEnd::Finished } else { ConnectionEnd::Failed },
        () = traffic.wait_idle(limits) => ConnectionEnd::Idle,
    }
}

/// Closes a connection so that the client can read the last reply: unread input would reset the connection.
pub(crate) async fn close_gently(stream: &mut TcpStream) {
    let drain = async {
        stream.shutdown().await?;
        let (mut buffer, mut dropped) = (vec![0; BUFFER_BYTES], 0);
        while dropped < MAX_DROPPED_BYTES {
            match stream.read(&mut buffer).await? {
                0 => break,
                read => dropped += read,
            }
        }
        io::Result::Ok(())
    };
    // The connection ends in any case.
    let _ = timeout(LINGER, drain).await;
}
