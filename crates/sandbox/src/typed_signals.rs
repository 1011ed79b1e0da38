// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The terminal sends typed signals (Ctrl-C) to every process in the foreground. `bwrap` would die of them at once, and the
//! command with it, before it could clean up. So `bwrap` starts with these signals blocked, and the command without.

use std::io;
use std::os::unix::process::CommandExt as _;
use std::process::Command;

use nix::sys::signal::{SigSet, Signal};

fn typed_signals() -> SigSet {
    let mut signals = SigSet::empty();
    signals.add(Signal::SIGINT);
    signals.add(Signal::SIGQUIT);
    signals
}

/// Blocks typed signals in a program that is started.
#[expect(unsafe_code, reason = "a program is started with blocked signals only by code that runs before it")]
pub fn block(command: &mut Command) {
    let signals = typed_signals();
    // SAFETY: the closure only makes a system call, which is permitted between fork and exec.
    unsafe {
        command.pre_exec(move || signals.thread_block().map_err(io::Error::from));
    }
}

/// Lets typed signals through again in this process.
pub(crate) fn unblock() -> io::Result<()> {
    typed_signals().thread_unblock().map_err(io::Error::from)
}
