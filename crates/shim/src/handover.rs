// SPDX-License-Identifier: Apache-2.0 OR MIT

//! When the daemon does not answer: this process becomes the full program, which judges by itself.

use std::ffi::OsString;
use std::io::{PipeReader, Write};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

/// The program that can do everything, beside the one that runs.
pub const FULL_PROGRAM: &str = "tenterhook";

/// What is handed over.
#[derive(Debug)]
pub struct Handover<'a> {
    /// Why the daemon did not answer; `None` if it was not asked.
    pub why: Option<&'a str>,
    /// The event's id.
    pub id: &'a str,
    /// How much time is left.
    pub within: Duration,
    /// What was on standard input; `None` if nothing came, or not all of it.
    pub payload: Option<&'a [u8]>,
}

impl Handover<'_> {
    /// Hands over a call. Returns the exit code if the full program had to run as a child, and an error if
    /// it could not run at all; as a rule it does not return.
    pub fn call(&self, program: &Path, harness: &str, event: &str) -> std::io::Result<u8> {
        let mut command = Command::new(program.with_file_name(FULL_PROGRAM));
        command.args(["hook", "--fallback", self.why.unwrap_or_default(), "--id", self.id]);
        command.args(["--within", &self.within.as_secs().max(1).to_string()]);
        command.args(["--", harness, event]);
        let Some(payload) = self.payload else {
            command.stdin(Stdio::null());
            return Err(command.exec());
        };
        match filled(payload) {
            Some(pipe) => Err(command.stdin(pipe).exec()),
            None => run(command.stdin(Stdio::piped()), payload),
        }
    }
}

/// Hands over everything that was typed, with the standard input as it is.
pub fn words(program: &Path, words: &[OsString]) -> std::io::Error {
    Command::new(program.with_file_name(FULL_PROGRAM)).arg("hook").args(words).exec()
}

/// A pipe with all of the payload in it, if it holds so much.
#[cfg(target_os = "linux")]
fn filled(payload: &[u8]) -> Option<PipeReader> {
    use std::os::fd::AsRawFd;
    use std::os::unix::fs::OpenOptionsExt;

    // What fits depends on the user's other pipes: the pipe is asked, and never waited for.
    let (reader, writer) = std::io::pipe().ok()?;
    let path = Path::new("/proc/self/fd").join(writer.as_raw_fd().to_string());
    let mut file =
        std::fs::File::options().write(true).custom_flags(crate::input::NONBLOCKING).open(path).ok()?;
    file.write_all(payload).ok().map(|()| reader)
}

/// Elsewhere: what every pipe holds.
#[cfg(not(target_os = "linux"))]
fn filled(payload: &[u8]) -> Option<PipeReader> {
    let (reader, mut writer) = std::io::pipe().ok()?;
    if payload.len() > 4096 {
        return None;
    }
    writer.write_all(payload).ok().map(|()| reader)
}

/// Too much for a pipe: somebody has to stay and write it.
fn run(command: &mut Command, payload: &[u8]) -> std::io::Result<u8> {
    let mut child = command.spawn()?;
    if let Some(mut stdin) = child.stdin.take() {
        // Whether it wanted to read all of it is its own business.
        drop(stdin.write_all(payload));
    }
    let status = child.wait()?;
    // A child that was killed has answered nothing: what can be refused is refused.
    Ok(status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(2))
}
