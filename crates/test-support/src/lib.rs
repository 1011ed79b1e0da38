// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Helpers for tests: for tests that cannot run on this machine, for tests that might hang, and for tests
//! that measure cost.
//!
//! Rust's test runner has no result for "skipped at run time", so such a test returns early and counts as passed. It
//! calls [`skip_test`] first, and `make test` ends with the list of these tests and why they were skipped.

#![expect(clippy::missing_panics_doc, clippy::panic, reason = "a test helper fails the test with a panic")]

use std::fs::OpenOptions;
use std::io::Write as _;
use std::time::{Duration, Instant};

use rustix::time::{ClockId, clock_gettime};

/// Names the file that collects skipped tests, one line each.
const SKIPPED_TESTS_FILE: &str = "TENTERHOOK_SKIPPED_TESTS";

/// Reports that the current test, or a part of it, is skipped. The caller returns after this.
#[expect(clippy::disallowed_methods, reason = "tests have no command line to pass the file's name")]
pub fn skip_test(reason: &str) {
    let thread = std::thread::current();
    let line = format!("SKIPPED: {}: {reason}\n", thread.name().unwrap_or("a test"));
    // Writes directly to standard error. The test runner captures `eprintln!` and hides it for a passed test.
    let _ = std::io::stderr().write_all(line.as_bytes());
    let Some(path) = std::env::var_os(SKIPPED_TESTS_FILE) else { return };
    let file = OpenOptions::new().create(true).append(true).open(path);
    let _ = file.and_then(|mut file| file.write_all(line.as_bytes()));
}

/// How long anything in a test may take. It is far more than a busy machine needs, so it only catches a hang and
/// measures nothing. If a test checks that the code does not wait for something, that thing must take longer than this.
pub const HANG_TIMEOUT: Duration = Duration::from_mins(2);

/// Fails the test if more than [`HANG_TIMEOUT`] has passed since `began`.
#[track_caller]
pub fn assert_no_hang(began: Instant, what: &str) {
    assert!(began.elapsed() < HANG_TIMEOUT, "hangs: {what}");
}

/// Fails the test if less than `at_least` has passed since `began`. There is no upper bound, because a busy
/// machine may wait longer.
#[track_caller]
pub fn assert_waited(began: Instant, at_least: Duration) {
    let waited = began.elapsed();
    assert!(waited >= at_least, "waited for {waited:?}, not for {at_least:?}");
}

/// Fails the test if none of a few attempts ends within the promised time. One successful attempt is enough:
/// a busy machine delays some attempts, but a broken promise delays all of them.
#[track_caller]
pub fn assert_one_within(promised: Duration, mut attempt: impl FnMut()) {
    let mut took = Vec::new();
    while took.len() < MEASUREMENTS {
        let began = Instant::now();
        attempt();
        took.push(began.elapsed());
        if took.last().is_some_and(|took| *took < promised) {
            return;
        }
    }
    panic!("promised within {promised:?}, took {took:?}");
}

/// Waits until `find` returns something, and fails the test if it never does.
#[track_caller]
pub fn wait_until<T>(what: &str, mut find: impl FnMut() -> Option<T>) -> T {
    let began = Instant::now();
    loop {
        if let Some(found) = find() {
            return found;
        }
        assert_no_hang(began, what);
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// Maximum factor by which the cost may grow when the input doubles. It is above 2 because of noise and
/// larger allocations, and below 4, the factor of a quadratic cost.
const MAX_GROWTH: f64 = 3.2;
/// Costs below this are noise.
const MIN_MEASURED_COST: Duration = Duration::from_millis(20);
const MEASUREMENTS: usize = 3;

/// Fails the test if doubling the input costs much more than twice the processor time of this thread. `work`
/// is called with 1 and 2, the factor of the input size. Time that the thread waits on a busy machine is not
/// counted.
#[track_caller]
pub fn assert_linear_cost(what: &str, mut work: impl FnMut(usize)) {
    let mut measure = |scale: usize| {
        let before = thread_cpu_time();
        work(scale);
        thread_cpu_time().saturating_sub(before)
    };
    let (mut once, mut twice) = (measure(1), measure(2));
    let is_linear = |once: Duration, twice: Duration| {
        twice < MIN_MEASURED_COST || twice.as_secs_f64() <= once.as_secs_f64() * MAX_GROWTH
    };
    for _ in 1..MEASUREMENTS {
        if is_linear(once, twice) {
            return;
        }
        (once, twice) = (once.min(measure(1)), twice.min(measure(2)));
    }
    assert!(is_linear(once, twice), "{what}: {once:?}, and {twice:?} for twice the input");
}

fn thread_cpu_time() -> Duration {
    let now = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(now.tv_sec.unsigned_abs(), u32::try_from(now.tv_nsec).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_linear_cost_passes_and_a_quadratic_one_fails() {
        let spend = |rounds: usize| {
            let sum = (0..rounds).fold(0_usize, |sum, round| std::hint::black_box(sum ^ round));
            std::hint::black_box(sum);
        };
        assert_linear_cost("linear", |scale| spend(scale * 2_000_000));
        let quadratic = || assert_linear_cost("quadratic", |scale| spend(scale * scale * 2_000_000));
        assert!(std::panic::catch_unwind(quadratic).is_err());
    }
}
