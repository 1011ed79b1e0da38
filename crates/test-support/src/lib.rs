// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Reports tests that cannot run on this machine.
//!
//! Rust's test runner has no result for "skipped at run time", so such a test returns early and counts as passed. It
//! calls [`skip_test`] first, and `make test` ends with the list of these tests and why they were skipped.

use std::fs::OpenOptions;
use std::io::Write as _;

/// Names the file that collects skipped tests, one line each.
const SKIPPED_TESTS_FILE: &str = "TENTERHOOK_SKIPPED_TESTS";

/// Reports that the current test, or a part of it, is skipped. The caller returns after this.
#[expect(clippy::disallowed_methods, reason = "tests have no command line to pass the file's name")]
pub fn skip_test(reason: &str) {
    let thread = std::thread::current();
    let line = format!("SKIPPED: {}: {reason}\n", thread.name().unwrap_or("a test"));
    // Standard error itself and not `eprintln!`: the test runner hides what a passed test prints.
    let _ = std::io::stderr().write_all(line.as_bytes());
    let Some(path) = std::env::var_os(SKIPPED_TESTS_FILE) else { return };
    let file = OpenOptions::new().create(true).append(true).open(path);
    let _ = file.and_then(|mut file| file.write_all(line.as_bytes()));
}
