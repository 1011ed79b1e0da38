// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Prints rows of a response as a table. All values come from machines, so control characters are removed.

use serde_json::Value;
use tenterhook_command::terminal::{BOLD, Terminal, tame};
use tenterhook_error::Failure;

/// Prints the rows as JSON, or as a table with these columns: heading and field.
pub(super) fn print_rows(
    terminal: Terminal,
    response: &Value,
    rows: &str,
    columns: &[(&str, &str)],
    empty: &str,
) -> Result<(), Failure> {
    if terminal.json {
        return terminal.print_json(response);
    }
    let rows = response.get(rows).and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    if rows.is_empty() {
        return terminal.print(&format!("{empty}\n"));
    }
    let cell = |row: &Value, field: &str| match row.get(field) {
        None | Some(Value::Null) => String::new(),
        Some(Value::String(text)) => tame(text),
        Some(other) => tame(&other.to_string()),
    };
    let cells: Vec<Vec<String>> =
        rows.iter().map(|row| columns.iter().map(|(_, field)| cell(row, field)).collect()).collect();
    let layout = Terminal::table_layout();
    let widths: Vec<usize> = columns
        .iter()
        .enumerate()
        .map(|(at, (heading, _))| {
            let longest = cells.iter().filter_map(|row| row.get(at)).map(|cell| cell.chars().count()).max();
            longest.unwrap_or(0).max(heading.len()).min(MAX_COLUMN_CHARS)
        })
        .collect();
    let line = |values: Vec<&str>| {
        let cells = values.iter().zip(&widths).map(|(value, width)| layout.cell(value, *width));
        cells.collect::<Vec<_>>().join("  ").trim_end().to_owned()
    };
    let head = line(columns.iter().map(|(heading, _)| *heading).collect());
    let mut text = format!("{BOLD}{head}{BOLD:#}\n");
    for row in &cells {
        text.push_str(&line(row.iter().map(String::as_str).collect()));
        text.push('\n');
    }
    terminal.print(&text)
}

/// Maximum width of a column.
const MAX_COLUMN_CHARS: usize = 44;
