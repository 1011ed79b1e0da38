// SPDX-License-Identifier: Apache-2.0 OR MIT

use std::io::{IsTerminal as _, Write as _};
use std::time::{Duration, Instant};

use crate::terminal::Terminal;

/// Progress bar on a terminal, for work that takes longer than a moment.
pub struct ProgressBar {
    terminal: Terminal,
    /// Unit of the counts.
    unit: &'static str,
    started: Instant,
    last: Option<Instant>,
}

impl ProgressBar {
    /// Creates a progress bar for records.
    pub fn new(terminal: Terminal) -> Self {
        Self::with_unit(terminal, "records")
    }

    /// Creates a progress bar for counts in this unit.
    pub fn with_unit(terminal: Terminal, unit: &'static str) -> Self {
        Self { terminal, unit, started: Instant::now(), last: None }
    }

    /// Draws the bar, at most ten times per second.
    pub fn show(&mut self, done: u64, total: Option<u64>) {
        let due = self.last.unwrap_or(self.started).elapsed() >= Duration::from_millis(100);
        let Some(total) =
            total.filter(|total| *total > 0 && due && !self.terminal.json && std::io::stderr().is_terminal())
        else {
            return;
        };
        self.last = Some(Instant::now());
        let full = usize::try_from(done.min(total) * 30 / total).unwrap_or(0);
        let bar = format!("{}{}", "█".repeat(full), "░".repeat(30 - full));
        // Errors are ignored, because the bar is not essential.
        let (part, unit) = (done.min(total) * 100 / total, self.unit);
        let _ = write!(self.terminal.stderr(), "\r{bar} {part:>3} %  {done} of {total} {unit}");
    }

    /// Removes the bar from the terminal.
    pub fn clear(&self) {
        if self.last.is_some() {
            let _ = write!(self.terminal.stderr(), "\r{:79}\r", "");
        }
    }
}
