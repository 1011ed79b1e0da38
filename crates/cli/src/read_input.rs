// SPDX-License-Identifier: Apache-2.0 OR MIT

//! What comes in: a payload, bounded, from standard input or a file.

use std::io::{ErrorKind, IsTerminal, Read};
use std::path::Path;
use std::time::Duration;

use tenterhook_document::nearest;
use tenterhook_harness::{HARNESSES, Harness, MAX_PAYLOAD_BYTES};
use tenterhook_shim::input;

use crate::error::CommandError;

/// Names that people know harnesses by, beside their ids.
const HARNESS_ALIASES: &[(&str, &str)] = &[
    ("claude", "claude-code"),
    ("codex-cli", "codex"),
    ("copilot-cli", "copilot"),
    ("cursor-agent", "cursor"),
    ("gemini-cli", "gemini"),
    ("github-copilot", "copilot"),
    ("qwen-code", "qwen"),
];

/// The harness of this id or name, or an error that suggests a near one and lists all.
pub(crate) fn parse_harness(name: &str) -> Result<&'static Harness, CommandError> {
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

/// An error if a person would have to type the input: a command that waits without a prompt looks stuck.
pub(crate) fn refuse_terminal_input(usage: &str) -> Result<(), CommandError> {
    if !std::io::stdin().is_terminal() {
        return Ok(());
    }
    Err(CommandError::user("no input: standard input is a terminal").hint(usage))
}

/// Reads one byte more than is allowed, so that too much is seen to be too much.
pub(crate) fn read_payload(file: Option<&Path>) -> Result<Vec<u8>, CommandError> {
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

/// Reads standard input to its end. A pipe that stays open must not hold the agent, nor let it pass when the harness gives
/// up: after `within` it is an error.
pub(crate) fn read_standard_input(within: Duration) -> Result<Vec<u8>, CommandError> {
    input::read(within).map_err(|error| match error.kind() {
        ErrorKind::TimedOut => {
            CommandError::user(format!("standard input was not closed within {} s", within.as_secs()))
        }
        _ => CommandError::from(error),
    })
}
