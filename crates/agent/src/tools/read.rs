// SPDX-License-Identifier: Apache-2.0 OR MIT

use std::fmt::Write as _;

use futures_util::future::BoxFuture;
use serde_json::{Value, json};
use tenterhook_files::{FileClass, FileRefused, read_text};

use super::{AgentTool, ToolContext, ToolFailure, ToolOutput, arguments, tool_spec, truncate_output};
use crate::provider::ToolSpec;

/// Number of lines returned if the call sets no limit.
const DEFAULT_LINES: u64 = 2000;
/// Maximum size of a file that can be read.
const MAX_FILE_BYTES: u64 = 16 << 20;

/// The `Read` tool: reads a text file.
pub(super) struct ReadTool;

impl AgentTool for ReadTool {
    fn spec(&self) -> ToolSpec {
        let properties = json!({
            "file_path": {"type": "string", "description": "Path of the file"},
            "offset": {"type": "number", "description": "First line to read, from 1"},
            "limit": {"type": "number", "description": "Number of lines; default 2000"},
        });
        tool_spec("Read", "Reads a text file and returns it with line numbers.", &properties, &["file_path"])
    }

    fn run<'a>(
        &'a self,
        args: &'a Value,
        context: &'a ToolContext,
    ) -> BoxFuture<'a, Result<ToolOutput, ToolFailure>> {
        Box::pin(std::future::ready(run(args, context)))
    }
}

fn run(args: &Value, context: &ToolContext) -> Result<ToolOutput, ToolFailure> {
    let path = arguments::required_path(args, "file_path", context)?;
    let text = read_whole_file(&path)?;
    let from = arguments::optional_number(args, "offset")?.unwrap_or(1).max(1);
    let limit = arguments::optional_number(args, "limit")?.unwrap_or(DEFAULT_LINES);
    let skip = usize::try_from(from - 1).unwrap_or(usize::MAX);
    let take = usize::try_from(limit).unwrap_or(usize::MAX);
    let mut out = String::new();
    for (number, line) in (from..).zip(text.lines().skip(skip).take(take)) {
        let _ = writeln!(out, "{number:>6}\t{line}");
    }
    if out.is_empty() {
        out = format!("line {from} is past the end: the file has {} lines", text.lines().count());
    }
    Ok(ToolOutput::text(truncate_output(out)))
}

/// Reads a whole text file.
pub(super) fn read_whole_file(path: &std::path::Path) -> Result<String, ToolFailure> {
    match read_text(path, FileClass::Named, MAX_FILE_BYTES) {
        Ok(Some(text)) => Ok(text),
        Ok(None) => Err(ToolFailure::new(format!("`{}`: no such file", path.display()))),
        Err(error) => Err(match FileRefused::reason_of(&error) {
            Some(_) => ToolFailure::new(error.to_string()),
            None => ToolFailure::file(path, &error),
        }),
    }
}
