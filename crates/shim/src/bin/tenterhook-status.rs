// SPDX-License-Identifier: Apache-2.0 OR MIT

//! `tenterhook-status [HARNESS]`: the status line of Claude Code, of Copilot CLI, and of whoever else asks.

#![cfg_attr(all(target_os = "linux", target_env = "gnu", not(test)), no_main)]

use std::io::Write;
use std::time::Duration;

use tenterhook_shim::place::Place;
use tenterhook_shim::{input, status};

/// How long what the harness has to say may take to arrive.
const PATIENCE: Duration = Duration::from_secs(1);

tenterhook_shim::start!(run);

/// Prints the line; returns the exit code.
fn run() -> u8 {
    let program = std::env::current_exe().ok();
    #[expect(clippy::disallowed_methods, reason = "this is the one place of this program")]
    let place = Place::find(program.as_deref(), |variable| std::env::var_os(variable.name()));
    // Read even if nobody needs it: whoever writes to us should not find the pipe closed.
    let input = input::read(PATIENCE).unwrap_or_default();
    let ours = status::line(place.socket().and_then(|socket| status::ask(&socket)).as_ref());
    let harness = std::env::args().nth(1).unwrap_or_default();
    let chain = place.state.as_deref().and_then(|state| status::chain(state, &harness));
    let theirs = chain.and_then(|command| status::chained(&command, &input));
    let line = status::joined(theirs.as_deref(), &ours);
    // Nobody to read it: nothing to say.
    drop(std::io::stdout().write_all(line.as_bytes()));
    0
}
