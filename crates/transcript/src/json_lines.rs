// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Reads a file of JSON objects, one per line. At most one line is in memory at a time.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read as _};
use std::path::Path;

use serde_json::{Map, Value};
use tenterhook_files::FileClass;

use super::{TranscriptReader, UnreadPart};
use tenterhook_harness::MAX_PAYLOAD_BYTES;

/// Opens a regular file. Does not follow a symbolic link and does not wait for a pipe.
pub(crate) fn open_regular_file(path: &Path) -> io::Result<File> {
    let file = tenterhook_files::open(path, FileClass::Untrusted)?;
    file.ok_or_else(|| io::ErrorKind::NotFound.into())
}

/// Passes every line to `each`. A line that is not a JSON object, or longer than the largest payload, is reported as
/// unread.
pub(crate) fn read_json_lines(
    path: &Path,
    reader: &mut TranscriptReader<'_>,
    each: &mut dyn FnMut(Map<String, Value>, &mut TranscriptReader<'_>),
) -> io::Result<()> {
    let mut input = BufReader::with_capacity(1 << 16, open_regular_file(path)?);
    let limit = u64::try_from(MAX_PAYLOAD_BYTES).unwrap_or(u64::MAX) + 1;
    let mut line = Vec::new();
    loop {
        line.clear();
        // Frees the memory of a long line, so that it is not kept for the rest of the file.
        line.shrink_to(1 << 20);
        let read = input.by_ref().take(limit).read_until(b'\n', &mut line)?;
        if read == 0 {
            return Ok(());
        }
        let whole = line.last() == Some(&b'\n') || line.len() <= MAX_PAYLOAD_BYTES;
        let rest = if whole { 0 } else { skip_line(&mut input)? };
        reader.report_progress(u64::try_from(read).unwrap_or(0) + rest);
        if !whole {
            reader.report_unread(UnreadPart::TooLong);
        } else if !line.iter().all(u8::is_ascii_whitespace) {
            match serde_json::from_slice::<Value>(&line) {
                Ok(Value::Object(fields)) => each(fields, reader),
                _ => reader.report_unread(UnreadPart::Broken),
            }
        }
    }
}

fn skip_line(input: &mut impl BufRead) -> io::Result<u64> {
    let mut skipped = 0;
    loop {
        let buffer = input.fill_buf()?;
        let end = buffer.iter().position(|byte| *byte == b'\n');
        let (used, done) = end.map_or((buffer.len(), buffer.is_empty()), |at| (at + 1, true));
        input.consume(used);
        skipped += u64::try_from(used).unwrap_or(0);
        if done {
            return Ok(skipped);
        }
    }
}
