// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Selects this program's allocator, and defines how the allocator returns free memory to the system.

use tenterhook_daemon::MemoryRelease;

/// Replaces musl's allocator, whose single lock for all threads would slow the daemon down under load.
#[cfg(target_env = "musl")]
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// How free memory is returned to the system.
pub(crate) const MEMORY_RELEASE: MemoryRelease = MemoryRelease { of_process, of_thread };

#[cfg(all(target_os = "linux", target_env = "gnu"))]
fn of_process() {
    #[expect(unsafe_code, reason = "declares a function of the C library that takes and returns integers")]
    unsafe extern "C" {
        safe fn malloc_trim(keep_bytes: usize) -> i32;
    }
    malloc_trim(0);
}

#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
fn of_process() {
    of_thread();
}

/// Does nothing, because glibc returns the memory of all threads at once (`malloc_trim`).
#[cfg(not(target_env = "musl"))]
fn of_thread() {}

#[cfg(target_env = "musl")]
fn of_thread() {
    #[expect(unsafe_code, reason = "declares a function of mimalloc that takes a flag")]
    unsafe extern "C" {
        safe fn mi_collect(force: bool);
    }
    mi_collect(true);
}
