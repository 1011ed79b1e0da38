// SPDX-License-Identifier: Apache-2.0 OR MIT

use std::fmt::Write as _;

use futures_util::future::BoxFuture;
use serde_json::{Value, json};
use tenterhook_files::{FileClass, FileRefused, read_text};

use super::{Around, Output, Tool, ToolFailed, args, bounded, spec};
use crate::provider::ToolSpec;

/// How many lines are given that does not say.
const LINES: u64 = 2000;
/// No larger file is read.
const LARGEST: u64 = 16 << 20;

/// Reads a file.
pub(super) struct Read;

impl Tool for Read {
    fn spec(&self) -> ToolSpec {
        let properties = json!({
            "file_path": {"type": "string", "description": "The file"},
            "offset": {"type": "number", "description": "The first line, from 1"},
            "limit": {"type": "number", "description": "How many lines; 2000 unless said"},
        });
        spec("Read", "Reads a text file, with the number of each line.", &properties, &["file_path"])
    }

    fn run<'a>(&'a self, args: &'a Value, around: &'a Around) -> BoxFuture<'a, Result<Output, ToolFailed>> {
        Box::pin(std::future::ready(run(args, around)))
    }
}

fn run(args: &Value, around: &Around) -> Result<Output, ToolFailed> {
    let path = args::path(args, "file_path", around)?;
    let text = whole(&path)?;
    let from = args::number(args, "offset")?.unwrap_or(1).max(1);
    let limit = args::number(args, "limit")?.unwrap_or(LINES);
    let skip = usize::try_from(from - 1).unwrap_or(usize::MAX);
    let take = usize::try_from(limit).unwrap_or(usize::MAX);
    let mut out = String::new();
    for (number, line) in (from..).zip(text.lines().skip(skip).take(take)) {
        let _ = writeln!(out, "{number:>6}\t{line}");
    }
    if out.is_empty() {
        out = format!("there is nothing from line {from} on: it has {} lines", text.lines().count());
    }
    Ok(Output::text(bounded(out)))
}

/// The whole text of a file.
pub(super) fn whole(path: &std::path::Path) -> Result<String, ToolFailed> {
    match read_text(path, FileClass::Named, LARGEST) {
        Ok(Some(text)) => Ok(text),
        Ok(None) => Err(ToolFailed::new(format!("`{}`: no such file", path.display()))),
        Err(error) => Err(match FileRefused::reason_of(&error) {
            Some(_) => ToolFailed::new(error.to_string()),
            None => ToolFailed::file(path, &error),
        }),
    }
}
