// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Writes to the terminal. The full-screen view (`commands/tui`) is the only other module that writes to it.

use std::io::{self, IsTerminal, Write};
use std::process::ExitCode;

use anstream::AutoStream;
use clap::ColorChoice;
use serde::Serialize;
use tenterhook_terminal_text::TableLayout;
pub use tenterhook_terminal_text::{BAD, BOLD, DIM, GOOD, WARN, count, describe_verdict, style_of, tame};

use crate::error::{CommandError, exit_code};

/// Output options: colors, and text or JSON.
#[derive(Debug, Clone, Copy)]
pub struct Terminal {
    color: anstream::ColorChoice,
    /// Whether JSON is printed instead of text.
    pub json: bool,
}

impl Terminal {
    /// Creates the output options.
    pub fn new(color: ColorChoice, json: bool) -> Self {
        let color = match color {
            ColorChoice::Auto => anstream::ColorChoice::Auto,
            ColorChoice::Always => anstream::ColorChoice::Always,
            ColorChoice::Never => anstream::ColorChoice::Never,
        };
        Self { color, json }
    }

    /// Returns standard output for text, without colors where they are not wanted.
    pub fn stdout(self) -> AutoStream<io::StdoutLock<'static>> {
        AutoStream::new(io::stdout(), self.color).lock()
    }

    /// Returns standard error for text.
    pub fn stderr(self) -> AutoStream<io::StderrLock<'static>> {
        AutoStream::new(io::stderr(), self.color).lock()
    }

    /// Prints one JSON document to standard output.
    pub fn print_json(self, value: &impl Serialize) -> Result<(), CommandError> {
        let mut out = io::stdout().lock();
        let written = serde_json::to_writer_pretty(&mut out, value).map_err(io::Error::from);
        ignore_closed_pipe(written.and_then(|()| writeln!(out)))
    }

    /// Prints text to standard output.
    pub fn print(self, text: &str) -> Result<(), CommandError> {
        let mut out = self.stdout();
        // A prompt may end without a line feed.
        ignore_closed_pipe(out.write_all(text.as_bytes()).and_then(|()| out.flush()))
    }

    /// Prints text to standard error.
    pub fn eprint(self, text: &str) -> Result<(), CommandError> {
        ignore_closed_pipe(self.stderr().write_all(text.as_bytes()))
    }

    /// Prints text to standard output and standard error without changing it.
    pub fn print_raw(self, stdout: &str, stderr: &str) -> Result<(), CommandError> {
        ignore_closed_pipe(io::stderr().lock().write_all(stderr.as_bytes()))?;
        let mut out = io::stdout().lock();
        ignore_closed_pipe(out.write_all(stdout.as_bytes()).and_then(|()| out.flush()))
    }

    /// Writes a reply that must arrive: closed standard output is an error.
    pub fn write_reply(self, stdout: &[u8], stderr: &[u8]) -> io::Result<()> {
        // Standard error is informational and may be closed.
        let _ = io::stderr().lock().write_all(stderr);
        let mut rest = stdout;
        while !rest.is_empty() {
            let written = rustix::io::write(io::stdout(), rest)?;
            rest = rest.get(written..).unwrap_or_default();
        }
        Ok(())
    }

    /// Whether standard output may have colors.
    pub fn has_colors(self) -> bool {
        let choice = match self.color {
            anstream::ColorChoice::Auto => AutoStream::choice(&io::stdout()),
            choice => choice,
        };
        choice != anstream::ColorChoice::Never
    }

    /// Whether a user can answer a question.
    pub fn is_interactive() -> bool {
        io::stdin().is_terminal() && io::stderr().is_terminal()
    }

    /// Whether standard output is a terminal.
    pub fn is_screen() -> bool {
        io::stdout().is_terminal()
    }

    /// Returns the width of a line in columns.
    pub fn width() -> usize {
        terminal_size::terminal_size().map_or(120, |(width, _)| usize::from(width.0)).clamp(60, 200)
    }

    /// Returns the width to which lines of a list are shortened; lines are not shortened if the output is piped.
    pub fn line_limit() -> usize {
        if Self::is_screen() { Self::width() } else { usize::MAX }
    }

    /// Returns the layout of tables; values are not truncated if the output is piped.
    pub fn table_layout() -> TableLayout {
        TableLayout { width: Self::width(), is_truncated: Self::is_screen() }
    }

    /// Prints an error and its hints, and returns its exit code.
    pub fn report(self, error: &CommandError) -> ExitCode {
        let mut text = format!("{BAD}error{BAD:#}: {}\n", error.message);
        for hint in &error.hints {
            text.push_str(&format!("{DIM}hint{DIM:#}: {hint}\n"));
        }
        // If standard error is closed, the error cannot be reported.
        let _ = self.stderr().write_all(text.as_bytes());
        if self.json {
            let value = serde_json::json!({"error": {"message": error.message, "hints": error.hints}});
            let _ = self.print_json(&value);
        }
        ExitCode::from(exit_code(error.kind))
    }
}

/// Treats a closed pipe as success, because the reader has read what it needs.
fn ignore_closed_pipe(result: io::Result<()>) -> Result<(), CommandError> {
    match result {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        other => other.map_err(CommandError::from),
    }
}
