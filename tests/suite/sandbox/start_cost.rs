// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The time that a sandbox adds to the start of a command.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use super::{PROGRAM, Sandbox};

const STARTS: usize = 50;

fn median(mut start: impl FnMut() -> Command) -> Duration {
    let mut times: Vec<_> = (0..STARTS)
        .map(|_| {
            let mut command = start();
            let began = Instant::now();
            let status =
                command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status().unwrap();
            assert!(status.success());
            began.elapsed()
        })
        .collect();
    times.sort();
    times[STARTS / 2]
}

/// Prints the cost, and fails only if it is far too high: the program of the tests is not optimised, and other tests
/// run at the same time.
#[test]
fn a_sandbox_starts_fast() {
    let Some(sandbox) = Sandbox::all().into_iter().next() else { return };
    let bare = median(|| sandbox.command(Path::new("/bin/true"), &[]));
    let program = median(|| sandbox.command(Path::new(PROGRAM), &["--version"]));
    let sandboxed = median(|| sandbox.sandboxed(&[], &["/bin/true"]));
    eprintln!("start of `true`: bare {bare:?}, `tenterhook --version` {program:?}, sandboxed {sandboxed:?}");
    assert!(sandboxed < Duration::from_secs(1), "{sandboxed:?}");
}
