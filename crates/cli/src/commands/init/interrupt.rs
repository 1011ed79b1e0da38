// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Ctrl-C: a change that has begun is completed, then the program ends and says how to continue.

use std::process;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::signal::unix::{SignalKind, signal};

use crate::error::CommandError;
use crate::terminal::Terminal;

/// Text for users who stop before the last step.
pub(super) const CONTINUE_LATER: &str =
    "Stopped. Finished steps stay in effect; `tenterhook init` continues.";

/// Exit code after Ctrl-C, as in shells.
const EXIT_INTERRUPTED: i32 = 130;

/// Handles Ctrl-C until the process ends.
pub(super) struct InterruptGuard {
    changing: Arc<Mutex<()>>,
}

impl InterruptGuard {
    /// Starts to handle Ctrl-C.
    pub(super) fn install(terminal: Terminal) -> Result<Self, CommandError> {
        let changing = Arc::new(Mutex::new(()));
        let waiting = Arc::clone(&changing);
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let mut interrupts = {
            let _context = runtime.enter();
            signal(SignalKind::interrupt())?
        };
        std::thread::spawn(move || {
            runtime.block_on(interrupts.recv());
            let _change = waiting.lock().unwrap_or_else(PoisonError::into_inner);
            // The process ends in any case.
            drop(terminal.eprint(&format!("\n{CONTINUE_LATER}\n")));
            process::exit(EXIT_INTERRUPTED);
        });
        Ok(Self { changing })
    }

    /// Delays the end of the program until the returned value is dropped.
    pub(super) fn hold(&self) -> MutexGuard<'_, ()> {
        self.changing.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
