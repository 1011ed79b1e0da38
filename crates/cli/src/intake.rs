// SPDX-License-Identifier: Apache-2.0 OR MIT

//! What comes in: a payload, bounded, from standard input or a file.

use std::io::{BufRead, Read};
use std::path::Path;
use std::time::Duration;

use tenterhook_harness::{HARNESSES, Harness, MAX_PAYLOAD};

use crate::error::CommandError;

/// How long the payload may take to arrive.
const STDIN_DEADLINE: Duration = Duration::from_secs(10);

/// The harness of this id, or an error that lists the known ones.
pub(crate) fn harness(id: &str) -> Result<&'static Harness, CommandError> {
    tenterhook_harness::find(id).ok_or_else(|| {
        let known: Vec<_> = HARNESSES.iter().map(|harness| harness.id).collect();
        CommandError::unusable(format!("`{id}` is no known harness"))
            .hint(format!("known: {}", known.join(", ")))
    })
}

/// Reads one byte more than is allowed, so that too much is seen to be too much.
pub(crate) fn payload(file: Option<&Path>) -> Result<Vec<u8>, CommandError> {
    let limit = u64::try_from(MAX_PAYLOAD).unwrap_or(u64::MAX) + 1;
    let mut bytes = Vec::new();
    match file {
        Some(path) => {
            let file = fs_err::File::open(path).map_err(|error| CommandError::unusable(error.to_string()))?;
            file.take(limit).read_to_end(&mut bytes)?;
        }
        None => bytes = from_stdin(limit)?,
    }
    Ok(bytes)
}

/// A pipe that nobody closes must not hold the agent, nor let it pass when the harness gives up.
fn from_stdin(limit: u64) -> Result<Vec<u8>, CommandError> {
    let (send, receive) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        let read = std::io::stdin().lock().take(limit).read_to_end(&mut bytes);
        // Nobody listens any more when it took too long.
        let _ = send.send(read.map(|_| bytes));
    });
    let Ok(read) = receive.recv_timeout(STDIN_DEADLINE) else {
        let seconds = STDIN_DEADLINE.as_secs();
        return Err(CommandError::unusable(format!("standard input was not closed within {seconds} s")));
    };
    Ok(read?)
}

/// Reads one line of many, with its end; false when there are no more. Of a line longer than a payload may
/// be, only one byte more is kept.
pub(crate) fn line(input: &mut impl BufRead, line: &mut Vec<u8>) -> std::io::Result<bool> {
    line.clear();
    let limit = u64::try_from(MAX_PAYLOAD).unwrap_or(u64::MAX) + 1;
    let read = input.by_ref().take(limit).read_until(b'\n', line)?;
    if is_too_long(line) {
        skip_line(input)?;
    }
    Ok(read > 0)
}

/// Whether a line was longer than a payload may be.
pub(crate) fn is_too_long(line: &[u8]) -> bool {
    line.len() > MAX_PAYLOAD && line.last() != Some(&b'\n')
}

fn skip_line(input: &mut impl BufRead) -> std::io::Result<()> {
    loop {
        let buffer = input.fill_buf()?;
        let end = buffer.iter().position(|byte| *byte == b'\n');
        let (used, done) = end.map_or((buffer.len(), buffer.is_empty()), |at| (at + 1, true));
        input.consume(used);
        if done {
            return Ok(());
        }
    }
}
