// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Reads the scripts of a `package.json`.

use serde_json::Value;
use tenterhook_document::Spot;

use super::{CommandText, FileName, ReadResult};

pub(super) fn matches_name(name: &FileName<'_>) -> bool {
    name.file == "package.json"
}

pub(super) fn read(text: &str) -> ReadResult {
    let tree: Value = serde_json::from_str(text.trim_start_matches('\u{feff}'))
        .map_err(|error| (Spot { line: error.line(), column: error.column() }, error.to_string()))?;
    let Some(scripts) = tree.get("scripts").and_then(Value::as_object) else { return Ok(Vec::new()) };
    let lines: Vec<&str> = text.lines().collect();
    // The JSON parser returns no positions, so the line of the quoted name after `scripts` is reported.
    let start = lines.iter().position(|line| line.contains("\"scripts\"")).unwrap_or(0);
    let place = |name: &str| {
        let name = Value::from(name).to_string();
        let is = |line: &&str| {
            line.trim_start().strip_prefix(&name).is_some_and(|rest| rest.trim_start().starts_with(':'))
        };
        lines.iter().skip(start).position(is).unwrap_or(0) + start + 1
    };
    let scripts = scripts.iter().filter_map(|(name, script)| {
        Some(CommandText {
            lines: vec![place(name)],
            ..CommandText::from_line(1, script.as_str()?.to_owned())
        })
    });
    let mut pieces: Vec<_> = scripts.collect();
    pieces.sort_by_key(|piece| piece.file_line(0));
    Ok(pieces)
}
