// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Program entry that skips the initialization of the standard library.
//!
//! Before `main`, the standard library reads the stack's limits from `/proc/self/maps`, installs handlers that report
//! a stack overflow, checks whether the first three descriptors are open, and ignores `SIGPIPE`. For a program that
//! runs for half a millisecond, this is a tenth of its run time. Only the last step is needed: writing to a closed
//! pipe must return an error, so that the program can still report a verdict by its exit code.
//!
//! None of this unsafe code accesses memory.

use std::sync::atomic::{AtomicBool, Ordering};

/// Defines the entry point of a program. On systems other than Linux with glibc, the standard entry point is used,
/// because without it the standard library would not know the program's arguments.
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

/// Makes writing to a closed pipe return an error instead of ending the process.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
pub fn ignore_broken_pipes() {
    const SIGPIPE: i32 = 13;
    const IGNORE: usize = 1;
    alarm::signal(SIGPIPE, IGNORE);
}

/// Interrupts a connection attempt that takes too long. Dropping the value cancels the alarm. If the alarm rings
/// before the attempt has begun, it rings again a second later.
///
/// The alarm is a signal, so the program must have a single thread and must not block `SIGALRM`.
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

/// Number of the signal, which is the same on every supported system.
const SIGALRM: i32 = 14;

/// Whether an attempt is in progress. If a signal arrives while the alarm is being cancelled, its handler must not
/// set the alarm again. The alarm would survive `exec` and end the full program.
static IS_CONNECTING: AtomicBool = AtomicBool::new(false);

/// Signal handler. An interrupted system call returns an error. If no call was interrupted, the signal is repeated.
extern "C" fn ring_again(_: i32) {
    if IS_CONNECTING.load(Ordering::SeqCst) {
        alarm::alarm(1);
    }
}

impl ConnectAlarm {
    /// Interrupts after this time. A time longer than one second is rounded down to whole seconds.
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
