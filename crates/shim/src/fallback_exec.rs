// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Fallback when the daemon does not answer: this process is replaced by the full program, which evaluates the rules
//! itself.

use std::ffi::OsString;
use std::io::{PipeReader, Write};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

/// Name of the full program, in the same directory.
pub const FULL_PROGRAM: &str = "tenterhook";

/// Variables with which the dynamic loader loads other code.
const LOADER_VARIABLES: &[&str] = &[
    "DYLD_FRAMEWORK_PATH",
    "DYLD_INSERT_LIBRARIES",
    "DYLD_LIBRARY_PATH",
    "GCONV_PATH",
    "LD_AUDIT",
    "LD_LIBRARY_PATH",
    "LD_PRELOAD",
];

/// Data that is passed to the full program.
#[derive(Debug)]
pub struct FallbackExec<'a> {
    /// Reason why the daemon did not answer; `None` if it was not called.
    pub why: Option<&'a str>,
    /// Id of the event.
    pub id: &'a str,
    /// Time left for the call.
    pub within: Duration,
    /// Payload from standard input; `None` if it did not arrive completely.
    pub payload: Option<&'a [u8]>,
}

impl FallbackExec<'_> {
    /// Runs a call in the full program. Usually this replaces the process and does not return. Returns the exit code
    /// if the full program had to run as a child, and an error if it could not be started.
    pub fn call(&self, program: &Path, harness: &str, event: &str) -> std::io::Result<u8> {
        let mut command = full_program(program);
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

/// Passes all arguments and the unread standard input to the full program.
pub fn words(program: &Path, words: &[OsString]) -> std::io::Error {
    full_program(program).arg("hook").args(words).exec()
}

/// The full program, without variables that load other code into it: unlike this program, it may be linked dynamically.
fn full_program(program: &Path) -> Command {
    let mut command = Command::new(program.with_file_name(FULL_PROGRAM));
    for name in LOADER_VARIABLES {
        command.env_remove(name);
    }
    command
}

/// A pipe that contains the whole payload; `None` if the payload does not fit.
#[cfg(target_os = "linux")]
fn filled(payload: &[u8]) -> Option<PipeReader> {
    use std::os::fd::AsRawFd;
    use std::os::unix::fs::OpenOptionsExt;

    // The capacity of a pipe depends on the user's other pipes, so the write is tried without blocking.
    let (reader, writer) = std::io::pipe().ok()?;
    let path = Path::new("/proc/self/fd").join(writer.as_raw_fd().to_string());
    let mut file =
        std::fs::File::options().write(true).custom_flags(crate::input::NONBLOCKING).open(path).ok()?;
    file.write_all(payload).ok().map(|()| reader)
}

/// A pipe that contains the whole payload; `None` if the payload does not fit. On systems other than Linux, every
/// pipe holds at least 4096 bytes.
#[cfg(not(target_os = "linux"))]
fn filled(payload: &[u8]) -> Option<PipeReader> {
    let (reader, mut writer) = std::io::pipe().ok()?;
    if payload.len() > 4096 {
        return None;
    }
    writer.write_all(payload).ok().map(|()| reader)
}

/// Runs the full program as a child. This is needed if the payload does not fit into a pipe and must be written while
/// the child reads.
fn run(command: &mut Command, payload: &[u8]) -> std::io::Result<u8> {
    let mut child = command.spawn()?;
    if let Some(mut stdin) = child.stdin.take() {
        // A write error is ignored, because the child may end without reading everything.
        drop(stdin.write_all(payload));
    }
    let status = child.wait()?;
    // A killed child has made no decision, so deny wherever that is possible.
    Ok(status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(2))
}
