// SPDX-License-Identifier: Apache-2.0 OR MIT

//! `tenterhook-hook <harness> <event> [--within SECONDS]`: what a harness spawns.

#![cfg_attr(all(target_os = "linux", target_env = "gnu", not(test)), no_main)]

use std::ffi::OsString;
use std::io::Write;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::time::Instant;

use tenterhook_shim::ask::{Answer, ask_from_single_thread};
use tenterhook_shim::call::{Call, neutral_reply, project_variable};
use tenterhook_shim::handover::{self, Handover};
use tenterhook_shim::place::Place;
use tenterhook_shim::wire::{REVISION, Request};
use tenterhook_shim::{VERSION, id, input};

tenterhook_shim::start!(run);

/// Answers one call; returns the exit code.
fn run() -> u8 {
    let started = Instant::now();
    let program = std::env::current_exe().ok();
    let words: Vec<OsString> = std::env::args_os().skip(1).collect();
    let place = Place::find(program.as_deref(), |variable| env(variable.name()));
    let Some(call) = Call::read(&words) else {
        let error = program.map_or_else(nowhere, |program| handover::words(&program, &words));
        return refused(&place, "", "", &error);
    };
    let id = id::mint();
    let payload = input::read(input::DEADLINE.min(call.within));
    let left = |call: &Call| call.within.saturating_sub(started.elapsed());
    let why = match &payload {
        Ok(payload) => match answer(&place, &call, &id, left(&call).as_millis(), payload) {
            Ok(answer) => return print(&answer),
            Err(why) => why,
        },
        Err(error) => format!("{}: {error}", input::UNREADABLE),
    };
    let handover =
        Handover { why: Some(&why), id: &id, within: left(&call), payload: payload.as_deref().ok() };
    let exit = program
        .as_deref()
        .map_or_else(|| Err(nowhere()), |program: &Path| handover.call(program, &call.harness, &call.event));
    exit.unwrap_or_else(|error| refused(&place, &call.harness, &call.event, &error))
}

#[expect(clippy::disallowed_methods, reason = "this is the one place of this program")]
fn env(name: &str) -> Option<OsString> {
    std::env::var_os(name)
}

fn answer(place: &Place, call: &Call, id: &str, left: u128, payload: &[u8]) -> Result<Answer, String> {
    let socket = place.socket().ok_or("no home")?;
    let project = project_variable(&call.harness).and_then(env);
    let request = Request {
        harness: &call.harness,
        event: &call.event,
        id,
        within_ms: u64::try_from(left).unwrap_or(u64::MAX),
        version: VERSION,
        revision: REVISION,
        project: project.as_ref().map(|value| value.as_bytes()),
        parent: std::os::unix::process::parent_id(),
        payload_len: payload.len(),
    };
    ask_from_single_thread(&socket, &request, payload).map_err(|error| error.to_string())
}

/// The reply, byte for byte. One that does not reach the harness counts as none; only the exit code is
/// left then.
fn print(answer: &Answer) -> u8 {
    let (stdout, stderr) = (answer.stdout(), answer.stderr());
    let mut written = Ok(());
    if !stdout.is_empty() {
        let mut to = std::io::stdout().lock();
        written = to.write_all(stdout).and_then(|()| to.flush());
    }
    if !stderr.is_empty() {
        // Nobody reads standard error as an answer.
        drop(std::io::stderr().write_all(stderr));
    }
    if written.is_ok() { answer.exit } else { 2 }
}

/// Nobody can judge. Where Tenterhook is installed nothing passes then; elsewhere it is not our business.
fn refused(place: &Place, harness: &str, event: &str, error: &std::io::Error) -> u8 {
    if place.is_installed {
        let state = place.state.as_deref().unwrap_or(Path::new(""));
        let text = format!(
            "tenterhook: this cannot be judged: `{}` does not run: {error}\n  \
             hint: install Tenterhook again, or take it out of the harness's settings\n",
            state.join("bin").join(handover::FULL_PROGRAM).display()
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
