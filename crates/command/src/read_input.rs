// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Reads harness names and payloads from the command line, standard input and files.

use std::io::{ErrorKind, IsTerminal, Read};
use std::path::Path;
use std::time::Duration;

use tenterhook_document::nearest;
use tenterhook_harness::{HARNESSES, Harness, MAX_PAYLOAD_BYTES};
use tenterhook_shim::input;

use crate::error::CommandError;

/// Common names of harnesses, in addition to their ids.
const HARNESS_ALIASES: &[(&str, &str)] = &[
    ("claude", "claude-code"),
    ("codex-cli", "codex"),
    ("copilot-cli", "copilot"),
    ("cursor-agent", "cursor"),
    ("gemini-cli", "gemini"),
    ("github-copilot", "copilot"),
    ("qwen-code", "qwen"),
];

/// Finds a harness by id or alias. The error for an unknown name suggests a similar one and lists all.
pub fn parse_harness(name: &str) -> Result<&'static Harness, CommandError> {
    let id = HARNESS_ALIASES.iter().find(|(alias, _)| *alias == name).map_or(name, |(_, id)| id);
    tenterhook_harness::find_harness(id).ok_or_else(|| {
        let known: Vec<_> = HARNESSES.iter().map(|harness| harness.id).collect();
        let error = CommandError::user(format!("unknown harness `{name}`"));
        let aliases = HARNESS_ALIASES.iter().map(|(alias, _)| *alias);
        match nearest(name, known.iter().copied().chain(aliases)) {
            Some(near) => error.hint(format!("did you mean `{near}`?")),
            None => error,
        }
        .hint(format!("known: {}", known.join(", ")))
    })
}

/// Fails if standard input is a terminal, because a command that waits for typed input without a prompt looks stuck.
pub fn refuse_terminal_input(usage: &str) -> Result<(), CommandError> {
    if !std::io::stdin().is_terminal() {
        return Ok(());
    }
    Err(CommandError::user("no input: standard input is a terminal").hint(usage))
}

/// Reads a payload, up to one byte more than the limit, so that the decoder can tell when it is too large.
pub fn read_payload(file: Option<&Path>) -> Result<Vec<u8>, CommandError> {
    let limit = u64::try_from(MAX_PAYLOAD_BYTES).unwrap_or(u64::MAX) + 1;
    let mut bytes = Vec::new();
    match file {
        Some(path) => {
            let file = fs_err::File::open(path).map_err(|error| CommandError::user(error.to_string()))?;
            file.take(limit).read_to_end(&mut bytes)?;
        }
        None => bytes = read_standard_input(input::PAYLOAD_TIMEOUT)?,
    }
    Ok(bytes)
}

/// Reads standard input to its end. A timeout is an error: a pipe that stays open must not block the agent, and the
/// call must not pass when the harness gives up.
pub fn read_standard_input(timeout: Duration) -> Result<Vec<u8>, CommandError> {
    input::read(timeout).map_err(|error| match error.kind() {
        ErrorKind::TimedOut => {
            CommandError::user(format!("standard input was not closed within {} s", timeout.as_secs()))
        }
        _ => CommandError::from(error),
    })
}
