// SPDX-License-Identifier: Apache-2.0 OR MIT

use std::io::{IsTerminal as _, Write as _};
use std::time::{Duration, Instant};

use crate::terminal::Terminal;

/// How far it is, on a screen, for whoever waits longer than a moment.
pub(in crate::commands) struct ProgressBar {
    terminal: Terminal,
    /// What is counted.
    what: &'static str,
    started: Instant,
    last: Option<Instant>,
}

impl ProgressBar {
    pub(in crate::commands) fn new(terminal: Terminal) -> Self {
        Self::of(terminal, "leaves")
    }

    /// The same for something else than leaves.
    pub(in crate::commands) fn of(terminal: Terminal, what: &'static str) -> Self {
        Self { terminal, what, started: Instant::now(), last: None }
    }

    pub(in crate::commands) fn show(&mut self, done: u64, of: Option<u64>) {
        let due = self.last.unwrap_or(self.started).elapsed() >= Duration::from_millis(100);
        let Some(of) =
            of.filter(|of| *of > 0 && due && !self.terminal.json && std::io::stderr().is_terminal())
        else {
            return;
        };
        self.last = Some(Instant::now());
        let full = usize::try_from(done.min(of) * 30 / of).unwrap_or(0);
        let bar = format!("{}{}", "█".repeat(full), "░".repeat(30 - full));
        // A bar that cannot be drawn is not missed.
        let (part, what) = (done.min(of) * 100 / of, self.what);
        let _ = write!(self.terminal.err(), "\r{bar} {part:>3} %  {done} of {of} {what}");
    }

    pub(in crate::commands) fn clear(&self) {
        if self.last.is_some() {
            let _ = write!(self.terminal.err(), "\r{:79}\r", "");
        }
    }
}
