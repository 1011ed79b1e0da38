// SPDX-License-Identifier: Apache-2.0 OR MIT

//! `tenterhook-status [HARNESS]`: the status line of Claude Code, Copilot CLI and other harnesses.

#![cfg_attr(all(target_os = "linux", target_env = "gnu", not(test)), no_main)]

use std::io::Write;
use std::time::Duration;

use tenterhook_shim::layout::StateLayout;
use tenterhook_shim::{input, status};

/// Time within which the harness's input must arrive.
const INPUT_TIMEOUT: Duration = Duration::from_secs(1);

tenterhook_shim::start!(run);

/// Prints the status line and returns the exit code.
fn run() -> u8 {
    let program = std::env::current_exe().ok();
    #[expect(clippy::disallowed_methods, reason = "this is the one place of this program")]
    let layout = StateLayout::find(program.as_deref(), |variable| std::env::var_os(variable.name()));
    // The input is always read, so that the harness does not write to a closed pipe.
    let input = input::read(INPUT_TIMEOUT).unwrap_or_default();
    let ours = status::line(layout.socket().and_then(|socket| status::ask(&socket)).as_ref());
    let harness = std::env::args().nth(1).unwrap_or_default();
    let chain = layout.state.as_deref().and_then(|state| status::chain(state, &harness));
    let theirs = chain.and_then(|command| status::chained(&command, &input));
    let line = status::joined(theirs.as_deref(), &ours);
    // A write error is ignored: the harness has closed the pipe.
    drop(std::io::stdout().write_all(line.as_bytes()));
    0
}
