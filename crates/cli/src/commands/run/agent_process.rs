// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Runs an agent or a command until it ends.

use std::fs::File;
use std::os::unix::process::ExitStatusExt as _;
use std::process::{ExitCode, ExitStatus};

use rustix::process::{Pid, Signal, getpgrp, kill_process};
use tokio::process::Command;
use tokio::signal::unix::{SignalKind, signal};

/// Exit code of a program that a signal ended, before the signal's number is added.
const EXIT_SIGNAL_BASE: i32 = 128;

/// How signals that the user types, such as Ctrl-C, reach the program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TypedSignals {
    /// The terminal sends them to every process in the foreground, so also to the program.
    FromTerminal,
    /// The program has a session without a terminal, so they are passed to it.
    Forwarded,
}

/// Runs a program until it ends, and passes signals to it, or to `receiver` if that returns a process.
pub(super) fn run_command(
    mut command: Command,
    typed_signals: TypedSignals,
    receiver: impl Fn() -> Option<Pid>,
) -> std::io::Result<ExitStatus> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        // The signals are caught before the agent starts, so that none of them ends only this process.
        let mut terminate = signal(SignalKind::terminate())?;
        let mut hangup = signal(SignalKind::hangup())?;
        let mut interrupt = signal(SignalKind::interrupt())?;
        let mut quit = signal(SignalKind::quit())?;
        let mut child = command.spawn()?;
        let pid = child.id().and_then(|id| Pid::from_raw(i32::try_from(id).ok()?));
        loop {
            let (number, is_typed) = tokio::select! {
                status = child.wait() => return status,
                _ = terminate.recv() => (Signal::TERM, false),
                _ = hangup.recv() => (Signal::HUP, false),
                _ = interrupt.recv() => (Signal::INT, true),
                _ = quit.recv() => (Signal::QUIT, true),
            };
            let is_delivered = is_typed && typed_signals == TypedSignals::FromTerminal && is_in_foreground();
            if let Some(pid) = receiver().or(pid)
                && !is_delivered
            {
                // The agent may have ended; the next turn of the loop notices it.
                let _ = kill_process(pid, number);
            }
        }
    })
}

/// Whether this process is in the foreground of a terminal.
fn is_in_foreground() -> bool {
    let terminal = File::options().read(true).open("/dev/tty");
    terminal.is_ok_and(|terminal| rustix::termios::tcgetpgrp(&terminal).ok() == Some(getpgrp()))
}

pub(super) fn exit_code_of(status: ExitStatus) -> ExitCode {
    let code = status.code().or_else(|| Some(EXIT_SIGNAL_BASE + status.signal()?));
    code.and_then(|code| u8::try_from(code).ok()).map_or(ExitCode::FAILURE, ExitCode::from)
}
