// SPDX-License-Identifier: Apache-2.0 OR MIT

//! `tenterhook-hook <harness> <event> [--within SECONDS]`: the program that a harness starts for a hook.

#![cfg_attr(all(target_os = "linux", target_env = "gnu", not(test)), no_main)]

use std::ffi::OsString;
use std::io::Write;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::time::Instant;

use tenterhook_shim::ask::{DaemonAnswer, ask_from_single_thread};
use tenterhook_shim::call::{ShimCall, is_headless, neutral_reply, project_variable};
use tenterhook_shim::fallback_exec::{self, FallbackExec};
use tenterhook_shim::layout::StateLayout;
use tenterhook_shim::wire::{HookRequest, REVISION};
use tenterhook_shim::{VERSION, id, input};

tenterhook_shim::start!(run);

/// Handles one call and returns the exit code.
fn run() -> u8 {
    let started = Instant::now();
    let program = std::env::current_exe().ok();
    let words: Vec<OsString> = std::env::args_os().skip(1).collect();
    let layout = StateLayout::find(program.as_deref(), |variable| env(variable.name()));
    let Some(call) = ShimCall::read(&words) else {
        let error = program.map_or_else(nowhere, |program| fallback_exec::words(&program, &words));
        return refused(&layout, "", "", &error);
    };
    let id = id::mint();
    let payload = input::read(input::PAYLOAD_TIMEOUT.min(call.within));
    let left = |call: &ShimCall| call.within.saturating_sub(started.elapsed());
    let why = match &payload {
        Ok(payload) => match answer(&layout, &call, &id, left(&call).as_millis(), payload) {
            Ok(answer) => return print(&answer),
            Err(why) => why,
        },
        Err(error) => format!("{}: {error}", input::UNREADABLE_INPUT),
    };
    let fallback_exec =
        FallbackExec { why: Some(&why), id: &id, within: left(&call), payload: payload.as_deref().ok() };
    let exit = program.as_deref().map_or_else(
        || Err(nowhere()),
        |program: &Path| fallback_exec.call(program, &call.harness, &call.event),
    );
    exit.unwrap_or_else(|error| refused(&layout, &call.harness, &call.event, &error))
}

#[expect(clippy::disallowed_methods, reason = "this is the one place of this program")]
fn env(name: &str) -> Option<OsString> {
    std::env::var_os(name)
}

fn answer(
    layout: &StateLayout,
    call: &ShimCall,
    id: &str,
    left: u128,
    payload: &[u8],
) -> Result<DaemonAnswer, String> {
    let socket = layout.socket().ok_or("no home")?;
    let project = project_variable(&call.harness).and_then(env);
    let request = HookRequest {
        harness: &call.harness,
        event: &call.event,
        id,
        within_ms: u64::try_from(left).unwrap_or(u64::MAX),
        version: VERSION,
        revision: REVISION,
        project: project.as_ref().map(|value| value.as_bytes()),
        headless: is_headless(&call.harness, env),
        parent: std::os::unix::process::parent_id(),
        payload_len: payload.len(),
    };
    ask_from_single_thread(&socket, &request, payload).map_err(|error| error.to_string())
}

/// Prints the reply byte for byte. If the harness does not read it, the exit code has to deny the call.
fn print(answer: &DaemonAnswer) -> u8 {
    let (stdout, stderr) = (answer.stdout(), answer.stderr());
    let mut written = Ok(());
    if !stdout.is_empty() {
        let mut to = std::io::stdout().lock();
        written = to.write_all(stdout).and_then(|()| to.flush());
    }
    if !stderr.is_empty() {
        // A write error is ignored, because harnesses do not read standard error as a reply.
        drop(std::io::stderr().write_all(stderr));
    }
    if written.is_ok() { answer.exit } else { 2 }
}

/// Handles a call whose rules cannot be evaluated. If Tenterhook is installed, the call is denied. If not, the reply
/// is neutral.
fn refused(layout: &StateLayout, harness: &str, event: &str, error: &std::io::Error) -> u8 {
    if layout.is_installed {
        let state = layout.state.as_deref().unwrap_or(Path::new(""));
        let text = format!(
            "tenterhook: this cannot be judged: `{}` does not run: {error}\n  \
             hint: install Tenterhook again, or take it out of the harness's settings\n",
            state.join("bin").join(fallback_exec::FULL_PROGRAM).display()
        );
        drop(std::io::stderr().write_all(text.as_bytes()));
        return 2;
    }
    drop(std::io::stdout().write_all(neutral_reply(harness, event).as_bytes()));
    0
}

fn nowhere() -> std::io::Error {
    std::io::Error::other("it is not known where this program lies")
}
