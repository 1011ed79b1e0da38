// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The only place that writes to the terminal, but for the view that fills it (`commands/tui`).

use std::io::{self, IsTerminal, Write};
use std::process::ExitCode;

use anstream::AutoStream;
use clap::ColorChoice;
use serde::Serialize;
pub(crate) use tenterhook_terminal_text::{
    BAD, BOLD, DIM, GOOD, WARN, count, describe_verdict, style_of, tame,
};

use crate::error::{CommandError, exit_code};

/// How to speak: with colours or without, to people or in JSON.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Terminal {
    color: anstream::ColorChoice,
    pub(crate) json: bool,
}

impl Terminal {
    pub(crate) fn new(color: ColorChoice, json: bool) -> Self {
        let color = match color {
            ColorChoice::Auto => anstream::ColorChoice::Auto,
            ColorChoice::Always => anstream::ColorChoice::Always,
            ColorChoice::Never => anstream::ColorChoice::Never,
        };
        Self { color, json }
    }

    /// Standard output for people; colours are taken out where they do not belong.
    pub(crate) fn out(self) -> AutoStream<io::StdoutLock<'static>> {
        AutoStream::new(io::stdout(), self.color).lock()
    }

    /// Standard error for people.
    pub(crate) fn err(self) -> AutoStream<io::StderrLock<'static>> {
        AutoStream::new(io::stderr(), self.color).lock()
    }

    /// One JSON document on standard output.
    pub(crate) fn print_json(self, value: &impl Serialize) -> Result<(), CommandError> {
        let mut out = io::stdout().lock();
        let written = serde_json::to_writer_pretty(&mut out, value).map_err(io::Error::from);
        tolerate_closed(written.and_then(|()| writeln!(out)))
    }

    /// Text for people, whole.
    pub(crate) fn say(self, text: &str) -> Result<(), CommandError> {
        let mut out = self.out();
        // A question may end without a line feed.
        tolerate_closed(out.write_all(text.as_bytes()).and_then(|()| out.flush()))
    }

    /// Text for people beside the answer, on standard error.
    pub(crate) fn note(self, text: &str) -> Result<(), CommandError> {
        tolerate_closed(self.err().write_all(text.as_bytes()))
    }

    /// Bytes on standard output and standard error, exactly.
    pub(crate) fn exactly(self, stdout: &str, stderr: &str) -> Result<(), CommandError> {
        tolerate_closed(io::stderr().lock().write_all(stderr.as_bytes()))?;
        let mut out = io::stdout().lock();
        tolerate_closed(out.write_all(stdout.as_bytes()).and_then(|()| out.flush()))
    }

    /// The same for an answer that has to arrive: a closed output is an error here, and standard
    /// output that was never opened as well.
    pub(crate) fn reply(self, stdout: &[u8], stderr: &[u8]) -> io::Result<()> {
        // The reason on standard error is for people; nobody may be listening.
        let _ = io::stderr().lock().write_all(stderr);
        let mut rest = stdout;
        while !rest.is_empty() {
            let written = rustix::io::write(io::stdout(), rest)?;
            rest = rest.get(written..).unwrap_or_default();
        }
        Ok(())
    }

    /// Whether colours belong on standard output.
    pub(crate) fn colors(self) -> bool {
        let choice = match self.color {
            anstream::ColorChoice::Auto => AutoStream::choice(&io::stdout()),
            said => said,
        };
        choice != anstream::ColorChoice::Never
    }

    /// Whether a person could answer a question.
    pub(crate) fn is_interactive() -> bool {
        io::stdin().is_terminal() && io::stderr().is_terminal()
    }

    /// Whether standard output is a screen.
    pub(crate) fn is_screen() -> bool {
        io::stdout().is_terminal()
    }

    /// How wide a line may be.
    pub(crate) fn width() -> usize {
        terminal_size::terminal_size().map_or(120, |(width, _)| usize::from(width.0)).clamp(60, 200)
    }

    /// Says what went wrong: one line, then what to do about it.
    pub(crate) fn report(self, error: &CommandError) -> ExitCode {
        let mut text = format!("{BAD}error{BAD:#}: {}\n", error.message);
        for hint in &error.hints {
            text.push_str(&format!("{DIM}hint{DIM:#}: {hint}\n"));
        }
        // There is nobody left to tell if even this fails.
        let _ = self.err().write_all(text.as_bytes());
        if self.json {
            let value = serde_json::json!({"error": {"message": error.message, "hints": error.hints}});
            let _ = self.print_json(&value);
        }
        ExitCode::from(exit_code(error.kind))
    }
}

/// Somebody who stopped reading has read enough.
fn tolerate_closed(result: io::Result<()>) -> Result<(), CommandError> {
    match result {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        other => other.map_err(CommandError::from),
    }
}
