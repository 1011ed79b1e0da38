// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Handles signals in a thread of its own: SIGTERM ends the daemon within [`END_TIMEOUT`], even if all other threads
//! are blocked.

use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::Duration;

use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::watch;

/// How long an orderly end may take. The ledger survives the end of the process at any moment.
pub(crate) const END_TIMEOUT: Duration = Duration::from_millis(4500);

/// What signals have said.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Signalled {
    /// The daemon is to end.
    pub(crate) end: bool,
    /// How often the files were to be read again.
    pub(crate) reloads: u64,
}

/// Hears signals as long as it lives.
pub(crate) struct Signals {
    pub(crate) said: watch::Receiver<Signalled>,
    /// Dropped when the daemon has ended in order.
    _running: Sender<()>,
}

impl Signals {
    /// Begins to hear: from now on a signal no longer ends the process by itself.
    pub(crate) fn listen() -> std::io::Result<Self> {
        let (say, said) = watch::channel(Signalled::default());
        let (running, ended) = channel();
        let (ready, is_ready) = channel();
        std::thread::Builder::new().name("signals".into()).spawn(move || hear(&say, &ended, &ready))?;
        is_ready.recv().map_err(std::io::Error::other)??;
        Ok(Self { said, _running: running })
    }
}

fn hear(say: &watch::Sender<Signalled>, ended: &Receiver<()>, ready: &Sender<std::io::Result<()>>) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let end = runtime.and_then(|runtime| {
        runtime.block_on(async {
            let mut term = signal(SignalKind::terminate())?;
            let mut int = signal(SignalKind::interrupt())?;
            let mut hup = signal(SignalKind::hangup())?;
            // The thread that started this one waits for the message.
            drop(ready.send(Ok(())));
            loop {
                tokio::select! {
                    _ = term.recv() => return Ok(true),
                    _ = int.recv() => return Ok(true),
                    _ = hup.recv() => say.send_modify(|said| said.reloads += 1),
                    // The daemon ended by itself.
                    () = say.closed() => return Ok(false),
                }
            }
        })
    });
    match end {
        Ok(true) => {
            say.send_modify(|said| said.end = true);
            leave_in_time(ended);
        }
        Ok(false) => {}
        Err(error) => drop(ready.send(Err(error))),
    }
}

#[expect(clippy::exit, reason = "threads that wait for a disk or a lock cannot be ended in another way")]
fn leave_in_time(ended: &Receiver<()>) {
    if ended.recv_timeout(END_TIMEOUT) == Err(RecvTimeoutError::Timeout) {
        tracing::error!("calls or the disk do not answer: ended without waiting any longer");
        std::process::exit(1);
    }
}
