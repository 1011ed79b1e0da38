// SPDX-License-Identifier: Apache-2.0 OR MIT

//! What comes in: a payload, bounded, from standard input or a file.

use std::io::Read;
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
