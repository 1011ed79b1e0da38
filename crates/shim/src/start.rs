// SPDX-License-Identifier: Apache-2.0 OR MIT

//! How the programs begin: without the preparations of the standard library.
//!
//! Before `main` it looks up the borders of the stack in `/proc/self/maps`, sets handlers that tell of a
//! stack overflow, asks whether the first three descriptors are open, and ignores `SIGPIPE`. For a program
//! that lives half a millisecond this is a tenth of its life, and only the last of it is needed: whoever
//! writes to a pipe that nobody reads has to hear of it, because then the exit code is all that is left.
//!
//! None of this unsafe code touches memory.

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
    #[expect(unsafe_code, reason = "the C library has this function, and it takes and gives numbers")]
    unsafe extern "C" {
        safe fn signal(number: i32, handler: usize) -> usize;
    }
    signal(SIGPIPE, IGNORE);
}
