// SPDX-License-Identifier: Apache-2.0 OR MIT

//! How the programs begin: without the preparations of the standard library.
//!
//! Before `main` it looks up the borders of the stack in `/proc/self/maps`, sets handlers that tell of a
//! stack overflow, asks whether the first three descriptors are open, and ignores `SIGPIPE`. For a program
//! that lives half a millisecond this is a tenth of its life, and only the last of it is needed: whoever
//! writes to a pipe that nobody reads has to hear of it, because then the exit code is all that is left.
//!
//! None of this unsafe code touches memory.

use std::sync::atomic::{AtomicBool, Ordering};

/// Where the programs begin by themselves. Elsewhere the standard library would not know their arguments.
#[macro_export]
macro_rules! start {
    ($run:path) => {
        #[cfg(all(target_os = "linux", target_env = "gnu", not(test)))]
        #[expect(unsafe_code, reason = "the linker looks for this name, and no other function has it")]
        #[unsafe(no_mangle)]
        extern "C" fn main(_: i32, _: *const *const u8) -> i32 {
            $crate::start::ignore_broken_pipes();
            i32::from($run())
        }

        #[cfg(not(all(target_os = "linux", target_env = "gnu", not(test))))]
        fn main() -> std::process::ExitCode {
            std::process::ExitCode::from($run())
        }
    };
}

/// Writing to a pipe that nobody reads is an error from now on, and not the end.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
pub fn ignore_broken_pipes() {
    const SIGPIPE: i32 = 13;
    const IGNORE: usize = 1;
    alarm::signal(SIGPIPE, IGNORE);
}

/// Interrupts a connection attempt that takes too long, and is taken back when it is dropped. If the attempt has not
/// begun when the time is over, it is interrupted a second later.
///
/// It is a signal, so it needs a program with a single thread that does not block `SIGALRM`.
#[derive(Debug)]
pub(crate) struct ConnectAlarm(());

#[expect(unsafe_code, reason = "the C library has these functions, and they take and give numbers")]
mod alarm {
    unsafe extern "C" {
        pub(super) safe fn signal(number: i32, handler: usize) -> usize;
        pub(super) safe fn siginterrupt(number: i32, interrupts: i32) -> i32;
        pub(super) safe fn alarm(seconds: u32) -> u32;
        pub(super) safe fn ualarm(microseconds: u32, interval: u32) -> u32;
    }
}

/// On every system that we know.
const SIGALRM: i32 = 14;

/// Whether an attempt is under way. A signal that comes while the alarm is taken back must not set it again: it would
/// end the program that this one becomes.
static IS_CONNECTING: AtomicBool = AtomicBool::new(false);

/// What was interrupted returns with an error; otherwise this happens again.
extern "C" fn ring_again(_: i32) {
    if IS_CONNECTING.load(Ordering::SeqCst) {
        alarm::alarm(1);
    }
}

impl ConnectAlarm {
    /// Interrupts after this time, to the second if it is longer than one.
    pub(crate) fn set(within: std::time::Duration) -> Self {
        IS_CONNECTING.store(true, Ordering::SeqCst);
        alarm::signal(SIGALRM, ring_again as *const () as usize);
        alarm::siginterrupt(SIGALRM, 1);
        match u32::try_from(within.as_secs()) {
            Ok(0) => alarm::ualarm(within.subsec_micros().max(1), 0),
            Ok(seconds) => alarm::alarm(seconds),
            Err(_) => alarm::alarm(u32::MAX),
        };
        Self(())
    }
}

impl Drop for ConnectAlarm {
    fn drop(&mut self) {
        IS_CONNECTING.store(false, Ordering::SeqCst);
        alarm::alarm(0);
    }
}
