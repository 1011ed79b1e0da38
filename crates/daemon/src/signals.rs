// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Handles signals in a separate thread, so that SIGTERM stops the daemon even if all other threads are blocked.

use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::Duration;

use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::watch;

/// Maximum time for an orderly shutdown. The ledger survives an exit at any moment.
pub(crate) const SHUTDOWN_TIMEOUT: Duration = Duration::from_millis(4500);

/// Signals received so far.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct SignalState {
    /// Whether the daemon should shut down.
    pub(crate) end: bool,
    /// Number of requests to reload files.
    pub(crate) reloads: u64,
}

/// Receives signals until the value is dropped.
pub(crate) struct Signals {
    pub(crate) state: watch::Receiver<SignalState>,
    /// Dropped at the end of an orderly shutdown.
    _running: Sender<()>,
}

impl Signals {
    /// Starts handling signals; from now on they no longer kill the process.
    pub(crate) fn listen() -> std::io::Result<Self> {
        let (sender, state) = watch::channel(SignalState::default());
        let (running, ended) = channel();
        let (ready, is_ready) = channel();
        std::thread::Builder::new().name("signals".into()).spawn(move || receive(&sender, &ended, &ready))?;
        is_ready.recv().map_err(std::io::Error::other)??;
        Ok(Self { state, _running: running })
    }
}

fn receive(sender: &watch::Sender<SignalState>, ended: &Receiver<()>, ready: &Sender<std::io::Result<()>>) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let end = runtime.and_then(|runtime| {
        runtime.block_on(async {
            let mut term = signal(SignalKind::terminate())?;
            let mut int = signal(SignalKind::interrupt())?;
            let mut hup = signal(SignalKind::hangup())?;
            // The thread that started this one waits for this message.
            drop(ready.send(Ok(())));
            loop {
                tokio::select! {
                    _ = term.recv() => return Ok(true),
                    _ = int.recv() => return Ok(true),
                    _ = hup.recv() => sender.send_modify(|state| state.reloads += 1),
                    // The daemon shut down without a signal.
                    () = sender.closed() => return Ok(false),
                }
            }
        })
    });
    match end {
        Ok(true) => {
            sender.send_modify(|state| state.end = true);
            exit_if_stuck(ended);
        }
        Ok(false) => {}
        Err(error) => drop(ready.send(Err(error))),
    }
}

#[expect(clippy::exit, reason = "threads that wait for a disk or a lock cannot be stopped in another way")]
fn exit_if_stuck(ended: &Receiver<()>) {
    if ended.recv_timeout(SHUTDOWN_TIMEOUT) == Err(RecvTimeoutError::Timeout) {
        tracing::error!("calls or the disk do not respond; exiting without waiting any longer");
        std::process::exit(1);
    }
}
